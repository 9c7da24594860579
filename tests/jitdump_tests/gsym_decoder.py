"""A GSYM file of either version and byte order, taken apart. Each byte must belong to something."""
import struct
from typing import Any, Dict, List, NamedTuple, Tuple

MAGIC = 0x4753594D
END, LINES, INLINED = range(3)
ADDRESSES, OFFSETS, STRINGS, FILES, FUNCTIONS, UUID = range(1, 7)
Row = Tuple[int, str, int]  # offset, file, line


class Call(NamedTuple):
    name: str
    file: str
    line: int
    ranges: List[Tuple[int, int]]  # as offsets, from before to behind
    children: List[Any]


class Function(NamedTuple):
    address: int
    size: int
    name: str
    rows: List[Row]
    tree: List[Call]  # the function itself, or nothing


class Reader:
    """From `at` on."""

    def __init__(self, data: bytes, at: int, order: str) -> None:
        self.data, self.at, self.order = data, at, order

    def number(self, size: int) -> int:
        value, = struct.unpack_from(self.order + {1: "B", 2: "H", 4: "I", 8: "Q"}[size], self.data,
                                    self.at)
        self.at += size
        return value

    def uleb(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def sleb(self) -> int:
        start = self.at
        value = self.uleb()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value


class Gsym:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.order = "<" if data[:4] == struct.pack("<I", MAGIC) else ">"
        head = Reader(data, 0, self.order)
        assert head.number(4) == MAGIC
        self.version = head.number(2)
        self.address_size = head.number(1)
        self.string_size = 4 if self.version == 1 else 8
        last = head.number(1)
        self.base, self.count = head.number(8), head.number(4)
        if self.version == 1:
            assert last == 20
            sections, end = self.sections_1(head)
            self.uuid = data[28:48]
        else:
            assert (self.version, last) == (2, 0)
            sections, end = self.sections_2(head)
            self.uuid = data[sections[UUID]:sections[UUID] + 20]
        self.string_table = sections[STRINGS]
        self.files = self.read_files(sections[FILES])
        self.functions = self.read_functions(sections)
        assert self.end == end == len(data), (self.end, end, len(data))

    def sections_1(self, head: Reader) -> Tuple[Dict[int, int], int]:
        strings, size = head.number(4), head.number(4)
        offsets = (48 + self.count * self.address_size + 3) // 4 * 4
        assert self.data[strings] == self.data[strings + size - 1] == 0
        assert strings == offsets + 4 * self.count + self.files_size(offsets + 4 * self.count)
        return {ADDRESSES: 48, OFFSETS: offsets, FILES: offsets + 4 * self.count, STRINGS: strings,
                FUNCTIONS: 0}, len(self.data)

    def sections_2(self, head: Reader) -> Tuple[Dict[int, int], int]:
        found, end = {}, head.at
        while True:
            kind, offset, size = head.number(4), head.number(8), head.number(8)
            if kind == 0:
                break
            found[kind] = offset
            assert 0 <= offset - max(end, head.at) < 8 or not end > head.at
            end = offset + size
        assert found[ADDRESSES] % self.address_size == found[OFFSETS] % 8 == 0
        assert found[FILES] % 4 == found[FUNCTIONS] % 4 == 0
        return found, end

    def files_size(self, at: int) -> int:
        return 4 + 2 * self.string_size * Reader(self.data, at, self.order).number(4)

    def string(self, offset: int) -> str:
        at = self.string_table + offset
        return self.data[at:self.data.index(b"\0", at)].decode()

    def read_files(self, at: int) -> List[str]:
        reader = Reader(self.data, at, self.order)
        result = []
        for _ in range(reader.number(4)):
            directory = self.string(reader.number(self.string_size))
            name = self.string(reader.number(self.string_size))
            result.append(f"{directory}/{name}" if directory else name)
        assert result[0] == "" and "" not in result[1:]
        return result

    def read_functions(self, sections: Dict[int, int]) -> List[Function]:
        addresses = Reader(self.data, sections[ADDRESSES], self.order)
        offsets = Reader(self.data, sections[OFFSETS], self.order)
        result = []
        for _ in range(self.count):
            address = self.base + addresses.number(self.address_size)
            at = sections[FUNCTIONS] + offsets.number(self.string_size)
            assert at % 4 == 0 and (not result or 0 <= at - self.end < 4)
            result.append(self.read_function(address, Reader(self.data, at, self.order)))
        return result

    def read_function(self, address: int, reader: Reader) -> Function:
        size, name = reader.number(4), self.string(reader.number(self.string_size))
        rows: List[Row] = []
        tree: List[Call] = []
        last = -1
        while True:
            kind, length = reader.number(4), reader.number(4)
            start = reader.at
            if kind == END:
                assert length == 0
                break
            assert last < kind and length > 0
            if kind == LINES:
                rows = self.read_rows(reader)
            else:
                assert kind == INLINED
                tree = [self.read_call(reader, 0)]
            assert reader.at == start + length
            last = kind
        self.end = reader.at
        return Function(address, size, name, rows, tree)

    def read_rows(self, reader: Reader) -> List[Row]:
        lowest, highest, line = reader.sleb(), reader.sleb(), reader.uleb()
        offset, file = 0, 1
        rows = []
        while opcode := reader.number(1):
            if opcode == 1:
                file = reader.uleb()
            elif opcode == 3:
                line += reader.sleb()
            else:
                if opcode == 2:
                    offset += reader.uleb()
                else:
                    by, lines = divmod(opcode - 4, highest - lowest + 1)
                    offset += by
                    line += lowest + lines
                rows.append((offset, self.files[file], line))
        return rows

    def read_call(self, reader: Reader, base: int) -> Call:
        ranges = []
        for _ in range(reader.uleb()):
            start = base + reader.uleb()
            ranges.append((start, start + reader.uleb()))
        assert ranges
        has_children = reader.number(1)
        name = self.string(reader.number(self.string_size))
        file, line = self.files[reader.uleb()], reader.uleb()
        children = []
        while has_children and reader.data[reader.at] != 0:
            children.append(self.read_call(reader, ranges[0][0]))
        if has_children:
            reader.at += 1
            assert children
        return Call(name, file, line, ranges, children)
