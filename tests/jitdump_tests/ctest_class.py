"""Runs one test class for CTest. Exit code 77: skipped.

    python3 -m jitdump_tests.ctest_class MODULE CLASS     in the module's folder
"""

import importlib
import sys
import unittest

SKIPPED = 77


def main(module: str, name: str) -> int:
    test_class = getattr(importlib.import_module(module), name)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(test_class)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    for test, reason in result.skipped:
        print(f"{test.id()}: skipped: {reason}")
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    return SKIPPED if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
