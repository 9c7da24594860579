"""Descriptions of frames, and what they say of each instruction: the truth that tools are
compared with. Knows nothing of DWARF's encoding."""

import dataclasses
import random
from typing import Dict, List, Tuple

DEF_CFA, OFFSET, RESTORE, REMEMBER_STATE, RESTORE_STATE = range(1, 6)
FRAME_NONE, FRAME_ALLOCATED, FRAME_SET = range(6, 9)
FRAME_STEPS, FRAME_POINTER = range(2)

Step = Tuple[int, int, int, int]  # code offset, op, register, offset
Saved = Dict[int, int]  # register: where below the CFA (negative)


@dataclasses.dataclass
class Row:
    """What holds from a code offset on."""

    start: int
    cfa_register: int
    cfa_offset: int
    saved: Saved


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str
    elf_mach: int
    stack_pointer: int
    frame_pointer: int
    return_address: int
    pushes_return_address: bool
    frame_pointer_offset: int  # CFA - frame pointer
    general: range
    savable: Tuple[int, ...]
    # The standard frame: (from the start, op), then (from the end, op)
    prologue: Tuple[Tuple[int, int], ...]
    epilogue: Tuple[Tuple[int, int], ...]

    @property
    def entry(self) -> Row:
        if self.pushes_return_address:
            return Row(0, self.stack_pointer, 8, {self.return_address: -8})
        return Row(0, self.stack_pointer, 0, {})


X86_64 = Machine("x86_64", 62, 7, 6, 16, True, 16, range(16), tuple(range(17)),
                 ((1, FRAME_ALLOCATED), (4, FRAME_SET)), ((1, FRAME_NONE),))
AARCH64 = Machine("aarch64", 183, 31, 29, 30, False, 16, range(32), (*range(32), *range(64, 96)),
                  ((4, FRAME_ALLOCATED), (8, FRAME_SET)), ((4, FRAME_NONE),))
RISCV64 = Machine("riscv64", 243, 2, 8, 1, False, 0, range(1, 32), tuple(range(1, 64)),
                  ((4, FRAME_ALLOCATED), (16, FRAME_SET)),
                  ((8, FRAME_ALLOCATED), (4, FRAME_NONE)))
MACHINES = (X86_64, AARCH64, RISCV64)


@dataclasses.dataclass
class Description:
    machine: Machine
    code_size: int
    frame: int
    steps: List[Step]

    def rows(self) -> List[Row]:
        """Only where something changes."""
        steps = list(self.steps)
        if self.frame == FRAME_POINTER:
            steps = ([(at, op, 0, 0) for at, op in self.machine.prologue] + steps
                     + [(self.code_size - at, op, 0, 0) for at, op in self.machine.epilogue])
        row = self.machine.entry
        rows = [row]
        remembered: List[Row] = []
        for start, op, register, offset in steps:
            row = dataclasses.replace(row, start=start, saved=dict(row.saved))
            if op == REMEMBER_STATE:
                remembered.append(row)
            elif op == RESTORE_STATE:
                row = dataclasses.replace(remembered.pop(), start=start)
            else:
                self._apply(row, op, register, offset)
            rows.append(row)
        return without_repetition(rows)

    def _apply(self, row: Row, op: int, register: int, offset: int) -> None:
        machine = self.machine
        entry = machine.entry
        pair = [machine.frame_pointer, machine.return_address]
        if op == DEF_CFA:
            row.cfa_register, row.cfa_offset = register, offset
        elif op == OFFSET:
            row.saved[register] = offset
        elif op == RESTORE:
            restore(row, entry, [register])
        elif op == FRAME_NONE:
            row.cfa_register, row.cfa_offset = entry.cfa_register, entry.cfa_offset
            restore(row, entry, list(row.saved))
        elif op == FRAME_ALLOCATED:
            row.cfa_register, row.cfa_offset = machine.stack_pointer, 16
            restore(row, entry, pair)
        elif op == FRAME_SET:
            row.cfa_register = machine.frame_pointer
            row.cfa_offset = machine.frame_pointer_offset
            row.saved[machine.frame_pointer] = -16
            row.saved[machine.return_address] = -8


def restore(row: Row, entry: Row, registers: List[int]) -> None:
    for register in registers:
        row.saved.pop(register, None)
        if register in entry.saved:
            row.saved[register] = entry.saved[register]


def without_repetition(rows: List[Row]) -> List[Row]:
    """The last row of those with one start; without those that change nothing."""
    result: List[Row] = []
    for row in rows:
        if result and result[-1].start == row.start:
            result.pop()
        if not result or dataclasses.replace(result[-1], start=row.start) != row:
            result.append(row)
    return result


def standard_frame(machine: Machine) -> Description:
    return Description(machine, 100, FRAME_POINTER, [])


def every_register(machine: Machine) -> Description:
    """Each register saved, and each as the CFA's."""
    steps = [(4 * i, OFFSET, register, -8 * (i + 2))
             for i, register in enumerate(machine.savable)]
    steps += [(1000 + 4 * i, DEF_CFA, register, 8 * i)
              for i, register in enumerate(machine.general)]
    return Description(machine, 4000, FRAME_STEPS, steps)


def two_epilogues(machine: Machine) -> Description:
    callee_saved = machine.savable[-1]
    return Description(machine, 400, FRAME_POINTER,
                       [(40, OFFSET, callee_saved, -24),
                        (80, REMEMBER_STATE, 0, 0),
                        (80, FRAME_NONE, 0, 0),
                        (84, RESTORE_STATE, 0, 0),
                        (120, RESTORE, callee_saved, 0)])


def any_description(machine: Machine, seed: int) -> Description:
    """A random one, the same for the same seed."""
    choose = random.Random(seed)
    steps: List[Step] = []
    at = depth = 0
    for _ in range(choose.randint(1, 30)):
        at += choose.choice([0, 1, 4, 63, 64, 255, 256, 65535, 65536])
        op = choose.choice([DEF_CFA, OFFSET, RESTORE, REMEMBER_STATE, FRAME_NONE, FRAME_ALLOCATED,
                            FRAME_SET] + [RESTORE_STATE] * min(depth, 2))
        depth += {REMEMBER_STATE: 1, RESTORE_STATE: -1}.get(op, 0)
        register = choose.choice(machine.general if op == DEF_CFA else machine.savable)
        offset = 0
        if op == DEF_CFA:
            offset = choose.choice([0, 8, 16, 127, 128, 16384, 2**31 - 1])
        elif op == OFFSET:
            offset = -8 * choose.choice([1, 2, 127, 128, 2**14, 2**28])
        steps.append((at, op, register, offset))
    return Description(machine, at + choose.randint(1, 9), FRAME_STEPS, steps)
