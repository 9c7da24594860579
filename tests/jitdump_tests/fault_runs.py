"""Running the program `faults`, and holding what a run returned and left against the fault."""
from __future__ import annotations

import errno
import json
import os
import subprocess
from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Tuple

from jitdump_tests import jitdump_reader
from jitdump_tests.fault_contents import Failure, Left, check_prefix, code_of, read_dump, read_map
from jitdump_tests.fault_errors import NAMES, STICKY, Effect, effect

MODES = ("write-through", "buffered", "background")
SKIPPED = 77 << 8
UNLINKING = ("unlink", "empty", "stale", "fork_unlink")

# The library's calls that a filtered system call fails.
FILTERED = {
    "close": ("close.dump",),
    "unlink": ("unlink.dump", "unlink.map", "unlink.source"),
    "fstatat": ("fstat.dump", "fstat.map", "fstat.source", "lstat.dump", "lstat.map",
                "lstat.source"),
    "ftruncate": ("ftruncate.dump", "ftruncate.map"),
    "munmap": ("munmap",),
}


@dataclass
class Plan:
    call: str
    occurrence: int
    always: bool
    error_number: int
    size: int = 0

    def __str__(self) -> str:
        return (f"{self.call}:{self.occurrence}:{int(self.always)}:{self.error_number}"
                f":{self.size}")

    def describe(self) -> str:
        what = errno.errorcode[self.error_number] if self.error_number else f"short {self.size}"
        return f"{self.call} {self.occurrence} {'always ' if self.always else ''}{what}"


class Program:
    def __init__(self) -> None:
        # A dump that is open at the exit is no leak; what is one, the program counts itself.
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        self._process = subprocess.Popen([os.environ["JITDUMP_FAULTS"]], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True,
                                         env={**os.environ, "ASAN_OPTIONS": options})

    def run(self, scenario: str, mode: int, directory: str, plans: List[Plan],
            conditions: Tuple[str, ...] = ()) -> "Run":
        line = " ".join([scenario, str(mode), directory, *map(str, plans), *conditions])
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise Failure(f"the program ended at: {line}")
        return Run(scenario, mode, plans, conditions, **json.loads(answer))

    def end(self) -> None:
        self._process.communicate()


@dataclass
class Run:
    scenario: str
    mode: int
    plans: List[Plan]
    conditions: Tuple[str, ...]
    status: int
    dumper: int
    fired: int
    calls: Dict[str, int]
    writes: List[Tuple[int, int]]
    steps: List[Tuple[str, int]]
    left: List[str]
    problems: List[str]

    def __post_init__(self) -> None:
        # What was done once more, without faults, after a dump that could not be made.
        names = [name for name, _ in self.steps]
        count = names.index("open again", 1) if "open again" in names[1:] else len(names)
        self.again = self.steps[count:]
        self.steps = self.steps[:count]
        self.results = [NAMES.get(result, str(result)) for _, result in self.steps]
        self.names = [name for name, _ in self.steps]
        self._failing = {plan.call for plan in self.plans}
        for condition in self.conditions:
            self._failing.update(FILTERED.get(condition.rpartition(":")[2], ()))

    def plan_on(self, *calls: str) -> bool:
        """Whether one of them is meant to fail."""
        return not self._failing.isdisjoint(calls)

    def is_short(self) -> bool:
        """Whether a write was. Sizes may be others than in the base run: a pid has more digits."""
        plan = self.plans[0] if self.plans else None
        if plan is None or plan.call != "writev.dump" or plan.error_number:
            return True
        return plan.occurrence > len(self.writes) or \
            plan.size < self.writes[plan.occurrence - 1][1]

    def expected(self) -> Optional[Effect]:
        """Of the first plan that is an error. A write that takes nothing has no space."""
        plan = next((plan for plan in self.plans if plan.error_number or plan.size == 0), None)
        if plan is None or self.fired < 0:
            return Effect("NONE", set())
        number = plan.error_number or errno.ENOSPC
        step = self.names[self.fired] if self.fired < len(self.names) else "exit"
        return effect(plan.call, self.plans[0].occurrence, number, plan.always, self.scenario, step,
                      self.mode)


def check_results(run: Run, expected: Effect, base: Run) -> None:
    """Each step against what the fault must lead to."""
    def fail(what: str) -> None:
        steps = ", ".join(f"{name} {result}" for name, result in zip(run.names, run.results))
        raise Failure(f"expected {expected} {what}: {steps}")

    errors = [result for result in run.results if result != "0"]
    if expected.kind == "NONE":
        if run.results != base.results:
            fail("and so what comes without it")
        return
    if any(error not in expected.errors for error in errors):
        fail("and no other error")
    if run.fired >= len(run.steps):  # at exit: there is nobody to tell
        return
    asynchronous = run.scenario == "threads" or run.mode == 2
    before = run.results[:run.fired]
    if not asynchronous and any(result != "0" for result in before):
        fail("and nothing before it")
    told = {"REPORTED": ("flush", "close"), "CLOSE": ("close",)}.get(expected.kind)
    if expected.kind == "ONCE or REPORTED":
        if any(plan.always for plan in run.plans):
            if not errors and "close" in run.names:
                fail("at all")
            return
        told = None if run.results[run.fired] == "NO_MEMORY" else ("flush", "close")
    if told is not None:
        for i in range(run.fired, len(run.steps)):
            if (run.names[i] in told) != (run.results[i] != "0"):
                fail(f"at {told}")
    elif expected.kind == "STICKY":
        first = next((i for i, result in enumerate(run.results) if result != "0"), None)
        if first is None and run.names[-1] == "close":
            fail("at last from the close")
        if run.scenario == "threads":
            return  # whose call met it is not known
        if first is not None and (first < run.fired or (first > run.fired and not asynchronous)
                                  or any(result == "0" for result in run.results[first:])):
            fail("from then on")
    else:
        if run.results[run.fired] == "0":
            fail("from the call itself")
        lasting = not expected.undone and any(plan.always for plan in run.plans)
        if not lasting and any(result != "0" for result in run.results[run.fired + 1:]):
            fail("and once")


# What stays where a call fails for good, since it can't be removed, or be known for ours.
REMAINS = {"unlink.dump": "dump", "fstat.dump": "dump", "lstat.dump": "dump", "flock.dump": "dump",
           "unlink.map": "map", "fstat.map": "map", "lstat.map": "map", "flock.map": "map",
           "munmap": "mapping"}


def check_unmade(run: Run, base: Run, left: Left) -> None:
    """A dump that could not be made has left nothing, and the next one can be."""
    excused = {REMAINS.get(plan.call) for plan in run.plans
               if plan.always or plan.call == "munmap"}
    behind = [what for what in run.left if what not in excused]
    if behind:
        raise Failure(f"of a dump that could not be made is left: {behind}")
    if not run.again:
        raise Failure(f"a child's dump that could not be made has a path: {run.steps}")
    again = replace(run, scenario="empty" if run.scenario == "empty"
                    else "unlink" if run.scenario in UNLINKING else "plain",
                    plans=[], steps=run.again, fired=-1)
    opens = base.scenario.startswith("fork") or base.results[0] == "0"
    wanted = ["0", "0", "0"] if opens else base.results
    if again.results != wanted:
        raise Failure(f"without the fault, open, load and close then give {again.results}")
    check_files(again, left, opens, opens, False)


def check_dump(run: Run, left: Left, closes_well: bool, sticky: bool, in_the_way: bool) -> None:
    child = run.scenario.startswith("fork")
    stuck = run.plan_on("fstat.dump", "lstat.dump", "unlink.dump")
    if left.dump is None or (os.path.getsize(left.dump) == 0 and (stuck or in_the_way)):
        return
    if run.scenario == "empty":
        if os.path.getsize(left.dump) != jitdump_reader.FILE_HEADER_SIZE and not stuck:
            raise Failure(f"an emptied dump of {os.path.getsize(left.dump)} bytes")
        return
    torn = run.plan_on("ftruncate.dump", "fstat.dump")
    actual, closed = read_dump(left.dump, torn=torn, child=child)
    accepted = ["source of-the-parent.js"] if child else []
    flushed = 0
    for name, result in zip(run.names, run.results):
        kind = name.split()[0]
        if kind in ("load", "move", "raw", "source") and result == "0":
            accepted.append(name.replace(" again", ""))
        if kind == "flush" and result in ("0", "PERF_MAP"):
            flushed = len(accepted)
    if run.scenario == "threads" and sticky:
        # A thread may get another's error although its own record was written.
        accepted = [name for name in run.names if name.startswith("load")]
    whole = closes_well or (run.mode == 0 and run.scenario != "threads")
    failed = next((name for name, result in zip(run.names, run.results)
                   if name != "flush" and result in STICKY), "")
    if failed == "load many1" and run.mode == 0:
        # Of a batch that has failed the first functions may be there, whole.
        flushed = len(accepted)
        accepted += [name for name in run.names if name.startswith("load many")]
        whole = False
    if child and sticky and run.results[0] != "0" and run.mode != 0:
        whole = False  # the sources of the parent need not be there
    check_prefix(actual, accepted, "the dump", whole)
    if len(actual) < flushed:
        raise Failure(f"the dump has {len(actual)} of {flushed} that were flushed")
    if closes_well and not closed and run.names[-1] == "close":
        raise Failure("the dump has no JIT_CODE_CLOSE")
    if closed and run.results[-1] in ("DISK_FULL", "FILE_TOO_LARGE", "IO") and \
            not run.plan_on("close.dump"):
        raise Failure("the dump takes JIT_CODE_CLOSE after an error")


def check_files(run: Run, left: Left, opened: bool, closes_well: bool, sticky: bool) -> None:
    unlinks = run.scenario in UNLINKING
    in_the_way = run.scenario == "stale" and not opened
    stuck = run.plan_on("fstat.dump", "lstat.dump", "unlink.dump")
    leaves_dump = not unlinks or run.scenario == "empty"
    if (left.dump is not None) != (opened and leaves_dump) and not stuck:
        if not in_the_way and not (sticky and run.scenario.startswith("fork") and not run.plans):
            raise Failure(f"the dump is {'left' if left.dump else 'gone'}")
    check_dump(run, left, closes_well, sticky, in_the_way)

    loads = [name.split()[1] for name, result in zip(run.names, run.results)
             if name.split()[0] in ("load", "move") and result == "0"]
    # A map of that name may be another process's of old, if this has made none.
    if left.map is not None and "fchmod.map" in run.calls and not (
            run.scenario.startswith("fork") and sticky and run.plan_on("unlink.map")):
        if unlinks and run.scenario != "stale" and not run.plan_on("fstat.map", "lstat.map",
                                                                   "unlink.map"):
            raise Failure("the perf map is left")
        told = "PERF_MAP" in run.results
        before = ["of-the-parent"] if run.scenario.startswith("fork") else []
        check_prefix(read_map(left.map), before + loads, "the perf map",
                     not told and not sticky and run.names[-1] == "close" and not unlinks)

    wanted = {name.split()[1] for name, result in zip(run.names, run.results)
              if name.startswith("source") and result == "0"}
    if unlinks or not opened:
        wanted = set()
    there = set(left.sources)
    if not wanted <= there:
        raise Failure(f"the files of the sources {wanted - there} are missing")
    if there - wanted and not sticky and not run.plan_on("fstat.source", "lstat.source",
                                                         "unlink.source"):
        raise Failure(f"the files of the sources {there - wanted} are left")
    for path in wanted:
        with open(left.sources[path], "rb") as file:
            text = file.read()
        if text != code_of(path, len(text)) or len(text) < 100:
            raise Failure(f"the file of the source {path} is not as given")
    for path in left.parents:
        if path.endswith(".dump"):
            read_dump(path, torn=False, child=False)
        elif path.endswith(".new") and not run.plan_on("flock.new", "fstat.new", "lstat.new",
                                                               "unlink.new"):
            raise Failure("the file that was to take the dump's place is left")


def check(run: Run, base: Run, left: Left) -> None:
    if run.status != 0:
        raise Failure(f"the process ended with status {run.status:#x}: "
                      + ("it hung" if run.status & 127 == 14 else "it died"))
    problems = [each for each in run.problems
                if not (run.plan_on("munmap") and "left mapped" in each)]
    if problems:
        raise Failure("; ".join(problems))
    expected = run.expected()
    if expected is None or not run.is_short():
        return
    check_results(run, expected, base)
    if expected.undone or run.again:
        check_unmade(run, base, left)
        return
    sticky = expected.kind == "STICKY"
    opened = run.scenario.startswith("fork") or run.results[0] == "0"
    closes_well = opened and not (sticky and run.fired >= 0)
    check_files(run, left, opened, closes_well, sticky)
