"""Checks unwinding data as it lies in the ELF file that perf makes of a function: the code
at offset 0, .eh_frame at code_size rounded up to 8, .eh_frame_hdr right behind it (P13).

The layouts are those of the Linux Standard Base, "Exception Frames" and ".eh_frame_hdr".
Of the pointer encodings only the ones that work with perf are followed; data in others is
checked as far as it can be understood without them.
"""
from __future__ import annotations

import struct
from typing import List, Set

HDR_VERSION = 1
PCREL_SDATA4 = 0x1B
UDATA4 = 0x03
DATAREL_SDATA4 = 0x3B


def check(eh_frame: bytes, eh_frame_hdr: bytes, code_size: int, order: str) -> None:
    """Raises ValueError with a line of text if the two sections can't be what they should."""
    if len(eh_frame_hdr) < 4:
        raise ValueError(f"eh_frame_hdr of {len(eh_frame_hdr)} bytes is too small")
    version, ptr_encoding, count_encoding, table_encoding = eh_frame_hdr[:4]
    if version != HDR_VERSION:
        raise ValueError(f"eh_frame_hdr begins with version {version}, not {HDR_VERSION}:"
                         " is it at the end of the data?")
    fdes = _walk_eh_frame(eh_frame, order)
    if ptr_encoding != PCREL_SDATA4:
        return
    pointer = _sdata4(eh_frame_hdr, 4, order)
    if 4 + pointer != -len(eh_frame):
        raise ValueError(f"eh_frame_ptr {pointer} does not point to the eh_frame, which starts"
                         f" {len(eh_frame)} bytes before the eh_frame_hdr")
    if (count_encoding, table_encoding) == (UDATA4, DATAREL_SDATA4):
        _check_table(eh_frame_hdr, len(eh_frame), fdes, code_size, order)


def _sdata4(data: bytes, offset: int, order: str) -> int:
    if offset + 4 > len(data):
        raise ValueError(f"eh_frame_hdr of {len(data)} bytes is cut short")
    return struct.unpack_from(order + "i", data, offset)[0]


def _walk_eh_frame(eh_frame: bytes, order: str) -> Set[int]:
    """The offsets of the FDEs; CIEs and FDEs must fill the section."""
    cies: Set[int] = set()
    fdes: Set[int] = set()
    offset = 0
    while offset < len(eh_frame):
        if len(eh_frame) - offset < 4:
            raise ValueError(f"eh_frame ends within the length at its offset {offset}")
        length = struct.unpack_from(order + "I", eh_frame, offset)[0]
        if length == 0:
            if eh_frame[offset:].strip(b"\0"):
                raise ValueError(f"eh_frame goes on behind its terminator at offset {offset}")
            break
        end = offset + 4 + length
        if length < 4 or end > len(eh_frame):
            raise ValueError(f"eh_frame: entry of {length} bytes at offset {offset} does not fit"
                             f" into {len(eh_frame)}")
        cie_pointer = struct.unpack_from(order + "I", eh_frame, offset + 4)[0]
        if cie_pointer == 0:
            cies.add(offset)
        elif offset + 4 - cie_pointer in cies:
            fdes.add(offset)
        else:
            raise ValueError(f"eh_frame: the FDE at offset {offset} has no CIE")
        offset = end
    return fdes


def _check_table(eh_frame_hdr: bytes, eh_frame_size: int, fdes: Set[int], code_size: int,
                 order: str) -> None:
    count = _sdata4(eh_frame_hdr, 8, order) & 0xFFFFFFFF
    if 12 + 8 * count > len(eh_frame_hdr):
        raise ValueError(f"eh_frame_hdr of {len(eh_frame_hdr)} bytes has no place for {count} entries")
    hdr_addr = (code_size + 7) // 8 * 8 + eh_frame_size
    locations: List[int] = []
    for number in range(count):
        location = hdr_addr + _sdata4(eh_frame_hdr, 12 + 8 * number, order)
        fde = eh_frame_size + _sdata4(eh_frame_hdr, 16 + 8 * number, order)
        if not 0 <= location < code_size:
            raise ValueError(f"eh_frame_hdr: entry {number} is for offset {location}, outside of the"
                             f" {code_size} bytes of code")
        if fde not in fdes:
            raise ValueError(f"eh_frame_hdr: entry {number} points to offset {fde} of the eh_frame,"
                             " where no FDE is")
        if locations and location <= locations[-1]:
            raise ValueError(f"eh_frame_hdr: entry {number} is not above the one before")
        locations.append(location)
