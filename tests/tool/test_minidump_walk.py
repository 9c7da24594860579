#!/usr/bin/env python3
"""Walks through generated frames by STACK CFI, on x86-64, aarch64 and riscv64: from each instruction of
functions without frame pointer into their caller's caller, in rust-minidump's walker and in Breakpad's.

    test_minidump_walk.py JITDUMP
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List, NamedTuple

from jitdump_tests import breakpad, dump_bytes, minidump
from jitdump_tests.frame_bytes import frames

TOOL = sys.argv.pop(1)
SKIPPED = 77
BASE, STACK, OUTSIDE = 0x7F0000000000, 0x7FFF00000000, 0x401234
CODE_SIZE = 64


class Machine(NamedTuple):
    elf_mach: int
    architecture: int
    return_address: int
    entry: bytes  # call frame instructions of the CIE
    pushes: bytes  # from 4 on 16 bytes less of stack, and from 8 on 48
    stack_pointer: str
    program_counter: str
    sizes: Dict[int, int]  # from an offset on: how much stack the function has
    link_register: str  # in which the return address is before 8; "": it is on the stack


# CFA sp+8, return address at CFA-8; then CFA sp+16 and sp+48.
X86_64 = Machine(62, minidump.AMD64, 16, b"\x0c\x07\x08\x90\x01", b"\x44\x0e\x10\x44\x0e\x30", "rsp",
                 "rip", {0: 8, 4: 16, 8: 48}, "")
# CFA sp; then sp+16, and sp+48 with x30 at CFA-8.
AARCH64 = Machine(183, minidump.ARM64, 30, b"\x0c\x1f\x00", b"\x44\x0e\x10\x44\x0e\x30\x9e\x01", "sp",
                  "pc", {0: 0, 4: 16, 8: 48}, "x30")
RISCV64 = Machine(243, minidump.RISCV64, 1, b"\x0c\x02\x00", b"\x44\x0e\x10\x44\x0e\x30\x81\x01", "sp",
                  "pc", {0: 0, 4: 16, 8: 48}, "ra")


class WalkTest(unittest.TestCase):
    def thread(self, machine: Machine, offset: int) -> minidump.Thread:
        """In the first function, at the offset, called by the second, called from outside."""
        size = max((s for at, s in machine.sizes.items() if at <= offset), default=0)
        returns = [BASE + CODE_SIZE + 20, OUTSIDE]
        registers = {machine.stack_pointer: STACK, machine.program_counter: BASE + offset}
        stack = bytearray(size + max(machine.sizes.values()) + 256)
        if machine.link_register and offset < 8:
            registers[machine.link_register] = returns[0]
        else:
            struct.pack_into("<Q", stack, size - 8, returns[0])
        struct.pack_into("<Q", stack, size + 48 - 8, returns[1])
        return minidump.Thread(registers, STACK, bytes(stack))

    def prepare(self, machine: Machine, directory: pathlib.Path, offsets: List[int]) -> tuple:
        """The minidump with the modules, and the store."""
        dump = dump_bytes.Writer(machine.elf_mach)
        for number in range(2):
            dump.unwinding(frames(CODE_SIZE, machine.return_address, machine.entry, machine.pushes), 0)
            dump.load(BASE + CODE_SIZE * number, CODE_SIZE, b"f%d" % number)
        path, crash, named = (directory / name for name in ("jit-1.dump", "crash.dmp", "named.dmp"))
        path.write_bytes(dump.bytes)
        writer = minidump.Writer(machine.architecture)
        writer.misc_info(1)
        writer.maps(f"{BASE:x}-{BASE + 4096:x} r-xp 00000000 00:00 0\n")
        writer.modules([minidump.Module(0x400000, 0x10000, "/usr/bin/jit", bytes(range(20)))])
        writer.threads([self.thread(machine, offset) for offset in offsets])
        crash.write_bytes(writer.finish())
        store = breakpad.Store(TOOL, path, directory / "store", "-m", crash)
        subprocess.run([TOOL, "minidump", crash, path, "-o", named], check=True,
                       stdout=subprocess.DEVNULL)
        return named, store.folder

    def check(self, machine: Machine) -> None:
        offsets = list(range(0, CODE_SIZE, 1 if machine is X86_64 else 4))
        with tempfile.TemporaryDirectory() as name:
            prepared = self.prepare(machine, pathlib.Path(name), offsets)
            if breakpad.stackwalk() and machine is not RISCV64:
                walks = [thread["frames"] for thread in breakpad.walk(*prepared)["threads"]]
                self.assertEqual(len(walks), len(offsets))
                for offset, walk in zip(offsets, walks):
                    self.assertEqual([(f["function"] or f["module"], f["trust"]) for f in walk[:3]],
                                     [("f0", "context"), ("f1", "cfi"), ("jit", "cfi")], offset)
            if breakpad.breakpad_stackwalk():
                text = breakpad.breakpad_walk(*prepared)
                for number, offset in enumerate(offsets):
                    found = re.findall(rf"(?m)^{number}\|\d+\|([^|]*)\|([^|]*)\|", text)
                    self.assertEqual(found[:3], [("jit-1", "f0"), ("jit-1", "f1"), ("jit", "")], offset)

    def test_x86_64(self) -> None:
        self.check(X86_64)

    def test_aarch64(self) -> None:
        self.check(AARCH64)

    def test_riscv64(self) -> None:
        self.check(RISCV64)


if __name__ == "__main__":
    if breakpad.stackwalk() is None and breakpad.breakpad_stackwalk() is None:
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
