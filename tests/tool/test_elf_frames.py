#!/usr/bin/env python3
"""Unwinding data as other emitters write them: jitdump elf takes them over, for where the code lies
now, or says why not and leaves them out, and only them.

    test_elf_frames.py JITDUMP
"""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import List, Optional, Tuple

from jitdump_tests import dump_bytes

TOOL = sys.argv.pop(1)
SIZE = 0x40
PCREL, SDATA2, SDATA4, SDATA8, UDATA4, ABSPTR = 0x10, 0x0A, 0x0B, 0x0C, 0x03, 0x00
SIZES = {SDATA2: 2, SDATA4: 4, SDATA8: 8, UDATA4: 4, ABSPTR: 8}
ENTRY = b"\x0c\x07\x08\x90\x01"  # def_cfa rsp 8, offset ra -8
PUSHED = b"\x41\x0e\x10"  # from 1 on the CFA is rsp + 16
ROWS = [(0, "rsp+8"), (1, "rsp+16")]


def entry(body: bytes, wide: bool = False) -> bytes:
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<IQ", 0xFFFFFFFF, len(body)) + body if wide else struct.pack("<I", len(body)) + body


def pointer(encoding: int, value: int, field: int) -> bytes:
    if encoding & 0x70 == PCREL:
        value -= field
    size = SIZES[encoding & 0x0F]
    return (value & (1 << 8 * size) - 1).to_bytes(size, "little")


class Data:
    """Entries one behind the other, for where perf takes them to be."""

    def __init__(self, code: int, header_size: int = 0) -> None:
        self.code, self.bytes = code, b""
        self.address = code + (SIZE + 7) // 8 * 8 + header_size
        self.encoding, self.has_length, self.lsda = ABSPTR, False, False
        self.wide = False  # lengths of 64 bits

    def cie(self, letters: str, encoding: Optional[int] = None, version: int = 1,
            instructions: bytes = ENTRY) -> "Data":
        augmentation = b""
        for letter in letters[1:]:
            if letter == "R":
                augmentation += bytes([encoding])
            elif letter == "L":
                augmentation += bytes([PCREL | SDATA4])
            elif letter == "P":
                augmentation += bytes([0x80 | PCREL | SDATA4]) + struct.pack("<i", 4711)
        self.encoding = ABSPTR if encoding is None else encoding
        self.has_length, self.lsda = letters[:1] == "z", "L" in letters
        body = struct.pack("<QB" if self.wide else "<IB", 0, version) + letters.encode() + b"\0" + b"\x01\x78"
        body += b"\x90\x00" if version == 3 else b"\x10"  # of two bytes, as LEB128
        if self.has_length:
            body += bytes([len(augmentation)]) + augmentation
        self.bytes += entry(body + instructions, self.wide)
        return self

    def fde(self, start: int = 0, size: int = SIZE, instructions: bytes = PUSHED,
            cie_distance: Optional[int] = None) -> "Data":
        at = len(self.bytes) + (12 if self.wide else 4)
        body = struct.pack("<Q" if self.wide else "<I", at if cie_distance is None else cie_distance)
        body += pointer(self.encoding, self.code + start, self.address + at + len(body))
        body += pointer(self.encoding & 0x0F, size, 0)
        if self.has_length:
            body += b"\x04" + struct.pack("<i", 99) if self.lsda else b"\0"
        self.bytes += entry(body + instructions, self.wide)
        return self


def header(count: int = 1) -> bytes:
    return struct.pack("<BBBBiI", 1, 0x1B, 0x03, 0x3B, 0, count) + b"\0" * 8 * count


class Dump(dump_bytes.Writer):
    def function(self, code: int, eh_frame: bytes, eh_frame_hdr: bytes = header(),
                 header_first: bool = False) -> "Dump":
        self.unwinding(eh_frame_hdr + eh_frame if header_first else eh_frame + eh_frame_hdr,
                       len(eh_frame_hdr))
        self.load(code, SIZE, b"f%d" % self.index)
        return self

    def moved(self, old: int, new: int) -> "Dump":
        self.move(old, new, SIZE)
        return self


Found = List[Tuple[int, int, List[Tuple[int, str]]]]  # start, end, rows


class FramesTest(unittest.TestCase):
    def convert(self, dump: Dump) -> Tuple[Found, str]:
        """The frames as readelf has them, and what the tool complained of."""
        with tempfile.TemporaryDirectory() as name:
            path, elf = pathlib.Path(name) / "jit-1.dump", pathlib.Path(name) / "out.elf"
            path.write_bytes(dump.bytes)
            done = subprocess.run([TOOL, "elf", path, "-o", elf], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            read = subprocess.run(["readelf", "--debug-dump=frames-interp", "-W", elf],
                                  capture_output=True, text=True, check=True)
            self.assertEqual(read.stderr, "")
            complaints = subprocess.run(["readelf", "-a", "-w", elf], capture_output=True,
                                        text=True, check=True).stderr
            self.assertEqual(complaints, "")
        found = []
        for start, end, table in re.findall(r"FDE .* pc=(\w+)\.\.(\w+)\n((?:.+\n)+)", read.stdout):
            first = int(start, 16)
            rows = [(int(line.split()[0], 16) - first, line.split()[1])
                    for line in table.splitlines()[1:]]
            found.append((first, int(end, 16), rows))
        return found, done.stderr

    def expect(self, dump: Dump, *starts: int, rows: Optional[list] = None) -> None:
        found, said = self.convert(dump)
        self.assertEqual(said, "")
        self.assertEqual(found, [(start, start + SIZE, rows or ROWS) for start in starts])

    def expect_refusal(self, eh_frame: bytes, reason: str, hdr: bytes = header()) -> None:
        """Between two functions whose data are good, and stay."""
        good = [Data(code).cie("zR", PCREL | SDATA4).fde().bytes for code in (0x10000, 0x30000)]
        dump = Dump().function(0x10000, good[0]).function(0x20000, eh_frame, hdr)
        dump.function(0x30000, good[1])
        found, said = self.convert(dump)
        self.assertRegex(said, rf"^jitdump: \S*: record at offset 0x\w+ is left out: {reason}\n$")
        self.assertEqual([start for start, _, _ in found], [0x10000, 0x30000])

    def test_encodings(self) -> None:
        for encoding in (PCREL | SDATA4, PCREL | SDATA2, PCREL | SDATA8, PCREL | ABSPTR, ABSPTR,
                         SDATA8, UDATA4):
            with self.subTest(encoding):
                self.expect(Dump().function(0x10000, Data(0x10000).cie("zR", encoding).fde().bytes),
                            0x10000)

    def test_no_augmentation(self) -> None:
        self.expect(Dump().function(0x10000, Data(0x10000).cie("").fde().bytes), 0x10000)

    def test_personality_and_lsda(self) -> None:
        for letters in ("zPLR", "zLR", "zRLP", "zRS"):
            with self.subTest(letters):
                self.expect(Dump().function(0x10000,
                                        Data(0x10000).cie(letters, PCREL | SDATA4).fde().bytes),
                            0x10000)

    def test_v8(self) -> None:
        """As Node 20 writes it: an LSDA that is left out, and an FDE that lacks the length of its
        augmentation data. Of code without frames it has a header alone."""
        data = Data(0x10000).cie("zLR", PCREL | SDATA4)
        data.bytes = data.bytes.replace(bytes([PCREL | SDATA4] * 2), bytes([0xFF, PCREL | SDATA4]))
        data.has_length = data.lsda = False
        self.expect(Dump().function(0x10000, data.fde().bytes).function(0x20000, b""), 0x10000)

    def test_64_bits(self) -> None:
        data = Data(0x10000)
        data.wide = True
        self.expect(Dump().function(0x10000, data.cie("zR", PCREL | SDATA8).fde().bytes), 0x10000)

    def test_version_3(self) -> None:
        data = Data(0x10000).cie("zR", PCREL | SDATA4, 3).fde()
        self.expect(Dump().function(0x10000, data.bytes), 0x10000)

    def test_header_first(self) -> None:
        """As the specification has it (P13)."""
        data = Data(0x10000, len(header())).cie("zR", PCREL | SDATA4).fde()
        self.expect(Dump().function(0x10000, data.bytes, header_first=True), 0x10000)

    def test_moved(self) -> None:
        for encoding in (PCREL | SDATA4, ABSPTR):
            with self.subTest(encoding):
                data = Data(0x10000).cie("zR", encoding).fde()
                self.expect(Dump().function(0x10000, data.bytes).moved(0x10000, 0x555000), 0x555000)

    def test_one_entry_for_another_place(self) -> None:
        """Relative to where something else lies, but as long as the code."""
        data = Data(0x10000).cie("zR", PCREL | SDATA4).fde(start=0x7000)
        self.expect(Dump().function(0x10000, data.bytes), 0x10000)

    def test_two_entries(self) -> None:
        data = Data(0x10000).cie("zR", PCREL | SDATA4).fde(0, 0x20).fde(0x20, 0x20)
        found, said = self.convert(Dump().function(0x10000, data.bytes))
        self.assertEqual(said, "")
        self.assertEqual([(start, end) for start, end, _ in found],
                         [(0x10000, 0x10020), (0x10020, 0x10040)])

    @unittest.skipIf(shutil.which("eu-readelf") is None, "there is no eu-readelf")
    def test_table_is_sorted(self) -> None:
        """Entries out of order; readelf sees them so, the table is for searching."""
        data = Data(0x10000).cie("zR", PCREL | SDATA4).fde(0x20, 0x20).fde(0, 0x20)
        with tempfile.TemporaryDirectory() as name:
            path, elf = pathlib.Path(name) / "jit-1.dump", pathlib.Path(name) / "out.elf"
            path.write_bytes(Dump().function(0x10000, data.bytes).bytes)
            subprocess.run([TOOL, "elf", path, "-o", elf], check=True)
            text = subprocess.run(["eu-readelf", "-e", elf], capture_output=True, text=True,
                                  check=True).stdout
        offsets = [int(value, 16) for value in re.findall(r"^ *0x(\w+) \(offset:", text, re.M)]
        self.assertEqual(len(offsets), 2, text)
        self.assertEqual(offsets, sorted(offsets))

    def test_one_cie_for_all(self) -> None:
        dump = Dump()
        for code in range(0x10000, 0x20000, 0x1000):
            dump.function(code, Data(code).cie("zR", PCREL | SDATA4).fde().bytes)
        with tempfile.TemporaryDirectory() as name:
            path, elf = pathlib.Path(name) / "jit-1.dump", pathlib.Path(name) / "out.elf"
            path.write_bytes(dump.bytes)
            subprocess.run([TOOL, "elf", path, "-o", elf], check=True)
            text = subprocess.run(["readelf", "--debug-dump=frames", elf], capture_output=True,
                                  text=True, check=True).stdout
        self.assertEqual((text.count(" CIE"), text.count(" FDE")), (1, 16))

    def test_refusals(self) -> None:
        def data() -> Data:
            return Data(0x20000).cie("zR", PCREL | SDATA4)

        whole = data().fde().bytes
        for name, eh_frame, reason in (
                ("absolute address in the instructions",
                 data().fde(instructions=b"\x01\0\0\0\0").bytes, "it has DW_CFA_set_loc.*"),
                ("unknown instruction in a CIE of the good one's size",
                 Data(0x20000).cie("zR", PCREL | SDATA4, instructions=ENTRY[:3] + b"\x3f\0").fde().bytes,
                 "it has a call frame instruction that is not known"),
                ("unknown instruction", data().fde(instructions=b"\x3f").bytes,
                 "it has a call frame instruction that is not known"),
                ("instruction cut off", data().fde(instructions=b"\x41\x41\x0f\x7f").bytes,
                 "a DWARF expression does not fit.*"),
                ("state never remembered", data().fde(instructions=b"\x0b").bytes,
                 "it restores a state that it has not remembered"),
                ("unknown augmentation", Data(0x20000).cie("zQ").fde().bytes,
                 r"\.eh_frame: a pointer encoding or augmentation that is not known here"),
                ("unknown version", Data(0x20000).cie("zR", PCREL | SDATA4, 9).fde().bytes,
                 r"\.eh_frame: a CIE of a version other than 1 and 3"),
                ("relative to data", Data(0x20000).cie("zR", 0x30 | SDATA4).fde().bytes,
                 r"\.eh_frame: a pointer encoding or augmentation that is not known here"),
                ("other code", data().fde(0x7000, 0x20).bytes, "its .eh_frame is of other code"),
                ("a good entry and one of other code", data().fde().fde(0x7000, 0x20).bytes,
                 "its .eh_frame is of other code"),
                ("no CIE", data().fde(cie_distance=0x1000).bytes,
                 r"\.eh_frame: an FDE whose CIE is outside of the section"),
                ("an FDE for a CIE", data().fde().fde(cie_distance=len(whole) + 4 - len(
                    data().bytes)).bytes, r"\.eh_frame: an FDE that does not point to a CIE"),
                ("cut off", whole[:-5],
                 r"\.eh_frame: an entry that is shorter than its fields"),
                ("nothing", b"\0\0\0\0", "its .eh_frame describes nothing"),
                ("64 bits", b"\xff\xff\xff\xff\0\0\0\0\1" + b"\0" * 55,
                 r"\.eh_frame: an entry that is shorter than its fields")):
            with self.subTest(name):
                self.expect_refusal(eh_frame, reason)


if __name__ == "__main__":
    unittest.main(verbosity=2)
