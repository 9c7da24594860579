"""Minidumps, written from their parts and read back: as Breakpad's writer makes them on Linux.

The layouts are those of Microsoft's minidumpapiset.h and of Breakpad's minidump_format.h."""
from __future__ import annotations

import struct
from typing import Dict, List, NamedTuple, Tuple

THREAD_LIST, MODULE_LIST, MEMORY_LIST, SYSTEM_INFO, MISC_INFO, MEMORY_INFO = 3, 4, 5, 7, 15, 16
LINUX_STATUS, LINUX_MAPS = 0x47670004, 0x47670009
MODULE_SIZE = 108
AMD64, ARM64, RISCV64 = 9, 12, 0x8006
LINUX = 0x8201
BUILD_ID = b"LEpB"  # as it is in a file of little-endian order


class Module(NamedTuple):
    base: int
    size: int
    name: str
    build_id: bytes


class Thread(NamedTuple):
    registers: Dict[str, int]
    stack: int  # its address
    contents: bytes


def amd64_context(registers: Dict[str, int]) -> bytes:
    names = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
             *(f"r{i}" for i in range(8, 16)), "rip"]
    context = bytearray(1232)
    struct.pack_into("<I", context, 0x30, 0x10000B)
    for i, name in enumerate(names):
        struct.pack_into("<Q", context, 0x78 + 8 * i, registers.get(name, 0))
    return bytes(context)


def arm64_context(registers: Dict[str, int]) -> bytes:
    names = [*(f"x{i}" for i in range(31)), "sp", "pc"]
    context = bytearray(912)
    struct.pack_into("<I", context, 0, 0x400007)
    for i, name in enumerate(names):
        struct.pack_into("<Q", context, 8 + 8 * i, registers.get(name, 0))
    return bytes(context)


def riscv64_context(registers: Dict[str, int]) -> bytes:
    """Breakpad's own: 32 registers, as many of floating point, and their status."""
    names = ["pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
             *(f"a{i}" for i in range(8)), *(f"s{i}" for i in range(2, 12)),
             *(f"t{i}" for i in range(3, 7))]
    context = bytearray(8 + 8 * 32 + 8 * 32 + 8)
    struct.pack_into("<I", context, 0, 0x8000003)
    for i, name in enumerate(names):
        struct.pack_into("<Q", context, 8 + 8 * i, registers.get(name, 0))
    return bytes(context)


CONTEXTS = {AMD64: amd64_context, ARM64: arm64_context, RISCV64: riscv64_context}


class Writer:
    """The parts that do not matter are there all the same, and have something in them."""

    def __init__(self, machine: int = AMD64) -> None:
        self.machine = machine
        self.streams: List[Tuple[int, bytes]] = []
        self.data = bytearray()

    def put(self, data: bytes) -> int:
        self.data += b"\0" * (-len(self.data) % 8)
        offset = len(self.data)
        self.data += data
        return offset

    def stream(self, kind: int, data: bytes) -> None:
        self.streams.append((kind, data))

    def maps(self, text: str) -> None:
        self.stream(LINUX_MAPS, text.encode())

    def status(self, pid: int, thread: int, outer: int = 0) -> None:
        """Of a thread; with `outer`, of a process that is in another namespace, too."""
        pids = f"{outer}\t{pid}" if outer else f"{pid}"
        self.stream(LINUX_STATUS, (f"Name:\tjit\nTgid:\t{outer or pid}\nPid:\t{thread}\nPPid:\t1\n"
                                   f"NStgid:\t{pids}\nNSpid:\t{thread}\n").encode())

    def memory_info(self, *ranges: Tuple[int, int]) -> None:
        """What lies between them is free, which writers say, too."""
        text, last, count = b"", 0, 0
        for begin, end in ranges:
            for low, high, state in (last, begin, 0x10000), (begin, end, 0x1000):
                text += struct.pack("<QQIIQIIII", low, low, 0, 0, high - low, state, 0x40, 0x20000, 0)
                count += 1
            last = end
        self.stream(MEMORY_INFO, struct.pack("<IIQ", 16, 48, count) + text)

    def misc_info(self, pid: int) -> None:
        self.stream(MISC_INFO, struct.pack("<IIIIII", 24, 1, pid, 0, 0, 0))

    def modules(self, modules: List[Module], padding: bytes = b"") -> None:
        text = struct.pack("<I", len(modules)) + padding
        for module in modules:
            name = module.name.encode("utf-16-le")
            name_at = self.reserve(struct.pack("<I", len(name)) + name + b"\0\0")
            id_at = self.reserve(BUILD_ID + module.build_id)
            text += struct.pack("<QIIII52xIIII16x", module.base, module.size, 0, 0, name_at,
                                4 + len(module.build_id), id_at, 0, 0)
        self.stream(MODULE_LIST, text)

    def reserve(self, data: bytes) -> int:
        """Behind the header and the largest directory that a test needs."""
        return self.put(data) + 32 + 12 * 16

    def threads(self, threads: List[Thread]) -> None:
        context = CONTEXTS[self.machine]
        text = struct.pack("<I", len(threads))
        memory = struct.pack("<I", len(threads))
        for i, thread in enumerate(threads):
            stack_at = self.reserve(thread.contents)
            registers = context(thread.registers)
            stack = struct.pack("<QII", thread.stack, len(thread.contents), stack_at)
            text += struct.pack("<IIIIQ", 1000 + i, 0, 0, 0, 0) + stack + struct.pack(
                "<II", len(registers), self.reserve(registers))
            memory += stack
        self.stream(THREAD_LIST, text)
        self.stream(MEMORY_LIST, memory)

    def finish(self) -> bytes:
        self.stream(SYSTEM_INFO, struct.pack("<HHHBBIIIIIHH24x", self.machine, 6, 0, 2, 1, 6, 1, 0,
                                             LINUX, 0, 0, 0))
        entries = b""
        for kind, data in self.streams:
            entries += struct.pack("<III", kind, len(data), self.reserve(data))
        assert len(entries) <= 12 * 16
        header = struct.pack("<IIIIIIQ", 0x504D444D, 0xA793, len(self.streams), 32, 0, 0, 0)
        return header + entries.ljust(12 * 16, b"\0") + bytes(self.data)


def directory(data: bytes) -> Dict[int, Tuple[int, int, int]]:
    """Type -> where its entry is, the stream's size, and where that is."""
    count, at = struct.unpack_from("<II", data, 8)
    result = {}
    for i in range(count):
        kind, size, offset = struct.unpack_from("<III", data, at + 12 * i)
        result[kind] = (at + 12 * i, size, offset)
    return result


def modules(data: bytes) -> List[Module]:
    _, size, offset = directory(data)[MODULE_LIST]
    count, = struct.unpack_from("<I", data, offset)
    first = offset + size - MODULE_SIZE * count
    result = []
    for at in range(first, offset + size, MODULE_SIZE):
        base, length, _, _, name_at = struct.unpack_from("<QIIII", data, at)
        id_size, id_at = struct.unpack_from("<II", data, at + 76)
        name_size, = struct.unpack_from("<I", data, name_at)
        name = data[name_at + 4:name_at + 4 + name_size].decode("utf-16-le")
        record = data[id_at:id_at + id_size]
        if name.startswith("/jit/"):  # others do not end the name, or have no id
            assert data[name_at + 4 + name_size:name_at + 6 + name_size] == b"\0\0"
            assert record[:4] == BUILD_ID
        result.append(Module(base, length, name, record[4:]))
    return result
