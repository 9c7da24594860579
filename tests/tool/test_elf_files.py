#!/usr/bin/env python3
"""The files that jitdump elf makes: layout, several regions, names, build ids; and that they appear
whole or not at all.

    test_elf_files.py JITDUMP
"""
import pathlib
import re
import struct
import subprocess
import sys
import unittest
from typing import Dict, List, Tuple

from jitdump_tests import dump_bytes
from jitdump_tests.output_file import BASE, OutputFile

TOOL = sys.argv.pop(1)
ARM = 40
GIB = 1 << 30


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def symbols(elf: pathlib.Path) -> Dict[int, str]:
    return {int(line.split()[0], 16): line.split(" ", 2)[2]
            for line in run("nm", elf).splitlines()}


class FilesTest(OutputFile, unittest.TestCase):
    tool, command = TOOL, "elf"

    def sections(self) -> List[Tuple[str, int, int, str]]:
        """Name, address, offset, flags."""
        found = re.findall(r"^ +\[ *\d+\] (\S+) +\S+ +(\w+) (\w+) \w+ \w+ +(\w*) ",
                           run("readelf", "-SW", self.output), re.M)
        return [(name, int(address, 16), int(offset, 16), flags)
                for name, address, offset, flags in found]

    def check_layout(self, difference: int) -> None:
        loaded = [section for section in self.sections() if "A" in section[3]]
        self.assertLessEqual({".text", ".note.gnu.build-id"}, {name for name, *_ in loaded})
        self.assertEqual({address - offset for _, address, offset, _ in loaded}, {difference})
        first = re.search(r"LOAD +(\w+) (\w+)", run("readelf", "-lW", self.output))
        self.assertEqual((int(first[1], 16), int(first[2], 16)), (0, difference))

    def test_layout(self) -> None:
        self.dump.load(BASE + 0x12345, 99, b"odd")
        self.dump.load(BASE + 0x20001, 7, b"other")
        self.convert_well()
        self.check_layout(BASE + 0x11000)
        self.assertEqual(symbols(self.output), {BASE + 0x12345: "odd", BASE + 0x20001: "other"})

    def test_relative(self) -> None:
        self.dump.load(BASE + 0x12345, 99, b"odd")
        done = self.convert("--relative")
        self.assertEqual(done.stdout, f"{BASE + 0x11000:#x}\n")
        self.check_layout(0)
        self.assertEqual(symbols(self.output), {0x1345: "odd"})
        self.assertRegex(run("readelf", "-h", self.output), r"Type: +DYN")

    def test_dynsym(self) -> None:
        for number in range(20):
            self.dump.load(BASE + 16 * number, 16, b"f%d" % number)
        self.convert_well("--dynsym")
        self.assertEqual(symbols(self.output), {BASE: "f0"})
        self.assertEqual(run("nm", "-D", self.output).count(" T f"), 20)

    def test_code_is_there(self) -> None:
        self.dump.load(BASE, 3, b"returns")
        self.convert_well()
        self.assertEqual(run("objdump", "-d", self.output).count("ret"), 4)  # the name once

    def test_holes(self) -> None:
        for number in range(5):
            self.dump.load(BASE + number * GIB // 4, 64, b"f%d" % number)
        self.convert_well()
        status = self.output.stat()
        self.assertGreater(status.st_size, GIB)
        self.assertLess(status.st_blocks * 512, 1 << 20)
        self.assertEqual(len(symbols(self.output)), 5)

    def test_regions(self) -> None:
        """Further apart than relative addresses reach."""
        self.dump.load(BASE, 64, b"low")
        self.dump.load(BASE + 0x1000, 64, b"low too")
        self.dump.load(BASE + 3 * GIB, 64, b"middle")
        self.dump.load(BASE + 0xFF000000000, 64, b"high")
        done = self.convert()
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("spread over more than 2 GiB"), 2, done.stderr)
        self.assertEqual([symbols(self.directory / name) for name in
                          ("out", "out.2", "out.3")],
                         [{BASE: "low", BASE + 0x1000: "low too"}, {BASE + 3 * GIB: "middle"},
                          {BASE + 0xFF000000000: "high"}])

    def test_names(self) -> None:
        given = [b"", b"a\nb\tc\x7f", "größe ✓".encode(), b"\xff\xfe", b"_Z1fv", b"x" * 3000]
        for number, name in enumerate(given):
            self.dump.load(BASE + 16 * number, 16, name)
        self.convert_well()
        text = subprocess.run(["nm", "-n", self.output], check=True, capture_output=True).stdout
        names = [line.split(b" ", 2)[2] for line in text.splitlines()]
        self.assertEqual(names, [b"<anonymous>", b"a?b?c?", *given[2:]])
        self.assertEqual(run("addr2line", "-f", "-e", self.output, hex(BASE + 16)).splitlines()[0],
                         "a?b?c?")

    def test_each_name_once(self) -> None:
        """In .debug_str and among the symbols' names, however many functions have it."""
        for number in range(50):
            self.dump.load(BASE + 16 * number, 16, (b"often", b"again")[number % 2])
        self.convert_well()
        self.assertEqual([self.output.read_bytes().count(name) for name in (b"often", b"again")], [2, 2])

    def test_urls(self) -> None:
        """Of a local file, as Node calls its modules: the path, by which the file can be opened."""
        given = {b"file:///home/me/a.mjs": "/home/me/a.mjs", b"file:///a%20%C3%bc%2F%zz%4": "/a \u00fc/%zz%4",
                 b"file:///a%0ab": "/a?b", b"file://host/a": "file://host/a", b"file:/": "file:/",
                 b"https://host/a%20b": "https://host/a%20b"}
        for number, file in enumerate(given):
            address = BASE + 16 * number
            self.dump.record(dump_bytes.DEBUG_INFO, struct.pack("=QQQII", address, 1, address, 7, 0) +
                             file + b"\0")
            self.dump.load(address, 16, b"f")
        self.convert_well()
        lines = run("addr2line", "-e", self.output,
                    *[hex(BASE + 16 * number) for number in range(len(given))]).splitlines()
        self.assertEqual(lines, [f"{path}:7" for path in given.values()])

    def build_id(self, *options: str) -> str:
        done = self.convert(*options)
        self.assertEqual(done.returncode, 0)
        found = re.search(r"Build ID: (\w+)", run("readelf", "-n", self.output))[1]
        self.assertEqual(len(found), 40)
        return found

    def test_build_id(self) -> None:
        """The same for the same contents."""
        self.dump.load(BASE, 64, b"one")
        one = self.build_id()
        self.assertEqual(self.build_id(), one)
        relative = self.build_id("--relative")
        self.dump.load(BASE + 64, 64, b"two")
        both = self.build_id()
        self.assertEqual(len({one, relative, both}), 3)
        self.assertEqual(self.build_id("--at", "0.000000003"), one)
        self.assertNotEqual(self.build_id("--dynsym"), both)

    def test_impossible_addresses(self) -> None:
        self.dump.load(0x10, 64, b"in the zero page")
        self.expect_failure("at addresses that no process")
        self.dump = dump_bytes.Writer(ARM)
        self.dump.load(0x100000000, 64, b"beyond 32 bits")
        self.expect_failure("at addresses that no process")
        self.assertFalse(self.output.exists())

    def test_no_second_file(self) -> None:
        """Then there is no first one either."""
        self.dump.load(BASE, 64, b"low")
        self.dump.load(BASE + 3 * GIB, 64, b"high")
        (self.directory / "out.2").mkdir()
        self.expect_failure("out.2: is no regular file")
        self.assertFalse(self.output.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
