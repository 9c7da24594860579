"""What the drivers of the stress program share.

The program's path comes in $JITDUMP_STRESS, and in $JITDUMP_EMULATOR what runs the programs of
other machines. $JITDUMP_STRESS_SCALE, 1 if it is not set, lengthens
or shortens the tests.
"""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from typing import Dict, List

from jitdump_tests.journal import Journal
from jitdump_tests.verify import Contents, Failure

EMULATOR = os.environ.get("JITDUMP_EMULATOR", "").split()
PROGRAM = [*EMULATOR, os.environ["JITDUMP_STRESS"]]
SCALE = float(os.environ.get("JITDUMP_STRESS_SCALE", "1"))

MODES = ("write-through", "buffered", "background")


def scaled(count: int) -> int:
    return max(1, round(count * SCALE))


def command(directory: str, **options: object) -> List[str]:
    """The program's command line; `code_size_max=300` becomes `--code-size-max 300`."""
    line = [*PROGRAM, "--directory", directory]
    for name, value in options.items():
        if value is not None:
            line += ["--" + name.replace("_", "-"), str(value)]
    return line


def why_no_forks() -> str:
    """Why this build of the program can't be tried with children; empty if it can."""
    if EMULATOR:
        return "qemu-user aborts where the child of a process with threads starts one"
    with tempfile.TemporaryDirectory(prefix="jitdump-stress-") as directory:
        result = subprocess.run(command(directory, operations=1, children=1), capture_output=True,
                                text=True, check=False)
    return result.stderr.strip() if result.returncode == 77 else ""


def journals(directory: str) -> Dict[int, Journal]:
    """The journals in the directory by pid."""
    names = (re.fullmatch(r"journal-([0-9]+)", name) for name in os.listdir(directory))
    return {int(name[1]): Journal(os.path.join(directory, name[0])) for name in names if name}


def dump_path(directory: str, pid: int) -> str:
    return os.path.join(directory, f"jit-{pid}.dump")


class Run:
    """One run of the program to its end, in a directory that lives as long as the `with`."""

    def __init__(self, *, exit_status: int = 0, **options: object) -> None:
        self.what = " ".join(f"{name}={value}" for name, value in options.items()
                             if value is not None)
        self._directory = tempfile.TemporaryDirectory(prefix="jitdump-stress-")
        self.directory = self._directory.name
        environment = dict(os.environ)
        if options.get("end") in ("exit", "return"):
            # The handle is not on the heap: what only an open dump refers to looks leaked.
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        started = time.monotonic()
        self.result = subprocess.run(command(self.directory, **options), capture_output=True,
                                     text=True, check=False, env=environment)
        self.seconds = time.monotonic() - started
        if self.result.returncode != exit_status:
            raise Failure(f"{self.what}: exit status {self.result.returncode}, not {exit_status}:"
                          f" {self.result.stderr}")
        self.journals = journals(self.directory)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def dumps(self) -> List[int]:
        """The pids of the dumps that are there."""
        names = (re.fullmatch(r"jit-([0-9]+)\.dump", name) for name in os.listdir(self.directory))
        return [int(name[1]) for name in names if name]

    def contents(self, pid: int, *, torn_tail: bool = False) -> Contents:
        return Contents(dump_path(self.directory, pid), self.journals[pid], torn_tail=torn_tail)

    def only(self, **options: bool) -> Contents:
        """The contents of the one dump there is."""
        pid, = self.dumps()
        return self.contents(pid, **options)

    def report(self, *contents: Contents) -> None:
        """A line for the log."""
        records = sum(len(each.dump.records) for each in contents)
        size = sum(each.dump.size for each in contents)
        print(f"{self.what}: {len(contents)} dumps, {records} records, {size / 1e6:.1f} MB,"
              f" appended in {self.seconds:.2f} s", flush=True)
