"""Code that moves, addresses that are used again, and the memory that code lies in."""

import re

from jitdump_tests.perf_case import SAMPLES_MIN, PerfTest, Profile


class P16_move(PerfTest):
    def test(self) -> None:
        profile = self.profile("--duration-ms", "1200", "move")
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        places = [p for p in profile.truth.placements if p.function.name == "moved"]
        self.assertEqual(len(places), 2)
        for place in places:
            there = [s for s in profile.samples if 0 <= s.ip - place.addr < place.function.size]
            self.assertGreater(len(there), 50)


class P8_address_reuse(PerfTest):
    """Two functions in turn at one address, each with its own code_index."""

    def test(self) -> None:
        profile = self.profile("--duration-ms", "1200", "reuse")
        self.assertEqual(len({p.addr for p in profile.truth.placements}), 1)
        self.check_shares(profile.by_symbol(), profile.truth.cpu)


class P26_two_dumps(PerfTest):
    """Two dumps of one process, in two directories, whose functions perf report shows apart."""

    def test(self) -> None:
        profile = self.profile("two-dumps")
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        report = profile.session.perf("report", "--stdio", "--fields", "sample,sym", "-t", ",", "-i",
                                      profile.session.injected).stdout
        rows = dict(re.findall(r"(?m)^ *(\d+) *,\[\.\] (three_parts|one_part) *$", report))
        rows = {symbol: int(samples) for samples, symbol in rows.items()}
        self.assertEqual(rows, profile.by_symbol())


class P17_memory(PerfTest):
    """Memory that is made executable anew after functions were loaded: such an event hides
    them, unless perf drops it."""

    @staticmethod
    def workload(kind: str) -> list:
        return ["--duration-ms", "400", "--protect", "--memory", kind, "shares"]

    def test_dropped(self) -> None:
        for kind in ("anonymous", "memfd"):
            with self.subTest(kind):
                profile = self.profile(*self.workload(kind))
                self.check_shares(profile.by_symbol(), profile.truth.cpu)

    def test_hidden(self) -> None:
        for kind in ("shared", "file"):
            with self.subTest(kind):
                session = self.session()
                truth = session.record(*self.workload(kind))
                session.inject()
                bad = Profile(session, truth, session.samples())
                self.assertGreaterEqual(bad.verdict.total, SAMPLES_MIN)
                self.assertEqual(bad.verdict.wrong[:5], [], "lost, but not wrong")
                self.show_fact(bad.verdict.named < bad.verdict.total, f"memory of kind {kind}: "
                               f"{bad.verdict.named} of {bad.verdict.total} samples named")
