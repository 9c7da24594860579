"""What a recipe's program ran, by its output.txt, and of object files, what binutils say.

Where a compiler writes DWARF, the program prints no lines, since what would print them is what is to be
tested. It keeps the object file and says where a function of it was loaded:

    {"function": SYMBOL, "pid": PID, "addr": ADDRESS, "object": FILE}
"""

import json
import pathlib
import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

from jitdump_tests import symbolizers
from jitdump_tests.truth import Truth


def truth_of(folder: pathlib.Path) -> Truth:
    printed = [json.loads(line) for line in
               (folder / "output.txt").read_text(encoding="utf-8").splitlines()]
    objects: Dict[str, Object] = {}
    events: Dict[int, dict] = {}  # by address
    others: List[dict] = []
    for event in printed:
        if "object" not in event:
            others.append(event)
            continue
        if event["object"] not in objects:
            objects[event["object"]] = Object(folder / event["object"])
        for function in objects[event["object"]].functions_at(event):
            events[function["addr"]] = function
    return Truth("\n".join(map(json.dumps, [*others, *events.values()])))


class Symbol(NamedTuple):
    section: str
    addr: int  # in the linked file
    size: int


class Object:
    """Linked, since to addr2line addresses in several sections would be the same."""

    def __init__(self, path: pathlib.Path) -> None:
        self.linked = path.with_suffix(".elf")
        symbolizers.run("ld", "-o", self.linked, "--entry=0", "--unresolved-symbols=ignore-all", path)
        sections = {symbol[-1]: symbol[-3] for symbol in self.symbols(path)}
        self.functions = {name: Symbol(sections[name], int(addr, 16), int(size, 16))
                          for addr, kind, _, size, name in self.symbols(self.linked) if kind == "F"}
        self.described: Dict[str, dict] = {}

    @staticmethod
    def symbols(path: pathlib.Path) -> Iterator[Tuple[str, ...]]:
        """Address, F for functions, section, size, name."""
        for line in symbolizers.run("objdump", "-t", path).splitlines():
            symbol = re.match(r"([0-9a-f]+) .{6}(.) (\S+)\t([0-9a-f]+) (?:\.hidden )?(\S+)$", line)
            if symbol:
                yield symbol.groups()

    def functions_at(self, event: dict) -> Iterator[dict]:
        """All in the section of the one that was told."""
        told = self.functions[event["function"]]
        for name, symbol in self.functions.items():
            if symbol.section == told.section:
                yield {"function": readable(name), "pid": event["pid"], "since": 0, "code": "",
                       "addr": event["addr"] + symbol.addr - told.addr, **self.describe(name, symbol)}

    def describe(self, name: str, symbol: Symbol) -> dict:
        """Size, file, and the line of each byte, the innermost where it is inlined."""
        if name not in self.described:
            chains = symbolizers.addr2line(self.linked,
                                           list(range(symbol.addr, symbol.addr + symbol.size)))
            lines: List[Tuple[int, int, int]] = []
            for address, chain in sorted(chains.items()):
                if not lines or lines[-1][1] != chain[0].line:
                    lines.append((address - symbol.addr, chain[0].line, 1))
            files = {chain[0].file for chain in chains.values() if chain[0].line}
            self.described[name] = {"size": symbol.size, "lines": lines,
                                    "file": pathlib.Path(files.pop()).name if files else ""}
        return self.described[name]


def readable(symbol: str) -> str:
    """numba's names are those of C++, with a tag for each instance."""
    return re.sub(r"[\[(].*", "", symbolizers.run("c++filt", symbol).strip()).replace("::", ".")
