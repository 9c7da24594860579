"""What perf makes of a dump that a machine of the other byte order has written."""

import pathlib

from jitdump_tests import dump_edit
from jitdump_tests.perf_case import NAMED_MIN, PerfTest, Profile
from test_unwinding import CHAIN, whole_chains


class P22_other_byte_order(PerfTest):
    def swapped(self, good: Profile) -> Profile:
        """The same recording, with the dump in the other byte order in the good one's place."""
        dump_edit.swap_byte_order(pathlib.Path(good.truth.dump))
        good.session.inject_moves()
        return Profile(good.session, good.truth, good.session.samples())

    def check_names(self, profile: Profile) -> None:
        wrong = [each for each in profile.verdict.wrong if "instead of line" not in each]
        self.assertEqual(wrong[:5], [])
        self.assertGreaterEqual(profile.verdict.named, NAMED_MIN * profile.verdict.total)

    def test_names_moves_and_unwinding(self) -> None:
        for scenario in ("move", "chain"):
            with self.subTest(scenario=scenario):
                profile = self.swapped(self.profile("--duration-ms", "500", scenario,
                                                    call_graph=scenario == "chain"))
                self.check_names(profile)
                if scenario == "chain":
                    whole = whole_chains(profile, CHAIN)
                    print(f"chains: {self.fact} {whole} of {profile.verdict.total} whole")
                    self.assertGreaterEqual(whole, NAMED_MIN * profile.verdict.total)

    def test_lines(self) -> None:
        bad = self.swapped(self.profile("--duration-ms", "500", "lines"))
        self.check_names(bad)
        self.show_fact(bad.verdict.with_line < 0.1 * bad.verdict.total,
                       "files and lines are garbage: "
                       f"{bad.verdict.with_line} of {bad.verdict.total} with the right line")
