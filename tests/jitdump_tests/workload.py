"""What the stress program appends: workload.c once more. Change both."""
from __future__ import annotations

import struct
from functools import lru_cache
from typing import List, Optional, Tuple

MASK = (1 << 64) - 1
LOAD, MOVE, RAW = "LOAD", "MOVE", "RAW"
POOL_SIZE = 512 * 1024
LINES_MAX = 150
CODE_DISTANCE = 1 << 20
MOVE_DISTANCE = CODE_DISTANCE // 2
FILES = ("src/one.js", "src/two.js")
NAME_TAIL = " with a tail of its own length, up to 62 characters, or none.."
# Without the length in front of it, and the CIE's mark.
CIE = bytes((1, ord("z"), ord("R"), 0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1, 0, 0))


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


@lru_cache(maxsize=1)
def pool() -> bytes:
    return struct.pack(f"<{POOL_SIZE // 8}Q", *map(mix, range(POOL_SIZE // 8)))


def _size(hash: int, size_max: int) -> int:
    random = hash >> 32
    choice = hash & 15
    if choice == 0:
        return 0
    if choice == 1:
        return size_max // 3 + random % (size_max - size_max // 3 + 1)
    if choice <= 3:
        return min(size_max, 4096 + random % 12288)
    return min(size_max, 1 + random % 2048)


class Operation:
    """What operation `sequence` of a thread puts into the file; `order` is the byte order."""

    def __init__(self, seed: int, size_max: int, thread: int, sequence: int, order: str) -> None:
        self.order = order
        first = mix(seed ^ thread << 48 ^ sequence)
        kind = first & 15
        self.kind = RAW if kind == 0 else MOVE if kind <= 2 else LOAD
        self.thread = thread
        self.sequence = sequence
        self.hash = first >> 4
        self.size = _size(mix(first), size_max)
        self.pool_offset = (first >> 20) % (POOL_SIZE - self.size)
        self.code_addr = (thread + 1) << 40 | sequence * CODE_DISTANCE
        if self.kind == MOVE:
            before: Optional[Operation] = None
            if sequence > 0:
                before = Operation(seed, size_max, thread, sequence - 1, order)
            if before and before.kind == LOAD and before.size > 0 and before.hash & 1 == 0:
                self.size = before.mapped_size()
                self.code_addr = before.code_addr
            else:
                self.kind = LOAD

    @property
    def bytes(self) -> bytes:
        return pool()[self.pool_offset:self.pool_offset + self.size]

    @property
    def name(self) -> str:
        return f"t{self.thread}.{self.sequence}" + NAME_TAIL[:self.hash & 63]

    @property
    def raw_id(self) -> int:
        return 5 + (self.hash & 0xFF)

    @property
    def raw_payload(self) -> bytes:
        return struct.pack(self.order + "IQ", self.thread, self.sequence) + self.bytes

    def mapped_size(self) -> int:
        """What a move names as the size: with the unwinding data, which moves along (P21)."""
        unwinding = self.unwinding()
        return (self.size + 7) // 8 * 8 + sum(map(len, unwinding)) if unwinding else self.size

    def lines(self) -> List[Tuple[int, int, int, str]]:
        """The line table without its closing entry."""
        choice = self.hash >> 8 & 15
        if choice < 8:
            count = 0
        elif choice < 15:
            count = 1 + (self.hash >> 12 & 7)
        else:
            count = 1 + (self.hash >> 12) % LINES_MAX
        count = min(count, self.size)
        return [(self.code_addr + i * (self.size // count), 1 + (self.hash >> 20 & 0xFFFF) + i,
                 (self.hash + i) & 63, FILES[(self.hash + i) >> 2 & 1]) for i in range(count)]

    def unwinding(self) -> Optional[Tuple[bytes, bytes]]:
        """eh_frame and eh_frame_hdr."""
        if self.size == 0 or self.hash >> 6 & 3 != 0:
            return None
        nops = 4 * (self.hash >> 30 & 15)
        frame_addr = (self.size + 7) // 8 * 8
        frame = (struct.pack(self.order + "II", 20, 0) + CIE
                 + struct.pack(self.order + "IIiI", 20 + nops, 28, -(frame_addr + 32), self.size)
                 + bytes(8 + nops))
        hdr = struct.pack(self.order + "BBBBiIii", 1, 0x1B, 0x03, 0x3B, -(len(frame) + 4), 1,
                          -(frame_addr + len(frame)), 24 - len(frame))
        return frame, hdr
