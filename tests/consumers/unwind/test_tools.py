"""readelf and llvm-dwarfdump read of the library's bytes what the description says."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
from typing import Callable, Dict, List

from jitdump_tests import frames, jitdump_reader
from jitdump_tests.frames import Description, Machine, Row
from jitdump_tests.jitdump_records import UnwindingInfo

DESCRIBE = os.environ.get("JITDUMP_DESCRIBE", "")
CODE_ADDR = 0x400000
RANDOM_DESCRIPTIONS = 25  # of each machine
E_MACHINE = 18  # the field's place in an ELF file

# By DWARF number. readelf calls the return address's column "ra" on all machines.
X86_64_NAMES = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra".split()
RISCV64_NAMES = (["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"]
                 + [f"a{i}" for i in range(8)] + [f"s{i}" for i in range(2, 12)]
                 + [f"t{i}" for i in range(3, 7)] + [f"ft{i}" for i in range(8)]
                 + ["fs0", "fs1"] + [f"fa{i}" for i in range(8)]
                 + [f"fs{i}" for i in range(2, 12)] + [f"ft{i}" for i in range(8, 12)])


def readelf_numbers(machine: Machine) -> Dict[str, int]:
    if machine is frames.AARCH64:
        return {**{f"x{i}": i for i in range(31)}, "ra": 30, "sp": 31,
                **{f"v{i}": 64 + i for i in range(32)}}
    names = X86_64_NAMES if machine is frames.X86_64 else RISCV64_NAMES
    return {name: number for number, name in enumerate(names)}


def llvm_number(machine: Machine, name: str) -> int:
    if machine is frames.X86_64:
        return X86_64_NAMES.index({"RIP": "ra"}.get(name, name.lower()))
    if name in ("WSP", "SP"):
        return 31
    first_float = 64 if machine is frames.AARCH64 else 32
    kind, number = re.match(r"([A-Z])(\d+)", name).groups()
    return int(number) + (0 if kind in "XW" else first_float)


def run(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def make_elf(path: pathlib.Path, machine: Machine, eh_frame: bytes, address: int) -> None:
    """An ELF file with the bytes as its .eh_frame at the address."""
    raw = path.with_suffix(".raw")
    raw.write_bytes(eh_frame)
    run("objcopy", "-I", "binary", "-O", "elf64-little",
        "--rename-section", ".data=.eh_frame,alloc,readonly,data,contents",
        "--change-section-address", f".data={address:#x}", raw, path)
    elf = bytearray(path.read_bytes())
    elf[E_MACHINE:E_MACHINE + 2] = machine.elf_mach.to_bytes(2, "little")
    path.write_bytes(elf)


def read_with_readelf(path: pathlib.Path, machine: Machine) -> List[Row]:
    numbers = readelf_numbers(machine)
    text = run("readelf", "--debug-dump=frames-interp", path)
    assert "ZERO terminator" in text, text
    entries = re.findall(r"^\w+ \w+ \w+ FDE .* pc=(\w+)\.\.(\w+)\n((?:.+\n)+)", text, re.M)
    assert len(entries) == 1, text
    start, end, table = entries[0]
    head, *lines = table.splitlines()
    columns = [numbers[name] for name in head.split()[2:]]
    rows = []
    for line in lines:
        location, cfa, *rules = line.split()
        register, offset = cfa.split("+")
        saved = {column: -int(rule[2:]) for column, rule in zip(columns, rules) if rule != "u"}
        rows.append(Row(int(location, 16), numbers[register], int(offset), saved))
    return relative(rows, int(start, 16), int(end, 16))


def read_with_llvm(path: pathlib.Path, machine: Machine) -> List[Row]:
    text = run("llvm-dwarfdump", "--eh-frame", path)
    assert "ZERO terminator" in text, text
    start, end = re.search(r"FDE cie=\w+ pc=(\w+)\.\.\.(\w+)", text).groups()
    rows = []
    for location, register, offset, rules in re.findall(
            r"^ +0x(\w+): CFA=([A-Z]+\d*)(?:\+(\d+))?(?:: (.*))?$", text, re.M):
        saved = {llvm_number(machine, name): int(below)
                 for name, below in re.findall(r"(\w+)=\[CFA(-\d+)\]", rules)}
        rows.append(Row(int(location, 16), llvm_number(machine, register), int(offset or 0), saved))
    return relative(rows, int(start, 16), int(end, 16))


def relative(rows: List[Row], start: int, end: int) -> List[Row]:
    """As offsets from the code's start, up to a row that says no more than where the code ends."""
    for row in rows:
        row.start -= start
    assert start == CODE_ADDR, hex(start)
    rows = frames.without_repetition(rows)
    rows.append(Row(end - start, 0, 0, {}))
    return rows


def expected_rows(case: Description) -> List[Row]:
    return case.rows() + [Row(case.code_size, 0, 0, {})]


def llvm_restores_cfa(directory: pathlib.Path) -> bool:
    """Up to version 14, llvm-dwarfdump leaves the CFA alone where DW_CFA_restore_state is to
    bring it back."""
    case = Description(frames.X86_64, 8, frames.FRAME_STEPS,
                       [(1, frames.REMEMBER_STATE, 0, 0),
                        (1, frames.DEF_CFA, 7, 16),
                        (2, frames.RESTORE_STATE, 0, 0)])
    return read_with_llvm(build(case, directory)[1], case.machine) == expected_rows(case)


def build(case: Description, directory: pathlib.Path) -> List[pathlib.Path]:
    """ELF files with the bytes as in the dump and with the bytes alone."""
    steps = "".join(" ".join(map(str, step)) + "\n" for step in case.steps)
    for dump in directory.glob("jit-*.dump"):
        dump.unlink()
    done = subprocess.run([DESCRIBE, directory, str(case.machine.elf_mach), str(CODE_ADDR),
                           str(case.code_size), str(case.frame)],
                          input=steps, stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    # The reader checks eh_frame_hdr too.
    function, = jitdump_reader.read(str(next(directory.glob("jit-*.dump")))).functions
    data = function.described_by(UnwindingInfo)
    frame_at = (case.code_size + 7) // 8 * 8
    room = frame_at - case.code_size + len(data.eh_frame) + len(data.eh_frame_hdr)
    assert int(done.stdout) == room, f"jitdump_unwind_size: {done.stdout}"
    in_dump, alone = directory / "in_dump.o", directory / "alone.o"
    make_elf(in_dump, case.machine, data.eh_frame, CODE_ADDR + frame_at)
    # Anywhere: its addresses are absolute.
    make_elf(alone, case.machine, (directory / "eh_frame").read_bytes(), 0x7000)
    return [in_dump, alone]


class ToolTest(unittest.TestCase):
    def check_tool(self, tool: str, read: Callable[[pathlib.Path, Machine], List[Row]],
                   keep: Callable[[Description], bool]) -> None:
        checked = 0
        with tempfile.TemporaryDirectory() as name:
            for machine in frames.MACHINES:
                cases = [frames.standard_frame(machine), frames.two_epilogues(machine),
                         frames.every_register(machine)]
                cases += [frames.any_description(machine, seed)
                          for seed in range(RANDOM_DESCRIPTIONS)]
                for case in filter(keep, cases):
                    for path in build(case, pathlib.Path(name)):
                        with self.subTest(case=case, file=path.name):
                            self.assertEqual(read(path, machine), expected_rows(case))
                            checked += 1
        print(f"{tool} agrees with {checked} eh_frames")
        self.assertGreaterEqual(checked, RANDOM_DESCRIPTIONS)

    def test_readelf(self) -> None:
        self.check_tool("readelf", read_with_readelf, lambda case: True)

    @unittest.skipIf(shutil.which("llvm-dwarfdump") is None, "there is no llvm-dwarfdump")
    def test_llvm_dwarfdump(self) -> None:
        def keep(case: Description) -> bool:
            return restores or frames.RESTORE_STATE not in [step[1] for step in case.steps]

        with tempfile.TemporaryDirectory() as name:
            restores = llvm_restores_cfa(pathlib.Path(name))
        if not restores:
            print("this llvm-dwarfdump forgets the CFA at DW_CFA_restore_state: "
                  "descriptions with it are left to readelf")
        self.check_tool("llvm-dwarfdump", read_with_llvm, keep)


if __name__ == "__main__":
    unittest.main(verbosity=2)
