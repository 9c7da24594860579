"""Intel's JIT profiling API as a program speaks it: events for a collector, laid out as jitprofiling.h
has them. The collector's path comes in $JITDUMP_COLLECTOR, in $JITDUMP_COPIES two libraries that send
events, each as a copy of Intel's client of its own.
"""
from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
import sys
import tempfile
import traceback
from typing import Callable, List, Optional, Sequence, Tuple

from jitdump_tests import jitdump_reader

SHUTDOWN, LOAD, UNLOAD, UPDATE, INLINE_LOAD, UPDATE_V2 = 2, 13, 14, 15, 16, 17
LOAD_V2, LOAD_V3 = 21, 22

Lines = Sequence[Tuple[int, int]]


class LineNumberInfo(ctypes.Structure):
    _fields_ = [("Offset", ctypes.c_uint), ("LineNumber", ctypes.c_uint)]


_LOAD = [("method_id", ctypes.c_uint), ("method_name", ctypes.c_char_p),
         ("method_load_address", ctypes.c_void_p), ("method_size", ctypes.c_uint),
         ("line_number_size", ctypes.c_uint),
         ("line_number_table", ctypes.POINTER(LineNumberInfo))]


class MethodLoad(ctypes.Structure):
    _fields_ = [*_LOAD, ("class_id", ctypes.c_uint), ("class_file_name", ctypes.c_char_p),
                ("source_file_name", ctypes.c_char_p), ("user_data", ctypes.c_void_p),
                ("user_data_size", ctypes.c_uint), ("env", ctypes.c_int)]


class MethodLoadV2(ctypes.Structure):
    _fields_ = [*_LOAD, ("class_file_name", ctypes.c_char_p), ("source_file_name", ctypes.c_char_p),
                ("module_name", ctypes.c_char_p)]


class MethodLoadV3(ctypes.Structure):
    _fields_ = [*MethodLoadV2._fields_, ("module_arch", ctypes.c_int)]


class MethodInlineLoad(ctypes.Structure):
    _fields_ = [("method_id", ctypes.c_uint), ("parent_method_id", ctypes.c_uint), *_LOAD[1:],
                ("class_file_name", ctypes.c_char_p), ("source_file_name", ctypes.c_char_p)]


STRUCTS = {LOAD: MethodLoad, LOAD_V2: MethodLoadV2, LOAD_V3: MethodLoadV3, UPDATE: MethodLoad,
           INLINE_LOAD: MethodInlineLoad}


class Memory:
    """Memory that could be executed, filled with bytes that tell where they are."""

    def __init__(self, size: int = 1 << 16) -> None:
        self.memory = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.memory.write(bytes((i * 7 + (i >> 8)) & 0xff for i in range(size)))
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def bytes_at(self, offset: int, size: int) -> bytes:
        return self.memory[offset:offset + size]


class Copy:
    """A copy of Intel's client."""

    def __init__(self, number: int = 0) -> None:
        collector = ctypes.CDLL(os.environ["JITDUMP_COLLECTOR"])
        self.initialized = collector.Initialize()
        self.function = collector.NotifyEvent
        self.library = ctypes.CDLL(os.environ["JITDUMP_COPIES"].split(":")[number])

    def notify(self, event: int, data: object) -> int:
        return self.library.copy_notify(self.function, event, data)

    def send(self, event: int, method_id: int, name: Optional[bytes], address: Optional[int], size: int,
             lines: Lines = (), class_name: Optional[bytes] = None, file: Optional[bytes] = None,
             parent: int = 0, **more: object) -> int:
        table = (LineNumberInfo * len(lines))(*lines)
        data = STRUCTS[event](method_id=method_id, method_name=name, method_load_address=address,
                              method_size=size, line_number_size=len(lines),
                              class_file_name=class_name, source_file_name=file, **more)
        if lines:
            data.line_number_table = table
        if event == INLINE_LOAD:
            data.parent_method_id = parent
        return self.notify(event, ctypes.byref(data))

    def load(self, *arguments: object, **more: object) -> int:
        return self.send(LOAD, *arguments, **more)

    def unload(self, method_id: int) -> int:
        """As LLVM does it: the id, and garbage behind."""
        data = (ctypes.c_uint * 16)(method_id, *[0xa5a5a5a5] * 15)
        return self.notify(UNLOAD, data)


class Api(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("func_ptr", ctypes.POINTER(ctypes.c_void_p)),
                ("init_func", ctypes.c_void_p), ("null_func", ctypes.c_void_p), ("group", ctypes.c_int)]


class Global(ctypes.Structure):
    _fields_ = [("magic", ctypes.c_ubyte * 8), ("version", ctypes.c_ulong * 3), ("states", ctypes.c_long * 3),
                ("mutex", ctypes.c_char * 40), ("lib", ctypes.c_void_p), ("error_handler", ctypes.c_void_p),
                ("dll_path_ptr", ctypes.c_void_p), ("api_list_ptr", ctypes.POINTER(Api))]


class SectionInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("flags", ctypes.c_size_t),
                ("start_addr", ctypes.c_void_p), ("size", ctypes.c_size_t), ("file_offset", ctypes.c_size_t)]


class ModuleObject(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("module_id", ctypes.c_ulonglong * 3),
                ("module_type", ctypes.c_int), ("module_name", ctypes.c_char_p),
                ("module_buffer", ctypes.c_char_p), ("module_size", ctypes.c_size_t),
                ("section_array", ctypes.POINTER(SectionInfo)), ("section_number", ctypes.c_size_t)]


def module_functions() -> Tuple[object, object, object]:
    """Lets the collector fill in a client's table of three functions, of which it has the outer ones. The
    table, and these two."""
    table = (ctypes.c_void_p * 3)()
    slots = [ctypes.c_void_p.from_buffer(table, 8 * i) for i in range(3)]
    names = [b"__itt_module_load_with_sections", b"__itt_pause", b"__itt_module_unload_with_sections"]
    apis = (Api * 4)(*(Api(name, ctypes.pointer(slot), None, 77, 1) for name, slot in zip(names, slots)))
    collector = ctypes.CDLL(os.environ["JITDUMP_COLLECTOR"])
    collector.__getattr__("__itt_api_init")(ctypes.byref(Global(api_list_ptr=apis)), -1)
    kind = ctypes.CFUNCTYPE(None, ctypes.POINTER(ModuleObject))
    return slots, kind(slots[0].value), kind(slots[2].value)


def module(made: object, placed: dict) -> ModuleObject:
    """An object (jit_objects.Object) without addresses, and beside it where its sections are."""
    data = bytes(made.data)
    indices = [made.index(name) for name in placed]
    sections = (SectionInfo * len(placed))(*(
        SectionInfo(name.encode(), 0, 0, address, made.section(index)[5], made.section(index)[4])
        for (name, address), index in zip(placed.items(), indices)))
    return ModuleObject(module_type=1, module_name=b"m", module_buffer=data, module_size=len(data),
                        section_array=sections, section_number=len(placed))


class Child:
    """A process that ran `scenario`, and what it has left."""

    def __init__(self, scenario: Callable[[], object], **environment: str) -> None:
        self.temporary = tempfile.TemporaryDirectory(prefix="jitdump-itt-")
        self.directory = pathlib.Path(self.temporary.name).resolve()
        self.error_file = self.directory / "stderr"
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(scenario, environment)
        _, status = os.waitpid(self.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        self.stderr = self.error_file.read_text()
        if self.status != 0:
            raise AssertionError(f"exit status {self.status}: {self.stderr}")

    def _run(self, scenario: Callable[[], object], environment: dict) -> None:
        status = 1
        try:
            error = os.open(self.error_file, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(error, 2)
            os.chdir(self.directory)
            for name in ("JITDUMP", "JITDUMP_ITT_LINES"):
                os.environ.pop(name, None)
            os.environ.update({"JITDUMPDIR": str(self.directory), **environment})
            scenario()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def dump_path(self, pid: Optional[int] = None) -> pathlib.Path:
        return self.directory / f"jit-{pid or self.pid}.dump"

    def functions(self, pid: Optional[int] = None, **options: bool) -> List[jitdump_reader.Function]:
        return jitdump_reader.read(str(self.dump_path(pid)), **options).functions
