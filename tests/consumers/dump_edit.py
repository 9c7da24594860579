"""Changes copies of good dumps into what the library must never write, so that the facts about
perf can be seen to be facts."""

import pathlib
import struct
from typing import Callable, Iterator, List, NamedTuple

LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO = range(5)
FILE_HEADER_SIZE = 40
RECORD_HEADER = struct.Struct("=IIQ")
UNWINDING_HEADER = struct.Struct("=QQQ")
DEBUG_INFO_HEADER = struct.Struct("=QQ")
DEBUG_ENTRY = struct.Struct("=QII")


class Record(NamedTuple):
    id: int
    timestamp: int
    payload: bytes


class DebugEntry(NamedTuple):
    addr: int
    line: int
    discrim: int
    name: bytes


Edit = Callable[[List[Record]], List[Record]]


def read_records(data: bytes) -> Iterator[Record]:
    offset = FILE_HEADER_SIZE
    while offset < len(data):
        id, total_size, timestamp = RECORD_HEADER.unpack_from(data, offset)
        yield Record(id, timestamp, data[offset + RECORD_HEADER.size:offset + total_size])
        offset += total_size


def edit_file(path: pathlib.Path, edit: Edit) -> None:
    """Replaces the dump by an edited one."""
    data = path.read_bytes()
    edited = edit(list(read_records(data)))
    assert edited != list(read_records(data)), "the edit changes something"
    packed = [RECORD_HEADER.pack(r.id, RECORD_HEADER.size + len(r.payload), r.timestamp) + r.payload
              for r in edited]
    path.write_bytes(data[:FILE_HEADER_SIZE] + b"".join(packed))


def each(id: int, change: Callable[[bytes], bytes]) -> Edit:
    """The edit that changes the payload of each record of an id."""
    return lambda records: [r._replace(payload=change(r.payload)) if r.id == id else r for r in records]


def debug_entries(payload: bytes) -> List[DebugEntry]:
    _, count = DEBUG_INFO_HEADER.unpack_from(payload)
    offset = DEBUG_INFO_HEADER.size
    entries = []
    for _ in range(count):
        end = payload.index(b"\0", offset + DEBUG_ENTRY.size)
        entries.append(DebugEntry(*DEBUG_ENTRY.unpack_from(payload, offset),
                                  payload[offset + DEBUG_ENTRY.size:end]))
        offset = end + 1
    return entries


def each_debug_table(change: Callable[[List[DebugEntry]], List[DebugEntry]]) -> Edit:
    def changed(payload: bytes) -> bytes:
        addr, _ = DEBUG_INFO_HEADER.unpack_from(payload)
        entries = change(debug_entries(payload))
        packed = [DEBUG_ENTRY.pack(e.addr, e.line, e.discrim) + e.name + b"\0" for e in entries]
        return DEBUG_INFO_HEADER.pack(addr, len(entries)) + b"".join(packed)
    return each(DEBUG_INFO, changed)


def insert_empty_record(records: List[Record]) -> List[Record]:
    """A record without payload behind the first function."""
    first_load = [r.id for r in records].index(LOAD)
    return (records[:first_load + 1] + [Record(CLOSE, records[first_load].timestamp, b"")]
            + records[first_load + 1:])


def pad_loads(padding: int) -> Edit:
    return each(LOAD, lambda payload: payload + b"\xcc" * padding)


def loads_without_their_debug_info(records: List[Record]) -> List[Record]:
    """Every function's debug info in front of the function before it, as two threads that
    write records instead of groups may leave it."""
    loads = [i for i, r in enumerate(records) if r.id == LOAD]
    result = []
    start = 0
    for load, next_load in zip(loads[::2], loads[1::2]):
        result += [r for r in records[start:next_load + 1] if r.id != LOAD]
        result += [records[load], records[next_load]]
        start = next_load + 1
    return result + records[start:]


def without_mapped_size(payload: bytes) -> bytes:
    unwind_data_size, header_size, _ = UNWINDING_HEADER.unpack_from(payload)
    return UNWINDING_HEADER.pack(unwind_data_size, header_size, 0) + payload[UNWINDING_HEADER.size:]


def header_before_frame(payload: bytes) -> bytes:
    """The unwinding data in the order of the specification, its relative pointers adapted."""
    unwind_data_size, header_size, _ = UNWINDING_HEADER.unpack_from(payload)
    data = payload[UNWINDING_HEADER.size:UNWINDING_HEADER.size + unwind_data_size]
    rest = payload[UNWINDING_HEADER.size + unwind_data_size:]
    frame = bytearray(data[:-header_size])
    header = bytearray(data[-header_size:])

    def add(where: bytearray, offset: int, value: int) -> None:
        struct.pack_into("=i", where, offset, struct.unpack_from("=i", where, offset)[0] + value)

    # The frame moves back by the header's size, the header forth by the frame's.
    add(header, 4, header_size + len(frame))
    count, = struct.unpack_from("=I", header, 8)
    for entry in range(count):
        fde_from_header, = struct.unpack_from("=i", header, 12 + 8 * entry + 4)
        fde = len(frame) + fde_from_header
        add(frame, fde + 8, -header_size)
        add(header, 12 + 8 * entry, len(frame))
        add(header, 12 + 8 * entry + 4, len(frame) + header_size)
    return payload[:UNWINDING_HEADER.size] + bytes(header + frame) + rest
