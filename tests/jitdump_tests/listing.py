"""A runtime's own word for where its functions lie: the /tmp/perf-<pid>.map that it writes itself."""
from __future__ import annotations

import bisect
import pathlib
from typing import Dict, List, Optional, Tuple


class Listing:
    def __init__(self) -> None:
        # By start: all that were there, as (end, name).
        self.functions: Dict[int, List[Tuple[int, str]]] = {}
        self.starts: List[int] = []

    def add(self, start: int, size: int, name: str) -> None:
        if start not in self.functions:
            bisect.insort(self.starts, start)
        self.functions.setdefault(start, []).append((start + size, name))

    def at(self, address: int) -> Optional[List[str]]:
        """The names that the code at the address has had; None: it is nobody's."""
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
