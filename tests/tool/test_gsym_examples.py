#!/usr/bin/env python3
"""The dumps of the examples -> jitdump gsym: at every address llvm-gsymutil says what the program
that was compiled says, and says the same of the GSYM file that it makes itself of `jitdump elf`'s.

    test_gsym_examples.py JITDUMP BF TIERED
"""
import pathlib
import subprocess
import sys
import unittest

from jitdump_tests import gsym
from jitdump_tests.example_chains import ExampleTests, Instant

TOOL, BF, TIERED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


@unittest.skipUnless(gsym.installed(), "there is no llvm-gsymutil")
class ExamplesTest(ExampleTests, unittest.TestCase):
    bf, tiered = BF, TIERED

    def convert(self, kind: str, instant: Instant) -> pathlib.Path:
        path = self.directory / f"out.{kind}"
        subprocess.run([TOOL, kind, instant.dump, "-o", path, *instant.options], check=True)
        return path

    def check(self, instant: Instant) -> None:
        ours, elf = self.convert("gsym", instant), self.convert("elf", instant)
        self.assertGreater(len(instant.truth), 0)
        for program in gsym.installed():
            reference, complaints = gsym.converted(program, elf)
            self.assertEqual(complaints, [])
            for path in (ours, reference):
                with self.subTest(program, path=path.name, options=instant.options):
                    self.assertEqual(gsym.compare(program, path, instant.truth), 0)
                    self.assertEqual(gsym.found_outside(program, path, instant.truth), 0)
        print(f"{self.id()} {' '.join(instant.options)}: {len(instant.truth)} addresses")


if __name__ == "__main__":
    unittest.main(verbosity=2)
