"""Reads the journals of the stress program; journal.h has the layout."""
from __future__ import annotations

import struct
from typing import List

MAGIC = 0x6A6F75726E616C31
HEADER = struct.Struct("=QQQQQqqQ")
THREAD = struct.Struct("=QQq40x")


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
        if len(data) < HEADER.size or HEADER.unpack_from(data)[0] != MAGIC:
            return
        (_, self.seed, self.code_size_max, count, self.operations, self.signal_result,
         self.close_result, _) = HEADER.unpack_from(data)
        indices = HEADER.size + count * THREAD.size
        for number in range(count):
            returned, flushed, error = THREAD.unpack_from(data, HEADER.size + number * THREAD.size)
            code_indices = struct.unpack_from(f"={returned}Q", data,
                                              indices + number * self.operations * 8)
            self.threads.append(ThreadJournal(returned, flushed, error, list(code_indices)))
