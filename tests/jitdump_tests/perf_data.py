"""Puts into a perf.data file the event that this machine's kernel may be unable to give, or a program did not
cause."""

import itertools
import pathlib
import struct
from typing import Callable, Iterator, List, Set, Tuple

# struct perf_file_header: magic, size, attr_size; then offset and size of attrs, data and
# event_types; then 256 bits that say which feature sections there are.
FILE_HEADER = struct.Struct("=8sQQ6Q32s")
DATA_OFFSET, DATA_SIZE = 5, 6  # in the unpacked header
SECTION = struct.Struct("=QQ")
EVENT_HEADER = struct.Struct("=IHH")  # type, misc, size
PERF_RECORD_MMAP, PERF_RECORD_MMAP2 = 1, 10
MMAP2_NAME = 72  # its offset; behind it, in 8 bytes each: pid and tid, the time, others
PROT_READ = 1
PERF_RECORD_LOST, PERF_RECORD_AUXTRACE, PERF_RECORD_TIME_CONV = 2, 71, 79
PERF_RECORD_COMPRESSED = {81, 83}
FEATURE_AUXTRACE = 18


def set_time_conv(path: pathlib.Path, payload: bytes) -> None:
    put_event(path, PERF_RECORD_TIME_CONV, payload)


def put_event(path: pathlib.Path, kind: int, payload: bytes) -> None:
    """Puts an event in front of all others, in place of those of its type."""
    content = path.read_bytes()
    header = list(FILE_HEADER.unpack_from(content))
    assert header[0] == b"PERFILE2"
    start, end = header[DATA_OFFSET], header[DATA_OFFSET] + header[DATA_SIZE]
    size = EVENT_HEADER.size + len(payload)
    events = [EVENT_HEADER.pack(kind, 0, size) + payload]
    offset = start
    while offset < end:
        type, _, size = EVENT_HEADER.unpack_from(content, offset)
        if type != kind:
            events.append(content[offset:offset + size])
        offset += size
    replace_data(path, b"".join(events))


def events(content: bytes, start: int = -1) -> Iterator[Tuple[int, int, int]]:
    """Type, offset and size of each event; of a file without header, from `start` on."""
    end = len(content)
    if start < 0:
        header = FILE_HEADER.unpack_from(content)
        start, end = header[DATA_OFFSET], header[DATA_OFFSET] + header[DATA_SIZE]
    while start < end:
        kind, _, size = EVENT_HEADER.unpack_from(content, start)
        yield kind, start, size
        start += size


def kinds(path: pathlib.Path) -> Set[int]:
    """The types of events in a profile, which may be a directory."""
    if not path.is_dir():
        return {kind for kind, _, _ in events(path.read_bytes())}
    return {kind for file in path.iterdir()
            for kind, _, _ in events(file.read_bytes(), -1 if file.name == "data" else 0)}


def drop_events(path: pathlib.Path, dropped: Set[int]) -> None:
    content = path.read_bytes()
    replace_data(path, b"".join(content[offset:offset + size] for kind, offset, size in events(content)
                                if kind not in dropped))


# perf_event_attr: where these lie in it, and of sample_type what is in a sample, in this order.
SAMPLE_TYPE, FLAGS, BRANCH_SAMPLE_TYPE = 24, 40, 72
IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD = (1 << bit for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8))
FIXED = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD)
CALLCHAIN, BRANCH_STACK, REGS_USER = 1 << 5, 1 << 11, 1 << 12
BRANCH_COUNTERS = 1 << 19
PERF_RECORD_SAMPLE, PERF_RECORD_CALLCHAIN_DEFERRED = 9, 22
CONTEXT_USER_DEFERRED = -640 % (1 << 64)
DEFER_CALLCHAIN, DEFER_OUTPUT = 1 << 38, 1 << 39


def attribute(path: pathlib.Path, offset: int, added: int = 0) -> int:
    """A word of the only one, to which bits are added."""
    content = bytearray(path.read_bytes())
    size, attrs, attrs_size = struct.unpack_from("=QQQ", content, 16)
    assert size == attrs_size, "several attributes"
    word, = struct.unpack_from("=Q", content, attrs + offset)
    struct.pack_into("=Q", content, attrs + offset, word | added)
    path.write_bytes(content)
    return word | added


def edit_samples(path: pathlib.Path, edit: Callable[[bytes, List[int], bytes], List[Tuple[int, bytes]]]) -> None:
    """Puts events into the place of each sample: `edit` gets what lies in front of the call chain, that, and
    what lies behind, and returns types and payloads."""
    sample_type = attribute(path, SAMPLE_TYPE)
    chain_at = 8 * sum(bool(sample_type & each) for each in FIXED)
    content, made = path.read_bytes(), []
    for kind, offset, size in events(content):
        event = content[offset:offset + size]
        if kind == PERF_RECORD_SAMPLE:
            payload, end = event[EVENT_HEADER.size:], chain_at
            chain: List[int] = []
            if sample_type & CALLCHAIN:
                count, = struct.unpack_from("=Q", payload, chain_at)
                end = chain_at + 8 + 8 * count
                chain = [*struct.unpack_from(f"={count}Q", payload, chain_at + 8)]
            _, misc, _ = EVENT_HEADER.unpack_from(event)
            event = b"".join(EVENT_HEADER.pack(kind, misc if kind == PERF_RECORD_SAMPLE else 2,
                                               EVENT_HEADER.size + len(payload)) + payload
                             for kind, payload in edit(payload[:chain_at], chain, payload[end:]))
        made.append(event)
    replace_data(path, b"".join(made))


def chain_bytes(chain: List[int]) -> bytes:
    return struct.pack(f"={1 + len(chain)}Q", len(chain), *chain)


def add_branches(path: pathlib.Path) -> None:
    """Gives each sample with a call chain two branches, with counters."""
    edit_samples(path, lambda front, chain, rest: [(PERF_RECORD_SAMPLE, front + chain_bytes(chain) + struct.pack(
        "=9Q", 2, *range(1, 9)) + rest)])
    attribute(path, SAMPLE_TYPE, BRANCH_STACK)
    attribute(path, BRANCH_SAMPLE_TYPE, BRANCH_COUNTERS)


def defer_chains(path: pathlib.Path) -> None:
    """As newer kernels can do it: the user's part of the call chain comes in an event of its own."""
    sample_type = attribute(path, FLAGS, DEFER_CALLCHAIN | DEFER_OUTPUT) and attribute(path, SAMPLE_TYPE)
    cookies = itertools.count(1)
    trailer = [each for each in (TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER) if sample_type & each]

    def edit(front: bytes, chain: List[int], rest: bytes) -> List[Tuple[int, bytes]]:
        cookie = next(cookies)
        fields = dict(zip((each for each in FIXED if sample_type & each), struct.iter_unpack("=8s", front)))
        deferred = struct.pack("=Q", cookie) + chain_bytes(chain) + b"".join(fields[each][0] for each in trailer)
        return [(PERF_RECORD_SAMPLE, front + chain_bytes([CONTEXT_USER_DEFERRED, cookie]) + rest),
                (PERF_RECORD_CALLCHAIN_DEFERRED, deferred)]
    edit_samples(path, edit)


def add_mapping(path: pathlib.Path, pid: int, address: int, size: int, time: int,
                name: bytes = b"//anon", protection: int = PROT_READ) -> None:
    """The process maps memory: behind the last mapping of the dump."""
    content = path.read_bytes()
    made, place = b"", 0
    for kind, offset, length in events(content):
        event = content[offset:offset + length]
        if kind == PERF_RECORD_MMAP2 and struct.unpack_from("=I", event, EVENT_HEADER.size) == (pid,):
            found = event[MMAP2_NAME:event.index(0, MMAP2_NAME)]
            if found.startswith(b"//anon"):
                made = event
            if found.endswith(b".dump"):
                place = offset + length
    assert made and place
    kind, misc, _ = EVENT_HEADER.unpack_from(made)
    trailer = bytearray(made[(made.index(0, MMAP2_NAME) + 8) // 8 * 8:])
    struct.pack_into("=Q", trailer, 8, time)
    event = bytearray(made[:MMAP2_NAME] + name.ljust((len(name) + 8) // 8 * 8, b"\0") + trailer)
    EVENT_HEADER.pack_into(event, 0, kind, misc, len(event))
    struct.pack_into("=QQQ", event, 16, address, size, address)
    struct.pack_into("=I", event, 64, protection)
    header = FILE_HEADER.unpack_from(content)
    start, end = header[DATA_OFFSET], header[DATA_OFFSET] + header[DATA_SIZE]
    replace_data(path, content[start:place] + event + content[place:end])


def replace_data(path: pathlib.Path, data: bytes) -> None:
    """Gives the file other events."""
    content = path.read_bytes()
    header = list(FILE_HEADER.unpack_from(content))
    start, end = header[DATA_OFFSET], header[DATA_OFFSET] + header[DATA_SIZE]
    growth = len(data) - header[DATA_SIZE]
    header[DATA_SIZE] = len(data)
    # The data is followed by the table of the feature sections, and these.
    features = sum(bin(byte).count("1") for byte in header[-1])
    table = content[end:end + SECTION.size * features]
    moved = b"".join(SECTION.pack(section_offset + growth, section_size)
                     for section_offset, section_size in SECTION.iter_unpack(table))
    path.write_bytes(FILE_HEADER.pack(*header) + content[FILE_HEADER.size:start] + data + moved
                     + content[end + len(table):])


def time_conv(first: Tuple[int, int], last: Tuple[int, int]) -> bytes:
    """The payload of the event by which perf turns the processor's counter into nanoseconds, from
    two pairs of (nanoseconds, counter)."""
    shift = 26  # keeps the multiplication in perf below 64 bits, also for a slow counter
    mult = ((last[0] - first[0]) << shift) // (last[1] - first[1])
    zero = (first[0] - (first[1] * mult >> shift)) % (1 << 64)
    # time_shift, time_mult, time_zero; time_cycles and time_mask, which belong to
    # cap_user_time_short; cap_user_time_zero, cap_user_time_short.
    return struct.pack("=QQQQQBB6x", shift, mult, zero, 0, 0, 1, 0)


def sections(content: bytes) -> Tuple[int, List[int], List[Tuple[int, int]]]:
    """Where the table of the features begins, which there are, and each's offset and size."""
    header = FILE_HEADER.unpack_from(content)
    table = header[DATA_OFFSET] + header[DATA_SIZE]
    bits = int.from_bytes(header[-1], "little")
    features = [feature for feature in range(256) if bits >> feature & 1]
    return table, features, [SECTION.unpack_from(content, table + SECTION.size * i)
                             for i in range(len(features))]


def append_aux_trace(path: pathlib.Path, trace: bytes) -> None:
    """Puts an AUX trace behind all events, and the feature that says where it is."""
    content = path.read_bytes()
    header = list(FILE_HEADER.unpack_from(content))
    end = header[DATA_OFFSET] + header[DATA_SIZE]
    payload = struct.pack("=QQQIIII", len(trace), 0, 0, 0, 0, 0, 0)
    event = EVENT_HEADER.pack(PERF_RECORD_AUXTRACE, 0, EVENT_HEADER.size + len(payload))
    replace_data(path, content[header[DATA_OFFSET]:end] + event + payload + trace)

    content = path.read_bytes()
    header = list(FILE_HEADER.unpack_from(content))
    table, features, places = sections(content)
    index = struct.pack("=QQQ", 1, end, len(event) + len(payload) + len(trace))
    places = [(offset + SECTION.size, length) for offset, length in places]
    places.insert(sum(feature < FEATURE_AUXTRACE for feature in features),
                  (len(content) + SECTION.size, len(index)))
    bits = int.from_bytes(header[-1], "little") | 1 << FEATURE_AUXTRACE
    header[-1] = bits.to_bytes(32, "little")
    path.write_bytes(FILE_HEADER.pack(*header) + content[FILE_HEADER.size:table]
                     + b"".join(SECTION.pack(*place) for place in places)
                     + content[table + SECTION.size * len(features):] + index)


def auxtrace_index(path: pathlib.Path) -> List[Tuple[int, int]]:
    """Offset and size of each AUX trace's event."""
    content = path.read_bytes()
    _, features, places = sections(content)
    offset, size = places[features.index(FEATURE_AUXTRACE)]
    return list(SECTION.iter_unpack(content[offset + 8:offset + size]))
