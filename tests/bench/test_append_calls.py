#!/usr/bin/env python3
"""What an append calls: no allocation in any mode; no system call in the buffered modes; one
write in write-through mode, alone, with the signal mask set and set back. And what an open dump takes of memory.

usage: test_append_calls.py APPEND_CALLS

strace counts the system calls. Exit status 77, with a reason, where there is none.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Counter, Tuple

SKIPPED = 77
WRITE_THROUGH, BUFFERED, BACKGROUND = 0, 1, 2
APPENDS = 100
RESIDENT_MAX = 512  # KiB


def run(program: str, mode: int, directory: str) -> Tuple[Counter[str], int, int]:
    """The calls between the marks of the thread that makes the marks, allocations, memory."""
    trace = os.path.join(directory, "trace")
    output = subprocess.run(
        ["strace", "-f", "-o", trace, program, str(mode), directory],
        check=True, stdout=subprocess.PIPE, universal_newlines=True,
    ).stdout
    with open(trace, encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file]
    marks = [i for i, (_, call) in enumerate(lines) if '"mark"' in call]
    assert len(marks) == 2, "no marks in the trace"
    marker = lines[marks[0]][0]
    calls: Counter[str] = collections.Counter()
    for thread, call in lines[marks[0] + 1 : marks[1]]:
        name = re.match(r"\w+\(", call)
        if thread == marker and name is not None:
            calls[name.group()[:-1]] += 1
    allocations = re.search(r"allocations (\d+)", output)
    resident = re.search(r"resident (-?\d+)", output)
    assert allocations is not None and resident is not None, output
    return calls, int(allocations.group(1)), int(resident.group(1))


def main() -> int:
    if shutil.which("strace") is None:
        print("skipped: strace is not installed")
        return SKIPPED
    failed = False

    def expect(good: bool, what: str) -> None:
        nonlocal failed
        failed = failed or not good
        print("%-4s %s" % ("ok" if good else "FAIL", what))

    for name, mode in (
        ("write-through", WRITE_THROUGH), ("buffered", BUFFERED), ("background", BACKGROUND),
    ):
        with tempfile.TemporaryDirectory() as directory:
            calls, allocations, resident = run(sys.argv[1], mode, directory)
        what = "%s: %d appends made the system calls %s" % (name, APPENDS, dict(calls))
        if mode == WRITE_THROUGH:
            expect(calls == {"writev": APPENDS, "rt_sigprocmask": 2 * APPENDS, "lseek": APPENDS},
                   what)
        elif mode == BUFFERED:
            expect(not calls, what)
        else:
            # The append that ends the flusher's idleness wakes it, be it the first or, where
            # the thread was slow to start, a later one.
            expect(set(calls) <= {"futex"} and calls["futex"] <= 1, what)
        expect(allocations == 0, "%s: and %d allocations" % (name, allocations))
        expect(0 < resident <= RESIDENT_MAX, "%s: the dump took %d KiB" % (name, resident))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
