#!/usr/bin/env python3
"""Random descriptions of inlining -> each encoding -> decoded again: at every offset of the code
the whole chain is the one that was described.

    test_inlining.py ENCODE [CASES [SEED]]
"""
import itertools
import os
import random
import subprocess
import sys
import tempfile
from typing import Dict, List, Set, Tuple

import decoder
from descriptions import CODE_ADDR, NONE, Description, Frame, Function, random_description

OUTERMOST_LINES = 4
PERF, SAMPLY_2023, SAMPLY_2026 = 0, 1, 2


def encode(program: str, dialect: int, flags: int, text: str) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([program, directory, str(dialect), str(flags)], input=text,
                              stdout=subprocess.PIPE, universal_newlines=True, check=True)
        with open(done.stdout.strip(), "rb") as dump:
            return dump.read()


def expect_debug_info(case: Description, data, outermost: bool) -> None:
    lines = decoder.debug_info(data, CODE_ADDR, case.code_size)
    for offset, position in enumerate(case.position_at()):
        line = lines[offset]
        found = (line.file, line.line, line.column) if line and line.line else None
        expected = None
        if position != NONE:
            frame = case.chain(position)[-1 if outermost else 0]
            if frame.line:
                expected = (frame.function.file, frame.line, frame.column)
        assert found == expected, f"DEBUG_INFO at {offset}: {found}, not {expected}"


def from_zero(column: int) -> int:
    return max(column - 1, 0)


def function_2023(function: Function) -> Function:
    return function._replace(start_column=from_zero(function.start_column))


def calls_2023(case: Description) -> List[decoder.Call]:
    """Every inlined call with its path and its ranges. A call is a caller's position and a
    function."""
    offsets: Dict[Tuple[int, int], Set[int]] = {}
    for offset, position in enumerate(case.position_at()):
        while position != NONE and case.positions[position].caller != NONE:
            caller, function = case.positions[position].caller, case.positions[position].function
            offsets.setdefault((caller, function), set()).add(offset)
            position = caller
    calls = []
    for (caller, function), members in offsets.items():
        path = []
        while caller != NONE:
            frame = case.frame(caller)
            path.append((function_2023(case.functions[function]), frame.line,
                         from_zero(frame.column)))
            caller, function = case.positions[caller].caller, case.positions[caller].function
        starts = sorted(o for o in members if o - 1 not in members)
        ends = sorted(o + 1 for o in members if o + 1 not in members)
        calls.append(decoder.Call(tuple(reversed(path)), tuple(zip(starts, ends))))
    return calls


def expect_2023(case: Description, data: bytes) -> None:
    outer, calls, lines = decoder.inline_2023(data, case.code_size)
    assert outer == function_2023(case.outer()), "another outer function"
    key = repr
    assert sorted(calls, key=key) == sorted(calls_2023(case), key=key), "other calls"
    for offset, position in enumerate(case.position_at()):
        here = [call for call in calls
                if any(start <= offset < end for start, end in call.ranges)]
        line = lines[offset]
        chain = case.chain(position) if position != NONE else [Frame(case.outer(), 0, 0)]
        innermost = (line.line, line.column) if line and line.line else (0, 0)
        # Innermost first: each function with the line in it.
        deepest = max(here, key=lambda call: len(call.path)).path if here else ()
        assert len(here) == len(deepest), f"two calls beside each other at {offset}"
        functions = [outer] + [function for function, _, _ in deepest]
        places = [(call_line, column) for _, call_line, column in deepest] + [innermost]
        found = list(zip(functions, places))[::-1]
        expected = [(function_2023(frame.function), (frame.line, from_zero(frame.column)))
                    for frame in chain]
        assert found == expected, f"2023 at {offset}: {found}, not {expected}"
        if line and line.line:
            assert line.file == chain[0].function.file, f"file at {offset}: {line.file}"


def expect_2026(case: Description, data: bytes) -> None:
    chains = decoder.inline_2026(data, CODE_ADDR, case.code_size)
    described = False
    for offset, position in enumerate(case.position_at()):
        described |= position != NONE
        expected = None
        if described:
            chain = case.chain(position) if position != NONE else [Frame(case.outer(), 0, 0)]
            expected = [frame._replace(function=frame.function._replace(flags=0))
                        for frame in chain]
        assert chains[offset] == expected, \
            f"2026 at {offset}: {chains[offset]}, not {expected}"


def expect(case: Description, group: decoder.Group, dialect: int, outermost: bool) -> None:
    expect_debug_info(case, group.get(decoder.DEBUG_INFO), outermost)
    others = set(group) - {decoder.DEBUG_INFO, decoder.LOAD}
    if dialect == PERF:
        assert not others
    elif dialect == SAMPLY_2023:
        assert others == {decoder.INLINE_2023}
        expect_2023(case, group[decoder.INLINE_2023])
    else:
        assert others == {decoder.INLINE_2026}
        expect_2026(case, group[decoder.INLINE_2026])


def main() -> int:
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    seed = sys.argv[3] if len(sys.argv) > 3 else os.urandom(8).hex()
    print(f"{count} cases, seed {seed}", flush=True)
    random_ = random.Random(seed)
    done, offsets, deepest, dialects = 0, 0, 0, itertools.cycle((PERF, SAMPLY_2023, SAMPLY_2026))
    while done < count:
        cases = [random_description(random_) for _ in range(min(1000, count - done))]
        dialect, outermost = next(dialects), random_.random() < 0.5
        dump = encode(program, dialect, OUTERMOST_LINES if outermost else 0,
                      "".join(case.text() for case in cases))
        groups = list(decoder.groups(dump))
        assert len(groups) == len(cases)
        for case, group in zip(cases, groups):
            try:
                expect(case, group, dialect, outermost)
            except (AssertionError, IndexError, ValueError) as error:
                print(f"case {done} of seed {seed}, dialect {dialect}, outermost {outermost}:\n"
                      f"{error}\n{case.text()}")
                return 1
            done += 1
            offsets += case.code_size
            deepest = max([deepest] + [len(case.chain(p)) for p in set(case.position_at())])
    print(f"{done} cases as described, at {offsets} offsets, chains of up to {deepest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
