"""Writes dumps, right ones and wrong ones, in either byte order, apart from the library."""
from __future__ import annotations

import struct

LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO = range(5)
INLINE_2023, TIER, SOURCE = 827346259, 827346260, 827346261
PID = 4711


class Dump:
    def __init__(self, order: str = "<", pid: int = PID, flags: int = 0, machine: int = 62,
                 timestamp: int = 1) -> None:
        self.order = order
        self.data = self.pack("IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, pid, timestamp, flags)

    def pack(self, fields: str, *values: int) -> bytes:
        return struct.pack(self.order + fields, *values)

    def record(self, record_id: int, timestamp: int, payload: bytes) -> int:
        """Returns its offset."""
        offset = len(self.data)
        self.data += self.pack("IIQ", record_id, 16 + len(payload), timestamp) + payload
        return offset

    def load(self, timestamp: int, address: int, code: bytes, index: int, name: bytes = b"f",
             padding: bytes = b"") -> int:
        fields = self.pack("IIQQQQ", PID, PID, address, address, len(code), index)
        return self.record(LOAD, timestamp, fields + name + b"\0" + padding + code)

    def move(self, timestamp: int, old: int, new: int, size: int, index: int) -> int:
        return self.record(MOVE, timestamp,
                           self.pack("IIQQQQQ", PID, PID, new, old, new, size, index))

    def debug_info(self, timestamp: int, address: int,
                   entries: list[tuple[int, int, int, bytes]]) -> int:
        """Entries: address, line, column, file."""
        payload = self.pack("QQ", address, len(entries))
        for at, line, column, name in entries:
            payload += self.pack("QII", at, line, column) + name + b"\0"
        return self.record(DEBUG_INFO, timestamp, payload)

    def unwinding(self, timestamp: int, eh_frame: bytes, header: bytes) -> int:
        size = len(eh_frame) + len(header)
        return self.record(UNWINDING_INFO, timestamp,
                           self.pack("QQQ", size, len(header), size) + eh_frame + header)


def swapped(data: bytes) -> bytes:
    """The dump as a machine of the other byte order had written it, but for the contents of code
    and unwinding data."""
    order, other = ("<", ">") if data[:4] == b"DTiJ" else (">", "<")

    def turn(fields: str, at: int) -> bytes:
        return struct.pack(other + fields, *struct.unpack_from(order + fields, data, at))

    out = turn("IIIIIIQQ", 0)
    at = 40
    while at < len(data):
        record_id, size = struct.unpack_from(order + "II", data, at)
        record = turn("IIQ", at)
        body, end = at + 16, at + size

        def fields(letters: str) -> None:
            nonlocal body, record
            record += turn(letters, body)
            body += struct.calcsize("=" + letters)

        if record_id == LOAD:
            fields("IIQQQQ")
        elif record_id == MOVE:
            fields("IIQQQQQ")
        elif record_id == DEBUG_INFO:
            count = struct.unpack_from(order + "QQ", data, body)[1]
            fields("QQ")
            for _ in range(count):
                fields("QII")
                nul = data.index(0, body)
                record += data[body:nul + 1]
                body = nul + 1
        elif record_id == UNWINDING_INFO:
            fields("QQQ")
        elif record_id == INLINE_2023:
            counts = struct.unpack_from(order + "8I", data, body)
            fields("8I")
            strings = counts[1] + counts[3]
            record += data[body:body + strings]
            body += strings
            fields(f"{5 * counts[4] + 5 * counts[5] + 2 * counts[6] + 4 * counts[7]}I")
        elif record_id == TIER and struct.unpack_from(order + "QQ", data, body)[1] < size:
            counts = struct.unpack_from(order + "4Q", data, body)
            fields("4Q")
            fields(f"{2 * counts[1] + 7 * counts[2]}I")
        elif record_id in (TIER, SOURCE):
            fields("II")
        out += record + data[body:end]
        at = end
    return out
