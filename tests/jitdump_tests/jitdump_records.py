"""The records of a jitdump file, one class each: their fields, and the rules that a record
can be held to on its own.

A record of an extension is one more class, in a module of its own: a subclass of `Record`,
or of `GroupRecord` if it belongs to the LOAD that follows it, handed to
`jitdump_reader.read()` with its id.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import List, Mapping, Optional, Tuple, Type

from jitdump_tests import eh_frame as eh_frame_section

RECORD_HEADER_SIZE = 16
ADDRESS_SPACE = 1 << 64
CODE_SIZE_MAX = 0x7FFFFFFF

JIT_CODE_LOAD = 0
JIT_CODE_MOVE = 1
JIT_CODE_DEBUG_INFO = 2
JIT_CODE_CLOSE = 3
JIT_CODE_UNWINDING_INFO = 4


class FormatError(Exception):
    """The file breaks a rule of the format. `offset` is where, in bytes from its start."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(offset, message)
        self.offset = offset
        self.message = message
        self.path: Optional[str] = None

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path is not None else ""
        return f"{where}at offset {self.offset} (0x{self.offset:x}): {self.message}"


class Body:
    """A cursor over the payload of one record. Positions are offsets in the file."""

    def __init__(self, data: bytes, start: int, end: int, order: str) -> None:
        self.data = data
        self.position = start
        self.end = end
        self.order = order

    def left(self) -> int:
        return self.end - self.position

    def unpack(self, format: str, what: str) -> Tuple[int, ...]:
        """Integers by their letters of the struct module, in the file's byte order."""
        format = self.order + format
        if struct.calcsize(format) > self.left():
            raise FormatError(self.position, f"{what}: cut short by the end of its record")
        values = struct.unpack_from(format, self.data, self.position)
        self.position += struct.calcsize(format)
        return values

    def string(self, what: str) -> str:
        """A NUL-terminated string, not empty."""
        nul = self.data.find(b"\0", self.position, self.end)
        if nul < 0:
            raise FormatError(self.position, f"{what}: no terminating NUL in its record")
        if nul == self.position:
            raise FormatError(self.position, f"{what}: empty")
        text = self.data[self.position:nul]
        self.position = nul + 1
        return text.decode("utf-8", "surrogateescape")

    def rest(self) -> bytes:
        rest = self.data[self.position:self.end]
        self.position = self.end
        return rest

    def finish(self, what: str) -> None:
        if self.left() > 0:
            raise FormatError(self.position, f"{what}: {self.left()} bytes left in its record")


@dataclass
class Header:
    """Section III."""

    order: str  # "<" or ">", as the struct module has it
    magic: int
    version: int
    total_size: int
    elf_mach: int
    pad1: int
    pid: int
    timestamp: int
    flags: int


@dataclass
class Record:
    """Section IV. `offset` is the record's own, in the file."""

    offset: int
    id: int
    total_size: int
    timestamp: int

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Record":
        """Makes the record from its four first fields and its payload."""
        raise NotImplementedError


@dataclass
class GroupRecord(Record):
    """A record that describes the function of the LOAD that follows (P9)."""

    def check_load(self, load: "Load") -> None:
        """Raises FormatError if this can't be a description of that function."""


@dataclass
class Load(Record):
    """Section V."""

    pid: int
    tid: int
    vma: int
    code_addr: int
    code_size: int
    code_index: int
    name: str
    code: bytes = field(repr=False)

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Load":
        offset, _, total_size, _ = prefix
        values = body.unpack("IIQQQQ", "LOAD")
        _, tid, vma, code_addr, code_size, _ = values
        name = body.string("LOAD: function name")
        if body.left() != code_size:
            # perf finds the code from the record's end, samply from the name's (P7).
            raise FormatError(offset, f"LOAD: total_size {total_size} is not {body.position - offset}"
                                      f" (fields and name) + code_size {code_size}")
        if tid == 0:
            raise FormatError(offset, "LOAD: tid 0")
        if code_size > CODE_SIZE_MAX:
            raise FormatError(offset, f"LOAD: code_size {code_size} is more than perf's int holds")
        if code_addr + code_size > ADDRESS_SPACE:
            raise FormatError(offset, "LOAD: the code reaches past the end of the address space")
        if vma != code_addr:
            raise FormatError(offset, f"LOAD: vma 0x{vma:x} is not code_addr 0x{code_addr:x}")
        return cls(*prefix, *values, name, body.rest())


@dataclass
class Move(Record):
    """Section VI."""

    pid: int
    tid: int
    vma: int
    old_code_addr: int
    new_code_addr: int
    code_size: int
    code_index: int

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Move":
        offset = prefix[0]
        move = cls(*prefix, *body.unpack("IIQQQQQ", "MOVE"))
        body.finish("MOVE")
        if move.tid == 0:
            raise FormatError(offset, "MOVE: tid 0")
        if move.new_code_addr + move.code_size > ADDRESS_SPACE:
            raise FormatError(offset, "MOVE: the code reaches past the end of the address space")
        if move.vma != move.new_code_addr:
            raise FormatError(offset, f"MOVE: vma 0x{move.vma:x} is not"
                                      f" new_code_addr 0x{move.new_code_addr:x}")
        return move


@dataclass
class DebugEntry:
    """One entry of section VII; `discrim` is the column."""

    offset: int
    code_addr: int
    line: int
    discrim: int
    name: str


@dataclass
class DebugInfo(GroupRecord):
    """Section VII."""

    code_addr: int
    entries: List[DebugEntry]

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "DebugInfo":
        offset = prefix[0]
        code_addr, nr_entry = body.unpack("QQ", "DEBUG_INFO")
        if nr_entry < 2:
            raise FormatError(offset, f"DEBUG_INFO: nr_entry {nr_entry}, but a table is one entry"
                                      " and the closing one at least")
        entries: List[DebugEntry] = []
        for number in range(nr_entry):
            at = body.position
            what = f"DEBUG_INFO: entry {number} of {nr_entry}"
            address, line, discrim = body.unpack("QII", what)
            name = body.string(f"{what}: file name")
            if name == "\udcff":
                raise FormatError(at, f"{what}: the file name is the byte 0xff, which perf takes for"
                                      " \"as before\" and samply for a name (P12)")
            # Code without a line behind code with one: the file is the one before.
            if line == 0 and (not entries or name != entries[-1].name):
                raise FormatError(at, f"{what}: line 0")
            if entries and address <= entries[-1].code_addr:
                raise FormatError(at, f"{what}: address 0x{address:x} is not above"
                                      f" 0x{entries[-1].code_addr:x} of the entry before")
            entries.append(DebugEntry(at, address, line, discrim, name))
        body.finish("DEBUG_INFO")
        return cls(*prefix, code_addr, entries)

    def check_load(self, load: Load) -> None:
        if self.code_addr != load.code_addr:
            raise FormatError(self.offset, f"DEBUG_INFO: code_addr 0x{self.code_addr:x} is not"
                                           f" 0x{load.code_addr:x} of the LOAD that follows (P9)")
        end = load.code_addr + load.code_size
        for entry in self.entries[:-1]:
            if not load.code_addr <= entry.code_addr < end:
                raise FormatError(entry.offset, f"DEBUG_INFO: address 0x{entry.code_addr:x} is outside"
                                                f" of the code 0x{load.code_addr:x} to 0x{end:x}")
        closing = self.entries[-1]
        # Or the code behind the last entry has no line: of that, line 0 tells.
        if closing.code_addr != end and (closing.line != 0 or closing.code_addr > end):
            raise FormatError(closing.offset, f"DEBUG_INFO: the last entry, 0x{closing.code_addr:x},"
                                              f" does not close the table at the code's end 0x{end:x}"
                                              " (P10)")


@dataclass
class Close(Record):
    """Section VIII."""

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Close":
        body.finish("CLOSE")
        return cls(*prefix)


@dataclass
class UnwindingInfo(GroupRecord):
    """Section IX, with the data as perf reads it: eh_frame, then eh_frame_hdr (P13)."""

    unwind_data_size: int
    eh_frame_hdr_size: int
    mapped_size: int
    eh_frame: bytes = field(repr=False)
    eh_frame_hdr: bytes = field(repr=False)
    order: str = field(repr=False)

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "UnwindingInfo":
        offset = prefix[0]
        sizes = body.unpack("QQQ", "UNWINDING_INFO")
        data_size, hdr_size, mapped_size = sizes
        if body.left() != data_size:
            raise FormatError(offset, f"UNWINDING_INFO: {body.left()} bytes of data, but"
                                      f" unwind_data_size {data_size}")
        if not 0 < hdr_size < data_size:
            raise FormatError(offset, f"UNWINDING_INFO: eh_frame_hdr_size {hdr_size} of"
                                      f" unwind_data_size {data_size}: one of the parts is empty")
        if mapped_size != data_size:
            raise FormatError(offset, f"UNWINDING_INFO: mapped_size {mapped_size} is not"
                                      f" unwind_data_size {data_size} (P14)")
        data = body.rest()
        return cls(*prefix, *sizes, data[:-hdr_size], data[-hdr_size:], body.order)

    def check_load(self, load: Load) -> None:
        try:
            eh_frame_section.check(self.eh_frame, self.eh_frame_hdr, load.code_size, self.order)
        except ValueError as error:
            raise FormatError(self.offset, f"UNWINDING_INFO: {error} (P13)") from None


@dataclass
class Raw(Record):
    """A record whose id the specification does not know."""

    payload: bytes = field(repr=False)

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Raw":
        return cls(*prefix, body.rest())


RECORD_TYPES: Mapping[int, Type[Record]] = {
    JIT_CODE_LOAD: Load,
    JIT_CODE_MOVE: Move,
    JIT_CODE_DEBUG_INFO: DebugInfo,
    JIT_CODE_CLOSE: Close,
    JIT_CODE_UNWINDING_INFO: UnwindingInfo,
}
