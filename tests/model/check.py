#!/usr/bin/env python3
"""Checks append_buffer.pml with spin: the model as it is, and that every mutant is refuted.

usage: check.py {model,full,mutants}

`model` takes a minute or two; `full` has larger sizes besides, and takes many. Exit status 77, with a
reason, where there is no spin.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "append_buffer.pml")
SKIPPED = 77


class Sizes(NamedTuple):
    """How many of what. An `oversize` or `flusher` that is out of range means: none."""

    threads: int
    appends: int
    oversize: int = 1
    flusher: int = 1


class Run(NamedTuple):
    variant: str
    sizes: Sizes
    # "all" states; "cycles": the same, for one in which nothing gets on; "sample": as many of
    # too many states as a hash table of 2^28 bits takes, which spin calls bitstate search.
    search: str = "all"


# Two threads that reuse blocks, with every way of flushing; a third thread, which can be overtaken by two
# (SEAL_DOES_NOT_LOOK needs it); the flusher thread; and that always somebody gets on.
MODEL_RUNS = [
    Run("BACKGROUND", Sizes(2, 2, oversize=2, flusher=2)),
    Run("EAGER", Sizes(2, 4, oversize=4, flusher=2)),
    Run("EAGER", Sizes(2, 3)),
    Run("EAGER", Sizes(3, 1, oversize=0, flusher=3)),
    Run("BACKGROUND", Sizes(2, 1, oversize=2, flusher=0)),
    Run("LAZY", Sizes(3, 2, oversize=2, flusher=3)),
    Run("LAZY", Sizes(2, 3)),
    Run("EAGER", Sizes(2, 2), "cycles"),
    Run("LAZY", Sizes(2, 2), "cycles"),
    Run("BACKGROUND", Sizes(1, 3)),
]

# Three threads and a flush besides; and of what is too large to be seen whole, a part.
LARGE_RUNS = [
    Run("EAGER", Sizes(3, 1, oversize=0)),
    Run("LAZY", Sizes(3, 2), "sample"),
    Run("EAGER", Sizes(3, 3), "sample"),
    Run("LAZY", Sizes(3, 3), "sample"),
]

TWO = Sizes(2, 3)
PLAIN = Sizes(2, 3, oversize=3, flusher=2)
MANY = Sizes(2, 4, oversize=4, flusher=2)

# Every mutant with runs of which at least one has to refute it.
MUTANTS: Dict[str, List[Run]] = {
    # The swap must have the last word on the clock's reading.
    "CLOCK_BEFORE_LOAD": [Run("LAZY", PLAIN)],
    # A cursor that others have long passed must not look like a full buffer.
    "FREE_UNSIGNED": [Run("EAGER", Sizes(3, 2, 3, 3)), Run("LAZY", Sizes(3, 2, 3, 3))],
    "RESERVE_DOES_NOT_LOOK": [Run("LAZY", Sizes(2, 4, 4, 2))],
    "SEAL_DOES_NOT_LOOK": [Run("EAGER", Sizes(3, 2)), Run("LAZY", Sizes(3, 2))],
    # Sealer and committer: at least one must see the other.
    "SEALER_DOES_NOT_LOOK": [Run("LAZY", PLAIN)],
    "COMMITTER_DOES_NOT_LOOK": [Run("LAZY", PLAIN)],
    "PREVIOUS_FORGOTTEN": [Run("LAZY", PLAIN)],
    "SEALED_STORE_LATE": [Run("LAZY", PLAIN)],
    "COMMITTED_STORE_LATE": [Run("LAZY", PLAIN)],
    # One holder, who looks once more after it has dropped the flag.
    "NO_FLAG": [Run("LAZY", TWO)],
    "NO_LOOK_AFTER_DROP": [Run("EAGER", PLAIN)],
    "HOLDER_FORGETS_CURRENT": [Run("EAGER", PLAIN)],
    "DROP_STORE_LATE": [Run("EAGER", PLAIN)],
    # The holder offers the flag; who accepts it waits for one write, and then tries the flag.
    # The first two look after the drop as if there were no turns, which then starves.
    "NO_OFFER": [Run("EAGER", MANY)],
    "OFFER_IGNORED": [Run("EAGER", MANY)],
    "LEAVES_WITHOUT_SUCCESSOR": [Run("EAGER", PLAIN)],
    "DROP_OVER_SUCCESSOR": [Run("EAGER", PLAIN)],
    "SUCCESSOR_LEAVES": [Run("EAGER", PLAIN)],
    "TURN_WITHOUT_COMPARISON": [Run("EAGER", PLAIN)],
    "HANDOVER_NOT_COUNTED": [Run("EAGER", Sizes(3, 2, 2, 3))],
    "FULL_BUFFER_TAKES_NO_TURN": [Run("LAZY", TWO)],
    # A block is free only when it has been written and emptied.
    "FREED_BEFORE_WRITTEN": [Run("LAZY", Sizes(2, 4, 4, 2))],
    "FREED_BEFORE_RESET": [Run("LAZY", Sizes(2, 4, 4, 2))],
    # Sleeping on `flushed`.
    "WAITER_DOES_NOT_COUNT": [Run("LAZY", TWO), Run("EAGER", TWO)],
    "WAIT_WITHOUT_COMPARISON": [Run("LAZY", TWO), Run("EAGER", TWO)],
    "FLUSHED_STORE_LATE": [Run("LAZY", TWO), Run("EAGER", TWO)],
    # The flusher thread.
    "SLEEP_WITHOUT_COMPARISON": [Run("BACKGROUND", Sizes(1, 1, 2, 2))],
    "SLEEP_STORE_LATE": [Run("BACKGROUND", Sizes(1, 1, 2, 2))],
    "FLUSHER_WAITS_FOR_APPENDS": [Run("BACKGROUND", Sizes(1, 2, 3, 3))],
}

COMPILE = {
    "all": ["-DSAFETY", "-DCOLLAPSE"],
    "cycles": ["-DNP"],
    "sample": ["-DSAFETY", "-DBITSTATE"],
}
ARGUMENTS = {"all": ["-w26"], "cycles": ["-l"], "sample": ["-w28", "-k3"]}


class Result(NamedTuple):
    errors: int
    complete: bool
    states: int
    seconds: float
    message: str


def verify(run: Run, mutant: Optional[str], parent: str) -> Result:
    """Has spin write the verifier, compiles and runs it."""
    directory = tempfile.mkdtemp(dir=parent)
    definitions = ["-D" + run.variant] + [
        "-D%s=%d" % (field.upper(), value) for field, value in run.sizes._asdict().items()
    ]
    if mutant is not None:
        definitions.append("-DMUTANT_" + mutant)
    subprocess.run(
        ["spin", "-a"] + definitions + [MODEL],
        cwd=directory,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    # spin's own output does not compile without warnings. A mutant is refuted before it is compiled by -O2.
    subprocess.run(
        ["gcc", "-O2" if mutant is None else "-O0", "-w", "-DMEMLIM=4000"] + COMPILE[run.search] + ["-o", "pan", "pan.c"],
        cwd=directory,
        check=True,
    )
    output = subprocess.run(
        ["./pan", "-m100000"] + ARGUMENTS[run.search],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        check=False,
    ).stdout
    errors = re.search(r"errors: (\d+)", output)
    states = re.search(r"([\d.e+]+) states, stored", output)
    seconds = re.search(r"elapsed time ([\d.e+]+)", output)
    if errors is None or states is None or seconds is None:
        sys.exit("no result from the verifier:\n" + output)
    complete = not re.search(r"out of memory|max search depth too small|not completed", output)
    message = re.search(r"^pan:1: (.*)$", output, re.MULTILINE)
    return Result(
        int(errors.group(1)),
        complete,
        int(float(states.group(1))),
        float(seconds.group(1)),
        message.group(1) if message else "",
    )


def describe(run: Run) -> str:
    sizes = run.sizes
    text = "%-10s %d threads x %d appends" % (run.variant, sizes.threads, sizes.appends)
    text += ", oversize" if sizes.oversize < sizes.appends else ""
    text += ", flush" if sizes.flusher < sizes.threads else ""
    return text


def on_all_processors(check: Callable[[Any], Any], of: Iterable[Any]) -> Iterator[Any]:
    """The results, in the order of what they are of."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        yield from threads.map(check, of)


def check_model(runs: List[Run], directory: str) -> bool:
    passed = True
    for run, result in zip(runs, on_all_processors(lambda run: verify(run, None, directory), runs)):
        good = result.errors == 0 and result.complete
        passed = passed and good
        print("%-4s %-50s %-6s %11d states %6.1f s  %s" % (
            "ok" if good else "FAIL", describe(run), run.search, result.states, result.seconds,
            result.message), flush=True)
    return passed


def check_mutants(directory: str) -> bool:
    with open(MODEL, encoding="ascii") as file:
        in_model = set(re.findall(r"\bMUTANT_([A-Z_]+[A-Z])\b", file.read()))
    if in_model != set(MUTANTS):
        print("FAIL the model's mutants are others:", sorted(in_model ^ set(MUTANTS)))
        return False

    def refuted(mutant: str) -> Optional[str]:
        for run in MUTANTS[mutant]:
            result = verify(run, mutant, directory)
            if result.errors != 0:
                return "%s: %s" % (describe(run), result.message)
        return None

    passed = True
    for mutant, refutation in zip(MUTANTS, on_all_processors(refuted, MUTANTS)):
        passed = passed and refutation is not None
        print("%-4s %-26s %s" % ("FAIL" if refutation is None else "ok", mutant, "survives" if refutation is None
                                 else "refuted by " + refutation), flush=True)
    return passed


def main() -> int:
    checks = {"model": lambda directory: check_model(MODEL_RUNS, directory),
              "full": lambda directory: check_model(MODEL_RUNS + LARGE_RUNS, directory),
              "mutants": check_mutants}
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    if shutil.which("spin") is None:
        print("skipped: spin is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        return 0 if checks[sys.argv[1]](directory) else 1


if __name__ == "__main__":
    sys.exit(main())
