"""A runtime's own word for where its functions lie: the /tmp/perf-<pid>.map or the dump that it writes itself."""
from __future__ import annotations

import bisect
import pathlib
import struct
from typing import Callable, Dict, List, Optional, Tuple


class Listing:
    def __init__(self) -> None:
        # By start: all that were there, as (end, name).
        self.functions: Dict[int, List[Tuple[int, str]]] = {}
        self.starts: List[int] = []

    def add(self, start: int, size: int, name: str) -> None:
        if start not in self.functions:
            bisect.insort(self.starts, start)
        self.functions.setdefault(start, []).append((start + size, name))

    def rename(self, change: Callable[[str], str]) -> None:
        for here in self.functions.values():
            here[:] = [(end, change(name)) for end, name in here]

    def at(self, address: int, time: int) -> Optional[List[str]]:
        """The names that the code at the address has had; None: it is nobody's. Of the time nothing is known."""
        del time
        index = bisect.bisect_right(self.starts, address)
        if index == 0:
            return None
        here = [name for end, name in self.functions[self.starts[index - 1]] if address < end]
        return here or None


def take_perf_map(pid: int) -> Listing:
    """Reads the map and removes it, so that perf takes no name from it."""
    path = pathlib.Path(f"/tmp/perf-{pid}.map")
    listing = Listing()
    for line in path.read_text(errors="surrogateescape").splitlines():
        start, size, name = line.split(" ", 2)
        listing.add(int(start, 16), int(size, 16), name)
    path.unlink()
    return listing


class DumpListing:
    """A dump of somebody else's."""

    def __init__(self, dump: bytes) -> None:
        # Start, end, time and name, in the order of their loading.
        self.loads: List[Tuple[int, int, int, str]] = []
        at = self.header_size = struct.unpack_from("=I", dump, 8)[0]
        while at < len(dump):
            kind, size, time = struct.unpack_from("=IIQ", dump, at)
            if kind == 0:
                _, _, _, start, code_size, _ = struct.unpack_from("=IIQQQQ", dump, at + 16)
                name = dump[at + 56:dump.index(0, at + 56)].decode()
                self.loads.append((start, start + code_size, time, name))
            at += size

    def at(self, address: int, time: int) -> Optional[List[str]]:
        for start, end, loaded, name in reversed(self.loads):
            if loaded <= time and start <= address < end:
                return [name]
        return None
