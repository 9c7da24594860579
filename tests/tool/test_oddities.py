"""Records that this library does not write: what others may, and what nobody should."""
from __future__ import annotations

import pathlib
import tempfile
import unittest
from typing import Sequence

from jitdump_tests import tool
from jitdump_tests.dump_writer import DEBUG_INFO, INLINE_2023, TIER, Dump

ADDRESS = 0x7F0000001000
Entry = tuple[int, int, int, bytes]  # offset, line, column, file


class Oddities(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "jit-4711.dump"
        self.dump = Dump()
        self.err = ""

    def read(self, size: int = 100, status: int = 0) -> tool.Object:
        """The last function, after its load has been appended."""
        self.dump.load(2, ADDRESS, bytes(size), 1)
        self.path.write_bytes(self.dump.data)
        done = tool.run("dump", "--json", "--function", "", self.path)
        self.err = done.err
        self.assertEqual(done.status, status, done.err)
        return tool.json.loads(done.out.splitlines()[-1])

    # JIT_CODE_LOAD

    def test_P7_padding_before_the_code(self) -> None:
        self.dump.load(1, ADDRESS, b"\xc3\x90", 1, b"f", padding=bytes(3))
        self.path.write_bytes(self.dump.data)
        self.assertEqual(tool.functions(self.path)[0]["code"], "c390")
        self.assertEqual(tool.objects(self.path)[1]["padding"], 3)

    def test_P9_second_record_of_a_kind(self) -> None:
        self.dump.debug_info(1, ADDRESS, [(ADDRESS, 1, 0, b"first")])
        self.dump.debug_info(1, ADDRESS, [(ADDRESS, 2, 0, b"second")])
        self.assertEqual(self.read()["rows"], [[0, "second", 2, 0]])

    # JIT_CODE_DEBUG_INFO

    def rows(self, entries: Sequence[Entry], status: int = 0) -> list[list[object]]:
        self.dump.debug_info(1, ADDRESS, [(ADDRESS + offset, *rest) for offset, *rest in entries])
        return self.read(status=status)["rows"]

    def test_P10_closing_entry(self) -> None:
        self.assertEqual(self.rows([(0, 1, 2, b"a"), (100, 1, 2, b"a")]), [[0, "a", 1, 2]])

    def test_P12_name_as_before(self) -> None:
        self.assertEqual(self.rows([(0, 1, 0, b"\xff"), (1, 2, 0, b"a"), (2, 3, 0, b"\xff"),
                                    (3, 4, 0, b"b"), (4, 5, 0, b"\xff"), (5, 6, 0, b"a")]),
                         [[0, None, 1, 0], [1, "a", 2, 0], [2, "a", 3, 0], [3, "b", 4, 0],
                          [4, "b", 5, 0], [5, "a", 6, 0]])

    def test_S4_entries_that_do_not_ascend(self) -> None:
        """The later of two at one address counts, as in a DWARF line table."""
        self.assertEqual(self.rows([(8, 1, 0, b"a"), (4, 2, 0, b"a"), (8, 3, 0, b"b"),
                                    (0, 4, 0, b"a"), (4, 5, 0, b"c")]),
                         [[0, "a", 4, 0], [4, "c", 5, 0], [8, "b", 3, 0]])

    def lost(self, entries: Sequence[Entry], name: bytes, padding: int = 0) -> list[list[object]]:
        """Of a function of V8's, whose addresses are 64 too high."""
        payload = self.dump.pack("QQ", ADDRESS + 64, len(entries))
        for offset, line, column, file in entries:
            payload += self.dump.pack("QII", ADDRESS + 64 + offset, line, column) + file + b"\0"
        self.dump.record(DEBUG_INFO, 1, payload + bytes(padding))
        self.dump.load(2, ADDRESS, bytes(100), 1, name)
        self.path.write_bytes(self.dump.data)
        done = tool.run("dump", "--json", "--function", "", self.path)
        self.err = done.err
        return tool.json.loads(done.out.splitlines()[-1])["rows"]

    def test_names_of_freed_memory(self) -> None:
        """V8's: the first 16 bytes are the allocator's. What begins with an address of the code is an
        entry."""
        path = b"/home/me/a script:2.js"
        junk = b"\x91e\x03\0\0\0\0\0\xcb\xd1\0W\0\x89Y\0"
        file = junk + path[16:]
        place = path.decode()
        for padding in (0, 1, 7):
            self.setUp()
            self.assertEqual(self.lost([(0, 1, 2, file), (4, 5, 6, file), (100, 7, 8, file)],
                                       b"JS:*get a b " + path + b":1:13", padding),
                             [[0, place, 1, 2], [4, place, 5, 6]])
            self.assertEqual(self.err, "")
        # Of another script, and of one whose name is too short for anything to be left of it.
        self.setUp()
        self.assertEqual(self.lost([(0, 1, 2, junk + b"other.js"), (4, 5, 6, b"other/one.js"),
                                    (8, 7, 8, junk[:12]), (12, 9, 1, file)],
                                   b"JS:*f " + path + b":1:13"),
                         [[0, None, 1, 2], [4, "other/one.js", 5, 6], [8, None, 7, 8],
                          [12, place, 9, 1]])
        # Of another script whose name is as long.
        self.setUp()
        self.assertEqual(self.lost([(0, 1, 2, file), (4, 5, 6, junk + b"inlin.")],
                                   b"JS:*f " + path + b":1:13"),
                         [[0, place, 1, 2], [4, None, 5, 6]])
        # No NUL is left, so that the entries were never lost.
        self.setUp()
        self.assertEqual(self.lost([(0, 1, 2, b"\x91" * 16 + path[16:])], b"JS:*f " + path + b":1:13"),
                         [[0, place, 1, 2]])

    def test_names_of_freed_memory_that_stay_lost(self) -> None:
        path = b"/home/me/a script:2.js"
        file = bytes(16) + path[16:]
        entries = [(0, 1, 2, file), (4, 5, 6, file)]
        for name, reason in ((b"f " + path + b":1:13", "the entries end before the record does"),
                             (b"JS:*f " + path, None)):
            self.setUp()
            rows = self.lost(entries, name)
            if reason is None:  # the entries are found, the name is not
                self.assertEqual(rows, [[0, None, 1, 2], [4, None, 5, 6]])
            else:
                self.assertEqual(rows, [])
                self.assertIn(reason, self.err)
        self.setUp()
        self.assertEqual(self.lost([(0, 1, 2, file), (101, 5, 6, file), (5, 5, 6, file)],
                                   b"JS:*f " + path + b":1:13"), [])

    def test_entries_outside_of_the_code(self) -> None:
        self.assertEqual(self.rows([(-8, 1, 1, b"a"), (-4, 2, 2, b"b"), (10, 3, 3, b"c"),
                                    (101, 4, 4, b"d"), (1 << 33, 5, 5, b"e")]),
                         [[0, "b", 2, 2], [10, "c", 3, 3]])
        self.dump = Dump()
        self.assertEqual(self.rows([(-4, 1, 0, b"before"), (0, 2, 0, b"at")]), [[0, "at", 2, 0]])

    def test_tables_of_other_code(self) -> None:
        self.assertEqual(self.rows([(-8, 1, 0, b"a"), (-4, 2, 0, b"a")]), [])
        self.dump = Dump()
        self.assertEqual(self.rows([(200, 1, 0, b"a"), (204, 2, 0, b"a")]), [])

    def test_no_file_and_no_line(self) -> None:
        self.assertEqual(self.rows([(0, 1, 0, b""), (4, 0, 7, b"a"), (8, 2, 0, b"a")]),
                         [[0, None, 1, 0], [4, "a", 0, 0], [8, "a", 2, 0]])

    def test_lines_64_too_high(self) -> None:
        """By a table that would begin behind its code; not by one that just begins late."""
        self.dump.debug_info(1, ADDRESS, [(ADDRESS + 64, 1, 0, b"a")])
        self.dump.load(1, ADDRESS, bytes(8), 1)
        self.assertEqual(self.rows([(64, 2, 0, b"a"), (80, 3, 0, b"a")]),
                         [[0, "a", 2, 0], [16, "a", 3, 0]])
        found = {tool.json.loads(line)["finding"] for line in
                 tool.run("check", "--json", self.path).out.splitlines()}
        self.assertIn("lines-header-added", found)
        self.assertNotIn("lines-outside", found)
        self.dump = Dump()
        self.assertEqual(self.rows([(64, 2, 0, b"a"), (80, 3, 0, b"a")]),
                         [[64, "a", 2, 0], [80, "a", 3, 0]])
        self.dump = Dump()
        self.dump.debug_info(1, ADDRESS, [(ADDRESS, 1, 0, b"a")])
        self.dump.load(1, ADDRESS, bytes(8), 1)
        self.assertEqual(self.rows([(64, 2, 0, b"a")]), [[64, "a", 2, 0]])

    def test_more_entries_than_there_are(self) -> None:
        data = self.dump.pack("QQ", ADDRESS, 3) + self.dump.pack("QII", ADDRESS, 1, 0) + b"a\0" * 40
        self.dump.record(2, 1, data)
        self.assertEqual(self.read(status=2)["rows"], [])
        self.assertIn("JIT_CODE_DEBUG_INFO", self.err)

    def test_entries_that_do_not_fill_the_record(self) -> None:
        entry = self.dump.pack("QQ", ADDRESS, 1) + self.dump.pack("QII", ADDRESS, 1, 0) + b"a\0"
        self.dump.record(2, 1, entry + bytes(7))
        self.assertEqual(self.read()["rows"], [[0, "a", 1, 0]])
        self.dump.record(2, 1, entry + bytes(8))
        self.assertEqual(self.read(status=2)["rows"], [])
        self.assertIn("the entries end before the record does", self.err)

    # SAMPLY_JIT_CODE_DEBUG_INFO2

    def inline_2023(self, calls: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]],
                    lines: Sequence[tuple[int, int, int, int]] = ((0, 0, 1, 0),)) -> None:
        """Calls: depth and how many ranges, all of function 1."""
        files, names = b"a.js\0\0\0\0", b"outer\0inner\0"
        pack = self.dump.pack
        data = pack("8I", 2, len(files), 2, len(names), 2, len(calls), len(ranges), len(lines))
        data += files + names + pack("10I", 0, 0, 1, 1, 0, 1, 1, 2, 0, 0)
        data += b"".join(pack("5I", depth, count, 1, 10, 3) for depth, count in calls)
        data += b"".join(pack("II", begin, size) for begin, size in ranges)
        data += b"".join(pack("4I", *line) for line in lines)
        self.dump.record(INLINE_2023, 1, data)

    def test_2023_ranges_in_any_order(self) -> None:
        self.inline_2023([(0, 3), (1, 1)], [(40, 10), (0, 10), (10, 10), (4, 8)])
        function = self.read()
        self.assertEqual([call["ranges"] for call in function["calls"]],
                         [[[0, 20], [40, 50]], [[4, 12]]])
        self.assertEqual([call["parent"] for call in function["calls"]], [None, 0])
        # Columns from 0: 3 is the fourth. The file of function 1 is the empty string.
        self.assertEqual([(call["call_file"], call["call_column"]) for call in function["calls"]],
                         [("a.js", 4), (None, 4)])

    def test_2023_lines_in_any_order(self) -> None:
        self.inline_2023([], [], [(50, 0, 5, 4), (0, 1, 1, 0), (100, 0, 9, 9), (20, 0, 2, 0)])
        self.assertEqual(self.read()["rows"],
                         [[0, None, 1, 0], [20, "a.js", 2, 0], [50, "a.js", 5, 5]])

    def test_2023_refused(self) -> None:
        """The lines of JIT_CODE_DEBUG_INFO stand in."""
        for calls, ranges, reason in (
                ([(1, 1)], [(0, 4)], "depth"),
                ([(0, 1), (2, 1)], [(0, 4), (0, 4)], "depth"),
                ([(0, 0)], [], "number of ranges"),
                ([(0, 2)], [(0, 4)], "number of ranges"),
                ([(0, 1)], [(90, 11)], "leaves the code"),
                ([(0, 1)], [(0, 0)], "empty"),
                ([(0, 1)], [(0xFFFFFFF0, 0x20)], "leaves the code"),
                ([(0, 1), (1, 1)], [(0, 10), (5, 10)], "not within its caller's"),
                ([(0, 1), (1, 1)], [(0, 10), (20, 10)], "not within its caller's"),
                ([(0, 1), (0, 1)], [(0, 10), (5, 10)], "overlaps another"),
                ([(0, 1), (0, 1)], [(0, 10), (0, 10)], "overlaps another")):
            with self.subTest(calls=calls, ranges=ranges):
                self.dump = Dump()
                self.dump.debug_info(1, ADDRESS, [(ADDRESS, 7, 0, b"a")])
                self.inline_2023(calls, ranges)
                function = self.read(status=2)
                self.assertEqual(function["described_by"], "DEBUG_INFO")
                self.assertEqual(function["rows"], [[0, "a", 7, 0]])
                self.assertEqual(function["calls"], [])
                self.assertIn(reason, self.err)

    # The inline record of 2026

    def inline_2026(self, offsets: Sequence[tuple[int, int]], positions: Sequence[tuple[int, ...]],
                    strings: bytes = b"outer\0inner\0a.js\0") -> None:
        pack = self.dump.pack
        data = pack("4Q", ADDRESS, len(offsets), len(positions), strings.count(b"\0"))
        data += b"".join(pack("II", *offset) for offset in offsets)
        data += b"".join(pack("iIiIIII", *position) for position in positions)
        self.dump.record(TIER, 1, data + strings)

    def test_2026_callers_in_any_order(self) -> None:
        self.inline_2026([(0, 0), (10, 2), (10, 1), (30, 2)],
                         [(2, 1, 2, 20, 1, 21, 2), (0, 1, -1, 0, 0, 5, 5), (-1, 0, 2, 1, 1, 2, 9)])
        function = self.read()
        self.assertEqual([(call["parent"], call["ranges"]) for call in function["calls"]],
                         [(None, [[0, 30]]), (0, [[10, 30]])])
        self.assertEqual([each["name"] for each in function["functions"]],
                         ["outer", "inner", "inner"])
        self.assertEqual(tool.Lines(function).chain(12),
                         [tool.Frame("inner", None, 5, 5), tool.Frame("inner", "a.js", 21, 2),
                          tool.Frame("outer", "a.js", 2, 9)])

    def test_2026_refused(self) -> None:
        outer = (-1, 0, 2, 1, 1, 2, 9)
        for offsets, positions, reason in (
                ([(10, 0), (4, 0)], [outer], "descend"),
                ([(0, 1)], [outer], "out of range"),
                ([(0, 0)], [(0, *outer[1:])], "its own caller"),
                ([(0, 0)], [(1, *outer[1:]), (0, *outer[1:])], "its own caller"),
                ([(0, 0)], [(2, *outer[1:]), outer], "out of range"),
                ([(0, 0)], [(-2, *outer[1:])], "out of range"),
                ([(0, 0)], [(-1, 3, *outer[2:])], "out of range"),
                ([(0, 0)], [(-1, 0, 3, *outer[3:])], "out of range")):
            with self.subTest(offsets=offsets, positions=positions):
                self.dump = Dump()
                self.dump.debug_info(1, ADDRESS, [(ADDRESS, 7, 0, b"a")])
                self.inline_2026(offsets, positions)
                function = self.read(status=2)
                self.assertEqual(function["described_by"], "DEBUG_INFO")
                self.assertIn(reason, self.err)

    def test_2026_strings_that_are_not_there(self) -> None:
        self.dump.record(TIER, 1, self.dump.pack("4Q", ADDRESS, 0, 0, 3) + b"a\0b\0c")
        self.assertEqual(self.read(status=2)["described_by"], "none")
        self.assertIn("fewer strings", self.err)

    def test_id_of_two_meanings(self) -> None:
        """Tiers with names of any length, and inline records with next to nothing in them."""
        for name in (b"", b"T", b"Baseline", b"A tier with a long name indeed, of more than 32"):
            self.dump = Dump()
            self.dump.record(TIER, 1, self.dump.pack("II", 1, 2) + name + b"\0" * (4 - len(name) % 4))
            self.inline_2026([], [])
            function = self.read()
            self.assertEqual(function["tier"], name.decode())
            self.assertEqual(function["described_by"], "INLINE_2026")


if __name__ == "__main__":
    unittest.main()
