"""Random profiles of processes that fork, execute programs, map memory and run in it, with what is true of each
sample."""
from __future__ import annotations

import dataclasses
import pathlib
import random
import struct
from typing import NamedTuple

from jitdump_tests.perf_data import EVENT_HEADER, FILE_HEADER

MMAP2, SAMPLE, COMM, FORK = 10, 9, 3, 7
KERNEL, USER, GUEST_USER, EXEC = 1, 2, 5, 1 << 13
PERF_MAP_NAMES = ("//anon", "/dev/zero (deleted)", "/anon_hugepage (deleted)", "/SYSV00000000 (deleted)", "[heap]",
                  "[stack]")
OTHER_NAMES = ("/memfd:code (deleted)", "[anon:code]")
FILES = ("/usr/lib/nosuch.so", "/tmp/nosuch.so (deleted)", "[vdso]")
FIRST_PID = 5_000_000  # more than a kernel gives
PAGE, PLACES = 4096, 40
BASE = 0x7f0000000000
PERF_ATTR_SIZE = 112
SAMPLE_TYPE = 1 | 2 | 4  # the address, who, when
MMAP, COMM_FLAG, TASK, SAMPLE_ID_ALL, MMAP2_FLAG, COMM_EXEC, USE_CLOCKID = (1 << bit for bit in (
    8, 9, 13, 18, 23, 24, 25))


class Memory(NamedTuple):
    name: str
    executable: bool
    owner: int  # who has mapped it


@dataclasses.dataclass
class Process:
    pid: int
    name: str
    pages: dict[int, Memory]
    has_dump: bool = False
    had_dump: bool = False  # at any time
    has_child: bool = False
    # Samples in generated code of programs without a dump: of this one, of earlier ones; and what had the last.
    undescribed: int = 0
    earlier: int = 0
    earlier_name: str = ""

    def end_program(self) -> None:
        if self.undescribed:
            self.earlier, self.earlier_name = self.earlier + self.undescribed, self.name
        self.undescribed, self.has_dump, self.pages = 0, False, {}


class Profile:
    """`processes` is what it leads to; `events` are in the order of time, but for a jitter."""

    def __init__(self, choose: random.Random, steps: int, processes: int) -> None:
        self.choose = choose
        self.time = 1_000_000
        self.events: list[tuple[float, bytes]] = []
        self.user_samples = 0
        self.mapped = {FIRST_PID + i for i in range(4 * processes) if choose.random() < 0.2}  # that have perf maps
        forks = choose.choice((0, 2))
        skew = choose.choice((0, 1, 2, 3))  # of the share of samples that each has
        self.processes = [self.begin(i) for i in range(processes)]
        for _ in range(steps):
            self.time += choose.randrange(1, 1000)
            process = choose.choices(self.processes, [1 / (1 + i) ** skew for i in range(len(self.processes))])[0]
            step = choose.choices((self.map, self.sample, self.fork, self.execute, self.open_dump, self.rename),
                                  (20, 100, forks, 2, 1, 2))[0]
            step(process)

    def event(self, kind: int, misc: int, pid: int, payload: bytes) -> None:
        trailer = b"" if kind == SAMPLE else struct.pack("=IIQ", pid, pid, self.time)
        size = EVENT_HEADER.size + len(payload) + len(trailer)
        place = self.time + self.choose.randrange(20000)
        self.events.append((place, EVENT_HEADER.pack(kind, misc, size) + payload + trailer))

    def say_name(self, process: Process, misc: int = EXEC) -> None:
        name = process.name.encode()
        self.event(COMM, misc, process.pid, struct.pack("=II", process.pid, process.pid)
                   + name.ljust(len(name) // 8 * 8 + 8, b"\0"))

    def put(self, process: Process, page: int, count: int, name: str, executable: bool) -> None:
        for each in range(page, page + count):
            process.pages[each] = Memory(name, executable, process.pid)
        padded = name.encode().ljust(len(name) // 8 * 8 + 8, b"\0")
        self.event(MMAP2, USER, process.pid, struct.pack(
            "=IIQQQIIQQII", process.pid, process.pid, BASE + page * PAGE, count * PAGE, 0, 0, 0, 0, 0,
            5 if executable else 3, 2) + padded)

    def begin(self, index: int) -> Process:
        process = Process(FIRST_PID + index, f"program {index}", {})
        self.say_name(process)
        self.put(process, 0, 1, FILES[0], True)
        return process

    def map(self, process: Process) -> None:
        name = self.choose.choice(PERF_MAP_NAMES + OTHER_NAMES + FILES)
        page = self.choose.randrange(1, PLACES)
        self.put(process, page, self.choose.randrange(1, 5), name, self.choose.random() < 0.8)

    def sample(self, process: Process) -> None:
        """Where it can run."""
        page = self.choose.choice([page for page, memory in process.pages.items() if memory.executable] or [None])
        if page is None:
            return
        mode = self.choose.choices((USER, KERNEL, GUEST_USER), (20, 1, 1))[0]
        memory = process.pages[page]
        self.event(SAMPLE, mode, process.pid, struct.pack(
            "=QIIQ", BASE + page * PAGE + self.choose.randrange(PAGE), process.pid, process.pid, self.time))
        if mode != USER:
            return
        self.user_samples += 1
        process.undescribed += not process.has_dump and (memory.name in OTHER_NAMES or (
            memory.name in PERF_MAP_NAMES and memory.owner not in self.mapped))

    def fork(self, process: Process) -> None:
        pid = FIRST_PID + len(self.processes)
        child = Process(pid, process.name, dict(process.pages), process.has_dump, process.has_dump)
        self.processes.append(child)
        process.has_child = True
        self.event(FORK, 0, pid, struct.pack("=IIIIQ", pid, process.pid, pid, process.pid, self.time))

    def execute(self, process: Process) -> None:
        process.end_program()
        process.name = f"program {self.time}"
        self.say_name(process)
        self.time += self.choose.randrange(2)
        self.put(process, 0, 1, FILES[0], True)

    def rename(self, process: Process) -> None:
        """But for one whose child has its name from it: what is given to that is the last, in place of the one then."""
        if not process.has_child:
            process.name = f"thread {self.time}"
            self.say_name(process, misc=0)

    def open_dump(self, process: Process) -> None:
        process.has_dump, process.had_dump, process.undescribed = True, True, 0
        self.put(process, PLACES + 10, 1, f"/nosuch/jit-{process.pid}.dump", True)

    def expected(self) -> list[tuple[int, int, str]]:
        """Samples, pid and name of the processes with code that has no names, the worst first."""
        found = [(each.earlier + each.undescribed, each.pid, each.name if each.undescribed else each.earlier_name)
                 for each in self.processes]
        return sorted((each for each in found if each[0]), key=lambda each: (-each[0], each[1]))

    def write(self, path: pathlib.Path) -> None:
        attr = bytearray(PERF_ATTR_SIZE)
        struct.pack_into("=IIQQQQQ", attr, 0, 1, PERF_ATTR_SIZE, 0, 1000, SAMPLE_TYPE, 0,
                         MMAP | COMM_FLAG | TASK | SAMPLE_ID_ALL | MMAP2_FLAG | COMM_EXEC | USE_CLOCKID)
        struct.pack_into("=i", attr, 92, 1)  # CLOCK_MONOTONIC
        data = b"".join(event for _, event in sorted(self.events, key=lambda each: each[0]))
        attrs = bytes(attr) + struct.pack("=QQ", 0, 0)
        start = FILE_HEADER.size + len(attrs)
        path.write_bytes(FILE_HEADER.pack(b"PERFILE2", FILE_HEADER.size, len(attrs), FILE_HEADER.size, len(attrs),
                                          start, len(data), 0, 0, bytes(32)) + attrs + data)
