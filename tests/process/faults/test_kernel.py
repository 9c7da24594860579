#!/usr/bin/env python3
"""Faults that the kernel makes: limits, full and forbidden file systems, a filter of system calls,
and files that someone else cuts or removes. The process must live, the errors be documented ones,
and the files hold what was accepted.

The path of the program comes in $JITDUMP_FAULTS. What needs file systems of its own makes them in
a mount namespace, and is skipped where that can't be had.
"""
from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Iterator, List, Optional, Set

from jitdump_tests.fault_contents import Failure, Left
from jitdump_tests.fault_errors import FILE_ERRORS, MARKER_ERRORS, NAMES, STICKY
from jitdump_tests.fault_runs import MODES, SKIPPED, Program, Run, check_files
from jitdump_tests.jitdump_reader import FormatError

WRITE_ERRORS = {"SOURCE_FILE", "PERF_MAP"}
PAGE = 4096
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
IN_NAMESPACE = "JITDUMP_FAULTS_IN_NAMESPACE"


def check(run: Run, left: Left, allowed: Set[str]) -> None:
    if run.status != 0:
        raise Failure(f"the process ended with status {run.status:#x}")
    problems = [each for each in run.problems
                if not (run.plan_on("munmap") and "left mapped" in each)
                and not ("close" in " ".join(run.conditions) and "descriptors" in each)]
    if problems:
        raise Failure("; ".join(problems))
    errors = {result for result in run.results if result != "0"}
    if not errors <= allowed:
        raise Failure(f"errors {errors}, of which only {allowed} can be: {run.steps}")
    opened = run.scenario.startswith("fork") or run.results[0] == "0"
    # Out of use is out of use.
    appends = [result for name, result in zip(run.names, run.results)
               if name.split()[0] in ("load", "move", "raw")]
    first = next((i for i, result in enumerate(appends) if result in STICKY), None)
    if first is not None and run.scenario != "threads" and \
            any(result != appends[first] for result in appends[first:]):
        raise Failure(f"a sticky error that did not stay: {run.steps}")
    # Of a child, the first append's error may be that it could not make its dump.
    started = opened and not (run.scenario.startswith("fork") and run.results[0] != "0")
    closes_well = started and run.names[-1] == "close" and run.results[-1] in ("0", "PERF_MAP")
    check_files(run, left, opened, closes_well, not closes_well)


class Kernel(unittest.TestCase):
    def setUp(self) -> None:
        self.program = Program()
        self.made = 0

    def tearDown(self) -> None:
        self.program.end()
        print(f"{self.id().rpartition('.')[2]}: {self.made} runs", flush=True)

    def run_one(self, scenario: str, mode: int, allowed: Set[str], *conditions: str,
                directory: str = "") -> Optional[Run]:
        with self.subTest(scenario=scenario, mode=MODES[mode], conditions=conditions), \
                tempfile.TemporaryDirectory(prefix="jitdump-faults-") as temporary:
            run = self.program.run(scenario, mode, directory or temporary, [], conditions)
            if run.status == SKIPPED:
                self.skipTest("not with a sanitizer")
            self.made += 1
            left = Left.find(directory or temporary, run.dumper)
            try:
                check(run, left, allowed)
            except (Failure, FormatError) as failure:
                self.fail(str(failure))
            finally:
                Left.find(directory or temporary, run.dumper).remove()
            return run

    def steps(self, scenario: str) -> List[str]:
        with tempfile.TemporaryDirectory(prefix="jitdump-faults-") as directory:
            run = self.program.run(scenario, 0, directory, [])
            Left.find(directory, run.dumper).remove()
        return [name.replace(" ", "_") for name in run.names]

    def test_file_size_limit_before_open(self) -> None:
        """Of every size, also in the midst of a record."""
        for mode in range(3):
            for scenario, sizes in (("all", range(0, 33000, 397)), ("plain", range(0, 1000, 13)),
                                    ("fork", range(0, 800, 29))):
                for size in sizes:
                    allowed = WRITE_ERRORS | {"FILE_TOO_LARGE"}
                    step = "fork" if scenario == "fork" else ""
                    self.run_one(scenario, mode, allowed, f"fsize@{step}:{size}")

    def test_file_size_limit_lowered_later(self) -> None:
        for mode in range(3):
            for scenario in ("all", "unlink", "exit", "threads"):
                for step in self.steps(scenario)[:-1]:
                    for size in (0, 40, 500, 20000):
                        self.run_one(scenario, mode, WRITE_ERRORS | {"FILE_TOO_LARGE"},
                                     f"fsize@{step}:{size}")

    def test_no_descriptor(self) -> None:
        for mode in range(3):
            for scenario in ("all", "unlink", "fork", "tsc"):
                for descriptors in range(3, 8):
                    step = "fork" if scenario == "fork" else ""
                    self.run_one(scenario, mode, WRITE_ERRORS | {"TOO_MANY_FILES"} |
                                 {name for name in NAMES.values() if name.startswith("CLOCK")},
                                 f"nofile@{step}:{descriptors}")

    def test_no_address_space(self) -> None:
        """The limit goes up until all is well."""
        for mode in range(3):
            for scenario in ("all", "plain"):
                for step in ("", "open"):
                    room, succeeded = 0, False
                    while not succeeded and room < 64 << 20:
                        run = self.run_one(scenario, mode, {"NO_MEMORY", "THREAD", "PERF_MAP"},
                                           f"as@{step}:{room}")
                        if run is None:
                            return
                        succeeded = set(run.results) == {"0"}
                        room = room + 4 * PAGE if room < 1 << 20 else 2 * room
                    self.assertTrue(succeeded)

    def test_filtered_system_calls(self) -> None:
        """As a sandbox does it that is put on before the open, or after."""
        anything = set(FILE_ERRORS.values()) | set(MARKER_ERRORS.values()) | WRITE_ERRORS | \
            {"IO", "THREAD", "FILE_FOREIGN", "CLOCK_NOT_PERMITTED"}
        calls = ("close", "clone3", "clone", "fchmod", "flock", "fstatat", "ftruncate", "lseek",
                 "mmap", "munmap", "openat", "prctl", "pread64", "readlink", "rt_sigpending",
                 "rt_sigprocmask", "rt_sigtimedwait", "unlink", "writev")
        for mode in range(3):
            for scenario in ("all", "unlink", "stale", "exit"):
                for step in ("", "open", "load_plain"):
                    for call in calls:
                        # Without the process's start, what is in the way counts as living.
                        doubt = {"FILE_IN_USE"} if (call, scenario) == ("pread64", "stale") else set()
                        for number in (errno.EPERM, errno.EACCES, errno.ENOSYS):
                            self.run_one(scenario, mode, anything | doubt,
                                         f"seccomp@{step}:{number}:{call}")

    def test_dump_cut_underneath(self) -> None:
        """Appends go on behind what is left of it. What is in it then is not the library's."""
        for mode in range(3):
            for step in self.steps("plain")[:-1]:
                for size in (0, 20, 40, 100):
                    self.run_gone("plain", mode, set(), f"truncate@{step}:{size}", ["dump"])

    def test_dump_and_directory_removed(self) -> None:
        """What is open can be written. A child finds no place for its own."""
        for mode in range(3):
            for step in self.steps("plain")[:-1]:
                for what in ("unlink", "rmdir"):
                    self.run_gone("plain", mode, set(), f"{what}@{step}:0", [])
            self.run_gone("fork", mode, {"DIRECTORY_MISSING"}, "rmdir@flush:0", [])

    def run_gone(self, scenario: str, mode: int, errors: Set[str], condition: str,
                 kinds: List[str]) -> None:
        with self.subTest(scenario=scenario, mode=MODES[mode], condition=condition), \
                tempfile.TemporaryDirectory(prefix="jitdump-faults-") as temporary:
            directory = os.path.join(temporary, "in")
            os.mkdir(directory)
            run = self.program.run(scenario, mode, directory, [], (condition,))
            self.made += 1
            self.assertEqual(run.status, 0)
            self.assertEqual([each for each in run.problems if "files are gone" not in each], [])
            self.assertEqual(set(run.results) - {"0"}, errors)
            there = os.listdir(directory) if os.path.isdir(directory) else []
            self.assertEqual([name.rpartition(".")[2] for name in there], kinds)


class FileSystems(Kernel):
    """In a mount namespace, which the whole program is run in anew."""

    def setUp(self) -> None:
        if IN_NAMESPACE not in os.environ:
            self.skipTest("no file systems can be mounted here")
        super().setUp()
        self._mount = tempfile.TemporaryDirectory(prefix="jitdump-faults-")
        self.directory = self._mount.name

    def tearDown(self) -> None:
        super().tearDown()
        self._mount.cleanup()

    def mounted(self, options: str) -> Iterator[str]:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.directory], check=True)
        try:
            yield self.directory
        finally:
            subprocess.run(["umount", self.directory], check=True)

    def test_every_size_of_disk(self) -> None:
        for size in range(1, 20):
            for directory in self.mounted(f"size={size * PAGE}"):
                for mode in range(3):
                    for scenario in ("all", "plain", "fork", "threads"):
                        self.run_one(scenario, mode, {"DISK_FULL", "SOURCE_FILE"},
                                     directory=directory)

    def test_every_number_of_files(self) -> None:
        for files in range(1, 5):
            for directory in self.mounted(f"nr_inodes={files}"):
                for mode in range(3):
                    self.run_one("all", mode, {"DISK_FULL", "SOURCE_FILE"}, directory=directory)

    def test_forbidden(self) -> None:
        for option, error in (("ro", "DIRECTORY_NOT_WRITABLE"), ("noexec", "DIRECTORY_NOEXEC")):
            for directory in self.mounted(option):
                for mode in range(3):
                    run = self.run_one("all", mode, {error}, directory=directory)
                    self.assertEqual(run.results, [error])


def load_tests(loader: unittest.TestLoader, tests: object, pattern: object) -> unittest.TestSuite:
    suite = loader.loadTestsFromTestCase(Kernel)
    for name in loader.getTestCaseNames(FileSystems):
        if name not in loader.getTestCaseNames(Kernel):
            suite.addTest(FileSystems(name))
    return suite


if __name__ == "__main__":
    probe = [*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if IN_NAMESPACE not in os.environ and subprocess.run(
            probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        os.environ[IN_NAMESPACE] = "1"
        os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, *sys.argv])
    unittest.main(verbosity=2)
