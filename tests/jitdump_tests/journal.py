"""Reads the journals of the stress program; journal.h has the layout."""
from __future__ import annotations

import struct
from typing import List

MAGIC = 0x6A6F75726E616C31
HEADER = "QQQQQqqQ"
THREAD = "QQq40x"


class ThreadJournal:
    def __init__(self, returned: int, flushed: int, error: int, code_indices: List[int]) -> None:
        self.returned = returned  # appends that have returned 0
        self.flushed = flushed  # those that returned before the call of a flush that returned 0
        self.error = error  # what ended the appends, or 0
        self.code_indices = code_indices  # of the returned appends


class Journal:
    """A journal as its process left it. One that was not even begun has no threads."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            data = file.read()
        self.threads: List[ThreadJournal] = []
        self.seed = self.code_size_max = self.operations = 0
        self.signal_result = self.close_result = 0
        # The byte order of the process, as the struct module has it.
        self.order = ">" if data.startswith(struct.pack(">Q", MAGIC)) else "<"
        header = struct.Struct(self.order + HEADER)
        thread = struct.Struct(self.order + THREAD)
        if len(data) < header.size or header.unpack_from(data)[0] != MAGIC:
            return
        (_, self.seed, self.code_size_max, count, self.operations, self.signal_result,
         self.close_result, _) = header.unpack_from(data)
        indices = header.size + count * thread.size
        for number in range(count):
            returned, flushed, error = thread.unpack_from(data, header.size + number * thread.size)
            code_indices = struct.unpack_from(f"{self.order}{returned}Q", data,
                                              indices + number * self.operations * 8)
            self.threads.append(ThreadJournal(returned, flushed, error, list(code_indices)))
