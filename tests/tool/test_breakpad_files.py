#!/usr/bin/env python3
"""jitdump breakpad: which files there are, what is in them, and that no error leaves any.

    test_breakpad_files.py JITDUMP
"""
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import List

from jitdump_tests import breakpad, dump_bytes, stack_cfi, terminal
from jitdump_tests.frame_bytes import frames

TOOL = sys.argv.pop(1)
BASE = 0x7F0000000000
AARCH64, RISCV, S390 = 183, 243, 22
CODE_SIZE = 64


class FilesTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.store = self.directory / "store"
        self.dump = dump_bytes.Writer()

    def path(self) -> pathlib.Path:
        path = self.directory / "jit-1.dump"
        path.write_bytes(self.dump.bytes)
        return path

    def run_tool(self, *options: object, **arguments) -> subprocess.CompletedProcess:
        return subprocess.run([TOOL, "breakpad", self.path(), "-o", self.store, *map(str, options)],
                              capture_output=True, text=True, check=False, **arguments)

    def files(self, *options: object) -> List[pathlib.Path]:
        """By ascending bases."""
        done = self.run_tool(*options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [self.store / line.split()[1] for line in done.stdout.splitlines()]

    def file(self, *options: object) -> str:
        path, = self.files(*options)
        return path.read_text(encoding="utf-8")

    def fails(self, reason: str, *options: object, **arguments) -> None:
        """And changes nothing."""
        self.path()
        before = sorted(self.directory.glob("**/*"))
        done = self.run_tool(*options, **arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, reason)
        self.assertEqual(sorted(self.directory.glob("**/*")), before)

    def test_head(self) -> None:
        self.dump.load(BASE + 16, CODE_SIZE, b"f")
        path, = self.files()
        text = path.read_text()
        head = re.match(r"MODULE Linux x86_64 ([0-9A-F]{32}0) jit-1\nINFO CODE_ID ([0-9A-F]{40})\n"
                        r"FUNC 10 40 0 f\n\Z", text)
        self.assertIsNotNone(head, text)
        self.assertEqual(path.relative_to(self.store),
                         pathlib.Path("jit-1") / head[1] / "jit-1.sym")
        build_id = bytes.fromhex(head[2])
        fields = struct.unpack("<IHH8s", build_id[:16])
        self.assertEqual(head[1], "%08X%04X%04X" % fields[:3] + fields[3].hex().upper() + "0")

    def test_big_endian(self) -> None:
        self.dump = dump_bytes.Writer(S390)
        self.dump.load(BASE, CODE_SIZE, b"f")
        path = self.path()
        dump_bytes.swap_byte_order(path)
        self.dump.bytes = path.read_bytes()
        head = re.match(r"MODULE Linux unknown ([0-9A-F]{32})0 jit-1\nINFO CODE_ID \1", self.file())
        self.assertIsNotNone(head)

    def test_ids(self) -> None:
        """The same for the same, another for other code, another base, another machine."""
        seen = set()
        self.dump.load(BASE, CODE_SIZE, b"f")
        first, = self.files()
        self.assertEqual(self.files(), [first])
        seen.add(first.parent.name)
        seen.add(self.files("-b", hex(BASE - 4096))[0].parent.name)
        self.dump.load(BASE + 64, CODE_SIZE, b"g")
        seen.add(self.files()[0].parent.name)
        self.dump = dump_bytes.Writer(AARCH64)
        self.dump.load(BASE, CODE_SIZE, b"f")
        seen.add(self.files()[0].parent.name)
        self.assertEqual(len(seen), 4)

    def test_names(self) -> None:
        names = {b"spaces inside": "spaces inside", b"  around  ": "around", b"": "<anonymous>",
                 b" \t\n": "<anonymous>", b"a\nb\rc\td\x7f": "a?b?c?d?",
                 "größer\u3000".encode(): "größer", "\u00a0\u2003".encode(): "<anonymous>",
                 b"bad\xff\xc3": "bad??", b"42": "42", b"m 1": "m 1",
                 b"x" * 5000: "x" * 4096, b"y" * 4095 + "ö".encode(): "y" * 4095}
        for number, name in enumerate(names):
            self.dump.load(BASE + 64 * number, CODE_SIZE, name)
        path, = self.files()
        text = path.read_bytes().decode("utf-8")
        self.assertEqual(re.findall(r"(?m)^FUNC \S+ 40 0 (.*)$", text), list(names.values()))
        if "symbolic" in breakpad.installed():
            answers = breakpad.symbolic(BASE, path, [BASE + 64 * i for i in range(len(names))])
            self.assertEqual([chain[0].function for _, chain in sorted(answers.items())],
                             list(names.values()))

    def test_regions_of_code(self) -> None:
        """Without bases, one for what is within 4 GiB."""
        self.dump.load(BASE + 0x123, CODE_SIZE, b"low")
        self.dump.load(BASE + 0xF0000000, CODE_SIZE, b"reached")
        self.dump.load(BASE + 0x200000000, CODE_SIZE, b"far")
        done = self.run_tool()
        self.assertEqual([int(line.split()[0], 16) for line in done.stdout.splitlines()],
                         [BASE, BASE + 0x200000000])
        low, far = self.files()
        self.assertRegex(low.read_text(), r"\nFUNC 123 40 0 low\nFUNC f0000000 40 0 reached\n\Z")
        self.assertRegex(far.read_text(), r"\nFUNC 0 40 0 far\n\Z")

    def test_regions_of_bases(self) -> None:
        for number in range(4):
            self.dump.load(BASE + 0x1000 * number, CODE_SIZE, b"f%d" % number)
        done = self.run_tool("-b", BASE + 0x2010, "--base", hex(BASE + 0x1000))
        self.assertRegex(done.stderr, r"2 of 4 functions are left out: .*; the first at 0x7f0000000000\n")
        texts = [(self.store / line.split()[1]).read_text() for line in done.stdout.splitlines()]
        self.assertEqual([re.findall("(?m)^FUNC (.*)$", text) for text in texts],
                         [["0 40 0 f1"], ["ff0 40 0 f3"]])

    def test_regions_of_maps(self) -> None:
        """Mappings that lie together are one; others are apart, and what is in none is left out."""
        maps = self.directory / "maps"
        maps.write_text("".join(f"{BASE + a:x}-{BASE + b:x} r-xp 00000000 00:00 0 {name}\n" for a, b, name
                                in [(0, 0x1000, "before"), (0x2000, 0x3000, ""), (0x3000, 0x5000, ""),
                                    (0x5000, 0x6000, "empty"), (0x8000, 0x9000, "[jit code]")]))
        for offset in 0x2100, 0x2FE0, 0x4FC0, 0x5FE0, 0x8000, 0xA000:
            self.dump.load(BASE + offset, CODE_SIZE, b"at%x" % offset)
        done = self.run_tool("--maps", maps)
        self.assertRegex(done.stderr, r"2 of 6 functions are left out: .*0x7f0000005fe0\n")
        self.assertEqual([int(line.split()[0], 16) - BASE for line in done.stdout.splitlines()],
                         [0x2000, 0x8000])
        texts = [(self.store / line.split()[1]).read_text() for line in done.stdout.splitlines()]
        self.assertEqual([re.findall(r"(?m)^FUNC (\S+)", text) for text in texts],
                         [["100", "fe0", "2fc0"], ["0"]])
        maps.write_text(f"{BASE:x}-{BASE + 4096:x} r-xp\n\nno line\n")
        self.fails(r"maps: at offset \d+: no line of /proc/PID/maps", "--maps", maps)

    def test_mappings_that_touch(self) -> None:
        """One region, also where no function lies across them."""
        maps = self.directory / "maps"
        maps.write_text("".join(f"{BASE + a:x}-{BASE + a + 0x1000:x} r-xp 00000000 00:00 0\n"
                                for a in (0x2000, 0x3000)))
        self.dump.load(BASE + 0x2100, CODE_SIZE, b"f")
        self.dump.load(BASE + 0x3100, CODE_SIZE, b"g")
        self.assertEqual(re.findall(r"(?m)^FUNC (\S+)", self.file("--maps", maps)), ["100", "1100"])

    def test_a_living_process_maps(self) -> None:
        """They have no size, and are not to be mapped."""
        begin = int(pathlib.Path("/proc/self/maps").read_text().split("-")[0], 16)
        self.dump.load(begin, CODE_SIZE, b"f")
        self.run_tool("--maps", "/proc/self/maps")

    def test_machines(self) -> None:
        """The names of registers, and where the return address is at first."""
        push = b"\x44\x0e\x10\x9d\x02\x9e\x01"  # from 4 on: CFA sp+16, x29 at -16, x30 at -8
        self.dump = dump_bytes.Writer(AARCH64)
        self.dump.unwinding(frames(CODE_SIZE, 30, b"\x0c\x1f\x00", push + b"\x48\x0e\x00\xdd\xde\x2d"), 0)
        self.dump.load(BASE, CODE_SIZE, b"f")
        text = self.file()
        self.assertIn("MODULE Linux arm64 ", text)
        self.assertEqual(stack_cfi.rows(text), [
            stack_cfi.Row(0, 4, {".cfa": "sp 0 +", ".ra": "x30"}),
            stack_cfi.Row(4, 12, {".cfa": "sp 16 +", ".ra": ".cfa -8 + ^", "x29": ".cfa -16 + ^"}),
            stack_cfi.Row(12, 64, {".cfa": "sp 0 +", ".ra": "x30", "x29": "x29"})])
        self.dump = dump_bytes.Writer(RISCV)
        self.dump.unwinding(frames(CODE_SIZE, 1, b"\x0c\x02\x00", b"\x44\x0e\x10\x81\x01\x88\x02"), 0)
        self.dump.load(BASE, CODE_SIZE, b"f")
        self.assertEqual(stack_cfi.rows(self.file()), [
            stack_cfi.Row(0, 4, {".cfa": "sp 0 +", ".ra": "ra"}),
            stack_cfi.Row(4, 64, {".cfa": "sp 16 +", ".ra": ".cfa -8 + ^", "s0": ".cfa -16 + ^"})])
        self.dump = dump_bytes.Writer(S390)
        self.dump.unwinding(frames(CODE_SIZE, 14, b"\x0c\x0f\x00", b""), 0)
        self.dump.load(BASE, CODE_SIZE, b"f")
        self.assertNotIn("STACK", self.file())

    def test_bad_frames(self) -> None:
        """They are told, and cost the function its lines STACK CFI only."""
        entry = b"\x0c\x07\x08\x90\x01"
        self.dump.unwinding(frames(CODE_SIZE, 16, entry, b"\x41\x0e\x10\x3f"), 0)
        self.dump.load(BASE, CODE_SIZE, b"bad")
        self.dump.unwinding(frames(CODE_SIZE, 16, entry, b"\x41\x0e\x10"), 0)
        self.dump.load(BASE + 64, CODE_SIZE, b"good")
        done = self.run_tool()
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"record at offset 0x28 is left out: \S.*instruction")
        text = (self.store / done.stdout.split()[1]).read_text()
        self.assertEqual(len(re.findall("(?m)^FUNC", text)), 2)
        self.assertEqual([row.begin for row in stack_cfi.rows(text)], [64, 65])

    def test_frames_twice(self) -> None:
        self.dump = dump_bytes.Writer()
        entry, first = b"\x0c\x07\x08\x90\x01", frames(CODE_SIZE, 16, b"\x0c\x07\x08\x90\x01", b"")
        self.dump.unwinding(first + frames(CODE_SIZE + len(first), 16, entry, b""), 0)
        self.dump.load(BASE, CODE_SIZE, b"f")
        done = self.run_tool()
        self.assertIn("describes some of the code twice", done.stderr)
        self.assertNotIn("STACK", (self.store / done.stdout.split()[1]).read_text())

    def test_errors(self) -> None:
        self.fails("there is no code")
        self.dump.load(BASE, CODE_SIZE, b"f")
        self.fails("one of -m, --maps and -b", "-b", "1", "--maps", "x")
        for wrong in "x", "-1", "", "0x", "12 ", "99999999999999999999":
            self.fails("-b takes an address", "-b", wrong)
        self.fails("no code left", "-b", hex(BASE + 1))
        self.fails("--at takes a time", "--at", "noon")
        self.fails("No such file", "--maps", self.directory / "none")
        self.fails("at offset 0x0: no minidump", "-m", self.path())
        self.dump.bytes = b"no dump" * 10
        self.fails("magic number")

    def test_no_room(self) -> None:
        """Neither files nor folders are left, and what was there stays."""
        for number in range(3000):
            self.dump.load(BASE + 64 * number, CODE_SIZE, b"a rather long name, of number %d" % number)

        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

        self.fails("store/jit-1.sym: File too large", preexec_fn=no_room)
        self.assertFalse(self.store.exists())
        path, = self.files()
        before = path.read_bytes()
        self.assertEqual(self.run_tool(preexec_fn=no_room).returncode, 2)
        self.assertEqual(path.read_bytes(), before)
        self.store = self.directory / "none" / "store"
        self.fails("No such file or directory")
        self.store = self.path()
        self.fails("Not a directory")

    def test_progress(self) -> None:
        for number in range(70000):
            self.dump.load(BASE + 16 * number, 16, b"f")
        status, text = terminal.run([TOOL, "breakpad", self.path(), "-o", self.store], of="stderr")
        self.assertEqual(status, 0)
        self.assertRegex(text, rb"\A(\rjitdump: (reading|writing), \d+ %)*(\rjitdump: writing, \d+ %)"
                               rb"{2}\r\x1b\[K\Z")


if __name__ == "__main__":
    unittest.main(verbosity=2)
