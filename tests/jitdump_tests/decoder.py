"""The records of lines and inlining, read as their descriptions say, apart from the library.

Each decoder gives, for each offset of the code, what a profiler can know of it.
"""
import struct
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from jitdump_tests.inlining_descriptions import Frame, Function

LOAD, DEBUG_INFO, CLOSE = 0, 2, 3
INLINE_2023, INLINE_2026 = 827346259, 827346260

Group = Dict[int, bytes]


def groups(dump: bytes) -> Iterator[Group]:
    """The payloads of each function's records, by id."""
    (header_size,) = struct.unpack_from("=I", dump, 8)
    at, group = header_size, {}
    while at < len(dump):
        record_id, size, _ = struct.unpack_from("=IIQ", dump, at)
        assert record_id not in group, "two records of one id for a function"
        assert size >= 16 and at + size <= len(dump)
        group[record_id] = dump[at + 16:at + size]
        at += size
        if record_id == LOAD:
            yield group
            group = {}
    assert list(group) == [CLOSE], "records without a function"


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def unpack(self, fields: str) -> Tuple[int, ...]:
        values = struct.unpack_from("=" + fields, self.data, self.at)
        self.at += struct.calcsize("=" + fields)
        return values

    def string(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at:end].decode()
        self.at = end + 1
        return text

    def assert_end(self) -> None:
        assert self.at == len(self.data), "bytes are left"


class Line(NamedTuple):
    offset: int
    file: str
    line: int
    column: int


def lines_at(lines: List[Line], code_size: int,
             first_column: int) -> List[Optional[Line]]:
    """For each offset the line that begins there or was last before."""
    offsets = [line.offset for line in lines]
    assert offsets == sorted(set(offsets)), "lines not ascending"
    for before, after in zip(lines, lines[1:]):
        # Where columns count from 0, 0 is the first column and an unknown one too.
        assert before[1:] != after[1:] or after.offset == code_size or \
            (first_column == 0 and after.column == 0), "neighbours not merged"
    result: List[Optional[Line]] = [None] * code_size
    for index, line in enumerate(lines):
        end = offsets[index + 1] if index + 1 < len(lines) else code_size
        result[line.offset:end] = [line] * (end - line.offset)
    return result


def debug_info(data: Optional[bytes], code_addr: int,
               code_size: int) -> List[Optional[Line]]:
    if data is None:
        return [None] * code_size
    reader = Reader(data)
    addr, count = reader.unpack("QQ")
    assert addr == code_addr
    lines = []
    for _ in range(count):
        addr, line, column = reader.unpack("QII")
        lines.append(Line(addr - code_addr, reader.string(), line, column))
    reader.assert_end()
    # perf takes the last entry for the end of the table.
    assert lines[-1].offset == code_size or lines[-1].line == 0, "not closed"
    return lines_at(lines, code_size, first_column=1)


class Call(NamedTuple):
    """An inlined call: the chain of calls down to it, each a function and where it is called,
    and the ranges."""
    path: Tuple[Tuple[Function, int, int], ...]
    ranges: Tuple[Tuple[int, int], ...]


def string_list(reader: Reader, count: int, size: int) -> List[str]:
    end = reader.at + size
    assert size % 4 == 0
    strings = [reader.string() for _ in range(count)]
    assert len(set(strings)) == count, "a string twice"
    assert 0 <= end - reader.at < 4 and not any(reader.data[reader.at:end]), "padding"
    reader.at = end
    return strings


def inline_2023(data: bytes, code_size: int) -> Tuple[Function, List[Call], List[Optional[Line]]]:
    """The outer function, all inlined calls, and the innermost lines."""
    reader = Reader(data)
    (file_count, file_size, name_count, name_size, function_count, call_count, range_count,
     line_count) = reader.unpack("8I")
    files = string_list(reader, file_count, file_size)
    names = string_list(reader, name_count, name_size)
    functions = []
    for _ in range(function_count):
        name, file, line, column, flags = reader.unpack("5I")
        functions.append(Function(names[name], files[file] or None, line, column, flags))
    call_records = [reader.unpack("5I") for _ in range(call_count)]
    ranges = [reader.unpack("II") for _ in range(range_count)]
    lines = [reader.unpack("4I") for _ in range(line_count)]
    reader.assert_end()

    calls: List[Call] = []
    stack: List[Call] = []
    for depth, count, function, line, column in call_records:
        assert depth <= len(stack), "depth over that of the previous call + 1"
        del stack[depth:]
        path = stack[-1].path if stack else ()
        own = [(start, start + size) for start, size in ranges[:count]]
        assert count >= 1 and len(own) == count and own[-1][1] <= code_size
        del ranges[:count]
        for (_, end), (start, _) in zip(own, own[1:]):
            assert end < start, "ranges that touch, or out of order"
        assert all(start < end for start, end in own)
        for start, end in own:
            assert not stack or any(s <= start and end <= e for s, e in stack[-1].ranges), \
                "a range outside of the caller's"
        call = Call(path + ((functions[function], line, column),), tuple(own))
        calls.append(call)
        stack.append(call)
    assert not ranges, "ranges of no call"
    return functions[0], calls, lines_at(
        [Line(offset, files[file], line, column) for offset, file, line, column in lines],
        code_size, first_column=0)


def inline_2026(data: bytes, code_addr: int, code_size: int) -> List[Optional[List[Frame]]]:
    """The chain at each offset, innermost first."""
    reader = Reader(data)
    addr, offset_count, position_count, string_count = reader.unpack("4Q")
    assert addr == code_addr
    offsets = [reader.unpack("II") for _ in range(offset_count)]
    positions = [reader.unpack("iIiIIII") for _ in range(position_count)]
    strings = [reader.string() for _ in range(string_count)]
    reader.assert_end()
    assert len(set(strings)) == string_count, "a string twice"
    starts = [offset for offset, _ in offsets]
    assert starts == sorted(set(starts)), "offsets not ascending"

    chains: List[List[Frame]] = []
    for index, (caller, name, file, start_line, start_column, line, column) in \
            enumerate(positions):
        assert -1 <= caller < index
        # The record has no flags.
        function = Function(strings[name], None if file < 0 else strings[file], start_line,
                            start_column, 0)
        chains.append([Frame(function, line, column)] + (chains[caller] if caller >= 0 else []))
    assert {position for _, position in offsets} | \
        {caller for caller, *_ in positions if caller >= 0} == set(range(position_count)), \
        "a position to which nothing leads"
    result: List[Optional[List[Frame]]] = [None] * code_size
    for index, (start, position) in enumerate(offsets):
        end = starts[index + 1] if index + 1 < offset_count else code_size
        result[start:end] = [chains[position]] * (end - start)
    return result
