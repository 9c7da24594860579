"""Runs the tiered example under the real perf: each sample in generated code has the function and
the line that the example described, for each track, and by the perf map alone too."""
from __future__ import annotations

import collections
import pathlib
import re

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.perf_case import PerfTest
from jitdump_tests.tiered_log import FUNCTIONS, Log

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "examples" / "tiered" / "program.tl"
SAMPLES_MIN = 300
# Half of the time or more in the baseline tier.
BOTH_TIERS = ["--rounds", "16000", "--hot", "40000000"]


class Tiered(PerfTest):
    def setUp(self) -> None:
        super().setUp()
        self.recording = self.session()

    def record(self, *options: str, track: str = "") -> Log:
        self.recording.environment.pop("JITDUMP_TRACK", None)
        if track:
            self.recording.environment["JITDUMP_TRACK"] = track
        log = self.recording.directory / "log"
        self.recording.perf(*perf.RECORD, *perf.MONOTONIC, *self.recording.call_graph,
                          "-o", self.recording.data, "--", perf.WORKLOAD, "--jitdump", "perf", "--log", log, *options, PROGRAM)
        return Log(log)

    def check(self, log: Log, frame_at: int, bytecode: bool = False) -> collections.Counter[str]:
        """The lines of all samples in generated code, each being that of the frame."""
        self.recording.inject()
        lines: collections.Counter[str] = collections.Counter()
        for sample in self.recording.samples():
            place = log.at(sample.ip, sample.time)
            if place is None:
                continue
            code, offset = place
            frame = code.chain(offset)[frame_at]
            self.assertEqual(sample.symbol, code.name)
            file = pathlib.Path(sample.file or "").name
            if bytecode:
                self.assertRegex(file, rf"^jit-\d+-\d+-{frame.function}\.bytecode$")
            else:
                self.assertEqual(file, PROGRAM.name)
            self.assertEqual(sample.line, frame.instruction if bytecode else frame.line,
                             f"{code.name}+{offset:#x}")
            lines[f"{code.name} {frame.function}:{sample.line}"] += 1
        self.assertGreaterEqual(sum(lines.values()), SAMPLES_MIN)
        print(f"samples: {self.id()} {sum(lines.values())} all right, on {len(lines)} lines")
        return lines

    def test_source_innermost(self) -> None:
        lines = self.check(self.record(*BOTH_TIERS), 0)
        inlined = {key.split()[2].split(":")[0] for key in lines if key.startswith("Ion: main ")}
        self.assertLessEqual({"score", "distance", "clamp"}, inlined)
        self.assertTrue(any(key.startswith("Baseline: ") for key in lines))

    def test_source_outermost(self) -> None:
        lines = self.check(self.record("--outermost", *BOTH_TIERS), -1)
        for key in lines:
            code, function = re.fullmatch(r"\S+ (\S+) (\S+):\d+", key).groups()
            self.assertEqual(code, function)

    def test_bytecode(self) -> None:
        log = self.record("--source-files", *BOTH_TIERS, track="bytecode")
        self.check(log, 0, bytecode=True)
        # perf annotate has the listing's text beside the code.
        text = self.recording.annotate("Baseline: score")
        for instruction in ("call distance", "call clamp", "call square", "add"):
            self.assertRegex(text, rf"(?m)^.*:\s+\d*\s*{instruction}\s*$")

    def test_annotate(self) -> None:
        self.record(*BOTH_TIERS)
        self.recording.inject()
        text = self.recording.annotate("Ion: main")
        # Of main itself, and of what is inlined one and two levels deep.
        for line in ("sum i < n of", "clamp(distance(n, n + 1)) +", "square(x - 3) +",
                     "if x < 100000000 then"):
            self.assertIn(line, text)

    def test_P24_call_chains_after_moves(self) -> None:
        """The cache has been compacted for most of the time: each function was moved, and loaded
        anew at its new place."""
        self.recording.call_graph = ["--call-graph", "dwarf,2048"]
        log = self.record()
        self.recording.inject()
        complete, in_code = self.count_chains(log)
        if perf.version().startswith("perf version 7."):
            self.show_fact(complete < 0.99 * in_code, f"P34: after perf inject {complete} of {in_code} chains complete")
            self.recording.inject_by_tool()
            complete, in_code = self.count_chains(log)
        self.assertGreaterEqual(in_code, SAMPLES_MIN)
        self.assertGreaterEqual(complete, 0.99 * in_code)
        self.assertGreater(len(log.placements), len({code.name for _, _, code in log.placements}))
        (dump,) = self.recording.directory.glob("jit-*.dump")
        loads = [record for record in jitdump_reader.read(dump).records
                 if isinstance(record, (jitdump_reader.Load, jitdump_reader.Move))]
        self.assertEqual([type(load) for load in loads],
                         [jitdump_reader.Load] * len(log.placements))

    def count_chains(self, log: Log) -> tuple[int, int]:
        """The samples in generated code whose chain is complete, and all."""
        in_code = [sample for sample in self.recording.samples()
                   if log.at(sample.ip, sample.time) is not None]
        complete = sum(sample.chain[-1:] == ["_start"] for sample in in_code)
        print(f"chains: {self.id()} {complete} of {len(in_code)} complete")
        return complete, len(in_code)

    def test_perf_map_alone(self) -> None:
        """Without inject. The map knows no time: addresses must not be used twice."""
        self.addCleanup(self.remove_maps)
        log = self.record("--perf-map", "--no-move", *BOTH_TIERS)
        found: collections.Counter[str] = collections.Counter()
        text = self.recording.perf("script", "--ns", "-G", "-i", self.recording.data, "-F",
                                 "comm,pid,tid,time,ip,sym").stdout
        for sample in perf.parse_samples(text):
            self.pid = sample.pid
            place = log.at(sample.ip, sample.time)
            if place is not None:
                self.assertEqual(sample.symbol, place[0].name)
                found[sample.symbol] += 1
        self.assertGreaterEqual(sum(found.values()), SAMPLES_MIN)
        self.assertLessEqual({f"Baseline: {name}" for name in FUNCTIONS[1:]}, set(found))
        report = self.recording.perf("report", "--stdio", "-i", self.recording.data, "--sort",
                                   "sym").stdout
        self.assertIn("Ion: main", report)
        print(f"samples: {self.id()} {sum(found.values())} all right, of {len(found)} functions")

    def remove_maps(self) -> None:
        pathlib.Path(f"/tmp/perf-{self.pid}.map").unlink()
