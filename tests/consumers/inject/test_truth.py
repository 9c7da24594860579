"""Sample by sample: what perf shows of a profile that the tool has injected, against the truth, and beside
it what perf shows after `perf inject --jit` of the same recording.

$JITDUMP_PERFS, a folder: with the perfs of other Debian releases too, which tests/other-perfs.sh
puts there. $JITDUMP_LONG, a number: all programs, each so many times as long as otherwise."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Optional

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import programs  # noqa: E402
from jitdump_tests import perf, readings  # noqa: E402
from jitdump_tests.readings import OURS, THEIRS, Recording, Score  # noqa: E402

LONG = float(os.environ.get("JITDUMP_LONG", "0"))
SAMPLES_MIN = 100
RIGHT_MIN = 0.999
# Where frames change at an address, libunwind remembers old ones (P25).
REUSED_MIN = {"6": 0.9}
REASON = perf.why_unusable()


@unittest.skipIf(REASON, REASON or "")
class TruthTest(unittest.TestCase):
    def recording(self) -> Recording:
        folders = [pathlib.Path(tempfile.mkdtemp(prefix=prefix)).resolve()
                   for prefix in ("jitted-", "jitdump-inject-")]
        for folder in folders:
            self.addCleanup(shutil.rmtree, folder)
        return Recording(*folders)

    def check(self, program, chain_min: Optional[dict[str, float]] = None, large: bool = False,
              inlined_from: str = "", scale: float = 0.5) -> None:
        """`chain_min`: by perf's first number, where it is not RIGHT_MIN."""
        recording = self.recording()
        perfs = readings.perfs()
        truth = program(recording, perfs[0], scale * (LONG or 1))
        for who in perfs:
            scores = {}
            for by in (THEIRS, OURS):
                scores[by] = readings.read(recording, who, by, truth, large)
                print(f"{self._testMethodName[5:]:18} perf {who.version:9} {by:14} "
                      f"{scores[by].shares() if scores[by] else 'has failed'}", flush=True)
            with self.subTest(perf=who.version):
                # Ubuntu's 6.8 shows no inlined calls of generated code (P36).
                inlined = who.version >= inlined_from and not who.version.startswith("6.8")
                self.assert_right(scores[OURS],
                                  (chain_min or {}).get(who.version[0], RIGHT_MIN), inlined)

    def assert_right(self, ours: Score, chain_min: float, inlined: bool) -> None:
        self.assertGreaterEqual(ours.samples, SAMPLES_MIN)
        self.assertEqual(ours.wrong[:5], [])
        self.assertGreaterEqual(ours.function, RIGHT_MIN * ours.samples)
        self.assertGreaterEqual(ours.line, RIGHT_MIN * ours.samples)
        if inlined:
            self.assertGreaterEqual(ours.inlined, RIGHT_MIN * ours.with_inlining)
        self.assertGreaterEqual(ours.chain, chain_min * ours.with_chain)

    def needs(self, *variables: str) -> None:
        for variable in variables:
            if not os.environ.get(variable):
                self.skipTest(f"${variable} is not set: what it takes is not there")


class Truth(TruthTest):
    def test_tiered(self) -> None:
        self.needs("JITDUMP_EXAMPLES")
        self.check(programs.tiered)

    def test_random(self) -> None:
        """Moves, and addresses that are used again."""
        self.check(programs.workload("--seed", str(os.getpid()), "random"), REUSED_MIN)

    def test_frameless(self) -> None:
        self.needs("JITDUMP_CHAINS")
        self.check(programs.chains("gap", "keeper", "pushing"))

    def test_moved(self) -> None:
        self.needs("JITDUMP_CHAINS")
        self.check(programs.chains("moved", "keeper", "pushing"))


class Options(TruthTest):
    """What changes the file, as the perf that comes first on the path writes it, and as that and newer ones read it."""

    def check_options(self, *options: str, with_chain: float = RIGHT_MIN) -> None:
        recording = self.recording()
        recording.options = options
        perfs = readings.perfs()
        try:
            truth = programs.workload("--seed", str(os.getpid()), "random")(recording, perfs[0], 0.3 * (LONG or 1))
        except AssertionError as refusal:
            self.skipTest(f"this perf refuses: {str(refusal)[-200:]}")
        for who in perfs:
            before = sorted((each.pid, each.time, each.ip) for each in recording.script(who, recording.data, "-G", "-F",
                                                                                       "comm,pid,tid,time,ip,sym"))
            with self.subTest(perf=who.version):
                score = readings.read(recording, who, OURS, truth)
                print(f"{self._testMethodName[5:]:18} perf {perfs[0].version} read by {who.version}: {score.shares()}",
                      flush=True)
                after = recording.script(who, recording.output / f"{who.version}.data", "-G", "-F",
                                         "comm,pid,tid,time,ip,sym")
                self.assertEqual(sorted((each.pid, each.time, each.ip) for each in after), before)
                reused = REUSED_MIN.get(who.version[0], RIGHT_MIN)
                self.assert_right(score, with_chain * reused / RIGHT_MIN, inlined=False)

    def test_default(self) -> None:
        """From 7.2 on with build ids in the mappings."""
        self.check_options()

    def test_fuller_samples(self) -> None:
        self.check_options("-d", "--weight", "--sample-cpu", "--intr-regs", "-s", "-P", "--sample-identifier")

    def test_other_events(self) -> None:
        self.check_options("--switch-events", "--all-cgroups", "--namespaces", "--tail-synthesize")

    def test_several_events(self) -> None:
        self.check_options("-e", "{cpu-clock:u,task-clock:u,page-faults:u}:S")

    def test_chains_of_one_event(self) -> None:
        self.check_options("-e", "task-clock/call-graph=no/u", with_chain=0.4)

    @unittest.skipIf(not shutil.which("zstd"), "zstd is not installed")
    def test_compressed(self) -> None:
        self.check_options("-z", "--threads")


@unittest.skipUnless(LONG, "takes longer; JITDUMP_LONG=1 runs it")
class More(TruthTest):
    def test_no_room(self) -> None:
        """Between the functions, for perf inject's unwinding data (P15)."""
        self.needs("JITDUMP_CHAINS")
        self.check(programs.chains("no-gap", "saving", "pushing"))

    def test_reused(self) -> None:
        self.needs("JITDUMP_CHAINS")
        self.check(programs.chains("reused", "keeper", "pushing"), REUSED_MIN)

    def test_container(self) -> None:
        """P19: perf inject finds nothing when it has ended."""
        done = subprocess.run(["unshare", "--pid", "--mount-proc", "--fork", "true"], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest(done.stderr)
        self.check(programs.container)

    def test_without_mono(self) -> None:
        """P3: perf inject refuses."""
        self.check(programs.other_clock)

    def test_missing_dump(self) -> None:
        """P27: perf inject names none of the three processes."""
        self.check(programs.missing_dump)

    def test_frame_pointers(self) -> None:
        """Chains without copies of the stack; perf up to 6.12 shows no inlined calls in them."""
        self.needs("JITDUMP_EXAMPLES")
        self.check(programs.tiered_frame_pointers, inlined_from="7")

    def test_bf(self) -> None:
        self.needs("JITDUMP_EXAMPLES")
        self.check(programs.bf)

    def test_threads(self) -> None:
        """Lines of single instructions, moves and reuse, in two threads."""
        self.check(programs.workload("mixed"))

    def test_fork(self) -> None:
        self.check(programs.workload("fork"))

    def test_luajit(self) -> None:
        self.needs("JITDUMP_LUAJIT", "JITDUMP_LIBRARY")
        self.check(programs.luajit)

    def test_hotspot(self) -> None:
        self.needs("JITDUMP_AGENT", "JITDUMP_JDK")
        self.check(programs.hotspot, large=True)

    def test_node(self) -> None:
        if shutil.which("node") is None:
            self.skipTest("there is no node")
        self.check(programs.node, large=True)


if __name__ == "__main__":
    unittest.main(verbosity=0)
