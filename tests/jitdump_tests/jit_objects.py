"""Objects of a compiler as a JIT has them: in memory, its sections placed there, and registered by GDB's
interface. And what binutils say of them.

    python3 -m jitdump_tests.jit_objects INTERFACE OBJECT...

registers the objects and prints for each, as JSON, where its sections lie. The process is to have the
collector preloaded.
"""
from __future__ import annotations

import ctypes
import json
import mmap
import pathlib
import re
import struct
import subprocess
import sys
from typing import Dict, List, Tuple

SHF_ALLOC, SHF_EXECINSTR = 2, 4
SHT_RELA = 4
ET_DYN = 3
PAGE = mmap.PAGESIZE


class Object:
    """A relocatable object of 64 bits, little-endian."""

    def __init__(self, path: str) -> None:
        self.data = bytearray(pathlib.Path(path).read_bytes())
        self.offset, = struct.unpack_from("<Q", self.data, 0x28)
        self.count, names = struct.unpack_from("<HH", self.data, 0x3C)
        self.names = self.section(names)[4]

    def section(self, index: int) -> Tuple[int, ...]:
        return struct.unpack_from("<IIQQQQIIQQ", self.data, self.offset + 64 * index)

    def name(self, index: int) -> str:
        start = self.names + self.section(index)[0]
        return self.data[start:self.data.index(0, start)].decode()

    def index(self, name: str) -> int:
        return next(index for index in range(self.count) if self.name(index) == name)

    def size(self, name: str) -> int:
        return self.section(self.index(name))[5]

    def place(self, address: int) -> Dict[str, int]:
        """Gives what is to be in memory an address, one behind the other; where it then is."""
        placed = {}
        for index in range(1, self.count):
            _, _, flags, _, _, size, *_ = self.section(index)
            if flags & SHF_ALLOC and size:
                address = (address + 15) // 16 * 16
                struct.pack_into("<Q", self.data, self.offset + 64 * index + 16, address)
                placed[self.name(index)] = address
                address += size
        return placed

    def relocate(self, target: int) -> bytes:
        """The section's bytes with its relocations of 32 bits, relative and absolute ones of 64. aarch64's of
        instructions are left out: that code can't be run."""
        _, _, _, address, offset, size, *_ = self.section(target)
        data = bytearray(self.data[offset:offset + size])
        for index in range(1, self.count):
            _, kind, _, _, start, length, link, info, _, _ = self.section(index)
            if kind != SHT_RELA or info != target:
                continue
            symbols = self.section(link)[4]
            for at in range(start, start + length, 24):
                where, symbol, addend = struct.unpack_from("<QQq", self.data, at)
                kind, symbol = symbol & 0xffffffff, symbol >> 32
                _, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.data, symbols + 24 * symbol)
                value += self.section(section)[3] + addend
                if kind in (2, 4, 261):  # R_X86_64_PC32, PLT32, R_AARCH64_PREL32
                    struct.pack_into("<i", data, where, value - address - where)
                elif kind in (1, 257):  # R_X86_64_64, R_AARCH64_ABS64
                    struct.pack_into("<Q", data, where, value)
                elif kind == 10:  # R_X86_64_32
                    struct.pack_into("<I", data, where, value)
                elif not 273 <= kind <= 299:  # R_AARCH64_LD_PREL_LO19 ... R_AARCH64_LDST128_ABS_LO12_NC
                    raise ValueError(f"relocation {kind}")
        return bytes(data)


def load(path: str, memory: mmap.mmap, base: int) -> Tuple[bytes, Dict[str, int]]:
    """Puts the object's sections into the memory. What is to be registered, and where they are."""
    made = Object(path)
    placed = made.place(base)
    for index in range(1, made.count):
        if made.name(index) in placed:
            at = made.section(index)[3] - base
            data = made.relocate(index)
            memory[at:at + len(data)] = data
    if struct.unpack_from("<H", made.data, 16)[0] == ET_DYN:
        for index in {made.section(index)[7] for index in range(1, made.count)
                      if made.section(index)[1] == SHT_RELA}:
            start, data = made.section(index)[4], made.relocate(index)
            made.data[start:start + len(data)] = data
    return bytes(made.data), placed


def as_wasmtime(path: str) -> str:
    """A copy that calls itself a shared object. Its sections are relocated when it is loaded, and its symbols
    count from their sections as before."""
    data = bytearray(pathlib.Path(path).read_bytes())
    struct.pack_into("<H", data, 16, ET_DYN)
    copy = pathlib.Path(path).with_suffix(".so")
    copy.write_bytes(data)
    return str(copy)


def frames_of(path: str, section: str, size: int, tool: str = "addr2line") -> List[List[Tuple[str, str]]]:
    """For each byte of the section the functions that it is in, the innermost first, each with file and line,
    as the tool has them: "?" and 0 are unknown. llvm-addr2line takes all for the first section of code."""
    where = ["-j", section] if tool == "addr2line" else []
    text = subprocess.run([tool, "-a", "-i", "-f", *where, "-e", path],
                          input="".join(f"{offset:#x}\n" for offset in range(size)),
                          capture_output=True, text=True, check=True).stdout
    frames: List[List[Tuple[str, str]]] = []
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch("0x[0-9a-f]+", line):
            frames.append([])
        else:
            frames[-1].append((line, re.sub(r" \(discriminator \d+\)$", "", next(lines))))
    return frames


def main() -> None:
    interface = ctypes.CDLL(sys.argv[1])
    interface.register_object.restype = ctypes.c_void_p
    kept = []
    for path in sys.argv[2:]:
        memory = mmap.mmap(-1, 64 * PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        data, placed = load(path, memory, ctypes.addressof(ctypes.c_char.from_buffer(memory)))
        buffer = ctypes.create_string_buffer(data, len(data))
        interface.register_object(buffer, ctypes.c_uint64(len(data)))
        kept.append((memory, buffer))
        print(json.dumps({"object": path, "sections": placed}), flush=True)


if __name__ == "__main__":
    main()
