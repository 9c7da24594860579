"""What newer kernels, other processors and later perfs put into a profile: `jitdump inject` understands it, or passes
it on as it is. The profiles are this machine's, edited."""
from __future__ import annotations

import os
import pathlib
import struct
import unittest

from jitdump_tests import perf, perf_data, tool
from jitdump_tests.perf_case import PerfTest
from jitdump_tests.perf_data import EVENT_HEADER, FILE_HEADER, SECTION

EXAMPLES = os.environ.get("JITDUMP_EXAMPLES", "")
PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "examples" / "tiered" / "program.tl"
REUSED = ("--duration-ms", "400", "random")
MAPPINGS = (perf_data.PERF_RECORD_MMAP, perf_data.PERF_RECORD_MMAP2)
OF_KERNEL, OF_PERF = (23, 41, 63), (84, 90, 4711, 0x7fffffff)
FEATURES = (40, 100, 255)


class Newer(PerfTest):
    def inject(self, session: perf.Session, *options: str) -> dict[str, bytes]:
        """The files with code."""
        done = tool.run("inject", "-i", session.data, "-o", session.injected, *options)
        self.assertEqual((done.status, done.out, done.err), (0, b"", ""))
        return {path.name: path.read_bytes() for path in pathlib.Path(f"{session.injected}.jit").glob("*.elf")}

    def passed_on(self, path: pathlib.Path) -> list[bytes]:
        """All events but mappings."""
        content = path.read_bytes()
        return [content[offset:offset + size] for kind, offset, size in perf_data.events(content)
                if kind not in MAPPINGS]

    def mappings(self, session: perf.Session) -> list[bytes]:
        """Those of generated code, without the bytes of their trailers."""
        content = session.injected.read_bytes()
        mine = f"{session.injected}.jit/".encode()
        return [content[offset:offset + content[offset:].index(mine)] for kind, offset, size in
                perf_data.events(content) if kind in MAPPINGS and mine in content[offset:offset + size]]

    def test_unknown_events(self) -> None:
        """Of the kernel, with the fields that end all of its events, and of perf, without."""
        session = self.session()
        session.record(*REUSED)
        files, mappings = self.inject(session), self.mappings(session)
        content, made = session.data.read_bytes(), []
        for kind, offset, size in perf_data.events(content):
            event = content[offset:offset + size]
            made.append(event)
            if kind == perf_data.PERF_RECORD_MMAP2:
                made += [EVENT_HEADER.pack(new, 2, 32) + b"unknown." + event[-16:] for new in OF_KERNEL]
                made += [EVENT_HEADER.pack(new, 0, 24) + b"unknown." + b"\xff" * 8 for new in OF_PERF]
        perf_data.replace_data(session.data, b"".join(made))
        self.assertLessEqual({*OF_KERNEL, *OF_PERF}, perf_data.kinds(session.data))
        self.assertTrue(self.inject(session) == files)
        self.assertEqual(self.mappings(session), mappings)
        self.assertEqual(self.passed_on(session.injected), self.passed_on(session.data))

    def test_unknown_features(self) -> None:
        session = self.session()
        session.record(*REUSED)
        files = self.inject(session)
        content = session.data.read_bytes()
        header = list(FILE_HEADER.unpack_from(content))
        table, features, places = perf_data.sections(content)
        texts = [b"feature %d" % feature for feature in FEATURES]
        shift, end = SECTION.size * len(FEATURES), len(content)
        places = [(offset + shift, size) for offset, size in places]
        places += [(end + shift + sum(map(len, texts[:i])), len(text)) for i, text in enumerate(texts)]
        header[-1] = (int.from_bytes(header[-1], "little") |
                      sum(1 << feature for feature in FEATURES)).to_bytes(32, "little")
        session.data.write_bytes(
            FILE_HEADER.pack(*header) + content[FILE_HEADER.size:table] +
            b"".join(SECTION.pack(*place) for place in places) +
            content[table + SECTION.size * len(features):] + b"".join(texts))
        self.assertTrue(self.inject(session) == files)
        found = []
        for path in (session.data, session.injected):
            content = path.read_bytes()
            _, features, places = perf_data.sections(content)
            found.append([(feature, content[offset:offset + size])
                          for feature, (offset, size) in zip(features, places)])
        self.assertEqual(found[0], found[1])
        self.assertEqual(found[1][-len(FEATURES):], [*zip(FEATURES, texts)])

    def test_branches_with_counters(self) -> None:
        """They lie in front of the copies of the stack, which say which code is in use when."""
        session = self.session()
        session.record(*REUSED, call_graph=True)
        files = self.inject(session)
        self.assertGreater(len(files), 1)
        perf_data.add_branches(session.data)
        self.assertTrue(self.inject(session) == files)

    def test_unknown_registers(self) -> None:
        """What follows them is not looked at, so that less is known to be in use."""
        session = self.session()
        session.record(*REUSED, call_graph=True)
        files = self.inject(session)
        perf_data.edit_samples(session.data, lambda front, chain, rest: [
            (perf_data.PERF_RECORD_SAMPLE, front + perf_data.chain_bytes(chain) + struct.pack("=Q", 6) + rest[8:])])
        self.assertTrue(self.inject(session) != files)
        self.assertEqual(self.passed_on(session.injected), self.passed_on(session.data))

    def test_other_byte_order(self) -> None:
        """A file, and what went through a pipe."""
        session = self.session()
        for header in (struct.pack(">8sQQ", b"2ELIFREP", 104, 144), struct.pack(">8sQ", b"2ELIFREP", 16)):
            session.data.write_bytes(header + bytes(200))
            done = tool.run("inject", "-i", session.data, "-o", session.injected)
            self.assertEqual((done.status, done.out), (2, b""))
            self.assertIn("the profile is of a machine of the other byte order", done.err)
            self.assertFalse(session.injected.exists())

    @unittest.skipIf(not EXAMPLES, "the examples are not built")
    def test_deferred_chains(self) -> None:
        """A function that is nowhere else has been sampled."""
        session = self.session()
        session.perf(*perf.RECORD, *perf.MONOTONIC, "--call-graph", "fp", "-o", session.data, "--",
                     f"{EXAMPLES}/tiered", "--jitdump", "samply-2026", "--rounds", 4000, "--hot", 10000000, PROGRAM)
        sample = perf_data.PERF_RECORD_SAMPLE
        lengths = []
        perf_data.edit_samples(session.data, lambda front, chain, rest: lengths.append(len(chain)) or [
            (sample, front + perf_data.chain_bytes(chain) + rest)])
        recorded = session.data.read_bytes()
        # The samples of one depth alone, the deepest where their callers are in chains and nowhere else: what is
        # deeper is in the loader or the C library, and generated code has not called it.
        for depth in sorted(set(lengths), reverse=True):
            session.data.write_bytes(recorded)
            perf_data.edit_samples(session.data, lambda front, chain, rest, depth=depth: [
                (sample, front + perf_data.chain_bytes(chain) + rest)] if len(chain) == depth else [])
            files = self.inject(session, "--only-sampled")
            whole = session.data.read_bytes()
            perf_data.edit_samples(session.data, lambda front, chain, rest: [
                (sample, front + perf_data.chain_bytes([]) + rest)])
            if self.inject(session, "--only-sampled") != files:
                break
        else:
            self.fail("no function is in chains alone")
        session.data.write_bytes(whole)
        perf_data.defer_chains(session.data)
        self.assertTrue(self.inject(session, "--only-sampled") == files)


if __name__ == "__main__":
    unittest.main()
