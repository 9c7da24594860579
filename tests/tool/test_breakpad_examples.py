#!/usr/bin/env python3
"""The dumps of the examples -> jitdump breakpad and jitdump minidump: at every address each reader says
what the program that was compiled says.

    test_breakpad_examples.py JITDUMP BF TIERED
"""
import sys
import unittest

from jitdump_tests import breakpad
from jitdump_tests.example_chains import ExampleTests, Instant

TOOL, BF, TIERED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
SKIPPED = 77
PAGE = 4096


class ExamplesTest(ExampleTests, unittest.TestCase):
    bf, tiered = BF, TIERED

    def check(self, instant: Instant) -> None:
        pages = sorted({address // PAGE for address in instant.truth})
        self.assertGreater(len(pages), 0)
        maps = "".join(f"{page * PAGE:x}-{page * PAGE + PAGE:x} r-xp 00000000 00:00 0\n"
                       for page in pages)
        pid = int(instant.dump.stem.split("-")[1])
        wrong = breakpad.check(TOOL, instant.dump, instant.truth, maps, *instant.options, pid=pid)
        self.assertEqual(wrong, 0)
        print(f"{self.id()} {' '.join(instant.options)}: {len(instant.truth)} addresses")


if __name__ == "__main__":
    if not breakpad.installed():
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
