#!/usr/bin/env python3
"""Every call of the library that can fail does so, in turn, at every occurrence.

usage: test_faults.py [--full] [SCENARIO...]

The path of the program comes in $JITDUMP_FAULTS. Each scenario runs once in each flush mode to
count its calls, then once for each call, occurrence and errno. The error must be the documented
one, the files be what the calls that returned 0 have appended, and the process be as before.
"""
from __future__ import annotations

import argparse
import collections
import errno
import re
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Counter, Dict, Iterator, List, Tuple

from jitdump_tests.fault_contents import Failure, Left
from jitdump_tests.fault_runs import MODES, SKIPPED, Plan, Program, Run, check
from jitdump_tests.jitdump_reader import FormatError

SCENARIOS = ("all", "unlink", "empty", "plain", "exit", "tsc", "stale", "threads",
             "descriptor", "fork", "fork_unlink")

ERRNOS = [errno.EINTR, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE,
          errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM, errno.ENOSYS, errno.EFBIG,
          errno.EROFS, errno.ENOENT, errno.EBADF]
# Enough for a call that has failed with each of the others at its first occurrence.
SOME = [errno.EINTR, errno.ENOSPC, errno.EIO, errno.ENOMEM]
# With these a call fails from then on, too.
LASTING = [errno.EAGAIN, errno.ENOSPC, errno.ENOMEM, errno.EACCES, errno.ENOSYS, errno.ENOENT]
MEMORY = ("malloc", "calloc", "strdup", "munmap")


def plans(base: Run, full: bool) -> Iterator[List[Plan]]:
    for call, count in base.calls.items():
        name = call.partition(".")[0]
        for occurrence in range(1, count + 1):
            for number in ([errno.ENOMEM] if name in MEMORY
                           else ERRNOS if full or occurrence == 1 else SOME):
                yield [Plan(call, occurrence, False, number)]
                # Without any fstat it is never known which file the dump is, so that it stays, and
                # is in the way of the next.
                if (full or number in LASTING) and call != "fstat.dump":
                    yield [Plan(call, occurrence, True, number)]
    # Short writes: continued, cut back, and not even to be cut back.
    for i, (first, total) in enumerate(base.writes):
        edges = {1, 8, 15, 16, 17, 39, 40, 56, total // 3, total // 2, first - 1, first, first + 1,
                 total - 17, total - 16, total - 1}
        for size in range(1, total) if full and total < 2000 else sorted(edges):
            if 0 < size < total:
                short = Plan("writev.dump", i + 1, False, 0, size)
                no_space = Plan("writev.dump", i + 2, True, errno.ENOSPC)
                yield [short]
                yield [short, no_space]
                yield [short, no_space, Plan("ftruncate.dump", 1, False, errno.EINTR)]
                yield [short, no_space, Plan("ftruncate.dump", 1, True, errno.EIO)]
        yield [Plan("writev.dump", i + 1, False, 0, 0)]  # takes nothing: no space
    for kind in ("map", "source"):
        for occurrence in range(1, base.calls.get(f"writev.{kind}", 0) + 1):
            for size in (1, 5, 9):
                short = Plan(f"writev.{kind}", occurrence, False, 0, size)
                no_space = Plan(f"writev.{kind}", occurrence + 1, True, errno.ENOSPC)
                yield [short]
                yield [short, no_space]
                unlinks = base.calls.get(f"open-stale.{kind}", 0)
                yield [short, no_space, Plan(f"unlink.{kind}", unlinks + 1, True, errno.EIO)]
    # What a second fault does to the way out of a first.
    if base.calls.get("open.dump") == 1:
        for call in ("unlink", "close", "munmap"):
            second = Plan(call if call == "munmap" else f"{call}.dump", 1, True, errno.ENOMEM)
            yield [Plan("writev.dump", 1, False, errno.ENOSPC), second]
            yield [Plan("mmap.dump", 1, False, errno.EPERM), second]


def run_scenario(scenario: str, mode: int, full: bool) -> Tuple[Counter[str], List[str]]:
    """How many faults there were, by call; and what was wrong."""
    program = Program()
    counts: Counter[str] = collections.Counter()
    wrong: List[str] = []
    with tempfile.TemporaryDirectory(prefix="jitdump-faults-") as directory:
        base = program.run(scenario, mode, directory, [])
        left = Left.find(directory, base.dumper)
        check(base, base, left)
        left.remove()
        for plan in plans(base, full):
            run = program.run(scenario, mode, directory, plan)
            left = Left.find(directory, run.dumper)
            what = f"{scenario}, {MODES[mode]}: {', '.join(each.describe() for each in plan)}"
            if run.fired >= 0:
                counts[plan[0].call if plan[0].error_number else "short " + plan[0].call] += 1
            try:
                check(run, base, left)
            except (Failure, FormatError) as error:
                wrong.append(f"{what}: {error}")
            left.remove()
    program.end()
    return counts, wrong


def is_sanitized() -> bool:
    """Then a limited address space is refused."""
    program = Program()
    with tempfile.TemporaryDirectory(prefix="jitdump-faults-") as directory:
        run = program.run("plain", 0, directory, [], (f"as@:{1 << 40}",))
    program.end()
    return run.status == SKIPPED


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true",
                        help="all errors also for good, and short writes of every length")
    parser.add_argument("scenario", nargs="*", default=SCENARIOS)
    arguments = parser.parse_args()
    started = time.monotonic()
    scenarios = list(arguments.scenario)
    if is_sanitized():
        # In the child of a process with threads, a sanitizer's own locks may be held for ever.
        scenarios = [scenario for scenario in scenarios if not scenario.startswith("fork")]
    jobs = [(scenario, mode, arguments.full) for scenario in scenarios for mode in range(3)]
    totals: Counter[str] = collections.Counter()
    wrong: List[str] = []
    with ThreadPoolExecutor(2) as pool:
        for counts, failures in pool.map(lambda job: run_scenario(*job), jobs):
            totals.update(counts)
            wrong += failures
    for call, count in sorted(totals.items()):
        print(f"{count:7} {call}")
    kinds: Dict[str, List[str]] = {}
    for failure in wrong:
        kinds.setdefault(re.sub(r"\d+|always|E[A-Z]+|expected.*", "", failure), []).append(failure)
    for failures in kinds.values():
        print(f"{len(failures)} like this: {failures[0]}")
    print(f"{sum(totals.values())} faults in {time.monotonic() - started:.0f} s,"
          f" {len(wrong)} with another outcome than documented")
    return 1 if wrong or not totals else 0


if __name__ == "__main__":
    sys.exit(main())
