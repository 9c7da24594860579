#!/usr/bin/env python3
"""Hours of appends, forks, flushes, opens and closes, and nothing grows.

    export PYTHONPATH=tests JITDUMP_STRESS=build/tests/process/stress/stress
    python3 tests/process/soak/soak.py SECONDS [DIRECTORY]

One stress program for each flush mode, all at the same time. Each makes one dump after the other
with random options, and has another one open all the while. Between two dumps the process is at
rest: then its memory, descriptors, mappings and threads are looked at. A part of the dumps is
compared with the journals, and all are removed. Prints a table; fails if anything has grown, or if
a file is not what the journal says.

JITDUMP_SOAK_SEED repeats the options of a run.
"""
from __future__ import annotations

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Dict, List

from jitdump_tests.harness import MODES, command, dump_path, journals, why_no_forks
from jitdump_tests.verify import Contents, Failure, jitdump_reader

SOURCE_FILES, PERF_MAP = 8, 16
EMBEDDED_SOURCE_FILE = 827346261
FILE_HEADER_SIZE = 40
# Compared with the journals: one in so many rounds.
VERIFY_EVERY = 8
# The first rounds fill the allocator's caches.
WARM_UP = 5


@dataclass
class Source(jitdump_reader.Record):
    """SAMPLY_EMBEDDED_SOURCE_FILE, of the sources that stress.c embeds."""

    size: int

    @classmethod
    def parse(cls, prefix, body) -> "Source":
        path_size, size = body.unpack("II", "SOURCE")
        if not re.fullmatch("source[0-9]", body.string("SOURCE: path")) or path_size != 8:
            raise jitdump_reader.FormatError(prefix[0], "SOURCE: another path")
        if body.rest() != bytes(size):
            raise jitdump_reader.FormatError(prefix[0], "SOURCE: another text")
        return cls(*prefix, size)


EXTENSIONS = {EMBEDDED_SOURCE_FILE: Source}


def random_options(random_: random.Random, forks: bool) -> Dict[str, object]:
    """Of one dump. All are named each time, since the program keeps what is not."""
    code_size_max, operations = random_.choice([(150, 2000), (3000, 1000), (50000, 200),
                                                (200000, 60)])
    return {
        "code_size_max": code_size_max,
        "operations": operations,
        "seed": random_.getrandbits(63),
        "flush_bytes": random_.choice([0, 4096, 1 << 20]),
        "flush_interval_ns": random_.choice([0, 1000, 1000000]),
        "flush_every": random_.choice([0, 7, 100]),
        "size_limit": random_.choice([0, 0, 0, 2000000]),
        "signal_interval_us": random_.choice([0, 0, 1000]),
        "dialect": random_.choice(["perf", "samply-2023", "samply-2026"]),
        "flags": random_.choice([0, SOURCE_FILES, PERF_MAP, SOURCE_FILES | PERF_MAP]),
        "sources": random_.choice([0, 1, 4]),
        "children": random_.choice([0, 1, 3]) if forks else 0,
        "child_operations": random_.choice([0, 5, 40]),
        "generations": random_.choice([1, 1, 2]),
        "child_end": random_.choice(["close", "exit", "flush+_exit"]),
    }


@dataclass
class Sample:
    """The process at rest, in bytes and numbers."""

    seconds: float
    rss: int
    peak: int
    allocated: int
    descriptors: int
    mappings: int
    threads: int


class Soak:
    def __init__(self, mode: str, directory: str, seed: str) -> None:
        self.mode = mode
        self.random = random.Random(f"{seed} {mode}")
        self.directory = os.path.join(directory, mode)
        self.long_directory = os.path.join(directory, mode + "-long")
        os.mkdir(self.directory)
        os.mkdir(self.long_directory)
        # With an arena for each thread, how many there are is the allocator's whim.
        environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
        self.program = subprocess.Popen(
            command(self.directory, long_directory=self.long_directory, mode=mode, threads=8),
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.samples: List[Sample] = []
        self.rounds = self.records = self.forks = self.flushes = self.verified = 0
        self.verified_records = self.bytes = self.long_bytes = 0

    def run(self, seconds: float, forks: bool) -> None:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds or self.rounds < 2 * WARM_UP:
            options = random_options(self.random, forks)
            words = " ".join(f"--{name.replace('_', '-')} {value}"
                             for name, value in options.items())
            self.program.stdin.write(words + "\n")
            self.program.stdin.flush()
            line = "appending\n"
            while line == "appending\n":
                line = self.program.stdout.readline()
            if not line.startswith("closed "):
                raise Failure(f"{self.mode}: the program ended in round {self.rounds}: {words}")
            _, flushes, allocated = line.split()
            self.flushes += int(flushes)
            self._sample(time.monotonic() - begin, int(allocated))
            try:
                self._end_round(self.rounds % VERIFY_EVERY == 0, options["child_end"] == "flush+_exit")
            except (Failure, jitdump_reader.FormatError) as error:
                raise Failure(f"{self.mode}: round {self.rounds}, {words}: {error}") from error
            self.rounds += 1

    def finish(self) -> None:
        self.program.stdin.close()
        status = self.program.wait()
        pathlib.Path(f"/tmp/perf-{self.program.pid}.map").unlink(missing_ok=True)
        if status != 0:
            raise Failure(f"{self.mode}: exit status {self.program.returncode}")

    def _sample(self, seconds: float, allocated: int) -> None:
        process = f"/proc/{self.program.pid}"
        with open(f"{process}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file)
        with open(f"{process}/maps", encoding="utf-8") as file:
            mappings = len(file.readlines())
        self.samples.append(Sample(
            seconds, int(status["VmRSS"].split()[0]) << 10, int(status["VmHWM"].split()[0]) << 10,
            allocated, len(os.listdir(f"{process}/fd")), mappings, int(status["Threads"])))

    def _end_round(self, verify: bool, torn: bool) -> None:
        processes = journals(self.directory)
        self.forks += len(processes) - 1
        for pid, journal in processes.items():
            self.records += sum(thread.returned for thread in journal.threads)
            path = dump_path(self.directory, pid)
            if os.path.exists(path):
                self.bytes += os.path.getsize(path)
                if verify:
                    contents = Contents(path, journal, extensions=EXTENSIONS)
                    contents.expect_all()
                    self.verified += 1
                    self.verified_records += len(contents.dump.records)
            if pid != self.program.pid:
                self._end_child(pid, verify, torn)
        for name in os.listdir(self.directory):
            os.unlink(os.path.join(self.directory, name))
        self._read_long_dump(verify)

    def _end_child(self, pid: int, verify: bool, torn: bool) -> None:
        """Its part of the long dump is a file of its own, which it has neither flushed nor closed;
        an _exit() can cut a write of the library's thread short. Its perf map is another."""
        path = dump_path(self.long_directory, pid)
        if verify and os.path.exists(path):
            jitdump_reader.read(path, allow_torn_tail=torn)
            self.verified += 1
        for each in (path, f"/tmp/perf-{pid}.map"):
            if os.path.exists(each):
                os.unlink(each)

    def _read_long_dump(self, verify: bool) -> None:
        """What the round has added to it; then the file's blocks go, but not its size."""
        path = dump_path(self.long_directory, self.program.pid)
        size = os.path.getsize(path)
        if verify:
            with open(path, "rb") as file:
                header = file.read(FILE_HEADER_SIZE)
                file.seek(max(FILE_HEADER_SIZE, self.long_bytes))
                jitdump_reader.parse(header + file.read(), os.path.basename(path))
        # The header stays.
        start, end = 4096, size // 4096 * 4096
        if end > start:
            subprocess.run(["fallocate", "--punch-hole", "--offset", str(start), "--length",
                            str(end - start), path], check=True)
        self.long_bytes = size

    def check(self, sanitized: bool) -> None:
        """That what was there when it was warm is all that there is at the end."""
        warm = self.samples[WARM_UP]
        for sample in self.samples[WARM_UP:]:
            for what in ("descriptors", "threads"):
                if getattr(sample, what) != getattr(warm, what):
                    raise Failure(f"{self.mode}: {getattr(sample, what)} {what} after"
                                  f" {sample.seconds:.0f} s, not {getattr(warm, what)}")
        if sanitized:  # its memory is the sanitizer's
            return
        rest = len(self.samples) - WARM_UP
        first, last = self.samples[WARM_UP:WARM_UP + rest // 2], self.samples[-(rest // 4 + 1):]
        # 256 KiB for what the allocator and the stacks do not give back at once.
        for what, slack in (("rss", 256 << 10), ("allocated", 4096), ("mappings", 2)):
            before = max(getattr(sample, what) for sample in first)
            after = min(getattr(sample, what) for sample in last)
            if after > before + slack:
                raise Failure(f"{self.mode}: {what} was at most {before} in the first half, but is"
                              f" at least {after} in the last quarter")

    def report(self) -> None:
        print(f"{self.mode}: {self.samples[-1].seconds:.0f} s, {self.rounds} dumps of 8 threads,"
              f" {self.records} appends, {self.bytes / 1e9:.2f} GB, {self.forks} forks,"
              f" {self.flushes} flushes; {self.verified} files with {self.verified_records} records"
              f" compared; the long dump: {self.long_bytes / 1e9:.2f} GB")
        end = self.samples[-1].seconds
        for title, since, until in (("first minute", 0, 60), ("10th to 20th minute", 600, 1200),
                                    ("last 10 minutes", max(60, end - 600), end + 1)):
            part = [sample for sample in self.samples[WARM_UP:] if since <= sample.seconds < until]
            if part:
                ranges = ", ".join(f"{what} {_range(part, what)}" for what in (
                    "rss", "peak", "allocated", "descriptors", "mappings", "threads"))
                print(f"    {title}: {ranges}")
        sys.stdout.flush()


def _range(samples: List[Sample], what: str) -> str:
    values = [getattr(sample, what) for sample in samples]
    return f"{min(values)}..{max(values)}" if min(values) != max(values) else str(values[0])


def main() -> int:
    seconds = float(sys.argv[1])
    seed = os.environ.get("JITDUMP_SOAK_SEED", os.urandom(8).hex())
    sanitized = bool(why_no_forks())
    print(f"seed {seed}{', without forks' if sanitized else ''}", flush=True)
    directory = tempfile.mkdtemp(prefix="jitdump-soak-", dir=(sys.argv[2:] or [None])[0])
    soaks = [Soak(mode, directory, seed) for mode in MODES]
    errors: List[BaseException] = []

    def run(soak: Soak) -> None:
        try:
            soak.run(seconds, not sanitized)
            soak.finish()
            soak.check(sanitized)
        except BaseException as error:  # told below, by the main thread
            soak.program.kill()
            errors.append(error)

    threads = [threading.Thread(target=run, args=(soak,)) for soak in soaks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for soak in soaks:
        if soak.samples:
            soak.report()
    if errors:
        for error in errors:
            print(f"FAILED: {error!r}", file=sys.stderr)
        print(f"{directory} is kept", file=sys.stderr)
        return 1
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
