"""The call chains that perf unwinds through generated code."""

from jitdump_tests import dump_edit
from jitdump_tests.perf_case import NAMED_MIN, PerfTest, Profile

# The C functions below all generated code, up to the one that every chain must reach.
C_CALLERS = ["runtime_call", "main"]
CHAIN = {"inner": ["inner", "middle", "outer"], "middle": ["middle", "outer"], "outer": ["outer"]}


def whole_chains(profile: Profile, expected: dict) -> int:
    """How many samples have the chain that is expected of their function, down to main()."""
    return sum(sample.chain[:len(expected[sample.symbol]) + 1]
               == expected[sample.symbol] + C_CALLERS[:1] and C_CALLERS[1] in sample.chain
               for sample in profile.samples if sample.symbol in expected)


class UnwindingTest(PerfTest):
    def check_chains(self, profile: Profile, expected: dict) -> None:
        whole = whole_chains(profile, expected)
        print(f"chains: {self.fact} {whole} of {profile.verdict.total} whole")
        self.assertGreaterEqual(whole, NAMED_MIN * profile.verdict.total)

    def show_broken(self, bad: Profile, expected: dict, text: str) -> None:
        whole = whole_chains(bad, expected)
        self.show_fact(whole < 0.9 * bad.verdict.total,
                       f"{text}: {whole} of {bad.verdict.total} chains whole")

    def profile_of_chain(self) -> Profile:
        profile = self.profile("--duration-ms", "700", "chain", call_graph=True)
        self.check_chains(profile, CHAIN)
        weights = {f.name: f.weight for f in profile.truth.functions.values()}
        self.check_shares(profile.by_symbol(), weights)
        return profile


class P13_unwind_order(UnwindingTest):
    def test(self) -> None:
        bad = self.profile_of_chain().with_dump_edited(
            dump_edit.each_unwinding_info(dump_edit.header_first))
        self.show_broken(bad, CHAIN, "with eh_frame_hdr in front of eh_frame")


class P14_mapped_size(UnwindingTest):
    def test(self) -> None:
        bad = self.profile_of_chain().with_dump_edited(
            dump_edit.each_unwinding_info(dump_edit.unmapped))
        self.show_broken(bad, CHAIN, "with a mapped_size of 0")


class P15_gap(UnwindingTest):
    EXPECTED = {
        "first_leaf": ["first_leaf", "first_caller"],
        "second_leaf": ["second_leaf", "second_caller"],
        "first_caller": ["first_caller"],
        "second_caller": ["second_caller"],
    }

    def test(self) -> None:
        profile = self.profile("--duration-ms", "700", "neighbours", call_graph=True)
        self.check_chains(profile, self.EXPECTED)

        bad = self.profile("--duration-ms", "400", "--no-gap", "neighbours", call_graph=True)
        self.show_broken(bad, self.EXPECTED, "without room behind the code for the unwinding data")
