"""Changes good dumps into what the library must never write, so that the facts about perf can
be seen to be facts. What is read is checked by the strict reader."""

import pathlib
import struct
from typing import Callable, List, NamedTuple

from jitdump_tests import jitdump_reader
from jitdump_tests.jitdump_records import (JIT_CODE_CLOSE, JIT_CODE_DEBUG_INFO, JIT_CODE_LOAD,
                                           JIT_CODE_MOVE, JIT_CODE_UNWINDING_INFO,
                                           RECORD_HEADER_SIZE, DebugEntry, DebugInfo, Load, Record,
                                           UnwindingInfo)


class Piece(NamedTuple):
    """A record as the reader knows it, and its payload's bytes to be written."""

    record: Record
    payload: bytes
    id: int


Edit = Callable[[List[Piece]], List[Piece]]


def edit_file(path: pathlib.Path, edit: Edit) -> None:
    """Replaces the dump by an edited one."""
    data = path.read_bytes()
    dump = jitdump_reader.read(str(path))
    pieces = [Piece(r, data[r.offset + RECORD_HEADER_SIZE:r.offset + r.total_size], r.id)
              for r in dump.records]
    edited = edit(pieces)
    assert edited != pieces, "the edit changes something"
    packed = [struct.pack("=IIQ", piece.id, RECORD_HEADER_SIZE + len(piece.payload),
                          piece.record.timestamp) + piece.payload for piece in edited]
    path.write_bytes(data[:dump.header.total_size] + b"".join(packed))


def insert_empty_record(pieces: List[Piece]) -> List[Piece]:
    """A record without payload behind the first function."""
    first_load = [isinstance(piece.record, Load) for piece in pieces].index(True)
    empty = Piece(pieces[first_load].record, b"", JIT_CODE_CLOSE)
    return pieces[:first_load + 1] + [empty] + pieces[first_load + 1:]


def pad_loads(pieces: List[Piece]) -> List[Piece]:
    return [piece._replace(payload=piece.payload + bytes(8 * isinstance(piece.record, Load)))
            for piece in pieces]


def interleave_groups(pieces: List[Piece]) -> List[Piece]:
    """Two functions' groups at a time, their LOADs last: as threads that write records instead of
    groups may leave them."""
    loads = [i for i, piece in enumerate(pieces) if isinstance(piece.record, Load)]
    result: List[Piece] = []
    start = 0
    for end in loads[1::2]:
        both = pieces[start:end + 1]
        result += sorted(both, key=lambda piece: isinstance(piece.record, Load))
        start = end + 1
    return result + pieces[start:]


def each_debug_table(change: Callable[[List[DebugEntry]], List[DebugEntry]]) -> Edit:
    def changed(piece: Piece) -> Piece:
        if not isinstance(piece.record, DebugInfo):
            return piece
        entries = change(piece.record.entries)
        packed = [struct.pack("=QII", entry.code_addr, entry.line, entry.discrim)
                  + entry.name.encode("utf-8", "surrogateescape") + b"\0" for entry in entries]
        head = struct.pack("=QQ", piece.record.code_addr, len(entries))
        return piece._replace(payload=head + b"".join(packed))
    return lambda pieces: [changed(piece) for piece in pieces]


def each_unwinding_info(change: Callable[[UnwindingInfo], bytes]) -> Edit:
    def changed(piece: Piece) -> Piece:
        if not isinstance(piece.record, UnwindingInfo):
            return piece
        return piece._replace(payload=change(piece.record))
    return lambda pieces: [changed(piece) for piece in pieces]


def unmapped(info: UnwindingInfo) -> bytes:
    head = struct.pack("=QQQ", info.unwind_data_size, info.eh_frame_hdr_size, 0)
    return head + info.eh_frame + info.eh_frame_hdr


def header_first(info: UnwindingInfo) -> bytes:
    """The order of the specification, with the relative pointers adapted."""
    frame, header = bytearray(info.eh_frame), bytearray(info.eh_frame_hdr)

    def add(where: bytearray, offset: int, value: int) -> int:
        before, = struct.unpack_from("=i", where, offset)
        struct.pack_into("=i", where, offset, before + value)
        return before

    # The frame moves towards higher addresses by the header's size, the header towards lower
    # ones by the frame's.
    add(header, 4, len(frame) + len(header))
    count, = struct.unpack_from("=I", header, 8)
    for entry in range(12, 12 + 8 * count, 8):
        add(header, entry, len(frame))
        fde = len(frame) + add(header, entry + 4, len(frame) + len(header))
        add(frame, fde + 8, -len(header))
    head = struct.pack("=QQQ", info.unwind_data_size, info.eh_frame_hdr_size, info.mapped_size)
    return head + bytes(header + frame)


# What JIT_CODE_LOAD and others have between the record header and strings or bytes.
FIELDS = {JIT_CODE_LOAD: "IIQQQQ", JIT_CODE_MOVE: "IIQQQQQ", JIT_CODE_DEBUG_INFO: "QQ",
          JIT_CODE_CLOSE: "", JIT_CODE_UNWINDING_INFO: "QQQ"}


def swap_byte_order(path: pathlib.Path) -> None:
    """Rewrites the dump as a machine of the other byte order would have written it, but for the
    machine code and its eh_frame."""
    data = path.read_bytes()
    dump = jitdump_reader.read(str(path))
    other = {"<": ">", ">": "<"}[dump.header.order]

    def swapped(format: str, offset: int) -> bytes:
        return struct.pack(other + format, *struct.unpack_from(dump.header.order + format, data,
                                                               offset))

    parts = [swapped("IIIIIIQQ", 0)]
    for record in dump.records:
        head = "IIQ" + FIELDS[record.id]
        offset = record.offset + struct.calcsize("=" + head)
        parts.append(swapped(head, record.offset))
        for entry in getattr(record, "entries", []):
            parts.append(swapped("QII", offset))
            parts.append(entry.name.encode("utf-8", "surrogateescape") + b"\0")
            offset += struct.calcsize("=QII") + len(parts[-1])
        parts.append(data[offset:record.offset + record.total_size])
    path.write_bytes(b"".join(parts))
