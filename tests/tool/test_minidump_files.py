#!/usr/bin/env python3
"""jitdump minidump: which modules are added, that nothing else changes, and what is refused.

    test_minidump_files.py JITDUMP
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

from jitdump_tests import dump_bytes, minidump
from jitdump_tests.minidump import MODULE_LIST, Module

TOOL = sys.argv.pop(1)
BASE = 0x7F0000000000
PID = 1  # dump_bytes.Writer's
CODE_SIZE = 64
PROGRAM = Module(0x400000, 0x2000, "/usr/bin/jit", bytes(range(20)))
LIBRARY = Module(BASE + 0x10000, 0x3000, "/usr/lib/libc.so.6", bytes(range(16)))


def maps(*ranges: tuple) -> str:
    return "".join(f"{a:x}-{b:x} rwxp 00000000 00:00 0\n" for a, b in ranges)


class FilesTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.output = self.directory / "out.dmp"
        self.dumps = [dump_bytes.Writer()]

    def write_crash(self, text: str = maps((BASE, BASE + 0x4000)), pid: int = PID, thread: int = 77,
                    outer: int = 0, padding: bytes = b"") -> bytes:
        writer = minidump.Writer()
        writer.stream(0, b"")  # not used, as some writers leave them
        writer.maps(text)
        writer.status(pid, thread, outer)
        writer.modules([PROGRAM, LIBRARY], padding)
        writer.threads([])
        crash = writer.finish()
        self.crash_path.write_bytes(crash)
        return crash

    @property
    def crash_path(self) -> pathlib.Path:
        return self.directory / "crash.dmp"

    def dump_paths(self) -> List[pathlib.Path]:
        paths = []
        for number, dump in enumerate(self.dumps):
            paths.append(self.directory / f"{number}.dump")
            paths[-1].write_bytes(dump.bytes)
        return paths

    def run_tool(self, *options: object, **arguments) -> subprocess.CompletedProcess:
        return subprocess.run([TOOL, "minidump", self.crash_path, *self.dump_paths(), "-o", self.output,
                               *map(str, options)],
                              capture_output=True, text=True, check=False, **arguments)

    def added(self, crash: bytes, *options: object) -> List[Module]:
        """The new modules. Besides them nothing has changed."""
        done = self.run_tool(*options)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = self.output.read_bytes()
        entry, _, offset = minidump.directory(data)[MODULE_LIST]
        self.assertGreaterEqual(offset, len(crash))
        self.assertEqual(data[:entry] + crash[entry:entry + 12] + data[entry + 12:len(crash)], crash)
        self.assertEqual(struct.unpack_from("<I", data, entry)[0], MODULE_LIST)
        modules = minidump.modules(data)
        self.assertEqual(modules[:2], [PROGRAM, LIBRARY])
        printed = [f"{module.base:#x} jit-{PID}/" for module in modules[2:]]
        self.assertEqual([line[:len(start)] for line, start in
                          zip(done.stdout.splitlines(), printed)], printed)
        return modules[2:]

    def fails(self, reason: str, *options: object, **arguments) -> None:
        done = self.run_tool(*options, **arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, reason)
        self.assertFalse(self.output.exists())

    def test_one(self) -> None:
        self.dumps[0].load(BASE + 0x1040, CODE_SIZE, b"f")
        for padding in b"", b"\0\0\0\0":
            module, = self.added(self.write_crash(padding=padding))
            self.assertEqual(module[:3], (BASE, 0x4000, "/jit/jit-1"))
            done = subprocess.run([TOOL, "breakpad", "-m", self.crash_path, *self.dump_paths(), "-o",
                                   self.directory / "store"], check=True, capture_output=True,
                                  text=True)
            path = self.directory / "store" / done.stdout.split()[1]
            text = path.read_text()
            self.assertIn(f"\nINFO CODE_ID {module.build_id.hex().upper()}\nFUNC 1040 40 0 f\n", text)

    def test_where_modules_are(self) -> None:
        """The minidump's own stay, also where generated code is in them."""
        self.dumps[0].load(BASE, CODE_SIZE, b"before")
        self.dumps[0].load(LIBRARY.base + 64, CODE_SIZE, b"builtin")
        self.dumps[0].load(LIBRARY.base + LIBRARY.size + 64, CODE_SIZE, b"behind")
        self.dumps[0].load(BASE + 0x80000, CODE_SIZE, b"unmapped")
        crash = self.write_crash(maps((BASE, BASE + 0x1000),
                                      (LIBRARY.base, LIBRARY.base + LIBRARY.size + 0x1000)))
        self.assertEqual([module[:2] for module in self.added(crash)],
                         [(BASE, 0x1000), (LIBRARY.base + LIBRARY.size, 0x1000)])
        self.assertRegex(self.run_tool().stderr, f"2 of 4 functions are left out: .*{LIBRARY.base + 64:#x}")

    def test_side_by_side(self) -> None:
        """Most mappings of a process begin where others end."""
        self.dumps[0].load(BASE + 0x1000, CODE_SIZE, b"f")
        crash = self.write_crash(maps((BASE, BASE + 0x1000), (BASE + 0x1000, BASE + 0x3000),
                                      (BASE + 0x3000, BASE + 0x4000)))
        self.assertEqual([module[:2] for module in self.added(crash)], [(BASE + 0x1000, 0x2000)])
        self.output.unlink()
        self.write_crash(maps((BASE, BASE + 0x1000), (BASE + 0xfff, BASE + 0x3000)))
        self.fails("address ranges that do not ascend")

    def test_again(self) -> None:
        """What has its modules gets no others."""
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        self.write_crash()
        self.assertEqual(self.run_tool().returncode, 0)
        self.output.rename(self.crash_path)
        self.fails("1 of 1 functions are left out: .*a module that the minidump has already")

    def test_over_itself(self) -> None:
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        crash = self.write_crash()
        self.output = self.crash_path
        self.assertEqual(len(self.added(crash)), 1)

    def test_pid(self) -> None:
        """That of the process, not of the thread that crashed; in any of its namespaces."""
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        self.write_crash(pid=2, thread=1)
        self.fails("0.dump: is of process 1, but .*crash.dmp is of process 2")
        self.assertEqual(len(self.added(self.write_crash(outer=4711))), 1)

    def test_pid_of_misc_info(self) -> None:
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        for pid, reason in (PID, None), (2, "is of process 2"):
            writer = minidump.Writer()
            writer.maps(maps((BASE, BASE + 0x4000)))
            writer.modules([])
            writer.misc_info(pid)
            self.crash_path.write_bytes(writer.finish())
            if reason:
                self.fails(reason)
            else:
                self.assertEqual(self.run_tool().returncode, 0)
                self.output.unlink()

    def test_memory_info(self) -> None:
        """Where there is no copy of /proc/PID/maps."""
        self.dumps[0].load(BASE + 0x2040, CODE_SIZE, b"f")
        self.dumps[0].load(BASE + 0x1040, CODE_SIZE, b"in a gap")
        writer = minidump.Writer()
        writer.misc_info(PID)
        writer.memory_info((BASE, BASE + 0x1000), (BASE + 0x2000, BASE + 0x3000))
        writer.modules([PROGRAM, LIBRARY])
        crash = writer.finish()
        self.crash_path.write_bytes(crash)
        self.assertEqual([module[:2] for module in self.added(crash)], [(BASE + 0x2000, 0x1000)])
        entry, size, offset = minidump.directory(crash)[minidump.MEMORY_INFO]
        for at, value, reason in (entry + 4, size - 1, "list of memory regions"), \
                (offset + 4, 47, "list of memory regions"), (offset, 2**32 - 1, "list of memory"):
            data = bytearray(crash)
            struct.pack_into("<I", data, at, value)
            self.crash_path.write_bytes(data)
            self.output.unlink(missing_ok=True)
            self.fails(reason)

    def test_two_dumps(self) -> None:
        self.dumps.append(dump_bytes.Writer())
        self.dumps[0].load(BASE + 0x2000, CODE_SIZE, b"f")
        self.dumps[1].load(BASE, CODE_SIZE, b"g")
        crash = self.write_crash(maps((BASE, BASE + 0x1000), (BASE + 0x2000, BASE + 0x3000)))
        self.assertEqual([module.base for module in sorted(self.added(crash))], [BASE, BASE + 0x2000])
        self.output.unlink()
        self.write_crash()
        self.fails("two of the dumps have code in the memory at 0x7f0000000000")

    def test_time(self) -> None:
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        self.dumps[0].load(BASE, CODE_SIZE, b"g")
        crash = self.write_crash()
        then, = self.added(crash, "--at", "0.000000003")
        end, = self.added(crash)
        self.assertEqual(then[:3], end[:3])
        self.assertNotEqual(then.build_id, end.build_id)

    def test_bad_minidumps(self) -> None:
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        crash = self.write_crash()
        entries = minidump.directory(crash)

        def changed(at: int, data: bytes) -> bytes:
            return crash[:at] + data + crash[at + len(data):]

        modules = entries[MODULE_LIST]
        cases = {
            b"": "offset 0x0: the file is shorter|no minidump",
            b"no minidump" * 10: "at offset 0x0: no minidump",
            changed(4, b"\1"): "at offset 0x4: a minidump of another version",
            crash[:40]: "shorter than its header and directory say",
            changed(8, b"\xff\xff\xff\x7f"): "shorter than its header and directory say",
            changed(modules[0], b"\xee"): "no list of modules",
            changed(entries[minidump.LINUX_MAPS][0], b"\xee"): "does not say what was mapped",
            changed(entries[minidump.LINUX_STATUS][0], b"\xee"): "of which process",
            changed(modules[0] + 4, b"\x30"): "a list of modules whose size",
            changed(modules[2], b"\xff\xff\xff\x7f"): "a list of modules whose size",
            changed(modules[0] + 8, b"\0\0\0\x7f"): "at offset 0x7f000000: a stream that is not in",
            changed(entries[minidump.LINUX_MAPS][2], b"x"):
                f"at offset {entries[minidump.LINUX_MAPS][2]:#x}: no line of /proc/PID/maps",
        }
        for data, reason in cases.items():
            with self.subTest(reason):
                self.crash_path.write_bytes(data)
                self.fails(f"crash.dmp: .*({reason})")
        self.crash_path.unlink()
        self.fails("crash.dmp: No such file")

    def test_cut_off(self) -> None:
        """At any byte: refused, or changed as it should be."""
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        crash = self.write_crash()
        for length in range(0, len(crash), 97):
            self.crash_path.write_bytes(crash[:length])
            self.assertIn(self.run_tool().returncode, (0, 2))

    def test_errors(self) -> None:
        self.write_crash()
        self.fails("there is no code")
        self.dumps[0].load(BASE, CODE_SIZE, b"f")
        self.fails("--at takes a time", "--at", "noon")

        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        self.fails("out.dmp: File too large", preexec_fn=no_room)
        self.dumps = []
        self.fails("which dump")
        self.assertEqual([path.name for path in self.directory.iterdir() if path.suffix == ".dmp"],
                         ["crash.dmp"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
