"""What a dump's record group must hold of a described inlining, at every offset of the code."""
from typing import Dict, List, Set, Tuple

from jitdump_tests import decoder
from jitdump_tests.inlining_descriptions import NONE, Description, Frame, Function

PERF, SAMPLY_2023, SAMPLY_2026 = 0, 1, 2


def expect_debug_info(case: Description, code_addr: int, data, outermost: bool) -> None:
    lines = decoder.debug_info(data, code_addr, case.code_size)
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
    inside: Dict[Tuple[int, int], int] = {}  # one of its positions
    for offset, position in enumerate(case.position_at()):
        while position != NONE and case.positions[position].caller != NONE:
            caller, function = case.positions[position].caller, case.positions[position].function
            offsets.setdefault((caller, function), set()).add(offset)
            inside[caller, function] = position
            position = caller
    calls = []
    for call, members in offsets.items():
        functions = [frame.function for frame in case.chain(inside[call])[:-1]]
        path = [(function_2023(function), frame.line, from_zero(frame.column))
                for function, frame in zip(functions, case.callers_2023(inside[call]))]
        starts = sorted(o for o in members if o - 1 not in members)
        ends = sorted(o + 1 for o in members if o + 1 not in members)
        calls.append(decoder.Call(tuple(reversed(path)), tuple(zip(starts, ends))))
    return calls


def chain_2023(case: Description, position: int) -> List[Tuple[Function, Tuple[int, int]]]:
    """Innermost first. The outermost function is the record's first."""
    if position == NONE:
        return [(function_2023(case.outer()), (0, 0))]
    frames = [case.frame(position)] + case.callers_2023(position)
    functions = [frame.function for frame in frames[:-1]] + [case.outer()]
    return [(function_2023(function), (frame.line, from_zero(frame.column)))
            for function, frame in zip(functions, frames)]


def expect_2023(case: Description, data: bytes) -> None:
    outer, calls, lines = decoder.inline_2023(data, case.code_size)
    assert outer == function_2023(case.outer()), "another outer function"
    key = repr
    assert sorted(calls, key=key) == sorted(calls_2023(case), key=key), "other calls"
    for offset, position in enumerate(case.position_at()):
        here = [call for call in calls
                if any(start <= offset < end for start, end in call.ranges)]
        line = lines[offset]
        chain = chain_2023(case, position)
        innermost = (line.line, line.column) if line and line.line else (0, 0)
        # Innermost first: each function with the line in it.
        deepest = max(here, key=lambda call: len(call.path)).path if here else ()
        assert len(here) == len(deepest), f"two calls beside each other at {offset}"
        functions = [outer] + [function for function, _, _ in deepest]
        places = [(call_line, column) for _, call_line, column in deepest] + [innermost]
        found = list(zip(functions, places))[::-1]
        assert found == chain, f"2023 at {offset}: {found}, not {chain}"
        if line and line.line:
            assert line.file == case.frame(position).function.file, f"file at {offset}: {line.file}"


def expect_2026(case: Description, code_addr: int, data: bytes) -> None:
    chains = decoder.inline_2026(data, code_addr, case.code_size)
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


def expect(case: Description, code_addr: int, group: decoder.Group, dialect: int,
           outermost: bool) -> None:
    expect_debug_info(case, code_addr, group.get(decoder.DEBUG_INFO), outermost)
    others = set(group) - {decoder.DEBUG_INFO, decoder.LOAD}
    if dialect == PERF:
        assert not others
    elif dialect == SAMPLY_2023:
        assert others == {decoder.INLINE_2023}
        expect_2023(case, group[decoder.INLINE_2023])
    else:
        assert others == {decoder.INLINE_2026}
        expect_2026(case, code_addr, group[decoder.INLINE_2026])
