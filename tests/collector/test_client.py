"""The collector in a C program that reports code: on other machines by an emulator, with threads that come at
once, and where system calls are refused."""
from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest
from typing import Dict, List, Tuple

from jitdump_tests import decoder, jit_objects, jitdump_reader, jitdump_records, random_c

CLIENT = os.environ["JITDUMP_CLIENT"]
COLLECTOR = os.environ["JITDUMP_COLLECTOR"]
COMPILER = os.environ.get("JITDUMP_COMPILER", "cc")
EMULATOR = shlex.split(os.environ.get("JITDUMP_EMULATOR", ""))
PIECE = 64
# Where objects lie: no program, library or emulator puts anything there.
BASE = 0x5_0000_0000
IMAGE_SIZE = 1 << 18
# Numbers of system calls, by machine.
CALLS = {"x86_64": {"write": 1, "mprotect": 10, "pread64": 17, "pwrite64": 18, "lseek": 8, "rt_sigprocmask": 14,
                    "writev": 20, "madvise": 28, "getpid": 39, "flock": 73, "fchmod": 91, "prctl": 157,
                    "gettid": 186, "futex": 202, "openat": 257, "process_vm_readv": 310},
         "aarch64": {"openat": 56, "lseek": 62, "write": 64, "writev": 66, "pwrite64": 68, "flock": 32,
                     "fchmod": 52, "futex": 98, "rt_sigprocmask": 135, "prctl": 167, "getpid": 172,
                     "gettid": 178, "mprotect": 226, "madvise": 233, "process_vm_readv": 270}}


def jitdump_bytes_with_close(path: pathlib.Path) -> bytes:
    """The collector's dumps are never closed."""
    return path.read_bytes() + decoder.CLOSE.to_bytes(4, "little") + (16).to_bytes(4, "little") + bytes(8)


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="jitdump-client-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()

    def run_client(self, *arguments: object, preload: bool = False, **environment: str) -> str:
        emulator = list(EMULATOR)
        if preload and emulator:
            emulator += ["-E", f"LD_PRELOAD={COLLECTOR}"]
        elif preload:
            environment["LD_PRELOAD"] = COLLECTOR
        done = subprocess.run([*emulator, CLIENT, *(str(each) for each in arguments)], capture_output=True,
                              text=True, check=False, cwd=self.directory, timeout=120,
                              env={**os.environ, "JITDUMPDIR": str(self.directory), **environment})
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def functions(self, pid: int = 0) -> List[jitdump_reader.Function]:
        paths = [*self.directory.glob(f"jit-{pid or '*'}.dump")]
        self.assertEqual(len(paths), 1)
        return jitdump_reader.read(str(paths[0])).functions

    def register(self, path: pathlib.Path, *refused: object) -> Tuple[Dict[str, int], Dict[Tuple[int, str], Tuple]]:
        image, registered = self.directory / "image", self.directory / "object"
        memory = bytearray(IMAGE_SIZE)
        data, placed = jit_objects.load(str(path), memory, BASE)
        image.write_bytes(memory)
        registered.write_bytes(data)
        self.run_client(*refused, "object", f"{BASE:x}", image, registered, preload=True)
        functions = {}
        (dump,) = self.directory.glob("jit-*.dump")
        for group in decoder.groups(jitdump_bytes_with_close(dump)):
            load = group[decoder.LOAD]
            address, size = (int.from_bytes(load[at:at + 8], "little") for at in (16, 24))
            name = load[40:].split(b"\0", 1)[0].decode()
            functions[address, name] = (size, decoder.debug_info(group.get(decoder.DEBUG_INFO), address, size))
        dump.unlink()
        return placed, functions


def code_at(offset: int) -> bytes:
    return bytes((i * 7 + (i >> 8)) & 0xff for i in range(offset, offset + PIECE))


class Events(ClientTest):
    EXPECTED = [("plain", 0), ("Class::method", 1), ("third", 2), ("plain", 0), ("plain", 0),
                ("itt_method_2", 3)]

    def check(self, said: str) -> None:
        code = int(said.split()[-1], 16)
        functions = self.functions()
        self.assertEqual([(f.load.name, f.load.code_addr - code, f.load.code) for f in functions],
                         [(name, PIECE * piece, code_at(PIECE * piece)) for name, piece in self.EXPECTED])
        lines = functions[0].described_by(jitdump_records.DebugInfo)
        self.assertEqual([(entry.code_addr - code, entry.line) for entry in lines.entries][:2],
                         [(0, 10), (16, 11)])

    def test_events(self) -> None:
        """One of each kind, in the machine's own layout."""
        self.check(self.run_client("events", COLLECTOR))

    def test_preloaded(self) -> None:
        self.check(self.run_client("events", COLLECTOR, preload=True))


class Objects(ClientTest):
    """As test_gdb, but on the machine that the collector is built for."""

    def test_objects(self) -> None:
        """Names, sizes, and the lines of all bytes, against the machine's binutils."""
        if not re.search("x86_64|aarch64", subprocess.run([COMPILER, "-dumpmachine"], capture_output=True,
                                                          text=True, check=True).stdout):
            self.skipTest("GDB's interface is followed on x86-64 and aarch64")
        prefix = COMPILER[:-3] if COMPILER.endswith("-gcc") else ""
        total = right = 0
        for seed in range(3):
            path = self.directory / f"random{seed}.o"
            path.with_suffix(".c").write_text(random_c.program(seed))
            subprocess.run([COMPILER, "-c", "-O2", "-g", "-gdwarf-4", path.with_suffix(".c"), "-o", path],
                           check=True)
            placed, functions = self.register(path)
            frames: Dict[str, List[List[Tuple[str, str]]]] = {}
            for line in subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                                       check=True).stdout.splitlines():
                words = line.split()
                if len(words) < 8 or words[3] != "FUNC":
                    continue
                name, offset, size = words[7], int(words[1], 16), int(words[2], 0)
                section = next(each for index, each in enumerate(self.sections(path)) if index == int(words[6]))
                address = placed[section] + offset
                found_size, lines = functions[address, name]
                self.assertEqual(found_size, size)
                if section not in frames:
                    frames[section] = jit_objects.frames_of(str(path), section,
                                                            jit_objects.Object(str(path)).size(section),
                                                            f"{prefix}addr2line")
                for at in range(size):
                    place = frames[section][offset + at][0][1].rsplit(":", 1)[1]
                    expected = int(place) if place.isdigit() else 0
                    total += 1
                    right += (lines[at].line if lines[at] else 0) == expected
        print(f"bytes: {self.id()} {right} of {total}")
        self.assertGreater(total, 500)
        self.assertEqual(right, total)

    def sections(self, path: pathlib.Path) -> List[str]:
        made = jit_objects.Object(str(path))
        return [made.name(index) for index in range(made.count)]


class Races(ClientTest):
    """Threads that are all at their first event, while objects come and go and others fork: nothing is
    lost, and nobody waits for ever."""

    def race(self, threads: int, methods: int, children: int, *libraries: str, preload: bool = False) -> None:
        said = self.run_client("race", COLLECTOR, threads, methods, children, *libraries, preload=preload)
        pids = [int(pid) for pid in re.findall(r"child (\d+)", said)]
        self.assertEqual(len(pids), children)
        for pid in pids:
            self.assertEqual([f.load.name for f in self.functions(pid)], ["child"])
            (self.directory / f"jit-{pid}.dump").unlink()
        self.assertEqual(sorted(f.load.name for f in self.functions()),
                         sorted(f"{thread}-{i}" for thread in range(threads) for i in range(methods)))
        next(self.directory.glob("jit-*.dump")).unlink()

    def test_first_events(self) -> None:
        for _ in range(30):
            self.race(8, 5, 0)

    def test_forks_at_the_first_event(self) -> None:
        """A child that was forked while its parent opened the dump waited for that: of 2227 runs 10."""
        for _ in range(100):
            self.race(4, 3, 3)

    def test_objects_that_come_and_go(self) -> None:
        interfaces = os.environ["JITDUMP_INTERFACES"].split(":")
        copies = os.environ["JITDUMP_COPIES"].split(":")
        for preload in (False, True):
            for _ in range(10):
                self.race(6, 60, 0, *interfaces, *copies, preload=preload)


class Filters(ClientTest):
    """System calls that are refused: the program goes on, and what can be written is."""

    def setUp(self) -> None:
        super().setUp()
        self.calls = CALLS.get(os.uname().machine, {})
        if not self.calls:
            self.skipTest(f"no numbers of system calls for {os.uname().machine}")

    def names(self) -> List[str]:
        paths = [*self.directory.glob("jit-*.dump")]
        return [f.load.name for path in paths for f in jitdump_reader.read(str(path)).functions]

    def test_before_the_start(self) -> None:
        """What a program can't do from its start on."""
        for call in ("process_vm_readv", "madvise", "pwrite64", "flock", "fchmod", "prctl", "gettid"):
            with self.subTest(call=call):
                self.run_client("refuse", self.calls[call], CLIENT, "events", COLLECTOR, preload=True)
                self.assertEqual(self.names(), [name for name, _ in Events.EXPECTED])
                next(self.directory.glob("jit-*.dump")).unlink()

    def test_from_initialize_on(self) -> None:
        """Without the calls in the second row there is no dump, or none of the functions in it."""
        for calls, expected in (("process_vm_readv", True), ("rt_sigprocmask", True), ("lseek", True),
                                ("mprotect", True), ("process_vm_readv,madvise,flock,fchmod,gettid", True),
                                ("openat", False), ("writev", False), ("openat,writev", False)):
            with self.subTest(calls=calls):
                numbers = ",".join(str(self.calls[call]) for call in calls.split(","))
                self.run_client("events", COLLECTOR, numbers)
                self.assertEqual(self.names(), [name for name, _ in Events.EXPECTED] if expected else [])
                for path in self.directory.glob("jit-*.dump"):
                    path.unlink()

    def test_objects(self) -> None:
        """Where memory can't be written through /proc, the page's rights are changed to patch it."""
        path = self.directory / "two.o"
        path.with_suffix(".c").write_text("int first(int a) { return a * 3; }\nint second(int a) { return a ^ 5; }\n")
        subprocess.run([COMPILER, "-c", "-O2", path.with_suffix(".c"), "-o", path], check=True)
        for calls in ("pwrite64", "process_vm_readv", "pwrite64,process_vm_readv,madvise,gettid"):
            with self.subTest(calls=calls):
                numbers = ",".join(str(self.calls[call]) for call in calls.split(","))
                _, functions = self.register(path, "refuse", numbers, CLIENT)
                self.assertEqual(sorted(name for _, name in functions), ["first", "second"])


if __name__ == "__main__":
    unittest.main()
