"""jitdump check on dumps: each kind of finding is planted, and named; good dumps have none."""
from __future__ import annotations

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Callable, NamedTuple

from jitdump_tests import tool
from jitdump_tests.dump_writer import (CLOSE, INLINE_2023, LOAD, MOVE, SOURCE, TIER,
                                       UNWINDING_INFO, Dump)

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = os.environ.get("JITDUMP_EXAMPLES", "")
NATIVE, OTHER = ("<", ">") if sys.byteorder == "little" else (">", "<")
ADDRESS = 0x7F0000001000
CODE = b"\x90" * 99 + b"\xc3"
ROOM = 0x400
EH_FRAME = struct.pack("=I", 20) + bytes(20)
HEADER = bytes([1, 0x1B, 3, 0x3B]) + bytes(16)


class Kind(NamedTuple):
    """A row of src/check/finding.c."""
    fact: str
    severity: str


def kinds() -> dict[str, Kind]:
    rows = re.findall(r'\[FINDING_\w+\] = \{"([a-z0-9-]+)", "(\w*)", SEVERITY_(\w+),',
                      (ROOT / "src/check/finding.c").read_text(encoding="utf-8"))
    return {name: Kind(fact, severity.lower()) for name, fact, severity in rows}


def clean(**header: object) -> Dump:
    """Two functions with all that one may have, and room behind them."""
    dump = Dump(**{"order": NATIVE, **header})
    for index, name in ((1, b"first"), (2, b"second")):
        add(dump, index, name)
    return dump


def add(dump: Dump, index: int, name: bytes = b"another", frames: bytes = EH_FRAME) -> None:
    address = ADDRESS + index * ROOM
    lines(dump, address, [(0, 1), (50, 2), (100, 2)], 2 + index)
    dump.unwinding(2 + index, frames, HEADER)
    dump.load(2 + index, address, CODE, index, name)


def lines(dump: Dump, address: int, entries: list[tuple[int, int]], time: int = 5,
          file: bytes = b"a.c") -> None:
    dump.debug_info(time, address, [(address + at, line, 0, file) for at, line in entries])


# What is planted: each takes the clean dump.

def table(dump: Dump, entries: list[tuple[int, int]], file: bytes = b"a.c") -> None:
    """A third function with these lines."""
    lines(dump, ADDRESS + 3 * ROOM, entries, file=file)
    dump.load(5, ADDRESS + 3 * ROOM, CODE, 3, b"third")


def names_lost(dump: Dump) -> None:
    file = b"\1" + bytes(15) + b"script.js"
    lines(dump, ADDRESS + 3 * ROOM, [(0, 1), (50, 2), (100, 2)], file=file)
    dump.load(5, ADDRESS + 3 * ROOM, CODE, 3, b"JS:*f /home/user/of/it/script.js:1:1")


def named(name: bytes) -> Callable[[Dump], None]:
    return lambda dump: add(dump, 3, name)


def payload(kind: int, what: bytes, then_load: bool = False) -> Callable[[Dump], None]:
    def plant(dump: Dump) -> None:
        dump.record(kind, 5, what)
        if then_load:
            add(dump, 3)
    return plant


def header_first(dump: Dump) -> None:
    dump.record(UNWINDING_INFO, 5, dump.pack("QQQ", 44, 20, 44) + HEADER + EH_FRAME)
    dump.load(5, ADDRESS + 3 * ROOM, CODE, 3)


def unmapped(dump: Dump) -> None:
    dump.record(UNWINDING_INFO, 5, dump.pack("QQQ", 44, 20, 0) + EH_FRAME + HEADER)
    dump.load(5, ADDRESS + 3 * ROOM, CODE, 3)


def in_the_room(dump: Dump) -> None:
    dump.load(5, ADDRESS + 2 * ROOM + len(CODE) + 4, CODE, 3)


def in_front(dump: Dump) -> None:
    """Its unwinding data would lie over the first function."""
    dump.unwinding(5, EH_FRAME, HEADER)
    dump.load(5, ADDRESS + ROOM - len(CODE), CODE, 3)


def again(dump: Dump) -> None:
    dump.unwinding(5, EH_FRAME[:-1] + b"\1", HEADER)
    dump.load(5, ADDRESS + ROOM, CODE, 3)


def move(old: int, index: int) -> Callable[[Dump], None]:
    def plant(dump: Dump) -> None:
        dump.load(5, ADDRESS + 3 * ROOM, CODE, 3)
        dump.move(6, ADDRESS + old * ROOM, ADDRESS + 4 * ROOM, len(CODE), index)
    return plant


def header_added(dump: Dump) -> None:
    dump.data = Dump(NATIVE).data
    for index in (1, 2):
        lines(dump, ADDRESS + index * ROOM, [(64, 1), (114, 2), (164, 2)])
        dump.load(5, ADDRESS + index * ROOM, CODE, index)


def many(dump: Dump) -> None:
    one = Dump(NATIVE)
    records = []
    for index in range(3, 10_003):
        one.data = b""
        one.load(5, ADDRESS + index * ROOM, b"\xc3", index)
        records.append(one.data)
    dump.data += b"".join(records)


def larger_header(dump: Dump) -> None:
    dump.data = dump.data[:8] + dump.pack("I", 48) + dump.data[12:40] + bytes(8) + dump.data[40:]


def cut(dump: Dump) -> None:
    dump.data = dump.data[:-3]


def headed(**header: object) -> Callable[[Dump], None]:
    def plant(dump: Dump) -> None:
        dump.data = clean(**header).data
    return plant


def close_and_load(dump: Dump) -> None:
    dump.record(CLOSE, 5, b"")
    add(dump, 3)


def after(*plants: Callable[[Dump], object]) -> Callable[[Dump], None]:
    def plant(dump: Dump) -> None:
        for each in plants:
            each(dump)
    return plant


# Finding, how it is planted, what else has to be found then.
Planted = tuple[str, Callable[[Dump], object], set[str]]
PLANTED: list[Planted] = [
    ("header-flags", headed(flags=2), set()),
    ("header-size", larger_header, set()),
    ("header-machine", headed(machine=0), set()),
    ("byte-order", headed(order=OTHER), set()),
    ("cut-off", cut, set()),
    ("broken", lambda dump: setattr(dump, "data", dump.data + bytes(16)), set()),
    ("broken", lambda dump: setattr(dump, "data", dump.data + dump.pack("IIQ", 0, 15, 9)), set()),
    ("empty-record", after(payload(77, b""), lambda dump: add(dump, 3)), {"unknown-id"}),
    ("after-close", close_and_load, set()),
    ("unknown-id", payload(77, b"x"), set()),
    ("time-backwards", lambda dump: add(dump, 0), set()),
    ("unreadable-record", payload(LOAD, b"x"), set()),
    ("unreadable-record", payload(MOVE, b"x"), set()),
    ("unreadable-record", payload(SOURCE, b"x"), set()),
    ("unreadable-record", payload(TIER, b"x", then_load=True), set()),
    ("unreadable-record", lambda dump: (dump.debug_info(5, ADDRESS + 3 * ROOM, []),
                                        dump.record(2, 5, dump.pack("QQ", ADDRESS + 3 * ROOM, 9)),
                                        dump.load(5, ADDRESS + 3 * ROOM, CODE, 3)), set()),
    ("unreadable-record", payload(UNWINDING_INFO, b"x", then_load=True), set()),
    ("name-empty", named(b""), set()),
    ("name-control", named(b"a\x1b[2J"), set()),
    ("name-control", named(b"a\n"), set()),
    ("name-utf8", named(b"\xff"), set()),
    ("name-utf8", named(b"\xc3"), set()),
    ("name-twice-shown", named(b"Ion: f"), set()),
    ("padding", lambda dump: dump.load(5, ADDRESS + 3 * ROOM, CODE, 3, padding=b"\0"), set()),
    ("index-twice", lambda dump: dump.load(5, ADDRESS + 3 * ROOM, CODE, 2), set()),
    ("orphan", lambda dump: dump.debug_info(5, ADDRESS, []), set()),
    ("orphan", lambda dump: (dump.unwinding(5, EH_FRAME, HEADER),
                             dump.move(5, ADDRESS + 2 * ROOM, ADDRESS + 3 * ROOM, 100, 2),
                             add(dump, 4)), {"move-crashes", "unwinding-moved"}),
    ("many-functions", many, set()),
    ("lines-address", lambda dump: (lines(dump, ADDRESS + 9 * ROOM, []),
                                    dump.load(5, ADDRESS + 3 * ROOM, CODE, 3)), set()),
    ("lines-outside", lambda dump: table(dump, [(0, 1), (101, 2)]), set()),
    ("lines-outside", lambda dump: table(dump, [(-1, 1), (100, 2)]), set()),
    ("lines-header-added", header_added, set()),
    ("lines-order", lambda dump: table(dump, [(50, 1), (0, 1), (100, 2)]), set()),
    ("lines-order", lambda dump: table(dump, [(0, 1), (0, 2), (100, 2)]), set()),
    ("lines-sentinel", lambda dump: table(dump, [(0, 1), (99, 2)]), set()),
    ("lines-same-file", lambda dump: table(dump, [(0, 1), (100, 1)], b"\xff"), set()),
    ("lines-file-lost", names_lost, set()),
    ("lines-colon", lambda dump: table(dump, [(0, 1), (100, 1)], b"https://host/a.js"), set()),
    ("inline-unreadable", payload(INLINE_2023, bytes(8), then_load=True), set()),
    ("inline-unreadable", payload(TIER, struct.pack(NATIVE + "QQQQ", 0, 0, 0, 9),
                                  then_load=True), set()),
    ("tier-hides-lines", payload(TIER, struct.pack(NATIVE + "II", 1, 0) + b"Ion\0",
                                 then_load=True), set()),
    ("unwinding-order", header_first, set()),
    ("unwinding-unmapped", unmapped, set()),
    ("unwinding-room", in_the_room, set()),
    ("unwinding-hides", in_front, set()),
    ("unwinding-moved", lambda dump: dump.move(5, ADDRESS + 2 * ROOM, ADDRESS + 3 * ROOM, 100, 2),
     {"move-crashes"}),
    ("unwinding-reused", again, set()),
    ("move-unknown", move(3, 99), {"move-crashes"}),
    ("move-from", move(9, 3), {"move-crashes"}),
    ("move-crashes", move(3, 3), set()),
]
# Nothing may be found.
FINE: list[tuple[str, Callable[[Dump], object]]] = [
    ("moved by loads: the old place of the function lies in the room of the new one",
     lambda dump: (dump.unwinding(5, EH_FRAME, HEADER),
                   dump.load(5, ADDRESS + ROOM - len(CODE), CODE, 3, b"first"))),
    ("the neighbour follows",
     lambda dump: (dump.unwinding(5, EH_FRAME, HEADER),
                   dump.load(5, ADDRESS + ROOM - len(CODE), CODE, 3, b"third"),
                   dump.load(900_000, ADDRESS + 5 * ROOM, CODE, 4, b"first"))),
    ("what had the room was replaced",
     lambda dump: (dump.load(5, ADDRESS + 5 * ROOM, CODE, 3, b"second"),
                   dump.load(5, ADDRESS + 2 * ROOM + len(CODE) + 4, CODE, 4))),
    ("a header of no frames, as V8 has it for all that it does not describe",
     lambda dump: (dump.record(UNWINDING_INFO, 5, dump.pack("QQQ", 20, 20, 0) + HEADER[:20]),
                   dump.load(5, ADDRESS + 3 * ROOM, CODE, 3))),
    ("line 0 at the end", lambda dump: table(dump, [(0, 1), (99, 0)])),
    ("no lines", lambda dump: table(dump, [])),
    ("closed", lambda dump: dump.record(CLOSE, 5, b"")),
    ("a header alone", lambda dump: setattr(dump, "data", dump.data[:40])),
]
# Planted by tests of their own.
ELSEWHERE = {"file-name", "code-size", "much-code"}
PROFILE = {"clock", "time-conversion", "compressed", "no-mapping", "other-namespace", "hidden",
           "before-load", "after-life", "between", "never-described", "lost"}


class DumpTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.path = self.directory / "jit-4711.dump"

    def found(self, path: pathlib.Path, *options: object) -> dict[str, tool.Object]:
        """By name; each with what finding.c says of it, and the exit status that follows."""
        done = tool.run("check", "--json", *options, path)
        found = [json.loads(line) for line in done.out.splitlines()]
        known = kinds()
        for each in found:
            self.assertEqual((each["fact"], each["severity"]), known[each["finding"]])
            self.assertGreater(each["count"], 0)
        bad = any(each["severity"] != "note" for each in found)
        self.assertEqual(done.status, 1 if bad else 0, done.err)
        return {each["finding"]: each for each in found}

    def of(self, dump: Dump) -> dict[str, tool.Object]:
        self.path.write_bytes(dump.data)
        return self.found(self.path)


class Findings(DumpTest):
    def test_clean(self) -> None:
        self.assertEqual(self.of(clean()), {})
        done = tool.run("check", self.path)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertIn(b"nothing to complain about", done.out)

    def test_planted(self) -> None:
        for number, (name, plant, also) in enumerate(PLANTED):
            with self.subTest(name, number=number):
                dump = clean()
                plant(dump)
                found = self.of(dump)
                self.assertEqual(set(found), {name} | also)
                places = found[name]["places"]
                self.assertEqual(len(places), min(3, found[name]["count"]))
                for place in places:
                    self.assertLessEqual(place.get("offset", 0), len(dump.data))

    def test_fine(self) -> None:
        for what, plant in FINE:
            with self.subTest(what):
                dump = clean()
                plant(dump)
                self.assertEqual(self.of(dump), {})

    def test_file_name(self) -> None:
        for name in ("jit-4712.dump", "perf.dump"):
            path = self.directory / name
            path.write_bytes(clean().data)
            self.assertEqual(set(self.found(path)), {"file-name"})

    def test_large_code(self) -> None:
        """Sparse files: the code is a hole."""
        def write(size: int, count: int) -> None:
            at = 0
            with self.path.open("wb") as file:
                file.write(Dump(NATIVE).data)
                for index in range(1, count + 1):
                    load = Dump(NATIVE)
                    fields = load.pack("IIQQQQ", 1, 1, at, at, size, index) + b"f\0"
                    file.write(load.pack("IIQ", LOAD, 16 + len(fields) + size, 5) + fields)
                    file.truncate(file.seek(size, os.SEEK_CUR))
                    at += size
        write((1 << 31) - 1, 1)
        self.assertEqual(self.found(self.path), {})
        write(1 << 31, 1)
        self.assertEqual(set(self.found(self.path)), {"code-size"})
        write((1 << 30) + 1, 4)
        self.assertEqual(set(self.found(self.path)), {"much-code"})

    def test_every_kind_is_planted(self) -> None:
        planted = {name for name, _, _ in PLANTED}
        self.assertEqual(planted | ELSEWHERE | PROFILE, set(kinds()))

    def test_every_kind_is_documented(self) -> None:
        text = (ROOT / "docs/tool.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \| (\w*) \|", text, re.M)
        self.assertEqual({name: Kind(fact, severity) for name, severity, fact in rows}, kinds())
        facts = (ROOT / "docs/consumers.md").read_text(encoding="utf-8")
        for name, kind in kinds().items():
            self.assertIn(f"\n| {kind.fact} |" if kind.fact else "", facts, name)

    def test_hostile_names_in_text(self) -> None:
        dump = clean()
        dump.load(5, ADDRESS + 3 * ROOM, CODE, 3, b"\x1b[2J\n\xff")
        self.path.write_bytes(dump.data)
        out = tool.run("check", self.path).out
        self.assertNotIn(b"\x1b", out)
        out.decode()
        self.of(dump)


class Dumps(DumpTest):
    """Of the examples, and cut ones."""

    def test_cut_off_anywhere(self) -> None:
        data = clean().data
        ends = set()
        for size in range(len(data) + 1):
            self.path.write_bytes(data[:size])
            done = tool.run("check", self.path)
            if size < 40:
                self.assertEqual((done.status, done.out), (2, b""), size)
                self.assertRegex(done.err, "at offset 0x0: ")
            else:
                self.assertIn(done.status, (0, 1), size)
                self.assertEqual(done.err, "")
            ends.add(done.status)
        self.assertEqual(ends, {0, 1, 2})

    def test_not_to_be_read(self) -> None:
        self.path.write_bytes(clean().data[:4] + struct.pack("=I", 2) + clean().data[8:])
        for arguments in ([self.path], [self.directory], [self.directory / "nowhere"]):
            self.assertEqual(tool.run("check", *arguments).status, 2)

    @unittest.skipIf(os.environ.get("JITDUMP_SANITIZED") == "1", "sanitizers take memory")
    def test_memory(self) -> None:
        """What was looked at of a large dump does not stay in memory."""
        size, dump = 8000, clean()
        with open(self.path, "wb") as file:
            for index in range(3, 16000):
                lines(dump, ADDRESS + index * size, [(0, 1)], 5 + index)
                dump.unwinding(5 + index, EH_FRAME, HEADER)
                dump.load(5 + index, ADDRESS + index * size, bytes(size), index, b"f%d" % index)
                file.write(dump.data)
                dump.data = b""
        with subprocess.Popen([tool.TOOL, "check", "-q", self.path]) as checking:
            _, status, used = os.wait4(checking.pid, 0)
            checking.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(checking.returncode, 1)
        print(f"{used.ru_maxrss >> 10} MB of memory, {self.path.stat().st_size >> 20} MB of dump")
        self.assertLess(used.ru_maxrss << 10, self.path.stat().st_size / 2)

    def example(self, name: str, *arguments: object) -> pathlib.Path:
        program = pathlib.Path(EXAMPLES) / name
        if not EXAMPLES or not program.exists():
            self.skipTest("the examples are not built for this processor")
        subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                       cwd=self.directory, env={**os.environ, "JITDUMPDIR": str(self.directory)})
        path, = self.directory.glob("jit-*.dump")
        return path

    def no_worse_than_notes(self, path: pathlib.Path) -> None:
        found = self.found(path)
        print(path.name, sorted(found))
        self.assertEqual({each["severity"] for each in found.values()} - {"note"}, set())

    def test_bf(self) -> None:
        self.no_worse_than_notes(self.example("bf", "--jitdump", ROOT / "examples/hyperfactorial.bf"))

    def test_tiered(self) -> None:
        self.no_worse_than_notes(self.example("tiered", "--jitdump", "perf", ROOT / "examples/tiered/program.tl"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
