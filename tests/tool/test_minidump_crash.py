#!/usr/bin/env python3
"""A crash in tiered's optimised code: what minidump-stackwalk says of the minidump as a crash handler
wrote it, and of that which jitdump minidump made of it.

    test_minidump_crash.py JITDUMP TIERED CRASH_HANDLER

$JITDUMP_MINIDUMP_TOOLS has minidump-stackwalk, and write-minidump, which is built of crash/. Both take
minutes to build, so this test is mostly left out.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from typing import List, Tuple

from jitdump_tests import breakpad, minidump
from jitdump_tests.example_chains import PROGRAM
from jitdump_tests.histories import Place
from jitdump_tests.tiered_log import Code, Log

TOOL, TIERED, HANDLER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
SKIPPED = 77
HALT = b"\xf4"  # not for programs; one byte, so that nobody executes half of it


def writer() -> str:
    return breakpad.program("write-minidump")


class CrashTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def placements(self) -> List[Tuple[int, int, Code]]:
        try:
            return Log(self.directory / "log").placements
        except (FileNotFoundError, json.JSONDecodeError):
            return []  # which is just being written

    def crash(self, name: str, hot: int) -> Tuple[int, int, Code]:
        """In the code that got this name last, in its deepest call. The pid, the address, the code."""
        process = subprocess.Popen(
            [TIERED, "--jitdump", "samply-2026", "--rounds", "1000000000", "--hot", str(hot), "--log",
             self.directory / "log", PROGRAM], stdout=subprocess.DEVNULL,
            env={**os.environ, "LD_PRELOAD": HANDLER, "CRASH_WRITER": writer(),
                 "CRASH_FILE": str(self.directory / "crash.dmp"),
                 "JITDUMPDIR": str(self.directory)})
        self.addCleanup(process.kill)
        found: List[Tuple[int, int, Code]] = []
        while not found:
            self.assertIsNone(process.poll())
            found = [each for each in self.placements() if each[2].name == name]
            time.sleep(0.01)
        _, address, code = found[-1]
        offset = max((offset for offset, _ in code.offsets), key=lambda o: len(code.chain(o)))
        with open(f"/proc/{process.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(address + offset)
            memory.write(HALT)
        self.assertEqual(process.wait(), 42, "the handler wrote a minidump")
        return process.pid, address + offset, code

    def walks(self) -> Tuple[List[dict], List[dict]]:
        """Of the minidump as it was, and of the other."""
        dump, = self.directory.glob("jit-*.dump")
        crash, patched = self.directory / "crash.dmp", self.directory / "patched.dmp"
        store = breakpad.Store(TOOL, dump, self.directory / "store", "-m", crash)
        subprocess.run([TOOL, "minidump", crash, dump, "-o", patched], check=True,
                       stdout=subprocess.DEVNULL)
        self.check_memory_info(crash, dump, patched)
        breakpad.add_symbols(pathlib.Path(TIERED), store.folder)
        walks = []
        for path in crash, patched:
            walks.append(breakpad.walk(path, store.folder)["crashing_thread"]["frames"])
            print(f"{path.stem}:")
            for frame in walks[-1]:
                print(f"  {frame['trust']:14} {frame['module'] or frame['offset']}")
                for place in breakpad.frame_chain(frame):
                    print(f"    {place.function} {place.file}:{place.line}")
        return walks[0], walks[1]

    def check_memory_info(self, crash: pathlib.Path, dump: pathlib.Path, patched: pathlib.Path) -> None:
        """What Crashpad has in the place of /proc/PID/maps leads to the same modules."""
        data = bytearray(crash.read_bytes())
        data[minidump.directory(data)[minidump.LINUX_MAPS][0]] ^= 0xFF
        other = self.directory / "other.dmp"
        other.write_bytes(data)
        subprocess.run([TOOL, "minidump", other, dump, "-o", other], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(minidump.modules(other.read_bytes()), minidump.modules(patched.read_bytes()))

    def check_first(self, frames: List[dict], address: int, code: Code, depth: int) -> None:
        frame = frames[0]
        self.assertEqual(int(frame["offset"], 16), address)
        start = next(start for _, start, each in self.placements() if each is code or
                     (each.name == code.name and start <= address < start + each.size))
        expected = [Place(f.function, str(PROGRAM), f.line) for f in code.chain(address - start)]
        expected[-1] = expected[-1]._replace(function=code.name)
        self.assertEqual(len(expected), depth)
        self.assertEqual(breakpad.frame_chain(frame), expected)

    def check_c_caller(self, frames: List[dict]) -> None:
        self.assertEqual((frames[0]["module"], frames[0]["trust"]),
                         (pathlib.Path(TIERED).name, "cfi"))
        if breakpad.dump_syms() is not None:
            self.assertIn("main", [frame["function"] for frame in frames])

    def test_inlined(self) -> None:
        pid, address, code = self.crash("Ion: main", 100000)
        before, after = self.walks()
        self.assertEqual(int(before[0]["offset"], 16), address)
        self.assertIsNone(before[0]["module"])
        self.assertEqual(after[0]["module"], f"jit-{pid}")
        self.check_first(after, address, code, 3)
        self.check_c_caller(after[1:])

    def test_callers(self) -> None:
        _, address, code = self.crash("Baseline: square", 2000000000)
        before, after = self.walks()
        names = [frame["function"] for frame in after]
        self.check_first(after, address, code, 1)
        self.assertIn(names[1:4], ([f"Baseline: {name}" for name in ("distance", "score", "main")],
                                   ["Baseline: score", "Baseline: main", names[3]]))
        self.assertEqual({frame["trust"] for frame in after[1:4]}, {"cfi"})
        self.check_c_caller(after[names.index("Baseline: main") + 1:])
        self.assertNotEqual([frame["offset"] for frame in before],
                            [frame["offset"] for frame in after])


if __name__ == "__main__":
    if breakpad.stackwalk() is None or writer() is None:
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
