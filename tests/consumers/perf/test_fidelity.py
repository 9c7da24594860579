"""All at once: threads, a line per instruction, calls, moves, an address used again and again,
in each of the ways in which records reach the file."""

from jitdump_tests.perf_case import PerfTest, Profile


class mixed_fidelity(PerfTest):
    def check(self, flush_mode: str, *options: str) -> None:
        profile = self.profile("--duration-ms", "450", "--flush-mode", flush_mode, *options, "mixed")
        self.assertGreater(len(profile.truth.placements), 30)
        self.check_shares(profile.by_symbol(), own_time(profile))

    def test_write_through(self) -> None:
        self.check("0")

    def test_buffered(self) -> None:
        self.check("1")

    def test_background(self) -> None:
        self.check("2")

    def test_file_of_the_program(self) -> None:
        """Which is found by its name, as the library's own."""
        self.check("0", "--descriptor")


def own_time(profile: Profile) -> dict:
    """The functions' CPU time without that of their callees: a caller's is divided as the rounds
    of the two are."""
    own = dict(profile.truth.cpu)
    for thread in ("0", "1"):
        caller = profile.truth.functions[f"caller_{thread}"]
        callee = profile.truth.functions[f"callee_{thread}"]
        callee_share = callee.weight / (caller.weight + callee.weight)
        own[callee.name] += own[caller.name] * callee_share
        own[caller.name] *= 1 - callee_share
    return own
