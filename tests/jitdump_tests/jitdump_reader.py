"""A strict reader of jitdump files, the second opinion of all tests.

It is written from the specification (version 2) and from what perf and samply are known
to do with a file (facts P1, S1 and so on of docs/consumers.md), not from the library. It
refuses whatever a consumer would read wrongly, at the first offence, with the offset.

As a module:

    dump = jitdump_reader.read("jit-4711.dump")
    for function in dump.functions:
        print(function.load.name, len(function.load.code))

As a command:

    export PYTHONPATH=tests
    python3 -m jitdump_tests.jitdump_reader check jit-*.dump
    python3 -m jitdump_tests.jitdump_reader dump jit-4711.dump
"""
from __future__ import annotations

import argparse
import os
import re
import struct
import sys
from dataclasses import dataclass, fields
from typing import Dict, List, Mapping, Optional, Type

from jitdump_tests.jitdump_records import (JIT_CODE_CLOSE, RECORD_HEADER_SIZE, RECORD_TYPES, Body,
                                           Close, DebugInfo, FormatError, GroupRecord, Header, Load,
                                           Move, Raw, Record, UnwindingInfo)

__all__ = ["Close", "DebugInfo", "Dump", "FormatError", "Function", "GroupRecord", "Header", "Load",
           "Move", "Raw", "Record", "UnwindingInfo", "parse", "read"]

MAGIC = 0x4A695444
FILE_HEADER_SIZE = 40


@dataclass
class Function:
    """A LOAD with the records in front of it that describe the same function."""

    load: Load
    description: List[GroupRecord]

    def described_by(self, record_type: Type[GroupRecord]) -> Optional[GroupRecord]:
        return next((r for r in self.description if isinstance(r, record_type)), None)


@dataclass
class Dump:
    header: Header
    records: List[Record]
    functions: List[Function]
    size: int
    # What a writer that died left behind the last whole record, in bytes; and the records of a
    # last group that has no LOAD yet. Both are empty unless the caller allowed them.
    torn_bytes: int
    unfinished: List[GroupRecord]

    @property
    def closed(self) -> bool:
        return bool(self.records) and isinstance(self.records[-1], Close)


class _Sequence:
    """The rules about one record after the other."""

    def __init__(self, header: Header, child_of_fork: bool) -> None:
        self.pid = header.pid
        self.child_of_fork = child_of_fork
        self.timestamp = header.timestamp
        self.functions: List[Function] = []
        self.addresses: Dict[int, int] = {}
        self.loads: Dict[int, Load] = {}
        # By code_index, as perf maps the function: with its unwinding data (P15).
        self.mapped_sizes: Dict[int, int] = {}
        self.group: List[GroupRecord] = []
        self.close: Optional[Close] = None

    def add(self, record: Record) -> None:
        if self.close is not None:
            raise FormatError(record.offset, f"record of id {record.id} behind the CLOSE at offset"
                                             f" {self.close.offset} (P5)")
        if record.timestamp < self.timestamp:
            raise FormatError(record.offset, f"timestamp {record.timestamp} is"
                                             f" {self.timestamp - record.timestamp} before that of the"
                                             " record before (S3)")
        self.timestamp = record.timestamp
        if isinstance(record, GroupRecord):
            if any(member.id == record.id for member in self.group):
                raise FormatError(record.offset, f"second record of id {record.id} for the same LOAD")
            self.group.append(record)
        elif isinstance(record, Load):
            self._load(record)
        else:
            if self.group:
                raise FormatError(record.offset, f"record of id {record.id} between the one at offset"
                                                 f" {self.group[-1].offset} and its LOAD (P9)")
            if isinstance(record, Move):
                self._move(record)
            elif isinstance(record, Close):
                self.close = record

    def _check_pid(self, record: Record, pid: int) -> None:
        if pid != self.pid:
            raise FormatError(record.offset, f"pid {pid} is not the file's {self.pid}")

    def _load(self, load: Load) -> None:
        self._check_pid(load, load.pid)
        if load.code_index in self.loads:
            raise FormatError(load.offset, f"LOAD: code_index {load.code_index} is that of the LOAD at"
                                           f" offset {self.loads[load.code_index].offset} (P8)")
        for member in self.group:
            member.check_load(load)
        function = Function(load, self.group)
        self.functions.append(function)
        unwinding = function.described_by(UnwindingInfo)
        self.mapped_sizes[load.code_index] = (
            (load.code_size + 7) // 8 * 8 + unwinding.unwind_data_size if unwinding
            else load.code_size)
        self.group = []
        self.loads[load.code_index] = load
        self.addresses[load.code_index] = load.code_addr

    def _move(self, move: Move) -> None:
        self._check_pid(move, move.pid)
        load = self.loads.get(move.code_index)
        if load is None:
            if not self.child_of_fork:
                raise FormatError(move.offset, f"MOVE: no LOAD before it has code_index"
                                               f" {move.code_index}")
            return
        mapped_size = self.mapped_sizes[move.code_index]
        if move.code_size not in (load.code_size, mapped_size):
            raise FormatError(move.offset, f"MOVE: code_size {move.code_size} is not {load.code_size}"
                                           f" of the LOAD at offset {load.offset}, nor {mapped_size}"
                                           " with its unwinding data (P21)")
        address = self.addresses[move.code_index]
        if move.old_code_addr != address:
            raise FormatError(move.offset, f"MOVE: old_code_addr 0x{move.old_code_addr:x} is not"
                                           f" 0x{address:x}, where the function was last")
        self.addresses[move.code_index] = move.new_code_addr


def _parse_header(data: bytes, file_name: str) -> Header:
    if len(data) < FILE_HEADER_SIZE:
        raise FormatError(0, f"{len(data)} bytes are no file header, which has {FILE_HEADER_SIZE}")
    orders = {struct.pack("<I", MAGIC): "<", struct.pack(">I", MAGIC): ">"}
    order = orders.get(data[:4])
    if order is None:
        raise FormatError(0, f"magic number {data[:4].hex()} in neither byte order")
    header = Header(order, *struct.unpack_from(order + "IIIIIIQQ", data))
    if header.version != 1:
        raise FormatError(4, f"version {header.version}, not 1")
    if header.total_size != FILE_HEADER_SIZE:
        raise FormatError(8, f"header of {header.total_size} bytes, not {FILE_HEADER_SIZE}")
    if header.elf_mach == 0:
        raise FormatError(12, "elf_mach 0 is no machine")
    if header.pad1 != 0:
        raise FormatError(16, f"pad1 is {header.pad1}, not 0")
    if header.flags & ~1:
        raise FormatError(32, f"flags 0x{header.flags:x}: perf refuses all but bit 0 (P4)")
    name = re.fullmatch(r"jit-([1-9][0-9]*)\.dump", file_name)
    if name is None:
        raise FormatError(0, f"the file is not named jit-<pid>.dump, but {file_name} (P1)")
    if int(name[1]) != header.pid:
        raise FormatError(20, f"pid {header.pid} is not that of the name {file_name} (P1)")
    return header


def _parse_record(data: bytes, offset: int, order: str,
                  types: Mapping[int, Type[Record]]) -> Optional[Record]:
    """The record at `offset`, or None if the file ends before it does."""
    if len(data) - offset < RECORD_HEADER_SIZE:
        return None
    id, total_size, timestamp = struct.unpack_from(order + "IIQ", data, offset)
    if total_size < RECORD_HEADER_SIZE:
        raise FormatError(offset, f"total_size {total_size} is below the {RECORD_HEADER_SIZE} of a"
                                  " record header (P6)")
    if total_size == RECORD_HEADER_SIZE and id != JIT_CODE_CLOSE:
        raise FormatError(offset, f"record of id {id} without payload, at which perf stops (P5)")
    end = offset + total_size
    if end > len(data):
        return None
    body = Body(data, offset + RECORD_HEADER_SIZE, end, order)
    return types.get(id, Raw).parse((offset, id, total_size, timestamp), body)


def parse(data: bytes, file_name: str, *, allow_torn_tail: bool = False, child_of_fork: bool = False,
          extensions: Optional[Mapping[int, Type[Record]]] = None) -> Dump:
    """Reads the bytes of a dump whose base name is `file_name`. For the rest see read()."""
    types = {**RECORD_TYPES, **(extensions or {})}
    header = _parse_header(data, file_name)
    sequence = _Sequence(header, child_of_fork)
    records: List[Record] = []
    offset = FILE_HEADER_SIZE
    while offset < len(data):
        record = _parse_record(data, offset, header.order, types)
        if record is None:
            break
        sequence.add(record)
        records.append(record)
        offset += record.total_size
    torn = len(data) - offset
    if not allow_torn_tail:
        if torn > 0:
            raise FormatError(offset, f"the last {torn} bytes are not a whole record")
        if sequence.group:
            raise FormatError(sequence.group[0].offset,
                              f"record of id {sequence.group[0].id} at the end without its LOAD (P9)")
    return Dump(header, records, sequence.functions, len(data), torn, sequence.group)


def read(path: str, *, allow_torn_tail: bool = False, child_of_fork: bool = False,
         extensions: Optional[Mapping[int, Type[Record]]] = None) -> Dump:
    """Reads a whole dump and checks it. Raises FormatError at the first broken rule.

    allow_torn_tail: the file may end within a record or a group, as after a SIGKILL. What is
        whole is read; torn_bytes and unfinished tell what was left.
    child_of_fork: a MOVE may name a function that is not in this file, but in the parent's.
    extensions: classes for records that the specification does not know, by id.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse(data, os.path.basename(path), allow_torn_tail=allow_torn_tail,
                     child_of_fork=child_of_fork, extensions=extensions)
    except FormatError as error:
        error.path = str(path)
        raise


_ADDRESSES = {"vma", "code_addr", "old_code_addr", "new_code_addr", "flags"}


def _describe(item: object) -> str:
    """One line with the class and its integers and strings, as they are named in the file."""
    parts = []
    for each in fields(item):
        value = getattr(item, each.name)
        if isinstance(value, bytes):
            parts.append(f"{each.name}={len(value)} bytes")
        elif each.name in _ADDRESSES:
            parts.append(f"{each.name}=0x{value:x}")
        elif not isinstance(value, list):
            parts.append(f"{each.name}={value!r}")
    return f"{type(item).__name__} {' '.join(parts)}"


def _tail(dump: Dump) -> str:
    if not dump.torn_bytes and not dump.unfinished:
        return ""
    return (f", torn tail: {len(dump.unfinished)} records without their LOAD and"
            f" {dump.torn_bytes} bytes at offset {dump.size - dump.torn_bytes}")


def _main() -> int:
    parser = argparse.ArgumentParser(description="Checks or prints jitdump files.")
    parser.add_argument("command", choices=["check", "dump"])
    parser.add_argument("file", nargs="+")
    parser.add_argument("--allow-torn-tail", action="store_true",
                        help="the file may end within a record or a group")
    parser.add_argument("--child-of-fork", action="store_true",
                        help="a MOVE may name a function of the parent's dump")
    arguments = parser.parse_args()
    status = 0
    for path in arguments.file:
        try:
            dump = read(path, allow_torn_tail=arguments.allow_torn_tail,
                        child_of_fork=arguments.child_of_fork)
        except (FormatError, OSError) as error:
            print(f"{parser.prog}: {error}", file=sys.stderr)
            status = 1
            continue
        if arguments.command == "dump":
            print(_describe(dump.header))
            for record in dump.records:
                print(_describe(record))
                for entry in getattr(record, "entries", []):
                    print(f"    {_describe(entry)}")
        print(f"{path}: {len(dump.records)} records, {len(dump.functions)} functions,"
              f" {'closed' if dump.closed else 'not closed'}{_tail(dump)}")
    return status


if __name__ == "__main__":
    sys.exit(_main())
