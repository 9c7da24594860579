"""Dumps of emitters other than this library, as far as they are installed."""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from typing import Iterator, Optional

from jitdump_tests import tool
from jitdump_tests.dump_writer import DEBUG_INFO, LOAD

NODE_PROGRAM = """\
function hot(n) {
  let sum = 0;
  for (let i = 0; i < n; i++)
    sum += i % 7;
  return sum;
}
for (let round = 0; round < 300; round++)
  hot(100000);
"""
C_PROGRAM = """\
int twice(int n)
{
    return 2 * n;
}
int sum(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i ^ s >> 3;
    return s;
}
int main(void)
{
    return sum(10) & 0;
}
"""
PHP_PROGRAM = """<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
fib(20);
"""
WASM = """(module (func $fib (export "fib") (param i32) (result i32)
  local.get 0 i32.const 1 i32.add))"""


def find(*names: str) -> str:
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise unittest.SkipTest(f"none of {', '.join(names)} is installed")


def raw_lines(data: bytes) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Of each load: its offset, and its table of lines as it stands, addresses and lines."""
    at, entries = 40, []
    while at < len(data):
        record_id, size = struct.unpack_from("=II", data, at)
        if record_id == DEBUG_INFO:
            (count,) = struct.unpack_from("=Q", data, at + 24)
            position = at + 32
            for _ in range(count):
                entries.append(struct.unpack_from("=QI", data, position))
                position = data.index(0, position + 16) + 1
        elif record_id == LOAD:
            yield at, entries
            entries = []
        at += size


class Emitters(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def run_in_directory(self, *command: object, **environment: str) -> int:
        """Returns the process's id."""
        process = subprocess.Popen([*map(str, command)], cwd=self.directory, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env={**os.environ, "JITDUMPDIR": str(self.directory),
                                        **environment})
        output = process.communicate()[0]
        for left in ("jit-{}.dump", "perf-{}.map"):  # by those who write to /tmp
            self.addCleanup(pathlib.Path("/tmp", left.format(process.pid)).unlink, missing_ok=True)
        self.assertEqual(process.returncode, 0, output)
        return process.pid

    def take(self, pid: int, *folders: pathlib.Path) -> pathlib.Path:
        """The dump of a process, wherever it was written."""
        for folder in (self.directory, *folders):
            for path in folder.rglob(f"jit-{pid}.dump") if folder == self.directory else \
                    folder.glob(f"jit-{pid}.dump"):
                taken = self.directory / path.name
                if path != taken:
                    shutil.move(path, taken)
                return taken
        raise unittest.SkipTest("it writes no dump")

    def functions(self, path: pathlib.Path) -> dict[str, tool.Object]:
        """All is read without complaint, in each way."""
        for options in ([], ["--stat"], ["--at", "end"]):
            done = tool.run("dump", *options, path)
            self.assertEqual((done.status, done.err), (0, ""))
        found = tool.functions(path)
        self.assertEqual(len(found), tool.objects("--stat", path)[0]["functions"])
        for function in found:
            self.assertEqual(len(function["code"]), 2 * function["code_size"])
            self.assertNotIn("frames_problem", function)
        return {function["function"]: function for function in found}

    def test_node(self) -> None:
        """V8's lines are 64 bytes too high in the file."""
        node = find("node", "nodejs")
        path = self.take(self.run_in_directory(node, "--perf-prof", "--perf-prof-unwinding-info",
                                               "-e", NODE_PROGRAM))
        functions = self.functions(path)
        hot = [function for name, function in functions.items() if re.match(r"JS:\*hot ", name)]
        self.assertTrue(hot, list(functions)[-5:])
        for function in hot:
            self.assertEqual(function["rows"][0][0], 0)
            for _, file, line, _ in function["rows"]:
                self.assertEqual(file, "[eval]")
                self.assertIn(line, range(1, 7))
            self.assertIn({"rip": "c-8"}, [{"rip": row["registers"].get("rip")}
                                           for row in function["frames"]])

    def test_node_names_of_freed_memory(self) -> None:
        """V8 of Node 20 writes what is left of the name of a script that is a file. The lines are those
        of the same script without a file, whose name is whole."""
        node = find("node", "nodejs")
        script = self.directory / "a-script-with-a-name-of-some-length.js"
        script.write_text(NODE_PROGRAM)
        baseline = {}
        for file, arguments in (("[eval]", ["-e", NODE_PROGRAM]), (str(script), [script])):
            path = self.take(self.run_in_directory(node, "--perf-prof", "--sparkplug",
                                                   "--always-sparkplug", *arguments))
            hot = [function for name, function in self.functions(path).items()
                   if re.match(r"JS:.hot ", name)]
            self.assertTrue(hot)
            for function in hot:
                self.assertEqual({row[1] for row in function["rows"]}, {file})
                self.assertLessEqual({row[2] for row in function["rows"]}, set(range(1, 7)))
                if function["function"].startswith("JS:^"):
                    baseline[file] = [[offset, *place] for offset, _, *place in function["rows"]]
        lists = list(baseline.values())
        self.assertEqual(len(lists), 2)
        self.assertEqual(lists[0], lists[1])
        lost = tool.run("check", "--json", path).out.count(b"lines-file-lost")
        print("names of freed memory:", "yes" if lost else "no")

    def test_llvm(self) -> None:
        """The lines are those that the same compiler writes to an object file for the same code. LLVM's
        are 64 bytes too high in the dump."""
        clang = find("clang")
        version = re.search(r"version (\d+)", subprocess.run(
            [clang, "--version"], capture_output=True, text=True, check=True).stdout)[1]
        lli, llc, dwarfdump, objcopy = (find(f"{name}-{version}") for name in
                                        ("lli", "llc", "llvm-dwarfdump", "llvm-objcopy"))
        (self.directory / "a.c").write_text(C_PROGRAM)
        subprocess.run([clang, "-g", "-O1", "-S", "-emit-llvm", "a.c"], check=True,
                       cwd=self.directory)
        pid = self.run_in_directory(lli, "--jit-kind=mcjit", "a.ll")
        functions = self.functions(self.take(pid))
        subprocess.run([llc, "-filetype=obj", "-function-sections", "--code-model=small",
                        "--relocation-model=static", "a.ll"], check=True, cwd=self.directory)
        compared = 0
        for name in ("twice", "sum"):
            function = functions[name]
            subprocess.run([objcopy, "--dump-section", f".text.{name}=code", "a.o"], check=True,
                           cwd=self.directory)
            self.assertEqual((self.directory / "code").read_bytes().hex(), function["code"],
                             "not the same code: nothing to compare with")
            expected = self.lines_of(dwarfdump, name, function["code_size"])
            lines = tool.Lines(function)
            found = [lines.chain(offset)[0].line for offset in range(function["code_size"])]
            self.assertEqual(found, expected)
            compared += len(expected)
        print(f"{compared} offsets alike")

    def lines_of(self, dwarfdump: str, function: str, size: int) -> list[int]:
        """By offset, from the object file's line table: one sequence for each function, in order."""
        text = subprocess.run([dwarfdump, "--debug-line", "a.o"], check=True, capture_output=True,
                              text=True, cwd=self.directory).stdout
        rows = [(int(row[1], 16), int(row[2]), "end_sequence" in row[0]) for row in
                re.finditer(r"(?m)^0x([0-9a-f]{16}) +(\d+) .*$", text)]
        sequences: list[list[tuple[int, int]]] = [[]]
        for offset, line, end in rows:
            sequences[-1].append((offset, line))
            if end:
                sequences.append([])
        sequence = sequences[["twice", "sum", "main"].index(function)]
        self.assertEqual(sequence[-1][0], size)
        result = [0] * size
        for (begin, line), (end, _) in zip(sequence, sequence[1:]):
            result[begin:end] = [line] * (end - begin)
        return result

    def test_cpython(self) -> None:
        """Its header names no machine; it writes to /tmp."""
        for python in self.pythons():
            pid = self.run_in_directory(python, "-X", "perf_jit", "-c",
                                        "def one(): return two()\ndef two(): return 2\none()")
            path = self.take(pid, pathlib.Path("/tmp"))
            self.assertNotEqual(tool.objects(path)[0]["machine"], "machine 0")
            functions = self.functions(path)
            for name in ("py::one:<string>", "py::two:<string>"):
                rows = functions[name]["frames"]
                self.assertEqual(rows[0]["cfa"][-2:], "+8")
                self.assertEqual(rows[-1]["end"], functions[name]["code_size"])

    def pythons(self) -> list[str]:
        found = [str(path) for path in pathlib.Path.home().glob(".pyenv/versions/3.1[3-9]*/bin/python3")]
        found += filter(None, map(shutil.which, ("python3.13", "python3.14")))
        for python in found:
            try:
                self.run_in_directory(python, "-X", "perf_jit", "-c", "pass")
            except AssertionError:
                continue
            return [python]
        raise unittest.SkipTest("no CPython with -X perf_jit is installed")

    def test_php(self) -> None:
        php = find("php")
        (self.directory / "a.php").write_text(PHP_PROGRAM)
        pid = self.run_in_directory(php, "-dopcache.enable_cli=1", "-dopcache.jit_buffer_size=32M",
                                    "-dopcache.jit=1205", "-dopcache.jit_debug=32",
                                    "-dopcache.file_update_protection=0", "a.php")
        functions = self.functions(self.take(pid, pathlib.Path("/tmp")))
        self.assertIn("JIT$fib", list(functions))

    def test_erlang(self) -> None:
        """Its tables of lines begin in front of the code."""
        erl = find("erl")
        pid = self.run_in_directory(erl, "+JPperf", "dump", "-noshell", "-eval",
                                    "lists:seq(1, 10), halt().")
        path = self.take(pid, pathlib.Path("/tmp"))
        expected = dict(raw_lines(path.read_bytes()))
        in_front = 0
        for function in self.functions(path).values():
            entries = expected[function["offset"]]
            start = int(function["code_addr"], 0)
            rows = function["rows"]
            for offset in {0, *(row[0] for row in rows), *(address - start for address, _ in entries)}:
                if 0 <= offset < function["code_size"]:
                    found = [row[2] for row in rows if row[0] <= offset][-1:]
                    last = [line for address, line in entries if address <= start + offset][-1:]
                    self.assertEqual(found, last, function["function"])
            in_front += bool(entries) and entries[0][0] < start
        self.assertGreater(in_front, 100)

    def test_wasmtime(self) -> None:
        python = self.with_wasmtime()
        if python is None:
            self.skipTest("wasmtime's Python package is not installed")
        pid = self.run_in_directory(
            python, "-c", f"import wasmtime as w; c = w.Config(); c.profiler = 'jitdump'\n"
            f"s = w.Store(w.Engine(c)); w.Instance(s, w.Module(s.engine, '''{WASM}'''), [])")
        functions = self.functions(self.take(pid))
        self.assertTrue(any("fib" in name for name in functions), list(functions))

    def with_wasmtime(self) -> Optional[str]:
        for python in (os.environ.get("JITDUMP_WASMTIME_PYTHON"), shutil.which("python3")):
            if python and subprocess.run([python, "-c", "import wasmtime"], capture_output=True,
                                         check=False).returncode == 0:
                return python
        return None


if __name__ == "__main__":
    unittest.main()
