"""What HotSpot itself says of its generated code: the log of its compilers, the listing of its
stubs, its perf map, the bounds of its code heaps, and what its compilers inline."""
from __future__ import annotations

import bisect
import collections
import dataclasses
import html
import pathlib
import re
import time

OPTIONS = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-XX:+PrintStubCode",
           "-XX:+DumpPerfMapAtExit", "-XX:+PrintCodeCache"]
# The log's times have milliseconds, and so has the wall clock's time at which it begins.
CLOCK_ERROR = 3_000_000

PRIMITIVES = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long",
              "F": "float", "D": "double"}


def type_name(descriptor: str) -> str:
    if descriptor[0] == "[":
        return type_name(descriptor[1:]) + "[]"
    return descriptor[1:-1].replace("/", ".") if descriptor[0] == "L" else PRIMITIVES[descriptor]


def method_name(entry: str) -> str:
    """"java.lang.String charAt (I)C", as the log has it, in the agent's form."""
    owner, name, descriptor = entry.split(" ")
    if owner == "java.lang.invoke.MethodHandle" and re.match("linkTo|invokeBasic", name):
        return "java.lang.invoke.MethodHandle (linker)"
    arguments = re.findall(r"\[*(?:L[^;]*;|[A-Z])", descriptor[1:descriptor.index(")")])
    return f"{owner}.{name}({', '.join(map(type_name, arguments))})"


@dataclasses.dataclass
class Method:
    """A compiled method, as it was installed."""
    name: str
    since: int
    start: int
    end: int


def parse_log(text: str) -> list[Method]:
    wall_to_monotonic = time.monotonic_ns() - time.time_ns()
    begin = int(re.search(r"time_ms='(\d+)'", text)[1]) * 1_000_000 + wall_to_monotonic
    methods = []
    for line in re.findall(r"<nmethod (.*?)/>", text):
        entry = dict(re.findall(r"(\w+)='([^']*)'", line))
        address = int(entry["address"], 16)
        methods.append(Method(method_name(html.unescape(entry["method"])),
                              begin + round(float(entry["stamp"]) * 1e9),
                              address + int(entry["insts_offset"]),
                              address + int(entry["size"])))
    return methods


def code_heaps(text: str) -> list[tuple[int, int]]:
    return [(int(low, 16), int(high, 16)) for low, high in
            re.findall(r"bounds \[(0x\w+), 0x\w+, (0x\w+)\]", text)]


class Truth:
    def __init__(self, log: str, output: str, perf_map: str) -> None:
        self.heaps = code_heaps(output)
        self.methods = sorted(parse_log(log), key=lambda method: method.start)
        self.deoptimised = len(re.findall("<make_not_entrant", log))
        self.starts = [method.start for method in self.methods]
        self.longest = max(method.end - method.start for method in self.methods)
        # "Decoding RuntimeStub - NAME 0x... [LOW, HIGH] (n bytes)", "StubRoutines::NAME [...".
        self.stubs = [(int(low, 16), int(high, 16), re.split(" - |::", name)[-1])
                      for name, low, high in re.findall(
                          r"^(?:Decoding )?(\w.*?)(?: 0x\w+)? +\[(0x\w+), (0x\w+)\] \(\d+ bytes\)",
                          output, re.MULTILINE)]
        self.blobs = []
        for line in perf_map.splitlines():
            start, size, name = line.split(" ", 2)
            self.blobs.append((int(start, 16), int(start, 16) + int(size, 16), name))

    def is_generated(self, address: int) -> bool:
        return any(low <= address < high for low, high in self.heaps)

    def methods_at(self, address: int, when: int) -> list[Method]:
        """The last that was there; with those that came and went too near the time to tell."""
        near = self.methods[bisect.bisect_left(self.starts, address - self.longest):
                            bisect.bisect_right(self.starts, address)]
        found = sorted((method for method in near
                        if address < method.end and method.since <= when + CLOCK_ERROR),
                       key=lambda method: method.since)
        sure = [method for method in found if method.since <= when - CLOCK_ERROR]
        return sure[-1:] + found[len(sure):]

    def is_named_rightly(self, symbol: str, address: int, when: int) -> bool:
        methods = self.methods_at(address, when)
        if methods:
            return symbol in (method.name for method in methods)
        names = [name for low, high, name in self.stubs if low <= address < high]
        if names:
            return symbol in names
        # Of what lies in these two, the perf map has no names of its own.
        parts = {"vtable chunks": r"[vi]table stub", "I2C/C2I adapters": r"I2C/C2I adapters\(.*\)"}
        return any(symbol == name or re.fullmatch(parts.get(name, "(?!)"), symbol)
                   for low, high, name in self.blobs if low <= address < high)


def inlined_calls(output: str, method: str) -> collections.Counter[tuple[str, ...]]:
    """How often which chain of calls is inlined in the method, as -XX:+PrintInlining prints it
    behind the line of -XX:+PrintCompilation: of the method's last compilation."""
    header = re.compile(r" *\d+ +\d+ [ %][ s][ !][ b][ n]")
    calls: collections.Counter[tuple[str, ...]] = collections.Counter()
    inside = False
    path: list[tuple[int, str]] = []
    for line in output.splitlines():
        if header.match(line):
            inside = f" {method} (" in line and "made not entrant" not in line
            if inside:
                calls.clear()
        call = re.match(r" +(?:! +)?@ \d+ +(\S+) \(\d+ bytes\)(.*)$", line)
        if inside and call:
            depth = line.index("@")
            path = [(at, name) for at, name in path if at < depth] + [(depth, call[1])]
            if re.match(r" +inline", call[2]):
                calls[tuple(name.replace("::", ".") for _, name in path)] += 1
    return calls
