"""What the tests of real runtimes have in common: perf's samples against a listing of the runtime's
functions."""
from __future__ import annotations

import collections
import os
import sys
from typing import Callable, Collection, Dict, List, Optional, Sequence, Union

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.listing import DumpListing, Listing
from jitdump_tests.perf_case import PerfTest

COLLECTOR = os.environ["JITDUMP_COLLECTOR"]
SAMPLES_MIN = 300
CHAINS_MIN = 50
RIGHT_MIN = 0.99
DWARF = ("--call-graph", "dwarf")
FIELDS = "comm,pid,tid,time,ip,sym"


class RuntimeTest(PerfTest):
    def setUp(self) -> None:
        super().setUp()
        self.recording = self.session()

    def record(self, command: Sequence[object], options: Sequence[str] = (), **environment: str) -> int:
        """Runs it under perf; the pid of the one process that has a dump."""
        words = [f"{name}={value}" for name, value in environment.items()]
        self.output = self.recording.perf(*perf.RECORD, *perf.MONOTONIC, *options, "-o",
                                          self.recording.data, "--", "env", *words, *command).stdout
        (dump,) = self.recording.directory.glob("jit-*.dump")
        jitdump_reader.read(str(dump), allow_torn_tail=True)
        return int(dump.stem.split("-")[1])

    def python(self, module: str) -> str:
        """A Python that has the package: $JITDUMP_TESTS_PYTHON, or the one that runs this."""
        python = os.environ.get("JITDUMP_TESTS_PYTHON", sys.executable)
        if perf.run([python, "-c", f"import {module}"], check=False).returncode != 0:
            self.skipTest(f"{python} has no package {module}")
        return python

    # perf inject, as everybody has it

    def samples(self, pid: int) -> List[perf.Sample]:
        self.recording.inject()
        text = self.recording.script("-G", "-F", FIELDS)
        return [sample for sample in perf.parse_samples(text) if sample.pid == pid]

    def check_names(self, pid: int, listing: Union[Listing, DumpListing]) -> None:
        """Of the samples where the listing has a function, at least 99 % have its name."""
        found: Dict[str, int] = collections.Counter()
        wrong: Dict[str, int] = collections.Counter()
        for sample in self.samples(pid):
            names = listing.at(sample.ip, sample.time)
            if names is None:
                continue
            if sample.symbol in names:
                found["right"] += 1
            elif sample.symbol == "[unknown]":
                found["unknown"] += 1
            else:
                found["wrong"] += 1
                wrong[f"{sample.symbol} not {names[-1]}"] += 1
        self.check_found("samples", found, wrong)

    def check_found(self, what: str, found: Dict[str, int], wrong: Dict[str, int],
                    least: int = SAMPLES_MIN) -> None:
        total = sum(found.values())
        print(f"{what}: {self.id()} n={total} {dict(found)} {collections.Counter(wrong).most_common(3)}")
        self.assertGreaterEqual(total, least)
        self.assertGreaterEqual(found["right"], RIGHT_MIN * total)

    # jitdump inject

    def check_chains(self, pid: int, listing: Union[Listing, DumpListing], roots: Collection[str]) -> None:
        """Of the samples where the listing has a function, at least 99 % have one of the roots among their
        callers."""
        self.recording.inject_by_tool()
        samples = list(perf.parse_samples(self.recording.script("-G", "-F", FIELDS)))
        chains = list(perf.parse_chains(self.recording.script("--no-inline", "-F", FIELDS)))
        self.assertEqual(len(chains), len(samples))
        found: Dict[str, int] = collections.Counter()
        ends: Dict[str, int] = collections.Counter()
        for sample, chain in zip(samples, chains):
            if sample.pid == pid and listing.at(sample.ip, sample.time) is not None:
                right = not set(roots).isdisjoint(chain)
                found["right" if right else "ends early"] += 1
                if not right:
                    ends[" <- ".join(chain[-3:])] += 1
        self.check_found("chains", found, ends, CHAINS_MIN)

    def check_lines(self, pid: int, expected: Callable[[perf.Sample], Optional[Collection[int]]]) -> None:
        """Of the samples of which something is expected, at least 99 % have one of those lines."""
        self.recording.inject_by_tool()
        text = self.recording.script("-G", "-F", FIELDS + ",srcline", "--dsos", f"jit-{pid}.elf")
        found: Dict[str, int] = collections.Counter()
        wrong: Dict[str, int] = collections.Counter()
        for sample in perf.parse_samples(text):
            lines = expected(sample)
            if lines is not None:
                right = sample.line in lines
                found["right" if right else "wrong"] += 1
                if not right:
                    wrong[f"{sample.symbol} {sample.file}:{sample.line}"] += 1
        self.check_found("lines", found, wrong)
