#!/usr/bin/env python3
"""A file system that is full, a real one of 64 KiB: the error is DISK_FULL and stays, the process
goes on, and the file is cut back to whole groups of records.

The file system is a tmpfs in a mount namespace of the program's own. Where that can't be had the
test is skipped, with exit status 77.
"""
import os
import subprocess
import sys
import tempfile
import unittest

from jitdump_tests.harness import MODES, command, dump_path, journals
from jitdump_tests.verify import Contents

DISK_FULL = -14
TMPFS_SIZE = 64 << 10
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
# More than the lines and the unwinding data of a function take.
LINES = 8000
# Runs a command in the file system, then copies out what it has left there, and says how large
# that is: $1 the file system's directory, $2 where to copy to, then the command.
IN_TMPFS = f"""
mount -t tmpfs -o size={TMPFS_SIZE} tmpfs "$1" || exit 77
tmpfs=$1 out=$2
shift 2
"$@" || exit 1
cp "$tmpfs"/* "$out"
"""


def run_in_tmpfs(tmpfs: str, out: str, line: list) -> subprocess.CompletedProcess:
    return subprocess.run([*UNSHARE, "sh", "-c", IN_TMPFS, "sh", tmpfs, out, *line],
                          capture_output=True, text=True, check=False)


class DiskFull(unittest.TestCase):
    def run_one(self, **options: object) -> None:
        with tempfile.TemporaryDirectory() as tmpfs, tempfile.TemporaryDirectory() as out:
            result = run_in_tmpfs(tmpfs, out, command(tmpfs, journal_directory=out, operations=2000,
                                                      **options))
            # The program has seen each thread get the same error from 100 further appends.
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            (pid, journal), = journals(out).items()
            contents = Contents(dump_path(out, pid), journal)
            self.assertEqual([thread.error for thread in journal.threads],
                             [DISK_FULL] * len(journal.threads))
            self.assertEqual(journal.close_result, DISK_FULL)
            self.assertFalse(contents.dump.closed)
            # Cut back no further than the last group made necessary.
            self.assertGreater(contents.dump.size, TMPFS_SIZE - options["code_size_max"] - LINES)
            if options["mode"] == "write-through" and options["threads"] == 1:
                contents.expect_all()
            else:
                contents.expect_prefix([0] * len(journal.threads))
            print(f"{options}: {len(contents.dump.records)} records in {contents.dump.size} bytes",
                  flush=True)

    def test_disk_full(self) -> None:
        for mode in MODES:
            for threads in (1, 8):
                for flush_bytes in (4096, 40960):
                    for code_size_max in (300, 30000):
                        with self.subTest(mode=mode, threads=threads, flush_bytes=flush_bytes,
                                          code_size_max=code_size_max):
                            self.run_one(mode=mode, threads=threads, flush_bytes=flush_bytes,
                                         code_size_max=code_size_max)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        probe = run_in_tmpfs(directory, directory, ["true"])
    if probe.returncode == 77 or "unshare" in probe.stderr:
        print(f"skipped: no tmpfs in a mount namespace can be made here: {probe.stderr.strip()}")
        sys.exit(77)
    unittest.main(verbosity=2)
