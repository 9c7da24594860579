#!/usr/bin/env python3
"""The dumps of the examples -> jitdump elf: at every address each symboliser says what the program
that was compiled says.

    test_elf_examples.py JITDUMP BF TIERED
"""
import subprocess
import sys
import unittest

from jitdump_tests import symbolizers
from jitdump_tests.example_chains import ExampleTests, Instant, tiered_instants

TOOL, BF, TIERED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


class ExamplesTest(ExampleTests, unittest.TestCase):
    bf, tiered = BF, TIERED

    def check(self, instant: Instant, columns: bool = True) -> None:
        elf = self.directory / "out.elf"
        subprocess.run([TOOL, "elf", instant.dump, "-o", elf, *instant.options], check=True)
        self.assertGreater(len(instant.truth), 0)
        for name in symbolizers.installed():
            with self.subTest(name, options=instant.options):
                self.assertEqual(symbolizers.compare(name, elf, instant.truth, columns), 0)
        print(f"{self.id()} {' '.join(instant.options)}: {len(instant.truth)} addresses")

    def check_tiered(self, dialect: str) -> None:
        deepest = 0
        for instant in tiered_instants(self.tiered, dialect, self.directory):
            self.check(instant, columns=dialect != "samply-2023")
            deepest = max(deepest, *map(len, instant.truth.values()))
        self.assertEqual(deepest, 1 if dialect == "perf" else 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
