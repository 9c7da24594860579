"""Compares a dump with the journal of the process that wrote it."""
from __future__ import annotations

import struct
from typing import Dict, List, Mapping, Optional, Type

from jitdump_tests import jitdump_reader, workload
from jitdump_tests.journal import Journal


class Failure(Exception):
    """The file is not what the journal says, or the process did not end as it should."""


class Contents:
    """What a dump holds of the workload of its process. Making it checks every record: those of
    each thread are its operations 0, 1, 2 ... without a gap, with every byte as planned, and
    the code indices are those that were returned and ascend over the file."""

    def __init__(self, path: str, journal: Journal, *, torn_tail: bool = False,
                 extensions: Optional[Mapping[int, Type[jitdump_reader.Record]]] = None) -> None:
        self.path = path
        self.journal = journal
        self.dump = jitdump_reader.read(path, allow_torn_tail=torn_tail, extensions=extensions)
        # By thread: how many of its operations are in the file.
        self.present: List[int] = [0] * len(journal.threads)
        self.last_code_index = 0
        self._loads: List[Optional[jitdump_reader.Load]] = [None] * len(journal.threads)
        self._threads: Dict[int, int] = {}  # by tid
        functions = iter(self.dump.functions)
        for record in self.dump.records:
            if isinstance(record, jitdump_reader.Load):
                self._load(next(functions))
            elif isinstance(record, jitdump_reader.Move):
                self._move(record)
            elif isinstance(record, jitdump_reader.Raw):
                self._raw(record)

    def fail(self, message: str) -> None:
        raise Failure(f"{self.path}: {message}")

    def _expect(self, record: jitdump_reader.Record, what: str, actual: object,
                planned: object) -> None:
        if actual != planned:
            self.fail(f"record at offset {record.offset}: {what} is {str(actual)[:200]},"
                      f" not {str(planned)[:200]}")

    def _next_operation(self, record: jitdump_reader.Record, thread: int,
                        kind: str) -> workload.Operation:
        if thread >= len(self.present):
            self.fail(f"record at offset {record.offset}: thread {thread} of {len(self.present)}")
        operation = workload.Operation(self.journal.seed, self.journal.code_size_max, thread,
                                       self.present[thread], self.journal.order)
        self._expect(record, f"kind of the operation {operation.sequence} of thread {thread}", kind,
                     operation.kind)
        self.present[thread] += 1
        return operation

    def _load(self, function: jitdump_reader.Function) -> None:
        load = function.load
        thread = self._threads.get(load.tid)
        if thread is None:
            thread = int(load.name[1:].partition(".")[0])
            if thread in self._threads.values():
                self.fail(f"record at offset {load.offset}: a second tid {load.tid} of thread"
                          f" {thread}")
            self._threads[load.tid] = thread
        operation = self._next_operation(load, thread, workload.LOAD)
        self._expect(load, "name", load.name, operation.name)
        self._expect(load, "code_addr", load.code_addr, operation.code_addr)
        if load.code != operation.bytes:
            self.fail(f"record at offset {load.offset}: the code of {load.name} is not as appended")
        if load.code_index <= self.last_code_index:
            self.fail(f"record at offset {load.offset}: code_index {load.code_index} is not above"
                      f" {self.last_code_index} of the load before")
        self.last_code_index = load.code_index
        returned = self.journal.threads[thread].code_indices
        if operation.sequence < len(returned):
            self._expect(load, "code_index", load.code_index, returned[operation.sequence])
        self._loads[thread] = load

        debug_info = function.described_by(jitdump_reader.DebugInfo)
        entries = debug_info.entries[:-1] if debug_info else []
        self._expect(load, "line table",
                     [(e.code_addr, e.line, e.discrim, e.name) for e in entries], operation.lines())
        unwinding = function.described_by(jitdump_reader.UnwindingInfo)
        self._expect(load, "unwinding data",
                     (unwinding.eh_frame, unwinding.eh_frame_hdr) if unwinding else None,
                     operation.unwinding())

    def _move(self, move: jitdump_reader.Move) -> None:
        thread = self._threads.get(move.tid)
        if thread is None:
            self.fail(f"record at offset {move.offset}: no load of tid {move.tid} before the move")
        operation = self._next_operation(move, thread, workload.MOVE)
        self._expect(move, "code_index", move.code_index, self._loads[thread].code_index)
        self._expect(move, "code_size", move.code_size, operation.size)
        self._expect(move, "new_code_addr", move.new_code_addr,
                     operation.code_addr + workload.MOVE_DISTANCE)

    def _raw(self, record: jitdump_reader.Raw) -> None:
        thread = struct.unpack_from(self.journal.order + "I", record.payload)[0]
        operation = self._next_operation(record, thread, workload.RAW)
        self._expect(record, "id", record.id, operation.raw_id)
        if record.payload != operation.raw_payload:
            self.fail(f"record at offset {record.offset}: its payload is not as appended")

    def expect_all(self) -> None:
        """Everything that returned is in the file, and nothing else."""
        for number, thread in enumerate(self.journal.threads):
            if self.present[number] != thread.returned:
                self.fail(f"{self.present[number]} appends of thread {number} are in the file, but"
                          f" {thread.returned} have returned")

    def expect_prefix(self, guaranteed: List[int]) -> None:
        """What is guaranteed is in the file, and what is missing of the rest is a suffix of the
        order in which the appends were reserved, in which code indices ascend."""
        for number, thread in enumerate(self.journal.threads):
            present = self.present[number]
            if present < guaranteed[number]:
                self.fail(f"only {present} appends of thread {number} are in the file, but"
                          f" {guaranteed[number]} are promised")
            if present > thread.returned + 1:
                self.fail(f"{present} appends of thread {number} are in the file, but only"
                          f" {thread.returned} have returned")
            missing = next((index for index in thread.code_indices[present:] if index > 0), None)
            if missing is not None and missing < self.last_code_index:
                self.fail(f"a hole: the load of thread {number} with code_index {missing} is missing,"
                          f" but that with {self.last_code_index} is in the file")
