"""GDB's JIT interface: objects that compilers made of random programs, registered in a process that has
the collector preloaded. What the dump says of each byte, against addr2line."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, Optional, Sequence, Tuple

from jitdump_tests import decoder, jit_objects, random_c

COLLECTOR = os.environ["JITDUMP_COLLECTOR"]
INTERFACES = os.environ.get("JITDUMP_INTERFACES", "").split(":")
LINE, CHAIN = "perf", "2023"
SYMTAB = 2
PIECE = 256 << 10  # of what the collector reads at once


class Function:
    """A function in the dump, with the chain of each of its bytes: innermost first, (name, file:line)."""

    def __init__(self, group: decoder.Group) -> None:
        _, _, _, self.address, self.size, _ = struct.unpack_from("=IIQQQQ", group[decoder.LOAD])
        name, self.code = group[decoder.LOAD][40:].split(b"\0", 1)
        self.name = name.decode()
        self.unwinding = 4 in group
        self.lines = decoder.debug_info(group.get(decoder.DEBUG_INFO), self.address, self.size)
        self.calls = []
        if decoder.INLINE_2023 in group:
            self.outer, self.calls, self.lines = decoder.inline_2023(group[decoder.INLINE_2023],
                                                                     self.size)

    def line_at(self, offset: int) -> Optional[int]:
        line = self.lines[offset]
        return line.line if line and line.line else None

    def chain_at(self, offset: int) -> List[Tuple[str, Optional[int]]]:
        paths = [call.path for call in self.calls
                 if any(start <= offset < end for start, end in call.ranges)]
        path = max(paths, key=len, default=())
        chain = []
        line = self.line_at(offset)
        for function, call_line, _ in reversed(path):
            chain.append((function.name, line))
            line = call_line
        return [*chain, (self.name, line)]


class GdbTest(unittest.TestCase):
    def setUp(self) -> None:
        if os.uname().machine != "x86_64":
            self.skipTest("the test places objects of x86-64 only")
        temporary = tempfile.TemporaryDirectory(prefix="jitdump-gdb-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()

    def compile(self, name: str, source: str, compiler: str, *options: str) -> str:
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not installed")
        path = self.directory / f"{name}.c"
        path.write_text(source)
        subprocess.run([compiler, "-c", "-O2", "-g", "-fcf-protection=none", *options, path, "-o",
                        path.with_suffix(".o")], check=True, cwd=self.directory)
        return str(path.with_suffix(".o"))

    def run_objects(self, objects: Sequence[str], interface: str = INTERFACES[0],
                    **environment: str) -> Tuple[List[Dict], List[Function], str]:
        """Where the objects' sections were, and what the dump says."""
        done = subprocess.run(
            [sys.executable, "-m", "jitdump_tests.jit_objects", interface, *objects],
            env={**os.environ, "LD_PRELOAD": COLLECTOR, "JITDUMPDIR": str(self.directory), **environment},
            capture_output=True, text=True, check=True)
        dumps = list(self.directory.glob("jit-*.dump"))
        functions = []
        for dump in dumps:
            close = struct.pack("=IIQ", decoder.CLOSE, 16, 0)
            functions += [Function(group) for group in decoder.groups(dump.read_bytes() + close)]
            dump.unlink()
        return [json.loads(line) for line in done.stdout.splitlines()], functions, done.stderr


def symbols(path: str) -> List[Tuple[str, str, int, int]]:
    """Name, section, offset and size of each function, as readelf has them."""
    sections, found = {}, []
    for line in subprocess.run(["readelf", "-SsW", path], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 4 and words[0].startswith("[") and words[0][1:-1].isdigit():
            sections[words[0][1:-1]] = words[1]
        if len(words) == 8 and words[3] == "FUNC":
            found.append((words[7], sections[words[6]], int(words[1], 16), int(words[2], 0)))
    return found


def with_name_at(shared_object: bytes, name: bytes, offset: int) -> bytes:
    """Its symbols' names are moved to the file's end, `name` to that offset among them."""
    sections_at, = struct.unpack_from("<Q", shared_object, 40)
    count, = struct.unpack_from("<H", shared_object, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", shared_object, sections_at + 64 * i)
               for i in range(count)]
    table = next(header for header in headers if header[1] == SYMTAB)
    names = headers[table[6]]
    text = shared_object[names[4]:names[4] + names[5]]
    more = offset - text.index(b"\0" + name + b"\0") - 1
    result = bytearray(shared_object)
    for symbol in range(table[4], table[4] + table[5], 24):
        at, = struct.unpack_from("<I", result, symbol)
        struct.pack_into("<I", result, symbol, at + more)
    struct.pack_into("<QQ", result, sections_at + 64 * table[6] + 24, len(result), more + len(text))
    return bytes(result) + b"_" * more + text


class Objects(GdbTest):
    def check(self, compiler: str, *options: str, dialects: Sequence[str] = (CHAIN,),
              tool: str = "addr2line", count: int = 1, wasmtime: bool = False) -> None:
        """Names, sizes and bytes of all functions; lines and inlined calls of all bytes."""
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")
        objects = [self.compile(f"random{seed}", random_c.program(seed), compiler, *options)
                   for seed in range(count)]
        loaded_as = [jit_objects.as_wasmtime(path) for path in objects] if wasmtime else objects
        for dialect in dialects:
            placed, functions, errors = self.run_objects(loaded_as, JITDUMP=f"debug,dialect={dialect}")
            by_address = {function.address: function for function in functions}
            self.assertNotIn("left out", errors)
            total = right = 0
            wrong = []
            for path, loaded in zip(objects, placed):
                frames, ends = {}, {}
                for _, section, offset, size in symbols(path):
                    ends[section] = max(ends.get(section, 0), offset + size)
                for name, section, offset, size in symbols(path):
                    function = by_address[loaded["sections"][section] + offset]
                    self.assertEqual((function.name, function.size), (name, size))
                    if section not in frames:
                        frames[section] = jit_objects.frames_of(path, section, ends[section], tool)
                    for at in range(size):
                        truth = [(frame, int(line) if (line := place.rsplit(":", 1)[1]).isdigit() and
                                  line != "0" else None)
                                 for frame, place in frames[section][offset + at]]
                        said = function.chain_at(at) if dialect == CHAIN else \
                            [(truth[0][0], function.line_at(at))]
                        expected = truth if dialect == CHAIN else truth[:1]
                        total += 1
                        right += said == expected
                        if said != expected:
                            wrong.append((path, name, at, said, expected))
            print(f"bytes: {self.id()} {' '.join(options)} {dialect} {right} of {total} {wrong[:2]}")
            self.assertGreater(total, 500)
            self.assertEqual(wrong[:3], [])

    def test_gcc(self) -> None:
        for version in range(2, 6):
            self.check("gcc", f"-gdwarf-{version}")

    def test_as_wasmtime(self) -> None:
        self.check("gcc", wasmtime=True)
        self.check("gcc", "-gdwarf-5", dialects=(LINE,))
        self.check("gcc", "-gdwarf-4", "-ffunction-sections")
        self.check("gcc", "-gdwarf-5", "-O3", "-freorder-blocks-and-partition")

    def test_clang(self) -> None:
        for version in range(2, 5):
            self.check("clang", f"-gdwarf-{version}")
        self.check("clang", "-gdwarf-4", "-ffunction-sections", "-fdebug-ranges-base-address")

    def test_code_of_several_files(self) -> None:
        """By #line or #include in a body, also of an inlined function: the file belongs to the line."""
        source = """
            extern volatile int sink;
            static inline int inner(int a)
            {
                sink = a;
            #line 100 "inner.inc"
                sink = a * 7;
                return a + sink;
            }
            #line 200 "several.c"
            int outer(int a)
            {
                sink = a ^ 9;
            #line 300 "outer.inc"
                sink = a + 1;
                a = inner(a);
            #line 400 "several.c"
                return a + sink;
            }
            volatile int sink;
            """
        path = self.compile("several", source, "gcc")
        (placed,), (outer,), _ = self.run_objects([path], JITDUMP=f"dialect={CHAIN}")
        self.assertEqual(placed["sections"][".text"], outer.address)
        frames = jit_objects.frames_of(path, ".text", outer.size, "addr2line")
        lines = set()
        for at in range(outer.size):
            truth = [(frame, int(place.rsplit(":", 1)[1])) for frame, place in frames[at]]
            self.assertEqual([name for name, _ in outer.chain_at(at)], [name for name, _ in truth], at)
            self.assertEqual(outer.chain_at(at)[0], truth[0], at)
            line = outer.lines[at]
            self.assertEqual((os.path.basename(line.file), line.line),
                             (os.path.basename(frames[at][0][1].rsplit(":", 1)[0]), truth[0][1]))
            lines.add(line.line // 100)
        self.assertLessEqual({1, 2, 3, 4}, lines)

    def test_large_tables_of_names(self) -> None:
        """The interface's names lie at any place of a table, which is read in pieces."""
        path = self.compile("one", "int one(int a) { return a * 3; }", "gcc")
        interface = self.directory / "interface.so"
        local = pathlib.Path(INTERFACES[1]).read_bytes()
        for name in (b"__jit_debug_register_code", b"__jit_debug_descriptor"):
            for end in (PIECE, 2 * PIECE - 64):
                for before in (1, len(name), len(name) + 1):
                    interface.write_bytes(with_name_at(local, name, end - before))
                    _, functions, errors = self.run_objects([path], str(interface))
                    self.assertEqual([function.name for function in functions], ["one"],
                                     (name, end, before, errors))

    def test_where_binutils_err(self) -> None:
        """binutils 2.40 reads neither the lists of ranges that clang writes in version 5, nor offsets of 64
        bits there."""
        self.check("clang", "-gdwarf-5", tool="llvm-addr2line")
        self.check("gcc", "-gdwarf-5", "-gdwarf64", tool="llvm-addr2line")


class Moments(GdbTest):
    """When an object's code is loaded: when it can be executed, and not if it never can."""

    def run_scenario(self, scenario: str, **environment: str) -> Tuple[List[Function], str]:
        path = self.compile("moments", "int first(int a) { return a * 3; }\n"
                            "int second(int a) { return a ^ 5; }\n", "gcc", "-ffunction-sections")
        text = SCENARIO.format(scenario=scenario)
        done = subprocess.run([sys.executable, "-c", text, INTERFACES[1], path], capture_output=True,
                              text=True, check=False, cwd=self.directory,
                              env={**os.environ, "LD_PRELOAD": COLLECTOR,
                                   "JITDUMPDIR": str(self.directory), **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        functions = []
        for dump in self.directory.glob("jit-*.dump"):
            close = struct.pack("=IIQ", decoder.CLOSE, 16, 0)
            functions += [Function(group) for group in decoder.groups(dump.read_bytes() + close)]
        return functions, done.stderr

    def test_executable_later(self) -> None:
        """The bytes are those of the moment when the memory becomes executable; each function once."""
        functions, _ = self.run_scenario("""
entry = register()
assert not dumps()
memory[0:4] = b"new!"
executable(0, PAGE)
assert dumps()
memory[0:4] = b"late"
executable(0, PAGE)
""")
        self.assertEqual([(f.name, f.code[:4]) for f in functions],
                         [("first", b"new!"), ("second", functions[1].code[:4])])

    def test_never_executable(self) -> None:
        functions, _ = self.run_scenario("""
entry = register()
interface.unregister_object(entry)
executable(0, PAGE)
interface.change_nothing()
""")
        self.assertEqual(functions, [])

    def test_objects_that_are_none(self) -> None:
        """Garbage, an object that is cut anywhere, and memory that is not there: the next one is read."""
        functions, errors = self.run_scenario("""
for size in [*range(0, len(data), 7), len(data)]:
    cut = ctypes.create_string_buffer(bytes(data[:size]), size)
    interface.register_object(cut, ctypes.c_uint64(size))
interface.register_object(ctypes.c_void_p(0x1000), ctypes.c_uint64(4096))
interface.register_object(ctypes.create_string_buffer(4096), ctypes.c_uint64(4096))
executable(0, PAGE)
""", JITDUMP="debug")
        self.assertIn(("first", "second"), zip([f.name for f in functions],
                                               [f.name for f in functions[1:]]))
        self.assertIn("an object is left out", errors)

    def test_registers(self) -> None:
        """What a compiler keeps in registers over the call of a function that does nothing."""
        functions, _ = self.run_scenario("""
entry = register()
executable(0, PAGE)
interface.register_object(buffer, ctypes.c_uint64(len(data)))
assert interface.changed_registers() == 0, interface.changed_registers()
""")
        self.assertEqual(len(functions), 6)

    def test_told_twice(self) -> None:
        """What ITT tells of the same code is not written again; of other code at the place, it is."""
        functions, _ = self.run_scenario("""
from jitdump_tests import itt
register()
executable(0, PAGE)
copy = itt.Copy()
at, size = placed[".text.first"], jit_objects.Object(sys.argv[2]).size(".text.first")
copy.load(1, b"first", at, size)
memory[at - base:at - base + 2] = b"!!"
copy.load(2, b"first", at, size)
""")
        self.assertEqual([f.name for f in functions], ["first", "second", "first"])
        self.assertEqual(functions[-1].code[:2], b"!!")

    def test_itt_modules(self) -> None:
        """Whole objects by ITT's other half: where its sections lie is told beside it."""
        functions, _ = self.run_scenario("""
from jitdump_tests import itt
table, loaded, unloaded = itt.module_functions()
assert table[1].value == 77  # what the client itself has
module = itt.module(jit_objects.Object(sys.argv[2]), placed)
loaded(ctypes.byref(module))
assert not dumps()
memory[0:4] = b"new!"
executable(0, PAGE)
unloaded(ctypes.byref(module))
""")
        self.assertEqual([(f.name, f.code[:4]) for f in functions],
                         [("first", b"new!"), ("second", functions[1].code[:4])])
        self.assertIsNotNone(functions[0].line_at(0))

    def test_not_preloaded(self) -> None:
        """Where something else is preloaded, or nothing wanted, the process is as it was."""
        functions, _ = self.run_scenario("register(); executable(0, PAGE)", JITDUMP="0")
        self.assertEqual(functions, [])


SCENARIO = """
import ctypes, glob, mmap, sys
from jitdump_tests import jit_objects
PAGE = mmap.PAGESIZE
interface = ctypes.CDLL(sys.argv[1])
interface.register_object.restype = ctypes.c_void_p
interface.unregister_object.argtypes = [ctypes.c_void_p]
memory = mmap.mmap(-1, 2 * PAGE)
base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
data, placed = jit_objects.load(sys.argv[2], memory, base)
buffer = ctypes.create_string_buffer(data, len(data))

def register():
    return interface.register_object(buffer, ctypes.c_uint64(len(data)))

def executable(offset, size):
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(base + offset), ctypes.c_size_t(size), 7) == 0

def dumps():
    return glob.glob("jit-*.dump")

{scenario}
"""
