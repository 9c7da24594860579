#!/usr/bin/env python3
"""The same random history as dumps of other machines, of either byte order and word size: each
symboliser says the truth, and readelf and llvm-dwarfdump do not complain.

    test_elf_machines.py JITDUMP ENCODE
"""
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import NamedTuple

from jitdump_tests import dump_bytes
from jitdump_tests import histories
from jitdump_tests import symbolizers
import test_elf_random

TOOL, ENCODE = sys.argv.pop(1), sys.argv.pop(1)
LOADS = 120
EI_CLASS, EI_DATA = 4, 5
CLASSES = {32: 1, 64: 2}
ORDERS = {"<": 1, ">": 2}


class Machine(NamedTuple):
    name: str
    elf_mach: int
    bits: int
    order: str
    base: int
    by_gdb: bool = False  # a gdb for one machine knows the others' files not at all


MACHINES = [
    Machine("x86-64", 62, 64, "<", 0x7F1200000000, True),
    Machine("i386", 3, 32, "<", 0xF7D00000, True),
    Machine("arm", 40, 32, "<", 0x01000000),
    Machine("aarch64", 183, 64, "<", 0xFFFF90000000),
    Machine("riscv64", 243, 64, "<", 0x3FF0000000),
    Machine("ppc64le", 21, 64, "<", 0x7FFF90000000),
    Machine("loongarch64", 258, 64, "<", 0x7FFFF0000000),
    Machine("s390x", 22, 64, ">", 0x3FF90000000),
    Machine("ppc64", 21, 64, ">", 0x3FFF90000000),
    Machine("mips", 8, 32, ">", 0x77000000),
]


class MachinesTest(unittest.TestCase):
    def check(self, machine: Machine, directory: pathlib.Path, seed: str) -> None:
        choose = random.Random(seed)
        # LLVM takes the lowest bit of an address for a mode of the processor on some.
        history = histories.random_history(choose, LOADS, machine.base, (4, 16, 64))
        dialect = choose.choice([histories.SAMPLY_2023, histories.SAMPLY_2026])
        dump = history.write(ENCODE, directory, dialect, 0)
        dump_bytes.set_machine(dump, machine.elf_mach)
        if machine.order != dump_bytes.NATIVE:
            dump_bytes.swap_byte_order(dump)
        elf = directory / "out.elf"
        subprocess.run([TOOL, "elf", dump, "-o", elf], check=True)
        dump.unlink()
        ident = elf.read_bytes()[:20]
        self.assertEqual(ident[EI_CLASS], CLASSES[machine.bits])
        self.assertEqual(ident[EI_DATA], ORDERS[machine.order])
        self.assertEqual(struct.unpack_from(machine.order + "H", ident, 18)[0], machine.elf_mach)
        self.assertEqual(test_elf_random.complaints(elf), "")
        truth = history.chains(history.live_after(len(history.operations)), dialect, False)
        for name in symbolizers.installed():
            if name != "gdb" or machine.by_gdb:
                self.assertEqual(symbolizers.compare(name, elf, truth,
                                                     dialect == histories.SAMPLY_2026), 0, name)

    def test_machines(self) -> None:
        seed = os.environ.get("SEED", os.urandom(8).hex())
        print(f"seed {seed}")
        with tempfile.TemporaryDirectory() as directory:
            for machine in MACHINES:
                with self.subTest(machine.name):
                    self.check(machine, pathlib.Path(directory), seed + machine.name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
