#!/usr/bin/env python3
"""SIGKILL at random moments of processes that append: what was promised is in the file, and
nothing is missing but a suffix.

The process counts in a shared mapping which appends have returned (journal.h), so that the
count survives it. What the modes promise:

- write-through, one thread: every append that has returned is in the file;
- several threads, or another mode: every append that had returned before the call of a
  jitdump_flush() that has returned;
- always: what is missing of the rest is a suffix of the file's order, without a hole, and
  the file reads up to its last whole record.
"""
from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Dict, List, Tuple

from jitdump_tests.harness import command, dump_path, journals, scaled, why_no_forks
from jitdump_tests.verify import Contents, Failure, jitdump_reader

FILE_HEADER_SIZE = 40
# More than is done before the kill, by all threads, and no more than can be verified quickly.
OPERATIONS = 40000


@dataclass
class Scenario:
    name: str
    kills: int
    options: Dict[str, Any]
    code_sizes: Tuple[int, ...] = (300, 4000, 200000)
    # The kill comes up to so long after the first append.
    latest_s: float = 0.006


CHILDREN = {"children": 4, "fork_every": 50, "child_end": "pause"}
TIME_TO_FORK = {"code_sizes": (300, 4000), "latest_s": 0.015}
SCENARIOS = [
    Scenario("write-through, 1 thread", 100, {"mode": "write-through", "threads": 1}),
    Scenario("write-through, 1 thread, small blocks", 30,
             {"mode": "write-through", "threads": 1, "flush_bytes": 4096}),
    Scenario("write-through, 8 threads", 80,
             {"mode": "write-through", "threads": 8, "flush_every": 16}),
    Scenario("write-through, 8 threads, small blocks", 40,
             {"mode": "write-through", "threads": 8, "flush_every": 16, "flush_bytes": 4096}),
    Scenario("write-through, 8 threads, flushing signals", 20,
             {"mode": "write-through", "threads": 8, "flush_every": 16, "signal_interval_us": 200}),
    Scenario("buffered, 8 threads", 30, {"mode": "buffered", "threads": 8, "flush_every": 64}),
    Scenario("background, 8 threads", 30, {"mode": "background", "threads": 8, "flush_every": 64}),
    Scenario("write-through, 1 thread, 4 children", 20,
             {"mode": "write-through", "threads": 1, **CHILDREN}, **TIME_TO_FORK),
    Scenario("write-through, 4 threads, 4 children", 20,
             {"mode": "write-through", "threads": 4, "flush_every": 16, **CHILDREN},
             **TIME_TO_FORK),
    Scenario("background, 4 threads, 4 children", 20,
             {"mode": "background", "threads": 4, "flush_every": 64, **CHILDREN},
             **TIME_TO_FORK),
]


@dataclass
class Outcome:
    """Of one kill, or of all of a scenario."""

    kills: int = 0
    dumps: int = 0
    records: int = 0
    promised: int = 0
    # Dumps whose process was killed before it had appended all; which end within a record or a
    # group; which lack appends that had returned, as they may.
    midway: int = 0
    torn: int = 0
    suffix_lost: int = 0
    failures: List[str] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def check_all(directory: str, options: Dict[str, Any], outcome: Outcome) -> None:
    strict = options["mode"] == "write-through" and options["threads"] == 1
    for pid, journal in journals(directory).items():
        path = dump_path(directory, pid)
        if not os.path.exists(path) or os.path.getsize(path) < FILE_HEADER_SIZE:
            # A child that was killed before its first append had a file.
            if any(thread.returned for thread in journal.threads):
                raise Failure(f"{path}: there is no dump, but appends have returned")
            continue
        contents = Contents(path, journal, torn_tail=True)
        promised = [thread.returned if strict else thread.flushed for thread in journal.threads]
        contents.expect_prefix(promised)
        returned = [thread.returned for thread in journal.threads]
        outcome.dumps += 1
        outcome.records += len(contents.dump.records)
        outcome.promised += sum(promised)
        outcome.midway += any(count < journal.operations for count in returned)
        outcome.torn += contents.dump.torn_bytes > 0 or bool(contents.dump.unfinished)
        outcome.suffix_lost += any(have < count for have, count in zip(contents.present, returned))


def kill_one(scenario: Scenario, seed: int) -> Outcome:
    outcome = Outcome(kills=1)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="jitdump-kill-") as directory:
        threads = scenario.options["threads"] * (1 + scenario.options.get("children", 0))
        line = command(directory, operations=OPERATIONS // threads,
                       code_size_max=chance.choice(scenario.code_sizes), seed=seed, end="pause",
                       **scenario.options)
        with subprocess.Popen(line, stdout=subprocess.PIPE, start_new_session=True) as process:
            process.stdout.readline()
            time.sleep(chance.uniform(0, scenario.latest_s))
            os.killpg(process.pid, signal.SIGKILL)
            # Its children have the pipe too: at its end all are dead, and their writes done.
            process.stdout.read()
        try:
            if process.returncode != -signal.SIGKILL:
                raise Failure(f"the program ended by itself, with {process.returncode}")
            check_all(directory, scenario.options, outcome)
        except (Failure, jitdump_reader.FormatError) as error:
            outcome.failures.append(f"seed {seed}: {error}\n    {' '.join(line)}")
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32),
                        help="of the first kill; the next has the next number")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    arguments = parser.parse_args()
    seed = arguments.seed
    print(f"first seed: {seed}", flush=True)
    no_forks = why_no_forks()
    total = Outcome()
    with ProcessPoolExecutor() as pool:
        for scenario in SCENARIOS:
            if arguments.only not in scenario.name:
                continue
            if no_forks and "children" in scenario.options:
                print(f"{scenario.name} ... skipped {no_forks!r}")
                continue
            sum_of = Outcome()
            started = time.monotonic()
            kills = [pool.submit(kill_one, scenario, seed + i)
                     for i in range(scaled(scenario.kills))]
            seed += len(kills)
            for kill in kills:
                sum_of.add(kill.result())
            print(f"{scenario.name}: {sum_of.kills} kills, {sum_of.midway} of {sum_of.dumps} dumps"
                  f" midway, {sum_of.records} records, {sum_of.promised} appends promised,"
                  f" {sum_of.torn} torn tails, {sum_of.suffix_lost} suffixes lost,"
                  f" {len(sum_of.failures)} failures, {time.monotonic() - started:.1f} s",
                  flush=True)
            total.add(sum_of)
    for failure in total.failures:
        print(failure, file=sys.stderr)
    # If hardly any process was killed while it appended, nothing was tested.
    if total.midway < total.dumps / 2:
        print(f"only {total.midway} of {total.dumps} dumps were cut midway", file=sys.stderr)
        return 1
    print(f"{total.kills} kills, {len(total.failures)} failures")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
