"""The module for LuaJIT in examples/luajit, against what LuaJIT itself says (truth.lua), the header
and the programs' source text."""
from __future__ import annotations

import bisect
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import Dict, Iterator, List, Optional, Tuple

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.perf_case import NAMED_MIN, PerfTest

TESTS = pathlib.Path(__file__).resolve().parent
ROOT = TESTS.parent.parent.parent
EXAMPLE = ROOT / "examples" / "luajit"
PROGRAMS = EXAMPLE / "programs"
LIBRARY = os.environ["JITDUMP_LIBRARY"]  # the folder of libjitdump.so
SAMPLES_MIN = 500
MCODE_AREA = 0x10000  # LuaJIT's code memory comes in pieces of that size, or a multiple, aligned
STUBS = "LuaJIT exit stubs"

# Which source text can have become an instruction. (x - k may be an addition.)
EXPLAINED_BY = {
    "sqrtsd": "sqrt",
    "divsd": "[/%]",
    "mulsd": r"[*^/%]",
    "subsd": "[-%]",
    "addsd": r"[-+]|\bfor\b",
    "roundsd": "%",
}


def environment(directory: pathlib.Path, **more: str) -> Dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": LIBRARY, "JITDUMPDIR": str(directory),
            "LUA_PATH": f"{EXAMPLE}/?.lua;{TESTS}/?.lua;;",
            "LUAJIT_TRUTH": str(directory / "truth"), **more}


def luajit(directory: pathlib.Path, *arguments: object,
           **more: str) -> subprocess.CompletedProcess:
    return subprocess.run([perf.WORKLOAD, *map(str, arguments)], capture_output=True, text=True,
                          cwd=directory, env=environment(directory, **more), check=False)


def read_dump(directory: pathlib.Path) -> jitdump_reader.Dump:
    (path,) = directory.glob("jit-*.dump")
    return jitdump_reader.read(str(path))


class Trace:
    """One that was compiled: from truth.lua, and its function's name from the program's text."""

    def __init__(self, event: dict, source: List[str]) -> None:
        self.since, self.addr, self.size = event["since"], event["addr"], event["size"]
        self.lines = set(event["lines"])
        function = "main"
        if event["linedefined"] > 0:
            named = re.search(r"function (\w+)\(", source[event["linedefined"] - 1])
            function = named[1] if named else "anonymous"
        self.name = f"{function}@{event['loc']} trace {event['trace']}"


class Truth:
    def __init__(self, directory: pathlib.Path, program: pathlib.Path) -> None:
        text = program.read_text(encoding="utf-8")
        made = re.search(r"\[\[\n(.*?)\]\]", text, re.DOTALL)  # what flush.lua compiles
        self.flushes = self.aborts = 0
        self.traces: List[Trace] = []
        for line in (directory / "truth").read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            self.flushes += event.get("event") == "flush"
            self.aborts += event.get("event") == "abort"
            if "trace" in event:
                of_made = made is not None and event["loc"].startswith("made")
                self.traces.append(Trace(event, (made[1] if of_made else text).split("\n")))
        self.areas = {trace.addr // MCODE_AREA for trace in self.traces}
        self.by_addr = sorted(self.traces, key=lambda trace: trace.addr)
        self.addrs = [trace.addr for trace in self.by_addr]

    def at(self, ip: int, time: int) -> Optional[Trace]:
        """The youngest of the traces that contained the address."""
        index = bisect.bisect(self.addrs, ip)
        found = [trace for trace in self.by_addr[max(0, index - 8):index]
                 if ip < trace.addr + trace.size and trace.since <= time]
        return max(found, key=lambda trace: trace.since, default=None)


def instructions(load: jitdump_reader.Load) -> Iterator[Tuple[int, str]]:
    """Address and mnemonic, as objdump sees them."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(load.code)
        file.flush()
        text = perf.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64",
                         f"--adjust-vma={load.code_addr:#x}", "--no-show-raw-insn",
                         file.name]).stdout
    for addr, mnemonic in re.findall(r"(?m)^ *([0-9a-f]+):\s+(\w+)", text):
        yield int(addr, 16), mnemonic


class LuaJITTest(unittest.TestCase):
    def setUp(self) -> None:
        if not perf.WORKLOAD:
            self.skipTest("LuaJIT is not installed")
        super().setUp()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitdump-")).resolve()
        self.addCleanup(shutil.rmtree, self.directory)


class Module(LuaJITTest):
    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_declarations(self) -> None:
        """What the module hands to ffi.cdef, with the sizes and offsets that LuaJIT has for it,
        is put behind the header: the C compiler compares prototypes and numbers."""
        module = (EXAMPLE / "jitdump.lua").read_text(encoding="utf-8")
        cdef = re.search(r"ffi\.cdef \[\[(.*?)\]\]", module, re.DOTALL)[1]
        structs = re.findall(r"struct (\w+) \{(.*?)\};", cdef, re.DOTALL)
        queries = []
        for struct, body in structs:
            queries.append(f'print("sizeof(struct {struct})", ffi.sizeof("struct {struct}"))')
            for field in re.findall(r"(\w+);", body):
                queries.append(f'print("offsetof(struct {struct}, {field})", '
                               f'ffi.offsetof("struct {struct}", "{field}"))')
        self.assertEqual(len(structs), 3)
        self.assertGreater(len(queries), 30)
        script = self.write("offsets.lua", "local ffi = require('ffi')\n"
                            f"ffi.cdef [[{cdef}]]\n" + "\n".join(queries))
        facts = [line.split("\t") for line in luajit(self.directory, script).stdout.splitlines()]
        self.assertEqual(len(facts), len(queries))
        modes = re.search(r"FLUSH_MODES = \{(.*)\}", module)[1]
        for mode, number in re.findall(r'([\w-]+)"?\]? = (\d+)', modes):
            facts.append([f"JITDUMP_FLUSH_{mode.upper().replace('-', '_')}", number])
        self.assertEqual(len(facts), len(queries) + 3)
        prototypes = re.sub(r"struct \w+ \{.*?\};", "", cdef, flags=re.DOTALL)
        source = self.write("declarations.c", "\n".join(
            ["#include <jitdump.h>", "#include <stddef.h>", prototypes] +
            [f'_Static_assert({what} == {number}, "{what}");' for what, number in facts]))
        perf.run(["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT / 'include'}", source])
        soname = re.search(r'ffi\.load\("(.*?)"\)', module)[1]
        self.assertIn(f"soname: [{soname}]",
                      perf.run(["readelf", "-d", f"{LIBRARY}/{soname}"]).stdout)

    def test_ends(self) -> None:
        """The dump is whole however the program ends, in each flush mode."""
        loop = "local sum = 0 for i = 1, 1000 do sum = sum + i end "
        for mode in ("write-through", "buffered", "background"):
            for end, closed, status in (("", True, 0), ("os.exit(3)", False, 3),
                                        ("os.exit(4, true)", True, 4), ("error('5')", True, 1)):
                with self.subTest(mode=mode, end=end):
                    program = self.write("program.lua", loop + end)
                    done = luajit(self.directory, "-l", "jitdump", program, JITDUMP_FLUSH=mode)
                    self.assertEqual(done.returncode, status, done.stderr)
                    dump = read_dump(self.directory)
                    self.assertEqual([function.load.name for function in dump.functions],
                                     [STUBS, "main@program.lua:1 trace 1"])
                    self.assertEqual(dump.closed, closed)
                    os.unlink(next(self.directory.glob("jit-*.dump")))

    def test_errors(self) -> None:
        program = self.write("program.lua", "print('was run')")
        for setting, message in (({"JITDUMPDIR": "/nonexistent"},
                                  "jitdump: /nonexistent: the directory does not exist"),
                                 ({"JITDUMP_FLUSH": "often"}, "jitdump: no flush mode: often")):
            done = luajit(self.directory, "-l", "jitdump", program, **setting)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(message, done.stderr)
        # The disk is full, as it were: one line, and the program goes on.
        program = self.write("program.lua", """
            require("jit.opt").start("hotloop=2")
            for i = 1, 100 do
                assert(loadstring("local x = 0 for i = 1, 10 do x = x + i end"))()
            end
            print("was run")""")
        done = subprocess.run(["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$0" -l jitdump "$1"',
                               perf.WORKLOAD, program], capture_output=True, text=True,
                              env=environment(self.directory), check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "was run\n"), done.stderr)
        self.assertRegex(done.stderr, r"\Ajitdump: .*\n\Z")
        self.assertGreater(len(read_dump(self.directory).functions), 5)

    def test_source_text(self) -> None:
        """Instructions that only certain source text can have become stand in such lines."""
        explained = total = 0
        for program, size in (("nbody", 2000), ("spectral_norm", 100), ("fannkuch", 1),
                              ("words", 2)):
            path = PROGRAMS / f"{program}.lua"
            source = path.read_text(encoding="utf-8").split("\n")
            shown = os.path.relpath(path, self.directory)
            self.assertEqual(luajit(self.directory, "-l", "jitdump", shown, size).returncode, 0)
            for function in read_dump(self.directory).functions:
                info = function.described_by(jitdump_reader.DebugInfo)
                if info is None:
                    self.assertEqual(function.load.name, STUBS)
                    continue
                self.assertEqual({entry.name for entry in info.entries}, {str(path)})
                self.assertEqual(info.entries[0].code_addr, function.load.code_addr)
                starts = [entry.code_addr for entry in info.entries]
                for addr, mnemonic in instructions(function.load):
                    if mnemonic in EXPLAINED_BY:
                        line = info.entries[bisect.bisect(starts, addr) - 1].line
                        found = re.search(EXPLAINED_BY[mnemonic], source[line - 1])
                        explained += found is not None
                        total += 1
                        if not found:
                            print(f"{mnemonic} in {program}.lua:{line} {function.load.name}")
            os.unlink(next(self.directory.glob("jit-*.dump")))
        print(f"source text: {explained} of {total} instructions are explained")
        self.assertGreaterEqual(total, 100)
        self.assertGreaterEqual(explained, NAMED_MIN * total)


class Profile(LuaJITTest, PerfTest):
    def check(self, program: pathlib.Path, *size: int) -> Truth:
        """Each sample in LuaJIT's code memory has the name of the trace that was there, and one of
        the lines that were recorded for it."""
        session = perf.Session(self.directory)
        session.environment.update(environment(self.directory))
        session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", session.data, "--", perf.WORKLOAD,
                     "-l", "truth", "-l", "jitdump", program, *size)
        session.inject()
        truth = Truth(self.directory, program)
        total = named = with_line = 0
        wrong = []
        for sample in session.samples():
            if sample.ip // MCODE_AREA not in truth.areas:
                continue
            trace = truth.at(sample.ip, sample.time)
            name = trace.name if trace else STUBS
            total += 1
            named += sample.symbol == name
            with_line += trace is None or sample.line in trace.lines
            if sample.symbol not in (name, "[unknown]"):
                wrong.append(f"{sample.symbol} instead of {name}")
        print(f"samples: {program.name} n={total} right name {named} right line {with_line} "
              f"wrong {len(wrong)}")
        self.assertGreaterEqual(total, SAMPLES_MIN)
        self.assertEqual(wrong[:5], [])
        self.assertGreaterEqual(named, NAMED_MIN * total)
        self.assertGreaterEqual(with_line, NAMED_MIN * total)
        loads = [function.load.name for function in read_dump(self.directory).functions]
        self.assertEqual([name for name in loads if name != STUBS],
                         [trace.name for trace in truth.traces])
        # Each flush takes the stubs with it; no trace may have been compiled after the last one.
        self.assertGreaterEqual(loads.count(STUBS), max(1, truth.flushes - 1))
        return truth

    def test_nbody(self) -> None:
        self.check(PROGRAMS / "nbody.lua", 5_000_000)

    def test_spectral_norm(self) -> None:
        self.check(PROGRAMS / "spectral_norm.lua", 2500)

    def test_fannkuch(self) -> None:
        self.check(PROGRAMS / "fannkuch.lua", 2)

    def test_words(self) -> None:
        self.check(PROGRAMS / "words.lua", 400)

    def test_flush(self) -> None:
        truth = self.check(TESTS / "flush.lua")
        self.assertGreater(len(truth.traces), 2000)
        self.assertGreater(truth.flushes, 2 + 1)  # more than those that are asked for
        self.assertGreater(truth.aborts, 10)
