"""What the tiered example says of itself in its log: where each piece of code lay when, and
where each of its offsets comes from."""
from __future__ import annotations

import bisect
import dataclasses
import json
import pathlib

FUNCTIONS = ["square", "distance", "clamp", "score", "main"]  # as program.tl has them


@dataclasses.dataclass
class Frame:
    function: str
    line: int
    column: int
    instruction: int  # line of the bytecode listing


@dataclasses.dataclass
class Code:
    name: str
    size: int
    offsets: list[tuple[int, int]]
    positions: list[list[int]]

    def chain(self, offset: int) -> list[Frame]:
        """The frames at the offset, innermost first."""
        starts = [start for start, _ in self.offsets]
        position = self.offsets[bisect.bisect(starts, offset) - 1][1]
        frames = []
        while position >= 0:
            function, line, column, instruction, caller = self.positions[position]
            frames.append(Frame(FUNCTIONS[function], line, column, instruction))
            position = caller
        return frames


class Log:
    def __init__(self, path: pathlib.Path) -> None:
        self.placements: list[tuple[int, int, Code]] = []  # since, addr
        for line in path.read_text().splitlines():
            event = json.loads(line)
            code = Code(event["code"], event["size"], [tuple(o) for o in event["offsets"]],
                        event["positions"])
            self.placements.append((event["since"], event["addr"], code))

    def at(self, addr: int, time: int) -> tuple[Code, int] | None:
        """The code at the address at that time, and the offset in it."""
        for since, start, code in reversed(self.placements):
            if since <= time and start <= addr < start + code.size:
                return code, addr - start
        return None
