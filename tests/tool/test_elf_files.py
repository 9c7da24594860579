#!/usr/bin/env python3
"""The files that jitdump elf makes: layout, several regions, names, build ids; and that they appear
whole or not at all.

    test_elf_files.py JITDUMP
"""
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, Tuple

from jitdump_tests import dump_bytes

TOOL = sys.argv.pop(1)
ARM = 40
BASE = 0x7F0000000000
GIB = 1 << 30


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def symbols(elf: pathlib.Path) -> Dict[int, str]:
    return {int(line.split()[0], 16): line.split(" ", 2)[2]
            for line in run("nm", elf).splitlines()}


class FilesTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.elf = self.directory / "out.elf"
        self.dump = dump_bytes.Writer()

    def convert(self, *options: str, **arguments) -> subprocess.CompletedProcess:
        path = self.directory / "jit-1.dump"
        path.write_bytes(self.dump.bytes)
        return subprocess.run([TOOL, "elf", path, "-o", self.elf, *options], capture_output=True,
                              text=True, check=False, **arguments)

    def convert_well(self, *options: str) -> None:
        done = self.convert(*options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def expect_failure(self, reason: str, **arguments) -> None:
        done = self.convert(**arguments)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, reason)
        self.assertEqual(done.stdout, "")

    def sections(self) -> List[Tuple[str, int, int, str]]:
        """Name, address, offset, flags."""
        found = re.findall(r"^ +\[ *\d+\] (\S+) +\S+ +(\w+) (\w+) \w+ \w+ +(\w*) ",
                           run("readelf", "-SW", self.elf), re.M)
        return [(name, int(address, 16), int(offset, 16), flags)
                for name, address, offset, flags in found]

    def check_layout(self, difference: int) -> None:
        loaded = [section for section in self.sections() if "A" in section[3]]
        self.assertLessEqual({".text", ".note.gnu.build-id"}, {name for name, *_ in loaded})
        self.assertEqual({address - offset for _, address, offset, _ in loaded}, {difference})
        first = re.search(r"LOAD +(\w+) (\w+)", run("readelf", "-lW", self.elf))
        self.assertEqual((int(first[1], 16), int(first[2], 16)), (0, difference))

    def test_layout(self) -> None:
        self.dump.load(BASE + 0x12345, 99, b"odd")
        self.dump.load(BASE + 0x20001, 7, b"other")
        self.convert_well()
        self.check_layout(BASE + 0x11000)
        self.assertEqual(symbols(self.elf), {BASE + 0x12345: "odd", BASE + 0x20001: "other"})

    def test_relative(self) -> None:
        self.dump.load(BASE + 0x12345, 99, b"odd")
        done = self.convert("--relative")
        self.assertEqual(done.stdout, f"{BASE + 0x11000:#x}\n")
        self.check_layout(0)
        self.assertEqual(symbols(self.elf), {0x1345: "odd"})
        self.assertRegex(run("readelf", "-h", self.elf), r"Type: +DYN")

    def test_dynsym(self) -> None:
        for number in range(20):
            self.dump.load(BASE + 16 * number, 16, b"f%d" % number)
        self.convert_well("--dynsym")
        self.assertEqual(symbols(self.elf), {BASE: "f0"})
        self.assertEqual(run("nm", "-D", self.elf).count(" T f"), 20)

    def test_code_is_there(self) -> None:
        self.dump.load(BASE, 3, b"returns")
        self.convert_well()
        self.assertEqual(run("objdump", "-d", self.elf).count("ret"), 4)  # the name once

    def test_holes(self) -> None:
        for number in range(5):
            self.dump.load(BASE + number * GIB // 4, 64, b"f%d" % number)
        self.convert_well()
        status = self.elf.stat()
        self.assertGreater(status.st_size, GIB)
        self.assertLess(status.st_blocks * 512, 1 << 20)
        self.assertEqual(len(symbols(self.elf)), 5)

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
                          ("out.elf", "out.elf.2", "out.elf.3")],
                         [{BASE: "low", BASE + 0x1000: "low too"}, {BASE + 3 * GIB: "middle"},
                          {BASE + 0xFF000000000: "high"}])

    def test_names(self) -> None:
        given = [b"", b"a\nb\tc\x7f", "größe ✓".encode(), b"\xff\xfe", b"_Z1fv", b"x" * 3000]
        for number, name in enumerate(given):
            self.dump.load(BASE + 16 * number, 16, name)
        self.convert_well()
        text = subprocess.run(["nm", "-n", self.elf], check=True, capture_output=True).stdout
        names = [line.split(b" ", 2)[2] for line in text.splitlines()]
        self.assertEqual(names, [b"<anonymous>", b"a?b?c?", *given[2:]])
        self.assertEqual(run("addr2line", "-f", "-e", self.elf, hex(BASE + 16)).splitlines()[0],
                         "a?b?c?")

    def build_id(self, *options: str) -> str:
        done = self.convert(*options)
        self.assertEqual(done.returncode, 0)
        found = re.search(r"Build ID: (\w+)", run("readelf", "-n", self.elf))[1]
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

    def test_cut_off(self) -> None:
        """What is whole is there, and the rest is told."""
        self.dump.load(BASE, 64, b"whole")
        self.dump.load(BASE + 64, 64, b"torn")
        self.dump.bytes = self.dump.bytes[:-10]
        done = self.convert()
        self.assertEqual(done.returncode, 0)
        self.assertIn("cut off", done.stderr)
        self.assertEqual(symbols(self.elf), {BASE: "whole"})

    def test_no_file(self) -> None:
        """Each error leaves what was there before."""
        self.elf.write_text("old")
        self.expect_failure("there is no code")
        self.dump.load(0x10, 64, b"in the zero page")
        self.expect_failure("at addresses that no process")
        self.dump = dump_bytes.Writer(ARM)
        self.dump.load(0x100000000, 64, b"beyond 32 bits")
        self.expect_failure("at addresses that no process")
        self.dump.bytes = b"no dump" * 10
        self.expect_failure("magic number")
        self.dump = dump_bytes.Writer()
        self.dump.load(BASE, 100000, b"large")

        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

        self.expect_failure("out.elf: File too large", preexec_fn=no_room)
        self.assertEqual(self.elf.read_text(), "old")
        self.assertEqual({path.name for path in self.directory.iterdir()},
                         {"out.elf", "jit-1.dump"})

    def test_no_second_file(self) -> None:
        """Then there is no first one either."""
        self.dump.load(BASE, 64, b"low")
        self.dump.load(BASE + 3 * GIB, 64, b"high")
        (self.directory / "out.elf.2").mkdir()
        self.expect_failure("out.elf.2: is no regular file")
        self.assertFalse(self.elf.exists())

    def test_no_directory(self) -> None:
        self.dump.load(BASE, 64, b"one")
        self.elf = self.directory / "none" / "out.elf"
        self.expect_failure("No such file or directory")

    def test_not_over_a_device(self) -> None:
        self.dump.load(BASE, 64, b"one")
        self.elf = pathlib.Path("/dev/null")
        self.expect_failure("no regular file")
        self.assertTrue(self.elf.is_char_device())

    def test_progress(self) -> None:
        """On a terminal, and gone when the work is done."""
        for number in range(70000):
            self.dump.load(BASE + 16 * number, 16, b"f")
        path = self.directory / "jit-1.dump"
        path.write_bytes(self.dump.bytes)
        ours, theirs = pty.openpty()
        with subprocess.Popen([TOOL, "elf", path, "-o", self.elf], stderr=theirs) as process:
            os.close(theirs)
            text = b""
            try:
                while part := os.read(ours, 4096):
                    text += part
            except OSError:  # how Linux says that the other side is closed
                pass
            os.close(ours)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(text, rb"\A(\rjitdump: (reading|writing), \d+ %)*(\rjitdump: writing, \d+ %)"
                               rb"{2}\r\x1b\[K\Z")
        self.assertEqual(self.convert().stderr, "")

    def test_umask(self) -> None:
        self.dump.load(BASE, 64, b"one")
        old = os.umask(0o027)
        try:
            self.convert_well()
        finally:
            os.umask(old)
        self.assertEqual(self.elf.stat().st_mode & 0o777, 0o640)


if __name__ == "__main__":
    unittest.main(verbosity=2)
