"""Runs one test class for CTest: python3 fact.py MODULE CLASS. Exit code 77: skipped."""

import importlib
import sys
import unittest

SKIPPED = 77


def main(module: str, name: str) -> int:
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(importlib.import_module(module), name))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    return SKIPPED if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
