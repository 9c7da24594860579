"""jitdump inject against the truth, and against what perf shows after perf inject --jit.

With another perf first in PATH (tests/other-perfs.sh), that one is asked.
"""
from __future__ import annotations

import mmap
import os
import pathlib
import struct
import unittest

from jitdump_tests import perf, perf_data
from jitdump_tests.inject_case import SHORT, InjectTest, Session
from jitdump_tests.perf_case import Profile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "examples" / "hyperfactorial.bf"
EXAMPLES = os.environ.get("JITDUMP_EXAMPLES", "")
SOURCE_RECORD = 827346261
# Small buffers, which perf empties often: it sorts events only within some rounds of that.
MANY_ROUNDS = (*perf.MONOTONIC, "-m", "1")
FIELDS = "pid,tid,time,ip,sym,srcline"


class Scenarios(InjectTest):
    """Whatever perf inject can do."""

    def check_all(self, *workload: str, **how: object) -> Profile:
        profile = self.profile(*SHORT, *workload, **how)
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        return profile

    def test_one_after_the_other(self) -> None:
        for workload in ("shares", "lines", "fork", "threads", "two-dumps"):
            with self.subTest(workload):
                self.profile(*SHORT, workload)

    def test_moves_and_addresses_used_again(self) -> None:
        for workload in ("move", "reuse"):
            with self.subTest(workload):
                self.profile("--duration-ms", "600", workload, clock=MANY_ROUNDS)

    def test_memory_that_becomes_executable_again(self) -> None:
        for kind in ("anonymous", "memfd", "shared", "file"):
            with self.subTest(kind):
                self.check_all("--protect", "--memory", kind, "shares")

    def test_chains(self) -> None:
        for options in ([], ["--no-gap"]):
            with self.subTest(options):
                profile = self.profile("--duration-ms", "500", *options, "neighbours",
                                       call_graph=True)
                whole = sum("main" in sample.chain for sample in profile.samples)
                self.assertGreaterEqual(whole, 0.99 * len(profile.samples))

    def test_after_perf_inject(self) -> None:
        """Which takes the dump's mapping away, and puts in an ELF file of each function."""
        session = self.session()
        truth = session.record(*SHORT, "neighbours", call_graph=True)
        session.inject()
        shown = ["script", "--ns", "-F", "comm,pid,time,ip,sym,srcline", "-i", session.injected]
        before = session.perf(*shown).stdout
        original = session.directory / "original.data"
        session.data.rename(original)
        session.perf("inject", "--jit", "-i", original, "-o", session.data)
        theirs = session.perf("script", "--show-mmap-events", "-i", session.data).stdout
        self.assertIn(f"/jitted-{truth.pid}-", theirs)
        session.options = (truth.dump,)
        session.inject()
        ours = session.perf("script", "--show-mmap-events", "-i", session.injected).stdout
        self.assertNotIn(f"/jitted-{truth.pid}-", ours)
        self.assertEqual(session.perf(*shown).stdout, before)

    def test_chains_where_data_is_mapped_later(self) -> None:
        """As LLVM maps the data of its next object, right below the code, where the unwinding data are to lie."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "neighbours", call_graph=True)
        first = min(truth.placements, key=lambda placement: placement.addr)
        page = first.addr // mmap.PAGESIZE * mmap.PAGESIZE
        perf_data.add_mapping(session.data, truth.pid, page - 16 * mmap.PAGESIZE, 16 * mmap.PAGESIZE,
                              max(placement.since for placement in truth.placements) + 1000)
        profile = self.profile_of(session, truth)
        whole = sum("main" in sample.chain for sample in profile.samples)
        self.assertGreaterEqual(whole, 0.99 * len(profile.samples))

    def test_files_like_those_of_perf_inject(self) -> None:
        """A library of the program's, mapped where generated code was, is a library whatever it is called."""
        session = self.session()
        truth = session.record(*SHORT, "shares")
        first = min(truth.placements, key=lambda placement: placement.addr)
        names = {b"/opt/jitted-math.so": True, b"/opt/jitted-1-2-3.so": True, b"/opt/jitted-4711-17.so": False}
        for name in names:
            perf_data.add_mapping(session.data, truth.pid, first.addr // mmap.PAGESIZE * mmap.PAGESIZE, mmap.PAGESIZE,
                                  (1 << 62), name, mmap.PROT_READ | mmap.PROT_EXEC)
        session.inject()
        shown = session.perf("script", "--show-mmap-events", "-i", session.injected).stdout
        self.assertEqual({name: name.decode() in shown for name in names}, names)

    def rows(self, session: Session) -> list[str]:
        report = session.perf("report", "--stdio", "-q", "-t", ",", "-F", "overhead,sym", "-i",
                              session.injected).stdout
        return [line.split(",")[-1].strip() for line in report.splitlines() if "[.]" in line]

    def test_by_name(self) -> None:
        """A function that was moved again and again has one row in perf report (P28)."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "move")
        self.profile_of(session, truth)
        apart = self.rows(session)
        session.options = ("--by-name",)
        self.profile_of(session, truth)
        together = self.rows(session)
        self.assertGreater(len(apart), len(set(apart)))
        self.assertEqual(sorted(together), sorted(set(apart)))

    def test_only_sampled(self) -> None:
        session = self.session()
        session.options = ("--only-sampled",)
        self.profile_of(session, session.record(*SHORT, "lines"))
        session.record(*SHORT, "chain", call_graph=True)
        session.injected.unlink()
        done = session.inject(check=False)
        self.assertEqual(done.status, 2)
        self.assertIn("leave out --only-sampled", done.err)
        self.assertFalse(session.injected.exists())


class Clocks(InjectTest):
    def test_converted(self) -> None:
        session = self.session()
        truth = session.record("--duration-ms", "500", "--tsc", "--force-tsc", "reuse")
        perf_data.set_time_conv(session.data, perf_data.time_conv(*truth.clocks))
        self.profile_of(session, truth)

    def test_not_monotonic(self) -> None:
        """Two functions in turn at one address, and perf's own clock."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "reuse", clock=())
        done = session.inject(check=False)
        self.assertEqual(done.status, 0)
        self.assertIn("-k mono was not given", done.err)
        named = [sample.symbol for sample in session.samples()]
        self.assertEqual({*named} & {*truth.functions}, {*truth.functions})


class Sources(InjectTest):
    def test_embedded(self) -> None:
        """A source in the dump becomes a file, which perf annotate shows; names stay as they are."""
        session = self.session()
        truth = session.record(*SHORT, "lines")
        function, = (each for each in truth.functions.values() if each.name == "three_hot_lines")
        text = b"".join(b"the text of line %d\n" % line for line in range(1, 2000))
        path = function.file.encode() + b"\0"
        payload = struct.pack("=II", len(path), len(text)) + path + text
        payload += bytes(-len(payload) % 4)
        dump = pathlib.Path(truth.dump)
        content = dump.read_bytes()
        at, last = 40, 40
        while at < len(content):
            last, size = at, struct.unpack_from("=I", content, at + 4)[0]
            at += size
        time = struct.unpack_from("=Q", content, last + 8)[0]
        dump.write_bytes(content[:last] + struct.pack("=IIQ", SOURCE_RECORD, 16 + len(payload), time)
                         + payload + content[last:])
        self.profile_of(session, truth)
        sources = [path for path in pathlib.Path(f"{session.injected}.jit").rglob("*")
                   if path.is_file() and path.suffix != ".elf"]
        self.assertEqual([path.name for path in sources], [pathlib.Path(function.file).name])
        self.assertEqual(sources[0].read_bytes(), text)
        self.assertIn("the text of line", session.annotate(function.name))


@unittest.skipIf(not EXAMPLES, "the examples are not built")
class Examples(InjectTest):
    """Sample by sample as after perf inject."""

    def compare(self, *program: object, call_graph: tuple[str, ...] = ()) -> None:
        session = self.session()
        theirs = session.directory / "theirs.data"
        session.perf(*perf.RECORD, *perf.MONOTONIC, *call_graph, "-o", session.data, "--", *program)
        session.perf("inject", "--jit", "-i", session.data, "-o", theirs)
        session.inject()
        shown = [session.perf("script", "--ns", "-G", "-i", data, "-F", FIELDS).stdout.splitlines()
                 for data in (theirs, session.injected)]
        self.assertGreater(len(shown[0]), 200)
        self.assertEqual(*([line.strip() for line in lines] for lines in shown))

    def test_bf(self) -> None:
        self.compare(f"{EXAMPLES}/bf", "--jitdump", "--move", PROGRAM)


if __name__ == "__main__":
    unittest.main()
