#!/usr/bin/env python3
"""How much of the machine code has the right line, as LuaJIT's assembler knows it.

    exact_lines.py LUAJIT_SOURCE LIBRARY_FOLDER

Makes a copy of LuaJIT's source (2.1, for x86-64) that logs which bytecode each IR instruction
comes from and which machine code it becomes, builds it, and runs the example's programs with it
and the module. Not among the tests, since it needs that source.
"""
from __future__ import annotations

import bisect
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, Iterator, List, Tuple

from jitdump_tests import jitdump_reader

TESTS = pathlib.Path(__file__).resolve().parent
EXAMPLE = TESTS.parent.parent.parent / "examples" / "luajit"
PROGRAMS = {"nbody": 10000, "spectral_norm": 100, "fannkuch": 1, "words": 3}

REF = "(int)({0} - REF_BIAS)"
LINE = "proto_chunknamestr(J->pt), (int)lj_debug_line(J->pt, proto_bcpos(J->pt, J->pc))"
# In which file, at which place, what is put behind it (or in front of it).
LOGS = [
    ("lj_def.h", "#include <stdint.h>\n", "after",
     "#include <stdio.h>\nFILE *exact_log(void);\n"
     "#define LOG(...) fprintf(exact_log(), __VA_ARGS__)\n"),
    ("lj_trace.c", '#include "lj_debug.h"\n', "after",
     "#include <stdlib.h>\nFILE *exact_log(void)\n{ static FILE *log;\n"
     "  if (!log) log = fopen(getenv(\"LUAJIT_EXACT\"), \"w\");\n  return log; }\n"),
    ("lj_trace.c", "  lj_record_setup(J);\n", "before", f'  LOG("start %s:%d\\n", {LINE});\n'),
    ("lj_record.c", "  /* Need snapshot before recording next bytecode", "before",
     f'  if (J->pt) LOG("bytecode %d %s:%d\\n", {REF.format("J->cur.nins")}, {LINE});\n'),
    ("lj_opt_loop.c", "  emitir_raw(IRTG(IR_LOOP, IRT_NIL), 0, 0);\n", "before",
     f'  LOG("loop %d\\n", {REF.format("invar")});\n'),
    ("lj_opt_loop.c", "(ir->ot & ~IRT_ISPHI, op1, op2));\n", "after",
     f'      LOG("copy %d %d\\n", {REF.format("ins")}, {REF.format("ref")});\n'),
    ("lj_asm.c", "    as->curins = J->cur.nins = as->orignins;\n", "after",
     '    LOG("assemble\\n");\n'),
    ("lj_asm.c", "      asm_ir(as, ir);\n", "before", "      MCode *behind = as->mcp;\n"),
    ("lj_asm.c", "      asm_ir(as, ir);\n", "after",
     f'      LOG("code %d %p %p\\n", {REF.format("as->curins")}, (void *)as->mcp,'
     ' (void *)behind);\n'),
    ("lj_trace.c", "  trace_save(J, T);\n", "after",
     '  LOG("stop %p %d\\n", (void *)T->mcode, (int)T->szmcode);\n'),
]


def build(source: pathlib.Path, copy: pathlib.Path) -> pathlib.Path:
    shutil.copytree(source, copy)
    for name, place, side, log in LOGS:
        path = copy / "src" / name
        text = path.read_text(encoding="utf-8")
        if place not in text:
            sys.exit(f"{path}: nothing is known of this version of LuaJIT: no {place!r}")
        path.write_text(text.replace(place, place + log if side == "after" else log + place, 1),
                        encoding="utf-8")
    subprocess.run(["make", "-C", copy, "clean"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["make", "-C", copy, "-j2"], check=True, stdout=subprocess.DEVNULL)
    return copy / "src"


Code = List[Tuple[int, int, str]]  # from, to, file:line


def exact(log: pathlib.Path) -> Iterator[Tuple[int, int, Code]]:
    """Address, size and exact lines of each trace."""
    starts: List[int] = []
    lines: List[str] = []
    copies: Dict[int, int] = {}
    code: List[Tuple[int, int, int]] = []
    loop = sys.maxsize
    for line in log.read_text(encoding="utf-8").splitlines():
        what, *values = line.split(" ")
        if what == "start":
            starts, lines, loop = [0], [values[0]], sys.maxsize
        elif what == "bytecode":
            starts.append(int(values[0]))
            lines.append(values[1])
            loop = sys.maxsize  # what was made of the loop before did not succeed
        elif what == "loop":
            loop, copies = int(values[0]), {}
        elif what == "copy":
            copies.setdefault(int(values[1]), int(values[0]))
        elif what == "assemble":
            code = []
        elif what == "code":
            code.append((int(values[0]), int(values[1], 16), int(values[2], 16)))
        elif what == "stop":
            found = []
            for ref, begin, end in code:
                origin = ref if ref < loop else copies.get(ref)
                if origin is not None and begin < end and ref != loop:
                    found.append((begin, end, lines[bisect.bisect(starts, origin) - 1]))
            yield int(values[0], 16), int(values[1]), found


def main() -> None:
    source, library = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        built = build(source, folder / "luajit")
        for program, size in PROGRAMS.items():
            path = EXAMPLE / "programs" / f"{program}.lua"
            dumps = folder / program
            dumps.mkdir()
            subprocess.run(
                [built / "luajit", "-l", "jitdump", path, str(size)], check=True,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "LD_LIBRARY_PATH": library, "JITDUMPDIR": str(dumps),
                     "LUA_PATH": f"{EXAMPLE}/?.lua;{built}/?.lua", "LUAJIT_EXACT": f"{dumps}/log"})
            (dump,) = dumps.glob("jit-*.dump")
            by_addr = collections.defaultdict(list)
            for function in jitdump_reader.read(str(dump)).functions:
                by_addr[function.load.code_addr, len(function.load.code)].append(function)
            right = total = 0
            for addr, size_of_trace, code in exact(dumps / "log"):
                function = by_addr[addr, size_of_trace].pop(0)
                entries = function.described_by(jitdump_reader.DebugInfo).entries
                places = [entry.code_addr for entry in entries]
                for begin, end, line in code:
                    for at in range(begin, end):
                        entry = entries[bisect.bisect(places, at) - 1]
                        right += f"@{entry.name}:{entry.line}" == line
                        total += 1
            print(f"{program:14} {right} of {total} bytes, {100 * right / total:.1f} %")


if __name__ == "__main__":
    main()
