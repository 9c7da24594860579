#!/usr/bin/env python3
"""Many threads append in every flush mode: each byte is in the file, in an order that the
reader accepts."""
import os
import subprocess
import tempfile
import unittest

from jitdump_tests.harness import MODES, Run, command, dump_path, scaled
from jitdump_tests.verify import jitdump_reader

SMALLEST_BLOCK = 4096


class Threads(unittest.TestCase):
    def run_all_modes(self, operations: int, **options: object) -> None:
        for threads in (1, 2, 8, 32):
            for mode in MODES:
                for flush_bytes in (None, SMALLEST_BLOCK):
                    with self.subTest(threads=threads, mode=mode, flush_bytes=flush_bytes):
                        self.run_one(mode=mode, threads=threads, flush_bytes=flush_bytes,
                                     operations=scaled(operations // threads), **options)

    def run_one(self, **options: object) -> None:
        with Run(**options) as run:
            contents = run.only()
            contents.expect_all()
            self.assertTrue(contents.dump.closed)
            for thread in contents.journal.threads:
                self.assertEqual(thread.returned, options["operations"])
            run.report(contents)

    def test_up_to_200_kB(self) -> None:
        """Most of the bytes in appends that are larger than the blocks."""
        self.run_all_modes(3200, seed=1)

    def test_small(self) -> None:
        """Many appends for each block."""
        self.run_all_modes(16000, seed=2, code_size_max=150)

    def test_flushing(self) -> None:
        """Every thread flushes now and then."""
        self.run_all_modes(3200, seed=3, code_size_max=3000, flush_every=5)

    def test_shortest_interval(self) -> None:
        """Blocks are ended all the time, while appends to them are under way."""
        for mode in ("buffered", "background"):
            for threads in (1, 8):
                with self.subTest(mode=mode, threads=threads):
                    self.run_one(mode=mode, threads=threads, flush_bytes=16 << 20,
                                 flush_interval_ns=1, operations=scaled(3200 // threads), seed=5)

    def test_read_while_it_grows(self) -> None:
        """Who reads along, as samply does, reads the same bytes as who comes later (S1)."""
        for mode in MODES:
            with self.subTest(mode=mode):
                # A reader that gets no processor in time comes later, and shows nothing.
                self.assertTrue(any(self.read_along(mode) > 1 for _ in range(100)))

    def read_along(self, mode: str) -> int:
        """In how many pieces the file was read."""
        with tempfile.TemporaryDirectory() as directory:
            line = command(directory, mode=mode, threads=4, operations=scaled(6000), seed=6,
                           code_size_max=3000, flush_bytes=SMALLEST_BLOCK)
            readings = []
            with subprocess.Popen(line, stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                path = dump_path(directory, process.pid)
                with open(path, "rb") as file:
                    while process.poll() is None:
                        readings.append(file.read())
                    readings.append(file.read())
            self.assertEqual(process.returncode, 0)
            readings = [reading for reading in readings if reading]
            whole = b"".join(readings)
            with open(path, "rb") as file:
                self.assertTrue(file.read() == whole)
            jitdump_reader.parse(whole, os.path.basename(path))
            print(f"{mode}: read in {len(readings)} pieces", flush=True)
            return len(readings)

    def test_with_signals(self) -> None:
        """A handler that flushes interrupts appends and writes at all points."""
        for mode in MODES:
            with self.subTest(mode=mode):
                self.run_one(mode=mode, threads=8, flush_bytes=SMALLEST_BLOCK, code_size_max=6000,
                             operations=scaled(1500), seed=4, signal_interval_us=200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
