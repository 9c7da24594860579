#!/usr/bin/env python3
"""The files that jitdump gsym makes: layout, both versions, names, build ids, what readers stumble
over; and that they appear whole or not at all.

    test_gsym_files.py JITDUMP
"""
import re
import subprocess
import sys
import unittest
from typing import List

from jitdump_tests import dump_bytes
from jitdump_tests import gsym
from jitdump_tests.gsym_decoder import Call, Function, Gsym
from jitdump_tests.histories import Place
from jitdump_tests.output_file import BASE, OutputFile

TOOL = sys.argv.pop(1)
DEEPEST = 10000
needs_reader = unittest.skipUnless(gsym.installed(), "there is no llvm-gsymutil")


class FilesTest(OutputFile, unittest.TestCase):
    tool, command = TOOL, "gsym"

    def decoded(self, *options: str) -> Gsym:
        """The same whichever version it has."""
        self.convert_well("--format=2", *options)
        second = Gsym(self.output.read_bytes())
        self.convert_well(*options)
        first = Gsym(self.output.read_bytes())
        self.assertEqual((first.version, second.version), (1, 2))
        self.assertEqual((first.functions, first.files, first.base, first.uuid),
                         (second.functions, second.files, second.base, second.uuid))
        return first

    def lookup(self, address: int) -> List[Place]:
        """As each reader says."""
        self.convert_well()
        answers = [gsym.lookup(program, self.output, [address])[address].chain
                   for program in gsym.installed()]
        self.assertEqual(answers, answers[:1] * len(answers))
        return answers[0]

    def test_base(self) -> None:
        """The lowest address; the offsets are as small as they can be."""
        self.dump.load(BASE, 16, b"low")
        for distance, size in ((0xFF, 1), (0x100, 2), (0xFFFF, 2), (0x10000, 4),
                               (0xFFFFFFFF, 4), (0x100000000, 8), (1 << 45, 8)):
            self.dump.load(BASE + distance, 1, b"high")
            decoded = self.decoded()
            self.assertEqual((decoded.base, decoded.address_size), (BASE, size))
            self.assertEqual([(f.address, f.size, f.name) for f in decoded.functions[::len(
                decoded.functions) - 1]], [(BASE, 16, "low"), (BASE + distance, 1, "high")])

    def test_last_address(self) -> None:
        self.dump.load(0, 16, b"first")
        self.dump.load((1 << 64) - 17, 16, b"last")
        self.assertEqual([f.address for f in self.decoded().functions], [0, (1 << 64) - 17])

    def test_covered(self) -> None:
        """What a later load overlaps is gone, also behind its end."""
        self.dump.load(BASE, 64, b"long")
        self.dump.load(BASE + 16, 16, b"short")
        self.dump.load(BASE + 256, 0, b"of no bytes")
        self.assertEqual(self.decoded().functions, [Function(BASE + 16, 16, "short", [], [])])
        self.assertEqual(self.decoded("--at", "0.000000003").functions,
                         [Function(BASE, 64, "long", [], [])])

    def test_moved(self) -> None:
        self.dump.load(BASE + 256, 16, b"moved")
        self.dump.move(BASE + 256, BASE, 16)
        self.assertEqual(self.decoded().functions, [Function(BASE, 16, "moved", [], [])])

    @needs_reader
    def test_names(self) -> None:
        """Readers take UTF-8 alone."""
        given = [b"", b"a\nb\tc\x7f", "größe ✓ 𝄞".encode(), b"a\xff\xfe\xc3", b"\xed\xa0\x80",
                 b"_Z1fv", b"x" * 3000, b"f", b"f"]
        names = ["<anonymous>", "a?b?c?", "größe ✓ 𝄞", "a???", "???", "_Z1fv", "x" * 3000, "f", "f"]
        for number, name in enumerate(given):
            self.dump.load(BASE + 16 * number, 16, name)
        decoded = self.decoded()
        self.assertEqual([f.name for f in decoded.functions], names)
        self.assertEqual(self.output.read_bytes().count(b"\0f\0"), 1)
        self.assertEqual([self.lookup(BASE + 16 * number)[0].function
                          for number in range(len(names))], names)

    def test_build_id(self) -> None:
        """That of the ELF file of the same code."""
        self.dump.inlined([b"a.js"], [(b"f", 0)], [], [(0, 0, 1)])
        self.dump.load(BASE, 64, b"f")
        ids = []
        for address in (BASE + 64, BASE + 128):
            self.dump.load(address, 64, b"g")
            elf = self.directory / "elf"
            subprocess.run([TOOL, "elf", self.write_dump(), "-o", elf], check=True)
            notes = subprocess.run(["readelf", "-n", elf], check=True, capture_output=True,
                                   text=True).stdout
            ids.append(re.search(r"Build ID: (\w+)", notes)[1])
            self.assertEqual(self.decoded().uuid.hex(), ids[-1])
        self.dump.bytes = self.dump.bytes.replace(b"a.js", b"b.js")
        ids.append(self.decoded().uuid.hex())
        self.dump.move(BASE + 128, BASE + 192, 64)
        ids.append(self.decoded().uuid.hex())
        self.assertEqual(len(set(ids)), 4)

    def test_other_byte_order(self) -> None:
        self.dump.inlined([b"a.js"], [(b"f", 0), (b"inner", 0)], [(0, 1, 5, [(4, 8)])],
                          [(0, 0, 1), (4, 0, 100000)])
        self.dump.load(BASE, 64, b"f")
        native = self.decoded()
        dump_bytes.swap_byte_order(self.write_dump())
        self.dump.bytes = (self.directory / "jit-1.dump").read_bytes()
        other = self.decoded()
        self.assertEqual({native.order, other.order}, {"<", ">"})
        self.assertEqual(other.functions, native.functions)

    @needs_reader
    def test_code_without_line(self) -> None:
        """In front of the first line, in between, everywhere: the name and the inlined calls are told
        nevertheless."""
        self.dump.inlined([b"dir/a.js", b""], [(b"f", 0), (b"inner", 1), (b"inmost", 0)],
                          [(0, 1, 5, [(8, 16)]), (1, 2, 6, [(12, 4)])],
                          [(4, 0, 1), (8, 1, 7), (16, 0, 0), (32, 0, 2)])
        self.dump.load(BASE, 64, b"f")
        self.dump.inlined([b"dir/a.js"], [(b"g", 0), (b"inner", 0)], [(0, 1, 5, [(8, 16)])], [])
        self.dump.load(BASE + 64, 64, b"g")
        self.dump.inlined([b"dir/a.js"], [(b"h", 0)], [], [(8, 0, 0)])
        self.dump.load(BASE + 128, 64, b"h")
        f, g, h = self.decoded().functions
        unknown, known = "<unknown>", "dir/a.js"
        self.assertEqual(f.rows, [(0, unknown, 0), (4, known, 1), (8, unknown, 7),
                                  (16, unknown, 0), (32, known, 2)])
        self.assertEqual(f.tree, [Call("f", "", 0, [(0, 64)], [
            Call("inner", known, 5, [(8, 24)], [Call("inmost", unknown, 6, [(12, 16)], [])])])])
        self.assertEqual(g.rows, [(0, unknown, 0)])
        self.assertEqual((h.rows, h.tree), ([], []))
        for address, chain in ((BASE, [Place("f", None, 0)]),
                               (BASE + 17, [Place("inner", None, 0), Place("f", known, 5)]),
                               (BASE + 14, [Place("inmost", unknown, 7),
                                            Place("inner", unknown, 6), Place("f", known, 5)]),
                               (BASE + 24, [Place("f", None, 0)]),
                               (BASE + 32, [Place("f", known, 2)]),
                               (BASE + 72, [Place("inner", None, 0), Place("g", known, 5)]),
                               (BASE + 136, [Place("h", None, 0)])):
            self.assertEqual(self.lookup(address), chain, hex(address))

    @needs_reader
    def test_files(self) -> None:
        """Directory and name come together again."""
        given = [b"a.js", b"/a.js", b"/home/u/a.js", b"//a.js", b"dir/", b"a//b.js", b"/",
                 b"node:internal/a", b"http://h/a.js", b"a\n.js", b"\xff.js"]
        files = ["a.js", "/a.js", "/home/u/a.js", "//a.js", "dir/", "a//b.js", "/",
                 "node:internal/a", "http://h/a.js", "a?.js", "?.js"]
        self.dump.inlined(given, [(b"f", 0)], [], [(i, i, i + 1) for i in range(len(given))])
        self.dump.load(BASE, 64, b"f")
        self.assertEqual(self.decoded().files, ["", *files])
        self.assertEqual([self.lookup(BASE + i)[0].file for i in range(len(files))], files)

    def test_lines(self) -> None:
        """Every difference of lines and of addresses, in as few bytes as they fit in."""
        lines = [1]
        for difference in (0, 1, -1, 4, 10, 11, -4, -5, 14, 15, -14, -15, 2 ** 31, -2 ** 31, 63, 64):
            lines += [lines[-1] + 20, lines[-1] + 20 + difference]
        for step in (1, 16, 17, 27, 252, 253, 5000):
            self.dump = dump_bytes.Writer()
            self.dump.inlined([b"a.js"], [(b"f", 0)], [],
                              [(step * i, 0, line) for i, line in enumerate(lines)])
            self.dump.load(BASE, step * len(lines), b"f")
            expected, last = [], 0
            for i, line in enumerate(lines):
                if line != last:
                    expected.append((step * i, "a.js", line))
                last = line
            self.assertEqual(self.decoded().functions[0].rows, expected)

    def test_gaps(self) -> None:
        """Every distance that may or may not fit into one byte."""
        for change in (1, -1, 7, -14):
            rows, offset = [], 0
            for gap in range(1, 300):
                rows.append((offset, "a.js", 10000 + gap % 2 * change))
                offset += gap
            self.dump = dump_bytes.Writer()
            self.dump.inlined([b"a.js"], [(b"f", 0)], [], [(at, 0, line) for at, _, line in rows])
            self.dump.load(BASE, offset, b"f")
            self.assertEqual(self.decoded().functions[0].rows, rows)

    def test_last_line(self) -> None:
        """Lines have 32 bits."""
        lines = [0xFFFFFFFF, 1, 0xFFFFFFFF, 0x80000000]
        self.dump.inlined([b"a.js"], [(b"f", 0)], [], [(i, 0, n) for i, n in enumerate(lines)])
        self.dump.load(BASE, 64, b"f")
        self.assertEqual([row[2] for row in self.decoded().functions[0].rows], lines)

    @needs_reader
    def test_deep(self) -> None:
        """Readers crash on trees that are much deeper."""
        for given in (DEEPEST, DEEPEST + 1):
            self.dump = dump_bytes.Writer()
            self.dump.inlined([b"a.js"], [(b"f", 0), (b"inner", 0)],
                              [(depth, 1, depth + 1, [(depth, 2 * given - 2 * depth)])
                               for depth in range(given)],
                              [(0, 0, 7)])
            self.dump.load(BASE, 2 * given, b"f")
            self.assertEqual(
                self.lookup(BASE + given),
                [Place("inner", "a.js", line) for line in
                 [7, *range(min(given, DEEPEST), 1, -1)]] + [Place("f", "a.js", 1)])

    @needs_reader
    def test_beside_what_is_too_deep(self) -> None:
        """What follows is in its place in the tree."""
        deep = DEEPEST + 10
        self.dump.inlined([b"a.js"], [(b"f", 0), (b"inner", 0), (b"beside", 0)],
                          [(depth, 1, 1, [(depth, 3 * deep - 2 * depth)]) for depth in range(deep)]
                          + [(1, 2, 2, [(3 * deep - 1, 1)]), (0, 2, 3, [(3 * deep, 1)])],
                          [(0, 0, 7)])
        self.dump.load(BASE, 4 * deep, b"f")
        self.assertEqual(len(self.lookup(BASE + deep + 3)), DEEPEST + 1)
        f, inner = Place("f", "a.js", 1), Place("inner", "a.js", 2)
        self.assertEqual(self.lookup(BASE + 3 * deep - 1), [Place("beside", "a.js", 7), inner, f])
        self.assertEqual(self.lookup(BASE + 3 * deep),
                         [Place("beside", "a.js", 7), f._replace(line=3)])

    def test_wrong_format(self) -> None:
        self.dump.load(BASE, 64, b"f")
        for version in ("0", "3", "", "one"):
            done = self.convert(f"--format={version}")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--format takes 1 or 2", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
