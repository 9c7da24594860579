#!/usr/bin/env python3
"""Processes fork while their threads append. Each child goes on in a dump of its own, and nobody
writes into another's."""
import sys
import unittest
from typing import Optional

from jitdump_tests.harness import MODES, Run, scaled, why_no_forks


def child_ends(mode: str) -> tuple:
    return ("close", "exit", "_exit" if mode == "write-through" else "flush+_exit")


class Fork(unittest.TestCase):
    def run_one(self, processes: int, operations: int, child_operations: Optional[int] = None,
                child_end: str = "close", **options: object) -> None:
        with Run(operations=operations, child_operations=child_operations, child_end=child_end,
                 **options) as run:
            self.assertEqual(len(run.journals), processes)
            # Who appends nothing has no file.
            self.assertEqual(len(run.dumps()), processes if child_operations != 0 else 1)
            contents = [run.contents(pid) for pid in run.dumps()]
            for each in contents:
                each.expect_all()
            threads = int(options["threads"])
            children = threads * (processes - 1)
            self.assertEqual(
                sorted(thread.returned for each in run.journals.values() for thread in each.threads),
                sorted([operations] * threads
                       + [operations if child_operations is None else child_operations] * children))
            # The parent always closes.
            self.assertEqual(sum(each.dump.closed for each in contents),
                             len(contents) if child_end == "close" else 1)
            run.report(*contents)

    def test_forks_in_the_midst_of_appends(self) -> None:
        for mode in MODES:
            for child_end in child_ends(mode):
                with self.subTest(mode=mode, child_end=child_end):
                    self.run_one(1 + 40, scaled(2000), 10, child_end, mode=mode, threads=4,
                                 children=40, code_size_max=50000, seed=11)

    def test_children_with_threads(self) -> None:
        for mode in MODES:
            for child_end in child_ends(mode):
                with self.subTest(mode=mode, child_end=child_end):
                    self.run_one(1 + 4, scaled(300), None, child_end, mode=mode, threads=8,
                                 children=4, flush_bytes=4096, code_size_max=3000, seed=12)

    def test_children_of_children(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                self.run_one(1 + 3 + 9, scaled(300), mode=mode, threads=2, children=3,
                             generations=2, flush_bytes=4096, code_size_max=3000, seed=13)

    def test_children_that_append_nothing(self) -> None:
        for mode in MODES:
            for child_end in child_ends(mode):
                with self.subTest(mode=mode, child_end=child_end):
                    self.run_one(1 + 4, scaled(300), 0, child_end, mode=mode, threads=2, children=4,
                                 code_size_max=3000, seed=15)

    def test_one_thread(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                self.run_one(1 + 6, scaled(300), mode=mode, threads=1, children=6, seed=14)


if __name__ == "__main__":
    if why_no_forks():
        print(f"skipped: {why_no_forks()}")
        sys.exit(77)
    unittest.main(verbosity=2)
