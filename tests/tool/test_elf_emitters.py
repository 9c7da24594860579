#!/usr/bin/env python3
"""Dumps of other emitters, where they are installed: each function has its name in each symboliser,
those with unwinding data have it in the file, and nobody complains of the file.

    test_elf_emitters.py JITDUMP
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List

from jitdump_tests import symbolizers
import test_elf_random

TOOL = sys.argv.pop(1)
JAVASCRIPT = """
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function length(a, b) { return Math.sqrt(a * a + b * b); }
let sum = 0;
for (let i = 0; i < 2000000; i++) sum += length(i, i + 1);
console.log(fibonacci(30), sum > 0);
"""
PYTHON = """
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
print(fibonacci(15))
"""


def run(*command: object, **arguments) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True, **arguments).stdout


class EmittersTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def functions(self, dump: pathlib.Path) -> List[dict]:
        lines = run(TOOL, "dump", "--json", "--at", "end", dump).splitlines()
        return [entry for entry in map(json.loads, lines) if "name" in entry]

    def check(self, dump: pathlib.Path, function: str) -> None:
        elf = self.directory / "out.elf"
        run(TOOL, "elf", dump, "-o", elf)
        files = sorted(self.directory.glob("out.elf*"))
        functions = self.functions(dump)
        self.assertTrue(any(function in entry["name"] for entry in functions))
        names: Dict[int, str] = {}
        frames = 0
        for file in files:
            self.assertEqual(test_elf_random.complaints(file), "")
            here = {int(line.split()[0], 16): line.split(" ", 2)[2]
                    for line in run("nm", file).splitlines()}
            names.update(here)
            frames += run("readelf", "--debug-dump=frames", file).count(" FDE ")
            for symbolizer in symbolizers.installed():
                answers = symbolizers.SYMBOLIZERS[symbolizer](file, sorted(here))
                wrong = {address: (answers.get(address), name) for address, name in here.items()
                         if not answers.get(address)
                         or answers[address][-1].function != name}
                self.assertEqual(wrong, {}, symbolizer)
        self.assertEqual(names, {int(entry["address"], 16): entry["name"] or "<anonymous>"
                                 for entry in functions})
        self.assertGreater(frames, 0)
        print(f"{len(names)} functions, {frames} with unwinding data")

    @unittest.skipIf(shutil.which("node") is None, "there is no node")
    def test_node(self) -> None:
        script = self.directory / "script.js"
        script.write_text(JAVASCRIPT)
        run("node", "--perf-prof", "--perf-prof-unwinding-info", script, cwd=self.directory)
        dump, = self.directory.glob("jit-*.dump")
        self.check(dump, "fibonacci")

    def test_python(self) -> None:
        python = next((name for name in ("python3.14", "python3.13") if shutil.which(name)), None)
        script = self.directory / "script.py"
        script.write_text("import os; print(os.getpid())" + PYTHON)
        # It writes to /tmp whatever the settings.
        done = python and subprocess.run([python, "-X", "perf_jit", script], capture_output=True,
                                         text=True, check=False)
        dump = pathlib.Path(f"/tmp/jit-{done.stdout.split()[0]}.dump") if done and done.stdout \
            else None
        if dump is None or not dump.exists():
            self.skipTest("there is no CPython with -X perf_jit")
        self.addCleanup(dump.unlink)
        self.check(dump, "fibonacci")


if __name__ == "__main__":
    unittest.main(verbosity=2)
