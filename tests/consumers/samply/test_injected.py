#!/usr/bin/env python3
"""What `samply import` makes of the tiered example's profile by `jitdump inject`: each sample in
generated code has its inlined calls with their lines, and a whole call chain though no caller's
frame pointer leads there.

samply is $SAMPLY or the one in $PATH.
"""
from __future__ import annotations

import gzip
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from jitdump_tests import perf, samply
from jitdump_tests.tiered_log import Log

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "examples" / "tiered" / "program.tl"
SAMPLES_MIN = 300
CALLS = {("main", "score"), ("score", "clamp"), ("score", "distance"), ("score", "square"),
         ("distance", "square")}


class Injected(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitted-"))
        self.addCleanup(shutil.rmtree, self.directory)

    def run_command(self, *command: object) -> None:
        perf.run(command, cwd=self.directory, env={**os.environ, "JITDUMPDIR": str(self.directory)})

    def test_inlined_calls_and_chains(self) -> None:
        self.run_command("perf", *perf.RECORD, *perf.MONOTONIC, "--call-graph", "dwarf,2048",
                         "-o", "perf.data", "--", perf.WORKLOAD, "--jitdump", "samply-2026", "--log", "log",
                         "--rounds", "16000", PROGRAM)
        self.run_command(os.environ["JITDUMP_TOOL"], "inject", "-i", "perf.data", "-o", "named.data")
        self.run_command(samply.SAMPLY, "import", "--save-only", "-o", "named.json.gz", "named.data")
        profile_path = self.directory / "named.json.gz"
        with gzip.open(profile_path) as file:
            profile = json.load(file)
        codes = {}
        for _, _, code in Log(self.directory / "log").placements:
            self.assertEqual(codes.setdefault(code.name, code).offsets, code.offsets)

        (thread,) = [thread for thread in profile["threads"] if thread["name"] == "tiered"]
        frames, functions, resources = (thread["frameTable"], thread["funcTable"], thread["resourceTable"])
        asked = []
        for function, address in zip(frames["func"], frames["address"]):
            resource = functions["resource"][function]
            asked.append((resources["lib"][resource], address) if address >= 0 and resource >= 0 else None)
        told = iter(samply.symbolicate(profile_path, profile["libs"], [frame for frame in asked if frame])[1])
        answers = [next(told) if frame else {} for frame in asked]

        stacks = thread["stackTable"]
        right, inlined, whole = 0, 0, 0
        for stack in thread["samples"]["stack"]:
            chain = []
            while stack is not None:
                chain.append(answers[stacks["frame"][stack]])
                stack = stacks["prefix"][stack]
            if not chain or chain[0].get("function") not in codes:
                continue
            leaf = chain[0]
            expected = codes[leaf["function"]].chain(int(leaf["function_offset"], 16))
            shown = [*leaf.get("inlines", []), leaf]
            self.assertEqual([(call["function"].split(": ")[-1], call["file"], call["line"]) for call in shown],
                             [(frame.function, str(PROGRAM), frame.line) for frame in expected])
            right += 1
            inlined += len(expected) > 1
            names = [call["function"] for frame in chain if frame.get("function") in codes
                     for call in [*frame.get("inlines", []), frame]]
            names = [name.split(": ")[-1] for name in names]
            # samply loses the caller at the last byte, the return, of a function with a frame pointer.
            whole += names[-1] == "main" and set(zip(names[1:], names)) <= CALLS and \
                chain[-1].get("function") in ("_start", "start")
        print(f"samples: {right} right, {inlined} of them with inlined calls; {whole} whole chains")
        self.assertGreaterEqual(right, SAMPLES_MIN)
        self.assertGreaterEqual(inlined, right // 4)
        self.assertGreaterEqual(whole, 0.97 * right)


if __name__ == "__main__":
    why_not = perf.why_unusable()
    if samply.SAMPLY is None:
        why_not = why_not or "samply is not installed (cargo install samply --locked)"
    if why_not and os.environ.get("JITDUMP_TESTS_REQUIRE_SAMPLY") == "1":
        sys.exit(why_not)
    if why_not:
        print("skipped:", why_not)
        sys.exit(77)
    unittest.main(verbosity=2)
