"""Puts into a perf.data file the event that this machine's kernel may be unable to give."""

import pathlib
import struct
from typing import Tuple

# struct perf_file_header: magic, size, attr_size; then offset and size of attrs, data and
# event_types; then 256 bits that say which feature sections there are.
FILE_HEADER = struct.Struct("=8sQQ6Q32s")
DATA_OFFSET, DATA_SIZE = 5, 6  # in the unpacked header
SECTION = struct.Struct("=QQ")
PERF_RECORD_TIME_CONV = 79


def insert_event(path: pathlib.Path, type: int, payload: bytes) -> None:
    """Puts an event in front of all others."""
    content = path.read_bytes()
    header = list(FILE_HEADER.unpack_from(content))
    assert header[0] == b"PERFILE2"
    event = struct.pack("=IHH", type, 0, 8 + len(payload)) + payload
    start, end = header[DATA_OFFSET], header[DATA_OFFSET] + header[DATA_SIZE]
    # The data is followed by the table of the feature sections, and these.
    features = sum(bin(byte).count("1") for byte in header[-1])
    table = content[end:end + SECTION.size * features]
    moved = b"".join(SECTION.pack(offset + len(event), size)
                     for offset, size in SECTION.iter_unpack(table))
    header[DATA_SIZE] += len(event)
    path.write_bytes(FILE_HEADER.pack(*header) + content[FILE_HEADER.size:start] + event
                     + content[start:end] + moved + content[end + len(table):])


def time_conv(first: Tuple[int, int], last: Tuple[int, int]) -> bytes:
    """The payload of the event by which perf turns the processor's counter into nanoseconds, from
    two pairs of (nanoseconds, counter)."""
    shift = 26  # keeps the multiplication in perf below 64 bits, also for a slow counter
    mult = ((last[0] - first[0]) << shift) // (last[1] - first[1])
    zero = (first[0] - (first[1] * mult >> shift)) % (1 << 64)
    # time_shift, time_mult, time_zero; time_cycles and time_mask, which belong to
    # cap_user_time_short; cap_user_time_zero, cap_user_time_short.
    return struct.pack("=QQQQQBB6x", shift, mult, zero, 0, 0, 1, 0)
