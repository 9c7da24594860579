#!/usr/bin/env python3
"""What it costs to give a profile its names, and then to look at it: perf inject --jit and jitdump inject on the
same recording, in one run.

    inject.py BUILD [--functions N]... [--calls N] [--perfs FOLDER] [--limit SECONDS]

A process with N functions (1000, 10 000 and 100 000 if none is named), ten lines each, or with --calls so
many inlined calls each, is recorded with call chains. For each perf (the one on the path; with --perfs also
those of other Debian releases, which tests/other-perfs.sh puts into the folder): processor
time, time by the clock, memory, and what is on the disk of the injection; then the times of `perf report`
and of `perf script` with source lines. What takes longer than the limit, 60 s of processor time, is killed.
Prints tables for docs/performance.md. A figure is one run's: of interest are the ratios.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from jitdump_tests.readings import OURS, THEIRS, Perf, perfs  # noqa: E402

RECORD = ["record", "-k", "mono", "-e", "cpu-clock:u", "-F", "1999", "-g", "--no-bpf-event"]
REPORT = ["report", "--stdio"]
SCRIPT = ["script", "-G", "-F", "ip,sym,srcline"]
CPU_MS = 1500


class Cost(NamedTuple):
    seconds: float  # of processor time
    clock: float
    megabytes: float
    killed: bool
    status: int

    def cells(self) -> list[str]:
        if self.killed:
            return [f"> {self.seconds:.0f}", f"> {self.clock:.0f}"]
        return [f"{each:.3f}" if each < 0.1 else f"{each:.2f}" for each in (self.seconds, self.clock)]


def run(command: list[object], limit: float, **options: object) -> Cost:
    """Killed when it has taken the limit in processor time, by the kernel."""
    import resource
    seconds = int(limit)
    start = time.monotonic()

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, preexec_fn=bound,
                          **options) as child:
        _, status, used = os.wait4(child.pid, 0)
        clock = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    taken = used.ru_utime + used.ru_stime
    return Cost(taken, clock, used.ru_maxrss / 1024, child.returncode < 0 and taken > 0.9 * seconds,
                child.returncode)


def on_disk(directory: pathlib.Path) -> tuple[int, float]:
    """Files, and megabytes of blocks."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_blocks for path in files) * 512 / 1e6


class Bench:
    def __init__(self, build: pathlib.Path, limit: float, directory: pathlib.Path) -> None:
        self.tool = build / "src" / "tool" / "jitdump"
        self.program = build / "tests" / "tool" / "tool_large_dump"
        self.limit = limit
        self.directory = directory

    def record(self, functions: int, calls: int) -> pathlib.Path:
        folder = self.directory / f"jitted-{functions}"
        folder.mkdir()
        subprocess.run(["perf", *RECORD, "-o", folder / "perf.data", "--", self.program, folder,
                        str(functions), str(calls), "1", str(CPU_MS)], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return folder

    def inject(self, who: Perf, by: str, folder: pathlib.Path, output: pathlib.Path) -> Cost:
        """What is on the disk afterwards is in `output`."""
        recorded = folder / "perf.data"
        if by == OURS:
            return run([self.tool, "inject", "-i", recorded, "-o", output / "perf.data"], self.limit)
        # perf puts its files beside the dump.
        here = {path.name for path in folder.iterdir()}
        cost = run([who.program, "--buildid-dir", "/dev/null", "inject", "--jit", "-i", recorded, "-o",
                    output / "perf.data"], self.limit, cwd=folder)
        for path in list(folder.iterdir()):
            if path.name not in here:
                self.made.append(path)
        return cost

    def compare(self, who: Perf, functions: int, folder: pathlib.Path) -> list[list[str]]:
        rows, totals = [], {}
        for by in (THEIRS, OURS):
            output = self.directory / "output"
            output.mkdir()
            self.made: list[pathlib.Path] = []
            injected = self.inject(who, by, folder, output)
            files, megabytes = on_disk(output)
            files += len(self.made)
            megabytes += sum(path.stat().st_blocks for path in self.made) * 512 / 1e6
            data = output / "perf.data"
            looks = [run([who.program, *what, "-i", data], self.limit) if injected.status == 0 else None
                     for what in (REPORT, SCRIPT)]
            totals[by] = (injected, *looks)
            rows.append([f"{functions}", who.version, by, *injected.cells(),
                         f"{injected.megabytes:.0f}", f"{megabytes:.0f}", f"{files}",
                         *(cell for look in looks for cell in (look.cells() if look else "--"))])
            self.put_away(output)
        rows.append(self.ratios(totals[THEIRS], totals[OURS]))
        return rows

    def put_away(self, output: pathlib.Path) -> None:
        """Nothing is deleted before the end: ext4 steps over inodes that were deleted in the last minutes,
        one by one, for each file that is made, and the next injection would take ten times as long."""
        kept = pathlib.Path(tempfile.mkdtemp(prefix="kept-", dir=self.directory))
        for path in (output, *self.made):
            path.rename(kept / path.name)

    @staticmethod
    def ratios(theirs: tuple[Optional[Cost], ...], ours: tuple[Optional[Cost], ...]) -> list[str]:
        def ratio(first: float, second: float, more: bool) -> str:
            return f"{'> ' if more else ''}{first / max(second, 0.001):.0f} ×"
        cells = [cell for a, b in zip(theirs, ours)
                 for cell in ((ratio(a.seconds, b.seconds, a.killed), ratio(a.clock, b.clock, a.killed))
                              if a and b else "--")]
        if theirs[1] and ours[1]:
            both = " and ".join(
                ratio(getattr(theirs[0], which) + getattr(theirs[1], which),
                      getattr(ours[0], which) + getattr(ours[1], which), theirs[1].killed)
                for which in ("seconds", "clock"))
        else:
            both = "-"
        return ["", "", f"ratio; inject and report {both}", *cells[:2], "", "", "", *cells[2:]]


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of injecting a profile and of looking at it.")
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--functions", type=int, action="append")
    parser.add_argument("--calls", type=int, default=0)
    parser.add_argument("--perfs")
    parser.add_argument("--limit", type=float, default=60)
    arguments = parser.parse_args()
    if arguments.perfs:
        os.environ["JITDUMP_PERFS"] = arguments.perfs
    titles = ["functions", "perf", "", "inject, s", "clock", "MB", "on disk, MB", "files", "report, s", "clock",
              "script, s", "clock"]
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    with tempfile.TemporaryDirectory(prefix="jitdump-bench-", dir="/var/tmp") as directory:
        bench = Bench(arguments.build, arguments.limit, pathlib.Path(directory))
        for functions in arguments.functions or [1000, 10000, 100000]:
            folder = bench.record(functions, arguments.calls)
            for who in perfs():
                for row in bench.compare(who, functions, folder):
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
