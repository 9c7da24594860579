"""perf's call chains through described functions, sampled wherever their instructions are."""

import unittest
from typing import List, Tuple

from jitdump_tests.perf import Sample
from jitdump_tests.perf_case import SAMPLES_MIN, PerfTest

COMPLETE_MIN = 0.99
REUSED_MIN = 0.5
CPU_MS = 1000
C_CALLERS = ["call_chain", "call_until", "main"]  # below the chain


class ChainsTest(PerfTest):
    def record(self, functions: List[str], how: str = "gap") -> List[Tuple[str, Sample]]:
        """The samples in generated code, each with the function that it is in; none, if perf crashes
        on moves."""
        session = self.session()
        truth = session.record(how, CPU_MS, *functions, call_graph=True)
        if session.inject(check=how != "moved").returncode != 0:
            return []
        places = [(truth.at(sample.pid, sample.ip, sample.time), sample)
                  for sample in session.samples()]
        samples = [(place[0].name, sample) for place, sample in places if place]
        self.assertGreaterEqual(len(samples), SAMPLES_MIN)
        return samples

    def count_complete(self, samples: List[Tuple[str, Sample]], functions: List[str]) -> int:
        """Those whose chain is each caller in turn, down to main()."""
        calls = [*functions, "leaf"]
        expected = {name: calls[index::-1] + C_CALLERS for index, name in enumerate(calls)}
        return sum(sample.chain[:len(expected[name])] == expected[name] for name, sample in samples)

    def check_chain(self, *functions: str, how: str = "gap") -> None:
        samples = self.record(list(functions), how)
        complete = self.count_complete(samples, list(functions))
        print(f"chains: {how}: {' > '.join(functions)}: {complete} of {len(samples)} complete, "
              f"at {len({sample.ip for _, sample in samples})} instructions")
        self.assertGreaterEqual(complete, COMPLETE_MIN * len(samples))


class FramePointer(ChainsTest):
    def test(self) -> None:
        self.check_chain("standard")


class FramePointerAndSavedRegisters(ChainsTest):
    def test(self) -> None:
        self.check_chain("saving")


class NoFramePointer(ChainsTest):
    def test(self) -> None:
        self.check_chain("keeper")


class PushesAndTwoEpilogues(ChainsTest):
    def test(self) -> None:
        self.check_chain("pushing")


class AllInOneChain(ChainsTest):
    def test(self) -> None:
        self.check_chain("keeper", "standard", "saving", "pushing")


class OutOfASection(ChainsTest):
    """The frames of all functions in one .eh_frame, as a compiler hands it over."""

    def test(self) -> None:
        self.check_chain("keeper", "standard", "saving", "pushing", how="section")


class LoadedAnew(ChainsTest):
    """Copied upwards again and again, by functions without frame pointer and with."""

    def test(self) -> None:
        self.check_chain("keeper", "pushing", how="anew")
        self.check_chain("standard", "saving", how="anew")


class P24_Moved(ChainsTest):
    """The same with jitdump_move(): perf takes the lowest place that it knows for the present one,
    or crashes (P29)."""

    def test(self) -> None:
        functions = ["keeper", "pushing"]
        samples = self.record(functions, "moved")
        complete = self.count_complete(samples, functions)
        self.show_fact(complete < 0.9 * len(samples) or not samples,
                       f"after moves upwards {complete} of {len(samples)} chains complete")


class P25_Reused(ChainsTest):
    """Frames that follow others at their addresses."""

    def test(self) -> None:
        functions = ["keeper", "pushing"]
        samples = self.record(functions, "reused")
        complete = self.count_complete(samples, functions)
        self.assertGreaterEqual(complete, REUSED_MIN * len(samples))
        self.show_fact(complete < COMPLETE_MIN * len(samples),
                       f"where others lay before {complete} of {len(samples)} chains complete")


class P15_NoGap(ChainsTest):
    """Without room behind the code, the next function's arrival cuts this one's unwinding off."""

    def test(self) -> None:
        functions = ["saving", "pushing"]
        samples = self.record(functions, "no-gap")
        complete = self.count_complete(samples, functions)
        self.show_fact(complete < 0.9 * len(samples),
                       f"without a gap {complete} of {len(samples)} chains complete")


if __name__ == "__main__":
    unittest.main(verbosity=2)
