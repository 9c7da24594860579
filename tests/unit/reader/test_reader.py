#!/usr/bin/env python3
"""Tests of the reader: files made by hand with struct.pack are read, and each rule is seen
to refuse the file that breaks it."""
from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Tuple

from jitdump_tests import jitdump_reader
from jitdump_tests.jitdump_records import Body, GroupRecord, Load

PID = 4711
NAME = f"jit-{PID}.dump"
TID = 4712
EXTENSION_ID = 827346259
READER = [sys.executable, "-m", "jitdump_tests.jitdump_reader"]


class Writer:
    """Bytes of records; every field can be set wrong by naming it."""

    def __init__(self, order: str = "<") -> None:
        self.order = order

    def pack(self, format: str, *values: int) -> bytes:
        return struct.pack(self.order + format, *values)

    def header(self, *, magic=0x4A695444, version=1, size=40, elf_mach=62, pad1=0, pid=PID,
               timestamp=1000, flags=0) -> bytes:
        return self.pack("IIIIIIQQ", magic, version, size, elf_mach, pad1, pid, timestamp, flags)

    def record(self, id: int, payload: bytes, *, timestamp=2000, total_size=None) -> bytes:
        total_size = 16 + len(payload) if total_size is None else total_size
        return self.pack("IIQ", id, total_size, timestamp) + payload

    def load(self, *, index=1, addr=0x1000, code=b"\x90" * 20, name=b"f\0", pid=PID, tid=TID,
             vma=None, code_size=None, padding=b"", timestamp=2000) -> bytes:
        return self.record(0, self.pack("IIQQQQ", pid, tid, addr if vma is None else vma, addr,
                                        len(code) if code_size is None else code_size, index)
                           + name + padding + code, timestamp=timestamp)

    def move(self, *, index=1, old=0x1000, new=0x2000, size=20, pid=PID, tid=TID, vma=None,
             extra=b"") -> bytes:
        return self.record(1, self.pack("IIQQQQQ", pid, tid, new if vma is None else vma, old, new,
                                        size, index) + extra)

    def debug_info(self, entries: Tuple[Tuple[int, int, int, bytes], ...], *, addr=0x1000,
                   nr_entry=None, extra=b"") -> bytes:
        payload = self.pack("QQ", addr, len(entries) if nr_entry is None else nr_entry)
        for entry_addr, line, discrim, name in entries:
            payload += self.pack("QII", entry_addr, line, discrim) + name
        return self.record(2, payload + extra)

    def close(self, payload: bytes = b"") -> bytes:
        return self.record(3, payload)

    def eh_frame(self, *, cie_pointer=24) -> bytes:
        """A CIE of 20 bytes, an FDE of 20 at offset 20, and the terminator: 44 bytes."""
        cie = self.pack("II", 16, 0) + bytes(12)
        fde = self.pack("II", 16, cie_pointer) + bytes(12)
        return cie + fde + bytes(4)

    def eh_frame_hdr(self, *, version=1, encodings=(0x1B, 0x03, 0x3B), pointer=-48, count=1,
                     location=-(24 + 44), fde=20 - 44) -> bytes:
        """The header for eh_frame() and for a function of 20 bytes of code."""
        return bytes((version,) + encodings) + self.pack("iIii", pointer, count, location, fde)

    def unwinding(self, eh_frame=None, eh_frame_hdr=None, *, data_size=None, hdr_size=None,
                  mapped_size=None, swapped=False) -> bytes:
        frame = self.eh_frame() if eh_frame is None else eh_frame
        hdr = self.eh_frame_hdr() if eh_frame_hdr is None else eh_frame_hdr
        data_size = len(frame) + len(hdr) if data_size is None else data_size
        hdr_size = len(hdr) if hdr_size is None else hdr_size
        mapped_size = data_size if mapped_size is None else mapped_size
        data = hdr + frame if swapped else frame + hdr
        return self.record(4, self.pack("QQQ", data_size, hdr_size, mapped_size) + data)


LINES = ((0x1000, 1, 3, b"a.c\0"), (0x1008, 2, 0, b"b.c\0"), (0x1014, 2, 0, b"b.c\0"))


def good_file(w: Writer) -> bytes:
    """A file with all there is."""
    return b"".join([
        w.header(),
        w.debug_info(LINES), w.unwinding(), w.load(),
        w.load(index=2, addr=0x3000, code=b"", name=b"empty\0", timestamp=2001),
        w.record(77, b"payload", timestamp=2001),
        w.move().replace(w.pack("Q", 2000), w.pack("Q", 2002)),
        w.close().replace(w.pack("Q", 2000), w.pack("Q", 2003)),
    ])


class GoodFiles(unittest.TestCase):
    def test_reads_everything_in_both_byte_orders(self) -> None:
        for order in "<>":
            with self.subTest(order=order):
                dump = jitdump_reader.parse(good_file(Writer(order)), NAME)
                self.assertEqual(dump.header.order, order)
                self.assertEqual((dump.header.pid, dump.header.elf_mach), (PID, 62))
                self.assertEqual([r.id for r in dump.records], [2, 4, 0, 0, 77, 1, 3])
                debug_info, unwinding, load, empty, raw, move, _ = dump.records
                self.assertEqual(
                    [(e.code_addr, e.line, e.discrim, e.name) for e in debug_info.entries],
                    [(0x1000, 1, 3, "a.c"), (0x1008, 2, 0, "b.c"), (0x1014, 2, 0, "b.c")])
                self.assertEqual(unwinding.eh_frame, Writer(order).eh_frame())
                self.assertEqual(unwinding.eh_frame_hdr, Writer(order).eh_frame_hdr())
                self.assertEqual((load.pid, load.tid, load.code_addr, load.code_index, load.name),
                                 (PID, TID, 0x1000, 1, "f"))
                self.assertEqual((load.code, empty.code), (b"\x90" * 20, b""))
                self.assertEqual(raw.payload, b"payload")
                self.assertEqual((move.old_code_addr, move.new_code_addr, move.code_size),
                                 (0x1000, 0x2000, 20))
                self.assertEqual(dump.functions[0].description, [debug_info, unwinding])
                self.assertIs(dump.functions[0].described_by(jitdump_reader.UnwindingInfo), unwinding)
                self.assertEqual(dump.functions[1].description, [])
                self.assertTrue(dump.closed)
                self.assertEqual((dump.torn_bytes, dump.unfinished), (0, []))

    def test_code_without_a_line_behind_code_with_one(self) -> None:
        w = Writer()
        lines = (LINES[0], (0x1008, 0, 0, b"a.c\0"), (0x1014, 0, 0, b"a.c\0"))
        dump = jitdump_reader.parse(w.header() + w.debug_info(lines) + w.load(), NAME)
        self.assertEqual([e.line for e in dump.records[0].entries], [1, 0, 0])

    def test_header_alone(self) -> None:
        dump = jitdump_reader.parse(Writer().header(), NAME)
        self.assertEqual(dump.records, [])
        self.assertFalse(dump.closed)

    def test_arch_timestamps(self) -> None:
        self.assertEqual(jitdump_reader.parse(Writer().header(flags=1), NAME).header.flags, 1)

    def test_a_name_that_is_not_utf8(self) -> None:
        dump = jitdump_reader.parse(Writer().header() + Writer().load(name=b"\xe9\0"), NAME)
        self.assertEqual(dump.functions[0].load.name.encode("utf-8", "surrogateescape"), b"\xe9")


class TornFiles(unittest.TestCase):
    """A good file cut at every byte reads up to its last whole record, if that is allowed."""

    def test_cut_at_every_byte(self) -> None:
        data = good_file(Writer())
        ends = [40]
        while ends[-1] < len(data):
            ends.append(ends[-1] + struct.unpack_from("<I", data, ends[-1] + 4)[0])
        for size in range(40, len(data)):
            whole = max(end for end in ends if end <= size)
            dump = jitdump_reader.parse(data[:size], NAME, allow_torn_tail=True)
            self.assertEqual(len(dump.records), ends.index(whole))
            self.assertEqual(dump.torn_bytes, size - whole)
            self.assertEqual(len(dump.unfinished), ends.index(whole) if ends.index(whole) < 3 else 0)
            if dump.torn_bytes or dump.unfinished:
                message = "not a whole record" if dump.torn_bytes else "without its LOAD"
                with self.assertRaisesRegex(jitdump_reader.FormatError, message):
                    jitdump_reader.parse(data[:size], NAME)
            else:
                jitdump_reader.parse(data[:size], NAME)

    def test_cut_header(self) -> None:
        with self.assertRaisesRegex(jitdump_reader.FormatError, "39 bytes are no file header"):
            jitdump_reader.parse(Writer().header()[:39], NAME, allow_torn_tail=True)


class BadFiles(unittest.TestCase):
    def refuse(self, message: str, *records: bytes, offset: int = 40, header: bytes = b"",
               name: str = NAME) -> None:
        """The file is refused with the message and the offset, torn tail allowed or not."""
        data = (header or Writer().header()) + b"".join(records)
        for allow_torn_tail in (False, True):
            with self.assertRaisesRegex(jitdump_reader.FormatError, message) as caught:
                jitdump_reader.parse(data, name, allow_torn_tail=allow_torn_tail)
            self.assertEqual(caught.exception.offset, offset)

    def test_header(self) -> None:
        w = Writer()
        for message, offset, header in [
                ("magic number 00000000 in neither", 0, w.header(magic=0)),
                ("version 2, not 1", 4, w.header(version=2)),
                ("header of 48 bytes", 8, w.header(size=48)),
                ("elf_mach 0", 12, w.header(elf_mach=0)),
                ("pad1 is 5", 16, w.header(pad1=5)),
                ("pid 1 is not that of the name", 20, w.header(pid=1)),
                ("flags 0x3: perf refuses", 32, w.header(flags=3))]:
            with self.subTest(message):
                self.refuse(message, header=header, offset=offset)

    def test_file_name(self) -> None:
        for name in ("jit-04711.dump", "perf-4711.map", "jit-.dump", "jit-4711.dump.old"):
            with self.subTest(name):
                self.refuse("not named jit-<pid>.dump", name=name, offset=0)

    def test_record_header(self) -> None:
        w = Writer()
        self.refuse("total_size 0 is below", bytes(64))
        self.refuse("total_size 15 is below", w.record(0, b"", total_size=15))
        self.refuse("id 0 without payload", w.record(0, b""))
        self.refuse("id 77 without payload", w.record(77, b""))

    def test_load(self) -> None:
        w = Writer()
        for message, offset, record in [
                ("LOAD: cut short", 56, w.record(0, b"1234")),
                ("function name: no terminating NUL", 96, w.load(name=b"f", code=b"x", code_size=1)),
                ("function name: empty", 96, w.load(name=b"\0")),
                ("total_size 85 is not 58 .* code_size 20", 40, w.load(padding=b"\0" * 7)),
                ("total_size 78 is not 58 .* code_size 21", 40, w.load(code_size=21)),
                ("pid 9 is not", 40, w.load(pid=9)),
                ("tid 0", 40, w.load(tid=0)),
                ("past the end of the address space", 40, w.load(addr=2**64 - 19)),
                ("vma 0x5 is not code_addr 0x1000", 40, w.load(vma=5))]:
            with self.subTest(message):
                self.refuse(message, record, offset=offset)

    def test_load_of_more_than_an_int(self) -> None:
        # The bytes themselves would take 2 GiB: the payload only claims to have them.
        class Huge(Body):
            def left(self) -> int:
                return super().left() + 0x80000000

        w = Writer()
        payload = w.load(code=b"", code_size=0x80000000)
        with self.assertRaisesRegex(jitdump_reader.FormatError, "more than perf's int"):
            Load.parse((0, 0, len(payload), 0), Huge(payload, 16, len(payload), "<"))

    def test_code_may_end_with_the_address_space(self) -> None:
        w = Writer()
        jitdump_reader.parse(w.header() + w.load(addr=2**64 - 20), NAME)

    def test_code_index_twice(self) -> None:
        w = Writer()
        first = w.load(index=5)
        self.refuse("code_index 5 is that of the LOAD at offset 40", first,
                    w.load(index=5, addr=0x9000), offset=40 + len(first))

    def test_move(self) -> None:
        w = Writer()
        load = w.load()
        for message, move in [
                ("MOVE: 8 bytes left", w.move(extra=bytes(8))),
                ("MOVE: cut short", w.record(1, b"1234")),
                ("pid 9 is not", w.move(pid=9)),
                ("tid 0", w.move(tid=0)),
                ("vma 0x5 is not new_code_addr", w.move(vma=5)),
                ("past the end of the address space", w.move(new=2**64 - 19)),
                ("no LOAD before it has code_index 6", w.move(index=6)),
                ("code_size 19 is not 20", w.move(size=19)),
                ("old_code_addr 0x1001 is not 0x1000", w.move(old=0x1001))]:
            with self.subTest(message):
                in_payload = {"8 bytes": 64, "cut short": 16}
                within = next((v for k, v in in_payload.items() if k in message), 0)
                self.refuse(message, load, move, offset=40 + len(load) + within)

    def test_move_with_the_unwinding_data(self) -> None:
        w = Writer()
        size = 24 + len(w.eh_frame()) + len(w.eh_frame_hdr())
        group = w.unwinding() + w.load()
        jitdump_reader.parse(w.header() + group + w.move(size=size), NAME)
        self.refuse(f"code_size {size - 1} is not 20", group, w.move(size=size - 1),
                    offset=40 + len(group))
        self.refuse(f"code_size {size} is not 20", w.load(), w.move(size=size),
                    offset=40 + len(w.load()))

    def test_second_move_starts_where_the_first_ended(self) -> None:
        w = Writer()
        jitdump_reader.parse(w.header() + w.load() + w.move() + w.move(old=0x2000, new=0x1000), NAME)
        self.refuse("old_code_addr 0x1000 is not 0x2000", w.load(), w.move(), w.move(new=0x5000),
                    offset=40 + len(w.load()) + 64)

    def test_move_of_a_function_of_the_parent(self) -> None:
        w = Writer()
        data = w.header() + w.move(index=6)
        dump = jitdump_reader.parse(data, NAME, child_of_fork=True)
        self.assertEqual(dump.records[0].code_index, 6)

    def test_debug_info(self) -> None:
        w = Writer()
        first, second, closing = LINES
        for message, offset, record in [
                ("nr_entry 1, but", 40, w.debug_info((closing,))),
                ("nr_entry 0, but", 40, w.debug_info((), extra=b"x")),
                ("entry 3 of 4: cut short", 132, w.debug_info(LINES, nr_entry=4)),
                ("8 bytes left", 132, w.debug_info(LINES, extra=bytes(8))),
                ("entry 0 of 3: file name: empty", 88,
                 w.debug_info(((0x1000, 1, 3, b"\0"), second, closing))),
                ("entry 2 of 3: file name: no terminating NUL", 128,
                 w.debug_info((first, second, (0x1014, 2, 0, b"b.c")))),
                ("entry 1 of 3: the file name is the byte 0xff", 92,
                 w.debug_info((first, (0x1008, 2, 0, b"\xff\0"), closing))),
                ("entry 0 of 3: line 0", 72,
                 w.debug_info(((0x1000, 0, 0, b"a.c\0"), second, closing))),
                ("entry 1 of 3: line 0", 92,
                 w.debug_info((first, (0x1008, 0, 0, b"b.c\0"), closing))),
                ("entry 1 of 3: address 0x1000 is not above 0x1000", 92,
                 w.debug_info((first, (0x1000, 2, 0, b"b.c\0"), closing))),
                ("entry 2 of 3: address 0x1004 is not above 0x1008", 112,
                 w.debug_info((first, second, (0x1004, 2, 0, b"b.c\0")))),
                ("code_addr 0x1001 is not 0x1000 of the LOAD", 40, w.debug_info(LINES, addr=0x1001)),
                ("address 0xfff is outside", 72,
                 w.debug_info(((0xFFF, 1, 0, b"a.c\0"), second, closing))),
                ("address 0x1014 is outside", 92,
                 w.debug_info((first, (0x1014, 1, 0, b"a.c\0"), (0x1015, 2, 0, b"b.c\0")))),
                ("last entry, 0x1008, does not close the table at the code's end 0x1014", 92,
                 w.debug_info((first, second)))]:
            with self.subTest(message):
                self.refuse(message, record, w.load(), offset=offset)

    def test_unwinding_sizes(self) -> None:
        w = Writer()
        for message, record in [
                ("64 bytes of data, but unwind_data_size 65", w.unwinding(data_size=65)),
                ("64 bytes of data, but unwind_data_size 63", w.unwinding(data_size=63)),
                ("one of the parts is empty", w.unwinding(hdr_size=0)),
                ("one of the parts is empty", w.unwinding(hdr_size=64)),
                ("mapped_size 0 is not", w.unwinding(mapped_size=0))]:
            with self.subTest(message):
                self.refuse(message, record, w.load())

    def test_unwinding_data(self) -> None:
        w = Writer()
        frame, hdr = w.eh_frame, w.eh_frame_hdr
        for message, record in [
                ("begins with version 24, not 1: is it at the end", w.unwinding(swapped=True)),
                ("begins with version 2", w.unwinding(eh_frame_hdr=hdr(version=2))),
                ("eh_frame_hdr of 3 bytes is too small", w.unwinding(eh_frame_hdr=hdr()[:3])),
                ("eh_frame_hdr of 11 bytes is cut short", w.unwinding(eh_frame_hdr=hdr()[:11])),
                ("eh_frame_ptr -44 does not point", w.unwinding(eh_frame_hdr=hdr(pointer=-44))),
                ("no place for 2 entries", w.unwinding(eh_frame_hdr=hdr(count=2))),
                ("entry 0 is for offset 20, outside",
                 w.unwinding(eh_frame_hdr=hdr(location=-(4 + 44)))),
                ("entry 0 is for offset -1, outside",
                 w.unwinding(eh_frame_hdr=hdr(location=-(25 + 44)))),
                ("points to offset 0 of the eh_frame", w.unwinding(eh_frame_hdr=hdr(fde=-44))),
                ("entry 1 is not above", w.unwinding(
                    eh_frame_hdr=hdr(count=2) + w.pack("ii", -(24 + 44), 20 - 44))),
                ("the FDE at offset 20 has no CIE", w.unwinding(eh_frame=frame(cie_pointer=20))),
                ("entry of 16 bytes at offset 20 does not fit", w.unwinding(eh_frame=frame()[:36])),
                ("ends within the length at its offset 40", w.unwinding(eh_frame=frame()[:42])),
                ("entry of 3 bytes at offset 0", w.unwinding(eh_frame=b"\3" + frame()[1:])),
                ("goes on behind its terminator", w.unwinding(eh_frame=frame() + b"\1"))]:
            with self.subTest(message):
                self.refuse(rf"{message}.*P13", record, w.load())

    def test_unwinding_data_in_other_encodings(self) -> None:
        w = Writer()
        for hdr in (w.eh_frame_hdr(encodings=(0x1B, 0xFF, 0xFF))[:8],
                    bytes((1, 0xFF, 0xFF, 0xFF))):
            jitdump_reader.parse(w.header() + w.unwinding(eh_frame_hdr=hdr) + w.load(), NAME)

    def test_groups(self) -> None:
        w = Writer()
        debug_info = w.debug_info(LINES)
        for message, between in [
                ("record of id 77 between the one at offset 40 and its LOAD", w.record(77, b"x")),
                ("record of id 1 between", w.move()),
                ("record of id 3 between", w.close()),
                ("second record of id 2 for the same LOAD", debug_info)]:
            with self.subTest(message):
                self.refuse(message, debug_info, between, w.load(), offset=40 + len(debug_info))

    def test_close_is_last_and_bare(self) -> None:
        w = Writer()
        self.refuse("record of id 0 behind the CLOSE at offset 40", w.close(), w.load(), offset=56)
        self.refuse("record of id 3 behind the CLOSE", w.close(), w.close(), offset=56)
        self.refuse("CLOSE: 4 bytes left", w.close(bytes(4)), offset=56)

    def test_timestamps(self) -> None:
        w = Writer()
        first = w.load()
        self.refuse("timestamp 1999 is 1 before that", first, w.load(index=2, timestamp=1999),
                    offset=40 + len(first))
        self.refuse("timestamp 999 is 1 before", w.load(timestamp=999))


class Name(GroupRecord):
    """An extension as a later module would make it: a string, which must be the LOAD's name."""

    text: str

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Name":
        record = cls(*prefix)
        record.text = body.string("text")
        body.finish("Name")
        return record

    def check_load(self, load: Load) -> None:
        if self.text != load.name:
            raise jitdump_reader.FormatError(self.offset, "not the name")


class Extensions(unittest.TestCase):
    def read(self, *records: bytes) -> jitdump_reader.Dump:
        return jitdump_reader.parse(Writer().header() + b"".join(records), NAME,
                                    extensions={EXTENSION_ID: Name})

    def test_belongs_to_the_group(self) -> None:
        w = Writer()
        record = w.record(EXTENSION_ID, b"f\0")
        dump = self.read(w.debug_info(LINES), record, w.load())
        self.assertEqual(dump.functions[0].described_by(Name).text, "f")
        with self.assertRaisesRegex(jitdump_reader.FormatError, "not the name"):
            self.read(w.record(EXTENSION_ID, b"g\0"), w.load())
        with self.assertRaisesRegex(jitdump_reader.FormatError, "Name: 1 bytes left"):
            self.read(w.record(EXTENSION_ID, b"f\0\0"), w.load())

    def test_is_raw_without_the_extension(self) -> None:
        dump = jitdump_reader.parse(Writer().header() + Writer().record(EXTENSION_ID, b"f\0"), NAME)
        self.assertIsInstance(dump.records[0], jitdump_reader.Raw)


class Command(unittest.TestCase):
    def run_reader(self, data: bytes, *arguments: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, NAME)
            with open(path, "wb") as file:
                file.write(data)
            return subprocess.run([*READER, *arguments, path], capture_output=True,
                                  text=True, check=False)

    def test_check(self) -> None:
        result = self.run_reader(good_file(Writer()), "check")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, rf"{NAME}: 7 records, 2 functions, closed\n$")

    def test_check_refuses(self) -> None:
        result = self.run_reader(Writer().header(version=3), "check")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, rf"{NAME}: at offset 4 \(0x4\): version 3, not 1")

    def test_check_of_a_missing_file(self) -> None:
        result = subprocess.run([*READER, "check", "/nonexistent/jit-1.dump"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)

    def test_torn_tail_is_said(self) -> None:
        data = good_file(Writer())[:-3]
        self.assertEqual(self.run_reader(data, "check").returncode, 1)
        result = self.run_reader(data, "check", "--allow-torn-tail")
        self.assertEqual(result.returncode, 0)
        self.assertIn("torn tail: 0 records without their LOAD and 13 bytes at offset", result.stdout)

    def test_child_of_fork(self) -> None:
        data = Writer().header() + Writer().move(index=6)
        self.assertEqual(self.run_reader(data, "check").returncode, 1)
        self.assertEqual(self.run_reader(data, "check", "--child-of-fork").returncode, 0)

    def test_dump(self) -> None:
        result = self.run_reader(good_file(Writer()), "dump")
        self.assertEqual(result.returncode, 0)
        for line in ("Header order='<'", "DebugInfo offset=40 id=2", "    DebugEntry ", "name='a.c'",
                     "UnwindingInfo ",
                     "code_addr=0x1000 code_size=20 code_index=1 name='f' code=20 bytes",
                     "Raw ", "new_code_addr=0x2000", "Close "):
            self.assertIn(line, result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
