"""Intel's JIT API, event by event, as no runtime here sends all of them: what comes in is compared
with what the dump then says."""
from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
import random
import stat
import struct
import threading
import unittest
from typing import List, Optional, Tuple

from jitdump_tests import decoder, itt, jitdump_records
from jitdump_tests.jitdump_reader import Function

SIZE = 64


def lines_of(function: Function) -> List[Optional[Tuple[str, int]]]:
    """The file and line of each byte of the code."""
    table = function.described_by(jitdump_records.DebugInfo)
    lines: List[Optional[Tuple[str, int]]] = [None] * function.load.code_size
    if table is None:
        return lines
    ends = [entry.code_addr for entry in table.entries[1:]]
    for entry, end in zip(table.entries, ends):
        for address in range(entry.code_addr, end):
            lines[address - function.load.code_addr] = (entry.name, entry.line) if entry.line else None
    return lines


def numbers(function: Function) -> List[int]:
    return [place[1] if place else 0 for place in lines_of(function)]


class Loads(unittest.TestCase):
    def setUp(self) -> None:
        self.memory = itt.Memory()

    def names(self, child: itt.Child) -> List[str]:
        return [function.load.name for function in child.functions()]

    def test_all_versions(self) -> None:
        def scenario() -> None:
            copy = itt.Copy()
            assert copy.initialized == 1
            for number, event in enumerate([itt.LOAD, itt.LOAD_V2, itt.LOAD_V3]):
                more = {} if event == itt.LOAD else {"module_name": b"module"}
                assert copy.send(event, 10 + number, f"version {number + 1}".encode(),
                                 self.memory.address + number * SIZE, SIZE, **more) == 1

        functions = itt.Child(scenario).functions()
        self.assertEqual([(f.load.name, f.load.code_addr, f.load.code) for f in functions],
                         [(f"version {i + 1}", self.memory.address + i * SIZE,
                           self.memory.bytes_at(i * SIZE, SIZE)) for i in range(3)])

    def test_names(self) -> None:
        """Without a name, with a class, with one that is in the name already."""
        def scenario() -> None:
            copy = itt.Copy()
            cases = [(None, None), (b"", b"C"), (b"f", b"C"), (b"C.g", b"C"), (b"A::h", b"C"),
                     (b"k(std::string)", b"C"), (b"l", b""), (b"Count", b"C"), (b"C", b"C")]
            for number, (name, class_name) in enumerate(cases, 1):
                copy.load(number, name, self.memory.address + number * SIZE, SIZE,
                          class_name=class_name)

        self.assertEqual(self.names(itt.Child(scenario)),
                         ["itt_method_1", "itt_method_2", "C::f", "C.g", "A::h", "C::k(std::string)",
                          "l", "C::Count", "C"])

    def test_regions(self) -> None:
        """The same id again: what a region does not say is that of the first."""
        def scenario() -> None:
            copy = itt.Copy()
            at = self.memory.address
            copy.load(1, b"f", at, SIZE, lines=[(SIZE, 5)], file=b"/a.c")
            copy.load(1, None, at + SIZE, SIZE, lines=[(SIZE, 6)])
            copy.load(1, b"f.cold", at + 2 * SIZE, SIZE, lines=[(SIZE, 7)], file=b"")
            copy.load(2, b"g", at + 3 * SIZE, SIZE, lines=[(SIZE, 8)])
            for number in range(200):
                copy.load(1, None, at + (4 + number) * SIZE, SIZE)

        child = itt.Child(scenario)
        functions = child.functions()
        self.assertEqual(self.names(child), ["f", "f", "f.cold", "g"] + 200 * ["f"])
        self.assertEqual([lines_of(f)[0] for f in functions[:4]],
                         [("/a.c", 5), ("/a.c", 6), ("/a.c", 7), None])

    def test_nonsense(self) -> None:
        """What is no code is left out, and what comes after is not."""
        def scenario() -> None:
            copy = itt.Copy()
            copy.load(1, b"nowhere", None, SIZE)
            copy.load(2, b"nothing", self.memory.address, 0)
            copy.load(3, b"not mapped", 0x1000, SIZE)
            closed = self.memory.address + len(self.memory.memory) - mmap.PAGESIZE
            ctypes.CDLL(None).mprotect(ctypes.c_void_p(closed), ctypes.c_size_t(mmap.PAGESIZE), 0)
            copy.load(4, b"half readable", closed - 8, SIZE)
            copy.load(7, b"too large", self.memory.address, 1 << 28)
            copy.load(5, b"over the end", (1 << 64) - 8, SIZE)
            copy.load(0, b"no id", self.memory.address, SIZE)
            copy.notify(itt.UPDATE_V2, None)
            copy.notify(99, None)
            copy.notify(itt.LOAD, None)
            copy.unload(77)
            copy.send(itt.UPDATE, 78, None, self.memory.address, SIZE)
            copy.load(6, b"good", self.memory.address, SIZE)

        child = itt.Child(scenario, JITDUMP="debug")
        self.assertEqual(self.names(child), ["good"])
        self.assertEqual(child.stderr.count("no code can be read where not mapped"), 1)
        self.assertEqual(child.stderr.count("\n"), 3)  # too large, and where the dump is

    def test_copies(self) -> None:
        """Two copies of the client have each its own ids."""
        def scenario() -> None:
            at = self.memory.address
            one, other = itt.Copy(0), itt.Copy(1)
            one.load(1, b"one", at, SIZE)
            other.load(1, b"other", at + SIZE, SIZE)
            one.load(1, None, at + 2 * SIZE, SIZE)
            other.load(1, None, at + 3 * SIZE, SIZE)
            other.unload(1)
            one.load(1, None, at + 4 * SIZE, SIZE)
            other.load(1, None, at + 5 * SIZE, SIZE)

        self.assertEqual(self.names(itt.Child(scenario)),
                         ["one", "other", "one", "other", "one", "itt_method_1"])

    def test_unload_and_shutdown(self) -> None:
        def scenario() -> None:
            copy = itt.Copy()
            for number in range(1, 2000):
                copy.load(number, f"f{number}".encode(), self.memory.address + number, 1)
                if number % 3 == 0:
                    copy.unload(number)
                    copy.notify(itt.SHUTDOWN, None)
            copy.load(6, None, self.memory.address, SIZE)
            copy.load(7, None, self.memory.address, SIZE)

        names = self.names(itt.Child(scenario))
        self.assertEqual(names, [f"f{number}" for number in range(1, 2000)] + ["itt_method_6", "f7"])

    def test_update(self) -> None:
        """Part of the code is new: its lines are not known any more, the others' are."""
        changed = bytes(range(16))

        def scenario() -> None:
            copy = itt.Copy()
            at = self.memory.address
            copy.load(1, b"f", at, SIZE, lines=[(20, 1), (40, 2), (SIZE, 3)], file=b"/a.c")
            copy.load(2, b"g", at + SIZE, SIZE)
            self.memory.memory[16:32] = changed
            copy.send(itt.UPDATE, 1, None, at + 16, 16)

        before, _, after = itt.Child(scenario).functions()
        self.assertEqual((after.load.name, after.load.code_addr, after.load.code_size),
                         ("f", before.load.code_addr, SIZE))
        self.assertEqual(after.load.code, before.load.code[:16] + changed + before.load.code[32:])
        self.assertEqual(numbers(before), 20 * [1] + 20 * [2] + 24 * [3])
        self.assertEqual(numbers(after), 16 * [1] + 16 * [0] + 8 * [2] + 24 * [3])


class Lines(unittest.TestCase):
    def setUp(self) -> None:
        self.memory = itt.Memory()

    def tables(self, tables: List[Tuple[int, itt.Lines]], **environment: str) -> List[List[int]]:
        """What the dump says of functions with these sizes and tables."""
        def scenario() -> None:
            copy = itt.Copy()
            at = self.memory.address
            for number, (size, table) in enumerate(tables, 1):
                copy.load(number, b"f", at, size, lines=table, file=b"/a.c")
                at += size

        functions = itt.Child(scenario, **environment).functions()
        return [numbers(function) for function in functions]

    def table(self, size: int, table: itt.Lines, **environment: str) -> List[int]:
        return self.tables([(size, table)], **environment)[0]

    def test_ends(self) -> None:
        """As LLVM sends them: the last offset is the code's end."""
        table = [(0, 6), (2, 6), (8, 8), (16, 0), (34, 9), (37, 13), (43, 8), (49, 14)]
        self.assertEqual(self.table(49, table),
                         2 * [6] + 6 * [8] + 8 * [0] + 18 * [9] + 3 * [13] + 6 * [8] + 6 * [14])
        # As Intel's header has it, and code behind the last end.
        self.assertEqual(self.table(24, [(1, 2), (12, 4), (15, 2), (18, 1), (21, 30)]),
                         [2] + 11 * [4] + 3 * [2] + 3 * [1] + 3 * [30] + 3 * [0])

    def test_starts(self) -> None:
        self.assertEqual(self.table(20, [(0, 3), (8, 4), (12, 0), (16, 5)]),
                         8 * [3] + 4 * [4] + 4 * [0] + 4 * [5])

    def test_what_the_other_tables_say(self) -> None:
        """Neither an offset of 0 nor of the end: starts if this sender's others are."""
        starts, ends, either = [(0, 1), (4, 2)], [(4, 1), (8, 2)], [(3, 7), (6, 8)]
        self.assertEqual(self.tables([(8, starts), (8, either)])[1], 3 * [0] + 3 * [7] + 2 * [8])
        self.assertEqual(self.tables([(8, ends), (8, either)])[1], 3 * [7] + 3 * [8] + 2 * [0])

    def test_told(self) -> None:
        self.assertEqual(self.table(8, [(0, 1), (4, 2)], JITDUMP_ITT_LINES="ends"),
                         4 * [2] + 4 * [0])
        self.assertEqual(self.table(8, [(4, 1), (8, 2)], JITDUMP_ITT_LINES="starts"),
                         4 * [0] + 4 * [1])

    def test_odd(self) -> None:
        """All entries at one offset, as LLVM's ORC sends them; out of order; far behind the end."""
        self.assertEqual(self.table(8, [(0, 4), (0, 5), (0, 6)]), 8 * [6])
        self.assertEqual(self.table(8, [(8, 4), (8, 5)]), 8 * [4])
        self.assertEqual(self.table(8, [(8, 2), (4, 1)]), 4 * [1] + 4 * [2])
        self.assertEqual(self.table(8, [(4, 1), (0xffffffff, 2), (0xffffffff, 3)]),
                         4 * [1] + 4 * [2])

    def test_random(self) -> None:
        """Random tables of both kinds against the line of each byte."""
        generator = random.Random(20240229)
        tables, expected = [], []
        for _ in range(400):
            size = generator.randint(1, 60)
            is_ends = generator.random() < 0.5
            truth = [0] * size
            cuts = sorted(generator.randint(0, size - 1) for _ in range(generator.randint(0, 8)))
            table = []
            if is_ends:
                start = 0
                for end in [*cuts, size]:
                    line = generator.randint(0, 4)
                    table.append((end, line))
                    truth[start:end] = (end - start) * [line]
                    start = end
            else:
                for start in [0, *cuts]:
                    line = generator.randint(0, 4)
                    table.append((start, line))
                    truth[start:] = (size - start) * [line]
            tables.append((size, table))
            expected.append(truth)
        self.assertEqual(self.tables(tables), expected)

    def test_files(self) -> None:
        """A relative name is made absolute if there is such a file, and is else left as it is."""
        def scenario() -> None:
            pathlib.Path("here.c").write_text("int main;\n")
            copy = itt.Copy()
            for number, file in enumerate([b"here.c", b"elsewhere.c", b"/abs.c"], 1):
                copy.load(number, b"f", self.memory.address, SIZE, lines=[(SIZE, 1)], file=file)

        child = itt.Child(scenario)
        self.assertEqual([lines_of(function)[0][0] for function in child.functions()],
                         [f"{child.directory}/here.c", "elsewhere.c", "/abs.c"])


class Inlining(unittest.TestCase):
    """The example of Intel's header: a has b and d inlined in it, and b has c. In all orders."""

    def setUp(self) -> None:
        self.memory = itt.Memory()

    def send(self, copy: itt.Copy, what: str) -> None:
        at = self.memory.address
        if what == "a":
            copy.load(1000, b"a", at, 64, lines=[(10, 1), (64, 2)], file=b"/a.c")
        elif what == "b":
            copy.send(itt.INLINE_LOAD, 2000, b"b", at + 8, 16, parent=1000,
                      lines=[(4, 11), (16, 12)], file=b"/b.c")
        elif what == "c":
            copy.send(itt.INLINE_LOAD, 3000, b"c", at + 12, 4, parent=2000, lines=[(4, 21)],
                      file=b"/c.c")
        else:
            copy.send(itt.INLINE_LOAD, 2001, b"d", at + 40, 16, parent=1000, lines=[(16, 31)],
                      file=b"/d.c")

    def test_orders(self) -> None:
        innermost = (8 * [("/a.c", 1)] + 4 * [("/b.c", 11)] + 4 * [("/c.c", 21)]
                     + 8 * [("/b.c", 12)] + 16 * [("/a.c", 2)] + 16 * [("/d.c", 31)]
                     + 8 * [("/a.c", 2)])
        for order in ("abcd", "abdc", "acbd", "cbad", "dcba", "bdac"):
            with self.subTest(order):
                def scenario() -> None:
                    copy = itt.Copy()
                    for what in order:
                        self.send(copy, what)

                functions = itt.Child(scenario).functions()
                self.assertEqual({function.load.name for function in functions}, {"a"})
                self.assertEqual(lines_of(functions[-1]), innermost)

    def test_chains(self) -> None:
        """In a dialect that has inlining, each call with its function and where it is called."""
        child = itt.Child(lambda: [self.send(copy, what) for copy in [itt.Copy()] for what in "abcd"],
                          JITDUMP="dialect=2023")
        close = struct.pack("=IIQ", decoder.CLOSE, 16, 0)
        *_, group = decoder.groups(child.dump_path().read_bytes() + close)
        outer, calls, _ = decoder.inline_2023(group[decoder.INLINE_2023], 64)
        self.assertEqual(outer.name, "a")
        self.assertEqual({(tuple((function.name, line) for function, line, _ in call.path), call.ranges)
                          for call in calls},
                         {((("b", 1),), ((8, 24),)),
                          ((("b", 1), ("c", 12)), ((12, 16),)),
                          ((("d", 2),), ((40, 56),))})

    def test_unload(self) -> None:
        """With a call goes what is inlined in it. What makes no sense is left out."""
        def scenario() -> None:
            copy = itt.Copy()
            for what in "abcd":
                self.send(copy, what)
            copy.unload(2000)
            self.send(copy, "a")
            copy.send(itt.INLINE_LOAD, 5, b"its own parent", self.memory.address, 4, parent=5)
            copy.send(itt.INLINE_LOAD, 6, b"outside", self.memory.address + 60, 16, parent=1000)

        functions = itt.Child(scenario).functions()
        self.assertEqual([function.load.name for function in functions], 6 * ["a"])
        self.assertEqual(lines_of(functions[-1])[12], ("/a.c", 2))
        self.assertEqual(lines_of(functions[-1])[40], ("/d.c", 31))


class Process(unittest.TestCase):
    def setUp(self) -> None:
        self.memory = itt.Memory()

    def test_nothing_is_reported(self) -> None:
        def scenario() -> None:
            copy = itt.Copy()
            copy.notify(itt.SHUTDOWN, None)
            copy.unload(1)

        child = itt.Child(scenario, JITDUMP="debug")
        self.assertEqual([path.name for path in child.directory.iterdir()], ["stderr"])
        self.assertEqual(child.stderr, "")

    def test_not_wanted(self) -> None:
        def scenario() -> None:
            copy = itt.Copy()
            assert copy.initialized == 0
            assert copy.load(1, b"f", self.memory.address, SIZE) == 1

        child = itt.Child(scenario, JITDUMP="0")
        self.assertFalse(child.dump_path().exists())

    def test_no_permission(self) -> None:
        """The directory can't be written: the program goes on, and the reason is said once."""
        def scenario() -> None:
            os.environ["JITDUMPDIR"] = "/proc"
            copy = itt.Copy()
            for number in range(1, 100):
                assert copy.load(number, b"f", self.memory.address, SIZE) == 1

        self.assertEqual(itt.Child(scenario).stderr, "")
        child = itt.Child(scenario, JITDUMP="1")
        self.assertEqual(child.stderr.count("\n"), 1)
        self.assertIn(" /proc/", child.stderr)

    def test_fork(self) -> None:
        """A child has a dump of its own, from its first event on; what its parent's methods are called
        is known there."""
        def scenario() -> None:
            copy = itt.Copy()
            copy.load(1, b"parent's", self.memory.address, SIZE)
            for number in range(2):
                child = os.fork()
                if child == 0:
                    if number == 0:
                        copy.load(1, None, self.memory.address + SIZE, SIZE)
                    os._exit(0)
                pathlib.Path(f"child-{number}").write_text(str(child))
                assert os.waitpid(child, 0)[1] == 0
            copy.load(2, b"late", self.memory.address, SIZE)

        child = itt.Child(scenario)
        first, second = (int((child.directory / f"child-{i}").read_text()) for i in range(2))
        self.assertEqual([f.load.name for f in child.functions()], ["parent's", "late"])
        self.assertEqual([f.load.name for f in child.functions(first)], ["parent's"])
        self.assertFalse(child.dump_path(second).exists())

    def test_threads_and_forks(self) -> None:
        """Eight threads report, and the ninth forks: no child waits for a lock that nobody holds, and
        nothing of the threads' is lost."""
        def scenario() -> None:
            copies = [itt.Copy(0), itt.Copy(1)]

            def report(thread: int) -> None:
                for number in range(300):
                    copies[thread % 2].load(1000 * thread + number + 1,
                                            f"{thread}-{number}".encode(),
                                            self.memory.address + 64 * thread, SIZE)

            threads = [threading.Thread(target=report, args=(thread,)) for thread in range(8)]
            for thread in threads:
                thread.start()
            for _ in range(30):
                child = os.fork()
                if child == 0:
                    copies[0].load(9999, b"child's", self.memory.address, SIZE)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            for thread in threads:
                thread.join()

        child = itt.Child(scenario)
        self.assertEqual(sorted(f.load.name for f in child.functions()),
                         sorted(f"{thread}-{number}" for thread in range(8) for number in range(300)))
        self.assertEqual(len(list(child.directory.glob("jit-*.dump"))), 31)

    def test_mode(self) -> None:
        """As the emitter makes it."""
        child = itt.Child(lambda: itt.Copy().load(1, b"f", self.memory.address, SIZE))
        self.assertEqual(stat.S_IMODE(child.dump_path().stat().st_mode), 0o600)
