"""What the workload says of itself: which function lay where at which time, and how long it ran."""

import bisect
import collections
import dataclasses
import json
from typing import Dict, List, Optional, Tuple

PAGE_SIZE = 4096  # of an index by address


@dataclasses.dataclass
class Function:
    name: str
    size: int
    file: str
    lines: List[Tuple[int, int, int]]  # offset, line, rounds per iteration
    code: bytes

    @property
    def weight(self) -> int:
        """Rounds per iteration, without those of callees."""
        return sum(weight for _, _, weight in self.lines)

    def line_at(self, offset: int) -> Optional[int]:
        """The source line of the instruction at the offset; None in front of the first."""
        index = bisect.bisect([start for start, _, _ in self.lines], offset)
        return self.lines[index - 1][1] if index > 0 else None


@dataclasses.dataclass
class Placement:
    """From `since` on, `function` lies at `addr` in the process, and in children that it
    begets."""

    pid: int
    addr: int
    since: int
    function: Function


class Truth:
    def __init__(self, output: str) -> None:
        self.functions: Dict[str, Function] = {}
        self.placements: List[Placement] = []
        self.cpu: Dict[str, int] = {}
        self.clocks: List[Tuple[int, int]] = []
        self.dump = ""
        self.pid = 0
        self.error: Optional[dict] = None
        for line in output.splitlines():
            self._add(json.loads(line))
        self.placements.sort(key=lambda placement: placement.since, reverse=True)
        self._by_page: Dict[int, List[Placement]] = collections.defaultdict(list)
        for placement in self.placements:
            end = placement.addr + placement.function.size
            for page in range(placement.addr // PAGE_SIZE, (end - 1) // PAGE_SIZE + 1):
                self._by_page[page].append(placement)

    def _add(self, event: dict) -> None:
        if "function" in event:
            lines = [tuple(line) for line in event["lines"]]
            function = Function(event["function"], event["size"], event["file"], lines,
                                bytes.fromhex(event["code"]))
            self.functions[function.name] = function
            self.placements.append(Placement(event["pid"], event["addr"], event["since"], function))
        elif "moved" in event:
            self.placements.append(Placement(event["pid"], event["addr"], event["since"],
                                             self.functions[event["moved"]]))
        elif "cpu" in event:
            self.cpu[event["cpu"]] = self.cpu.get(event["cpu"], 0) + event["ns"]
        elif "clocks" in event:
            self.clocks.append(tuple(event["clocks"]))
        elif "dump" in event:
            self.dump, self.pid = event["dump"], event["pid"]
        elif "error" in event:
            self.error = event

    def at(self, pid: int, ip: int, time: int) -> Optional[Tuple[Function, int]]:
        """The function that an instruction address belonged to at a time, and the offset in
        it; None for an address outside of the generated code."""
        inherited = None
        for placement in self._by_page[ip // PAGE_SIZE]:  # the youngest first
            offset = ip - placement.addr
            if placement.since <= time and 0 <= offset < placement.function.size:
                if placement.pid == pid:
                    return placement.function, offset
                inherited = inherited or (placement.function, offset)
        return inherited
