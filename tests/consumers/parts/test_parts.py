"""A function in two parts under one name: each sample of either has the name, its line, and the caller
of the whole."""

import bisect
import collections
import os
import subprocess
from typing import List, Tuple

from jitdump_tests import perf
from jitdump_tests.perf_case import SAMPLES_MIN, PerfTest

TOOL = os.environ.get("JITDUMP_TOOL", "")
RIGHT_MIN = 0.99


class Parts(PerfTest):
    def check(self, samples: List[perf.Sample], places: List[Tuple[int, int]], reader: str) -> None:
        begins = [begin for begin, _ in places]
        counts: "collections.Counter[str]" = collections.Counter()
        of_line: "collections.Counter[int]" = collections.Counter()
        for sample in samples:
            index = bisect.bisect_right(begins, sample.ip) - 1
            line = places[index][1] if index >= 0 else 0
            if line == 0:
                continue
            of_line[line] += 1
            counts["all"] += 1
            counts["name"] += sample.symbol == "split"
            counts["line"] += sample.line == line
            counts["chain"] += sample.chain[:3] == ["split", "call_split", "main"]
        print(f"parts: {reader}: {dict(counts)}, by line {dict(sorted(of_line.items()))}")
        self.assertGreaterEqual(counts["all"], SAMPLES_MIN)
        self.assertGreater(min(of_line[12], of_line[21]), SAMPLES_MIN / 10)
        for what in ("name", "line", "chain"):
            self.assertGreaterEqual(counts[what], RIGHT_MIN * counts["all"], what)

    def test(self) -> None:
        session = self.session()
        session.call_graph = ["--call-graph", "dwarf,2048"]
        done = session.perf(*perf.RECORD, *perf.MONOTONIC, *session.call_graph, "-o", session.data,
                            "--", perf.WORKLOAD)
        places = sorted((int(address, 16), int(line)) for address, line in
                        (row.split() for row in done.stdout.splitlines() if row[0] != "#"))
        session.inject()
        self.check(session.samples(), places, "perf inject")
        if TOOL:
            session.injected = session.directory / "named.data"
            subprocess.run([TOOL, "inject", "-i", session.data, "-o", session.injected], check=True)
            self.check(session.samples(), places, "jitdump inject")
