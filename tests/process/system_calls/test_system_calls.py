#!/usr/bin/env python3
"""The list of system calls in docs/integration.md: test_system_calls.py PROGRAM INTEGRATION_MD

strace says which calls the library makes in each phase of phases.c: all that the list has for it, and
no other. And a process whose filter allows these alone lives on.
"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, Set, Tuple

PROGRAM, DOCS = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
SKIPPED = 77
HEADING = "## System calls"

# Which phase of which scenario shows what a row of the list is about.
SHOWN: Dict[str, Tuple[str, str]] = {
    "open": ("plain", "open"),
    "open, a stale dump in the way": ("stale", "open"),
    "open with `descriptor`": ("descriptor", "open"),
    "open in background mode": ("descriptor-background", "open"),
    "append in write-through mode": ("plain", "append"),
    "append in the other modes": ("buffered", "append"),
    "append of more than `flush_bytes`": ("buffered", "large"),
    "flush": ("plain", "flush"),
    "close": ("plain", "close"),
    "close with `JITDUMP_UNLINK_AT_CLOSE`": ("unlink", "close"),
    "close with `JITDUMP_EMPTY_AT_CLOSE`": ("empty", "close"),
    "close with both `descriptor` and that": ("descriptor-empty", "close"),
    "close in background mode": ("descriptor-background-empty", "close"),
    "first append of a child": ("fork", "child"),
}
ANY_TIME = "at any time"
# These rows have only what is added to another.
ALSO = {
    "open, a stale dump in the way": "open",
    "open in background mode": "open with `descriptor`",
    "close with `JITDUMP_UNLINK_AT_CLOSE`": "close",
    "close with `JITDUMP_EMPTY_AT_CLOSE`": "close",
    "close in background mode": "close with both `descriptor` and that",
}
# By other names in other versions of the C library.
SAME = {"fstat": "newfstatat", "clone": "clone3"}
# What the program itself does under the filter.
OWN = {"write", "exit_group", "wait4", "clone", "set_robust_list"}


def names(cell: str) -> Set[str]:
    return set(re.findall(r"`([a-z_0-9]+)`", cell))


class List:
    """The table: for each row what is always called, and what sometimes."""

    def __init__(self) -> None:
        section = DOCS.read_text(encoding="utf-8").split(HEADING + "\n")[1].split("\n## ")[0]
        self.rows: Dict[str, Tuple[Set[str], Set[str]]] = {}
        for line in section.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 3 and names(line):
                self.rows[cells[0]] = names(cells[1]), names(cells[2])
        for row, other in ALSO.items():
            self.rows[row] = tuple(mine | more for mine, more in zip(self.rows[row], self.rows[other]))

    def all(self) -> Set[str]:
        return set().union(*(always | sometimes for always, sometimes in self.rows.values()))


def run(scenario: str, *allowed: str, tracer: Tuple[str, ...] = ()) -> int:
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([*tracer, PROGRAM, scenario, directory, *allowed], check=False)
        return done.returncode


def traced(scenario: str) -> Dict[str, Set[str]]:
    """The calls of each phase, of all threads."""
    phases: Dict[str, Set[str]] = {}
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
        status = run(scenario, tracer=("strace", "-f", "-qq", "-o", trace.name))
        assert status == 0, f"{scenario} ended with {status}"
        phase = None
        for line in trace:
            found = re.match(r"\d+ +(?:<\.\.\. )?(\w+)", line)
            marker = re.search(r'write\(-1, "(\w+)"', line)
            if marker:
                phase = phases.setdefault(marker[1], set())
            elif found and found[1] != "write" and phase is not None:  # a marker, resumed
                phase.add(SAME.get(found[1], found[1]))
    return phases


class SystemCalls(unittest.TestCase):
    def test_the_list_is_what_a_tracer_sees(self) -> None:
        if shutil.which("strace") is None:
            self.skipTest("strace is not installed")
        if subprocess.run(["strace", "-o", os.devnull, "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("strace may not trace")
        rows = List().rows
        self.assertEqual(set(rows), {*SHOWN, ANY_TIME})
        any_time = rows[ANY_TIME][1]
        runs = {scenario: traced(scenario) for scenario in {name for name, _ in SHOWN.values()}}
        for row, (scenario, phase) in SHOWN.items():
            with self.subTest(row):
                always, sometimes = rows[row]
                seen = runs[scenario][phase]
                self.assertEqual(always - seen, set(), "listed, and not called")
                self.assertEqual(seen - always - sometimes - any_time, set(), "called, and not listed")

    def test_a_filter_that_allows_the_list_kills_nobody(self) -> None:
        allowed = {SAME.get(call, call) for call in List().all()} | set(SAME) | OWN
        for scenario in ("plain", "stale", "buffered", "background", "unlink", "empty", "fork", "tsc"):
            with self.subTest(scenario):
                self.assertEqual(run(scenario, *sorted(allowed)), 0)

    def test_in_a_sandbox_fewer_will_do(self) -> None:
        rows = List().rows
        always = ("open with `descriptor`", "flush", "close with both `descriptor` and that")
        for scenario, of_mode in (
                ("descriptor", ("append in write-through mode",)),
                ("descriptor-buffered", ("append in the other modes",)),
                ("descriptor-background", ("append in the other modes", "open in background mode",
                                           "close in background mode"))):
            allowed = set(OWN | set(SAME) | rows[ANY_TIME][1])
            for row in always + of_mode:
                allowed |= rows[row][0] | rows[row][1]
            allowed -= {"openat", "readlink", "fchmod", "unlink"}
            if "background" not in scenario:
                allowed -= {"rt_sigprocmask", "prctl", "sched_yield"}
            with self.subTest(scenario):
                self.assertEqual(run(scenario, *sorted(allowed)), 0)
                # The filter is one: without a call that is needed, the process is killed.
                self.assertLess(run(scenario, *sorted(allowed - {"writev"})), 0)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
