"""Dumps made of bytes: by hand, or as another machine would have written them."""
import pathlib
import struct
import sys
from typing import List, Tuple

LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING = range(5)
INLINE_2023, INLINE_2026 = 827346259, 827346260
ELF_MACH_OFFSET = 12
NATIVE, OTHER = ("<", ">") if sys.byteorder == "little" else (">", "<")


def set_machine(path: pathlib.Path, elf_mach: int) -> None:
    data = bytearray(path.read_bytes())
    struct.pack_into("=I", data, ELF_MACH_OFFSET, elf_mach)
    path.write_bytes(data)


def time_after(dump: pathlib.Path, count: int) -> Tuple[int, str]:
    """The time of the last of so many loads and moves, and of no later one, in seconds. `count` becomes
    more where that is one of a batch, which all have one time."""
    data = dump.read_bytes()
    times = []
    at = struct.unpack_from("=I", data, 8)[0]
    while at < len(data):
        kind, size, time = struct.unpack_from("=IIQ", data, at)
        if kind in (LOAD, MOVE):
            times.append(time)
        at += size
    while count < len(times) and times[count - 1] == times[count]:
        count += 1
    return count, f"{times[count - 1] // 10**9}.{times[count - 1] % 10**9:09}"


class Swapper:
    """Copies fields from the front of the bytes, in the other order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.parts: List[bytes] = []

    def fields(self, text: str) -> tuple:
        values = struct.unpack_from(NATIVE + text, self.data, self.at)
        self.parts.append(struct.pack(OTHER + text, *values))
        self.at += struct.calcsize(NATIVE + text)
        return values

    def copy(self, size: int) -> None:
        self.parts.append(self.data[self.at:self.at + size])
        self.at += size

    def string(self) -> None:
        self.copy(self.data.index(b"\0", self.at) + 1 - self.at)

    def words(self) -> None:
        self.fields(f"{(len(self.data) - self.at) // 4}I")

    def done(self) -> bytes:
        self.copy(len(self.data) - self.at)
        return b"".join(self.parts)


def swapped_payload(kind: int, payload: bytes) -> bytes:
    swapper = Swapper(payload)
    if kind == LOAD:
        swapper.fields("IIQQQQ")
    elif kind == MOVE:
        swapper.fields("IIQQQQQ")
    elif kind == DEBUG_INFO:
        _, count = swapper.fields("QQ")
        for _ in range(count):
            swapper.fields("QII")
            swapper.string()
    elif kind == INLINE_2023:
        counts = swapper.fields("8I")
        swapper.copy(counts[1] + counts[3])
        swapper.words()
    elif kind == INLINE_2026:
        _, offsets, positions, _ = swapper.fields("4Q")
        swapper.fields(f"{2 * offsets + 7 * positions}I")
    else:
        assert kind == CLOSE, f"records of id {kind} are not known here"
    return swapper.done()


def swap_byte_order(path: pathlib.Path) -> None:
    data = path.read_bytes()
    header = Swapper(data[:40])
    header.fields("IIIIIIQQ")
    parts = [header.done()]
    at = 40
    while at < len(data):
        kind, size, time = struct.unpack_from(NATIVE + "IIQ", data, at)
        parts.append(struct.pack(OTHER + "IIQ", kind, size, time))
        parts.append(swapped_payload(kind, data[at + 16:at + size]))
        at += size
    path.write_bytes(b"".join(parts))


class Writer:
    """A little-endian dump of x86-64, or of another machine."""

    def __init__(self, elf_mach: int = 62) -> None:
        self.bytes = bytearray(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, elf_mach, 0, 1, 1, 0))
        self.index = 0

    def record(self, kind: int, payload: bytes) -> None:
        self.bytes += struct.pack("<IIQ", kind, 16 + len(payload), 2 + self.index) + payload

    def unwinding(self, data: bytes, header_size: int) -> None:
        self.record(UNWINDING, struct.pack("<QQQ", len(data), header_size, len(data)) + data)

    def load(self, address: int, size: int, name: bytes) -> None:
        self.index += 1
        self.record(LOAD, struct.pack("<IIQQQQ", 1, 1, address, address, size, self.index)
                    + name + b"\0" + b"\xc3" * size)

    def move(self, old: int, new: int, size: int) -> None:
        self.record(MOVE, struct.pack("<IIQQQQQ", 1, 1, new, old, new, size, self.index))

    def inlined(self, files: List[bytes], functions: List[Tuple[bytes, int]],
                calls: List[Tuple[int, int, int, List[Tuple[int, int]]]],
                lines: List[Tuple[int, int, int]]) -> None:
        """SAMPLY_JIT_CODE_DEBUG_INFO2. Functions: name, file. Calls, depth first: depth, function,
        line, ranges of offset and size. Lines: offset, file, line."""
        file_list = b"".join(file + b"\0" for file in files)
        name_list = b"".join(name + b"\0" for name, _ in functions)
        name_list += bytes(-(len(file_list) + len(name_list)) % 4)
        ranges = [each for call in calls for each in call[3]]
        self.record(INLINE_2023, b"".join([
            struct.pack("<IIIIIIII", len(files), len(file_list), len(functions), len(name_list),
                        len(functions), len(calls), len(ranges), len(lines)),
            file_list, name_list,
            *(struct.pack("<IIIII", number, file, 0, 0, 0)
              for number, (_, file) in enumerate(functions)),
            *(struct.pack("<IIIII", depth, len(inside), function, line, 0)
              for depth, function, line, inside in calls),
            *(struct.pack("<II", *each) for each in ranges),
            *(struct.pack("<IIII", *line, 0) for line in lines)]))
