#!/usr/bin/env python3
"""The ways in which a process ends, and what each leaves in the file."""
import os
import signal
import unittest
from typing import Tuple

from jitdump_tests.harness import MODES, Run, dump_path, scaled
from jitdump_tests.verify import Contents

# Nothing is written before the end: neither is so much appended, nor does it take so long.
NEVER = {"flush_bytes": 16 << 20, "flush_interval_ns": 3600 * 10**9}
UNLINK_AT_CLOSE, EMPTY_AT_CLOSE = 1, 32
SIZE_LIMIT, BUSY = -17, -18
# Each end that a handler can bring about: its exit status, and how often it is tried. An exit
# waits a second for the append that it has interrupted.
MIDWAY_ENDS = {"exit": (0, 1), "_exit": (0, 2), "segv": (-signal.SIGSEGV, 3),
               "abort": (-signal.SIGABRT, 2)}


class Exit(unittest.TestCase):
    def all_there(self, *, closed: bool = False, **options: object) -> Contents:
        options = {"threads": 4, "operations": scaled(100), "code_size_max": 20000, **options}
        with Run(**options) as run:
            contents = run.only()
            contents.expect_all()
            for thread in contents.journal.threads:
                self.assertEqual(thread.returned, options["operations"])
            self.assertEqual(contents.dump.closed, closed)
            run.report(contents)
        return contents

    def test_close(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                self.all_there(mode=mode, end="close", closed=True, **NEVER)

    def test_normal_exit_flushes(self) -> None:
        for mode in MODES:
            for end in ("return", "exit"):
                with self.subTest(mode=mode, end=end):
                    self.all_there(mode=mode, end=end, **NEVER)

    def test__exit_in_write_through(self) -> None:
        for threads in (1, 8):
            with self.subTest(threads=threads):
                self.all_there(mode="write-through", end="_exit", threads=threads)

    def test__exit_after_a_flush(self) -> None:
        for mode in ("buffered", "background"):
            with self.subTest(mode=mode):
                self.all_there(mode=mode, end="flush+_exit", **NEVER)

    def test__exit_in_buffered_mode_loses_what_was_not_written(self) -> None:
        """So that the tests above show something."""
        with Run(mode="buffered", end="_exit", operations=100, code_size_max=2000, **NEVER) as run:
            self.assertEqual(run.only().present, [0])

    def test_flush_in_the_handler_of_a_fatal_signal(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                contents = self.all_there(mode=mode, end="segv", exit_status=-signal.SIGSEGV,
                                          **NEVER)
                self.assertEqual(contents.journal.signal_result, 0)

    def test_ends_midway(self) -> None:
        """The end comes in a signal's handler, on its own stack, while the other threads append,
        and mostly within an append of the same thread. What is promised then: what had returned
        before a flush that returned 0, jitdump_flush_from_signal() too; without threads and
        buffer, all; never a hole."""
        runs = midway = busy = 0
        for mode in MODES:
            for end, (_, times) in MIDWAY_ENDS.items():
                for threads in (1, 4):
                    for i in range(scaled(times)):
                        with self.subTest(mode=mode, threads=threads, end=end, i=i):
                            runs += 1
                            was_midway, was_busy = self.end_midway(mode, threads, end, i)
                            midway += was_midway
                            busy += was_busy
        print(f"{runs} ends in a handler, {midway} of them midway, {busy} with appends under way")
        self.assertGreater(midway, runs / 2)
        # Few runs may all have missed the appends.
        self.assertTrue(busy or any(self.end_midway("write-through", 4, "segv", i % 10)[1]
                                    for i in range(200)))

    def end_midway(self, mode: str, threads: int, end: str, i: int) -> Tuple[bool, bool]:
        """Whether the end came before all was appended, and within an append."""
        status = MIDWAY_ENDS[end][0]
        with Run(mode=mode, threads=threads, end=end, operations=20000, code_size_max=3000,
                 flush_every=50, end_after_us=500 + 900 * i, exit_status=status) as run:
            contents = run.only(torn_tail=True)
            strict = mode == "write-through" and threads == 1
            journal = contents.journal
            contents.expect_prefix([t.returned if strict else t.flushed for t in journal.threads])
            if status < 0:
                self.assertIn(journal.signal_result, (0, BUSY))
            return (any(t.returned < 20000 for t in journal.threads),
                    journal.signal_result == BUSY)

    def test_unlink_at_close(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                # The program checks that the file is there before, and not afterwards.
                with Run(mode=mode, threads=4, operations=50, flags=UNLINK_AT_CLOSE) as run:
                    self.assertEqual(run.dumps(), [])
                self.all_there(mode=mode, flags=UNLINK_AT_CLOSE, end="exit")

    def test_empty_at_close(self) -> None:
        for mode in MODES:
            with self.subTest(mode=mode):
                # The program checks the size.
                with Run(mode=mode, threads=4, operations=50, flags=EMPTY_AT_CLOSE) as run:
                    self.assertEqual(run.only().dump.records, [])
                self.all_there(mode=mode, flags=EMPTY_AT_CLOSE, end="exit")


class SizeLimit(unittest.TestCase):
    LIMIT = 3_000_000
    LARGEST_GROUP = 210_000

    def test_size_limit(self) -> None:
        for mode in MODES:
            for threads in (1, 8):
                for end in ("close", "exit", "flush+_exit"):
                    with self.subTest(mode=mode, threads=threads, end=end):
                        self.run_one(mode=mode, threads=threads, end=end)

    def test_to_the_byte(self) -> None:
        """JIT_CODE_CLOSE has its place within the limit, and nothing else is kept free."""
        options = {"operations": 50, "code_size_max": 300}
        with Run(**options) as run:
            size = run.only().dump.size
        with Run(size_limit=size, **options) as run:
            self.assertEqual(run.only().dump.size, size)
        with Run(size_limit=size - 1, **options) as run:
            contents = run.only()
            contents.expect_all()
            self.assertTrue(contents.dump.closed)
            self.assertLess(contents.dump.size, size)
            thread, = contents.journal.threads
            self.assertEqual((thread.returned, thread.error), (49, SIZE_LIMIT))

    def run_one(self, **options: object) -> None:
        with Run(size_limit=self.LIMIT, operations=2000, **options) as run:
            pid, = run.dumps()
            size = os.path.getsize(dump_path(run.directory, pid))
            contents = run.contents(pid)
            contents.expect_all()
            self.assertEqual([thread.error for thread in contents.journal.threads],
                             [SIZE_LIMIT] * int(options["threads"]))
            self.assertLessEqual(size, self.LIMIT)
            self.assertGreater(size, self.LIMIT - self.LARGEST_GROUP)
            self.assertEqual(contents.dump.closed, options["end"] == "close")
            if options["end"] == "close":
                self.assertEqual(contents.journal.close_result, SIZE_LIMIT)
            run.report(contents)


if __name__ == "__main__":
    unittest.main(verbosity=2)
