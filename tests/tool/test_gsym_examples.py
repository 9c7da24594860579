#!/usr/bin/env python3
"""The dumps of the examples -> jitdump gsym: at every address llvm-gsymutil says what the program
that was compiled says, and says the same of the GSYM file that it makes itself of `jitdump elf`'s.

    test_gsym_examples.py JITDUMP BF TIERED
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

from jitdump_tests import gsym
from jitdump_tests.example_chains import Instant, bf_at_the_end, tiered_instants

TOOL, BF, TIERED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


@unittest.skipUnless(gsym.installed(), "there is no llvm-gsymutil")
class ExamplesTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

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

    def test_bf(self) -> None:
        self.check(bf_at_the_end(BF, self.directory))

    def test_bf_moving(self) -> None:
        self.check(bf_at_the_end(BF, self.directory, "--move"))

    def check_tiered(self, dialect: str) -> None:
        for instant in tiered_instants(TIERED, dialect, self.directory):
            self.check(instant)

    def test_tiered_perf(self) -> None:
        self.check_tiered("perf")

    def test_tiered_2023(self) -> None:
        self.check_tiered("samply-2023")

    def test_tiered_2026(self) -> None:
        self.check_tiered("samply-2026")


if __name__ == "__main__":
    unittest.main(verbosity=2)
