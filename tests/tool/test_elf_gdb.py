#!/usr/bin/env python3
"""gdb and the ELF file of a process that lives: breakpoints by line, frames of inlined calls, and
backtraces through functions without frame pointer at every instruction.

    test_elf_gdb.py JITDUMP TIERED CHAINS
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Iterator, List

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "examples" / "tiered" / "program.tl"
TOOL, TIERED, CHAINS = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
FOREVER = "100000000"


class GdbTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def gdb(self, script: str, *command: object, **variables: str) -> List[str]:
        environment = {**os.environ, "TOOL": TOOL, "ELF": str(self.directory / "out.elf"),
                       "JITDUMPDIR": str(self.directory), "DEBUGINFOD_URLS": "", **variables}
        done = subprocess.run(
            ["gdb", "-nx", "-q", "-batch", "-x", str(HERE / script), "--args", *map(str, command)],
            env=environment, capture_output=True, text=True, check=False, timeout=120)
        if "ptrace: Operation not permitted" in done.stderr:
            self.skipTest("processes can't be traced here")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout[-1000:])
        return done.stdout.splitlines()

    def records(self, lines: List[str], mark: str) -> Iterator[dict]:
        return (json.loads(line[len(mark):]) for line in lines if line.startswith(mark))

    def test_breakpoints_by_line(self) -> None:
        # Of square(), which is inlined in all others, and of main() itself.
        text = PROGRAM.read_text().splitlines()
        places = [f"{PROGRAM.name}:{number}" for number, line in enumerate(text, 1)
                  if re.search(r"x \* x|sum i < n of", line)]
        self.assertEqual(len(places), 2, places)
        lines = self.gdb("gdb_breakpoints.py", TIERED, "--jitdump", "samply-2026", "--rounds",
                         FOREVER, "--hot", "100000", PROGRAM, PLACES=" ".join(places))
        stops = list(self.records(lines, "STOP "))
        self.assertEqual(len(stops), 10)
        inlined = 0
        for stop in stops:
            frames = stop["frames"]
            self.assertEqual(f"{pathlib.Path(frames[0]['file']).name}:{frames[0]['line']}",
                             stop["breakpoint"])
            depth = [frame["inlined"] for frame in frames].index(False)
            inlined = max(inlined, depth)
            expected = self.chain_of_addr2line(frames[0]["pc"])
            self.assertEqual([(f["function"], f["file"], f["line"]) for f in frames[:depth + 1]],
                             expected)
            # Which of the example's own functions are frames is the compiler's to decide.
            self.assertEqual(frames[-1]["function"], "main")
        self.assertEqual(inlined, 2)
        print(f"{len(stops)} stops, {inlined} frames inlined in another")

    def chain_of_addr2line(self, pc: int) -> list:
        text = subprocess.run(["addr2line", "-f", "-i", "-e", self.directory / "out.elf", hex(pc)],
                              check=True, capture_output=True, text=True).stdout.splitlines()
        places = [where.rsplit(":", 1) for where in text[1::2]]
        return [(name, file, int(line)) for name, (file, line) in zip(text[::2], places)]

    def check_chain(self, *chain: str) -> None:
        lines = self.gdb("gdb_steps.py", CHAINS, "no-gap", FOREVER, *chain)
        steps = list(self.records(lines, "STEP "))
        functions = [*chain, "leaf"]
        seen = set()
        for step in steps:
            depth = functions.index(step["names"][0])
            expected = functions[:depth + 1][::-1] + ["call_chain"]
            where = f"{functions[depth]}+{step['offset']:#x}"
            self.assertEqual(step["names"][:len(expected)], expected, where)
            self.assertEqual(step["names"][-1], "main", where)
            seen.add((functions[depth], step["offset"]))
        self.assertEqual({name for name, _ in seen}, set(functions))
        print(f"{len(steps)} backtraces, at {len(seen)} instructions")

    def test_frameless(self) -> None:
        self.check_chain("keeper", "standard", "saving", "pushing")

    def test_frameless_reversed(self) -> None:
        self.check_chain("pushing", "saving", "standard", "keeper")


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("skipped: there is no gdb")
        sys.exit(77)
    unittest.main(verbosity=2)
