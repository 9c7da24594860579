"""What a run of the program `faults` has left behind, held against what its calls returned."""
from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from jitdump_tests import jitdump_reader
from jitdump_tests.jitdump_records import Body, GroupRecord

INLINE, TIER, SOURCE, RAW = 827346259, 827346260, 827346261, 100
SIZES = {"big": 10000, "big.js": 10000, "small": 50}


class Failure(Exception):
    pass


@dataclass
class Description(GroupRecord):
    """A record of samply's that belongs to the next LOAD."""

    @classmethod
    def parse(cls, prefix: Tuple[int, int, int, int], body: Body) -> "Description":
        body.rest()
        return cls(*prefix)


def code_of(name: str, size: int) -> bytes:
    """scenarios.c has the same."""
    seed = sum(name.encode())
    return bytes((seed + 7 * i) & 255 for i in range(size))


def _read_source(payload: bytes) -> str:
    path_size, size = (int.from_bytes(payload[i:i + 4], sys.byteorder) for i in (0, 4))
    path = payload[8:8 + path_size - 1].decode()
    if payload[8 + path_size:8 + path_size + size] != code_of(path, size):
        raise Failure(f"the text of the source {path} is not as given")
    return f"source {path}"


def read_dump(path: str, *, torn: bool, child: bool) -> Tuple[List[str], bool]:
    """Its appends, named as the steps are, and whether it was closed. Every byte of code counts."""
    dump = jitdump_reader.read(path, allow_torn_tail=torn, child_of_fork=child,
                               extensions={INLINE: Description, TIER: Description})
    entries: List[str] = []
    names: Dict[int, str] = {}
    for record in dump.records:
        if isinstance(record, jitdump_reader.Load):
            name = record.name.replace("Baseline: ", "")
            names[record.code_index] = name
            if record.code != code_of(name, record.code_size):
                raise Failure(f"the code of {name} is not as given")
            entries.append(f"load {name}")
        elif isinstance(record, jitdump_reader.Move):
            entries.append(f"move {names.get(record.code_index, 'of-the-parent')}")
        elif isinstance(record, jitdump_reader.Raw) and record.id == SOURCE:
            entries.append(_read_source(record.payload))
        elif isinstance(record, jitdump_reader.Raw):
            name = "small" if len(record.payload) == SIZES["small"] else "big"
            if record.id != RAW or record.payload != code_of(name, SIZES[name]):
                raise Failure(f"a raw record of id {record.id} and {len(record.payload)} bytes")
            entries.append(f"raw {name}")
    return entries, dump.closed


def read_map(path: str) -> List[str]:
    """The names in its lines. A line that is not whole is none."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text and not text.endswith("\n"):
        raise Failure(f"the perf map ends in the middle of a line: {text[-40:]!r}")
    lines = [re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ (?:Baseline: )?(\S+)", line)
             for line in text.splitlines()]
    if None in lines:
        raise Failure(f"the perf map has lines that are none: {text!r}")
    return [line[1] for line in lines if line is not None]


@dataclass
class Left:
    """The files that are there."""

    dump: Optional[str]
    map: Optional[str]
    sources: Dict[str, str]  # path of each by the number in its name
    parents: List[str]

    @classmethod
    def find(cls, directory: str, pid: int) -> "Left":
        left = cls(None, None, {}, [])
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            source = re.fullmatch(rf"jit-{pid}-([0-9]+)-(.*)", name)
            if name == f"jit-{pid}.dump":
                left.dump = path
            elif source is not None:
                left.sources[source[2]] = path
            else:
                left.parents.append(path)
        perf_map = f"/tmp/perf-{pid}.map"
        left.map = perf_map if os.path.exists(perf_map) else None
        return left

    def remove(self) -> None:
        for path in [self.dump, self.map, *self.sources.values(), *self.parents]:
            if path is not None and os.path.exists(path):
                os.unlink(path)


def lanes(entries: List[str]) -> Dict[str, List[str]]:
    """By the thread that has appended them, if it is in the name; the order between threads is
    not known."""
    result: Dict[str, List[str]] = {}
    for entry in entries:
        thread = re.match(r"load (t[0-9])\.", entry)
        result.setdefault(thread[1] if thread else "", []).append(entry)
    return result


def check_prefix(actual: List[str], accepted: List[str], what: str, whole: bool) -> None:
    """`whole`: nothing of it is missing."""
    expected = lanes(accepted)
    for thread, entries in lanes(actual).items():
        if entries != expected.get(thread, [])[:len(entries)]:
            raise Failure(f"{what} has {entries}, but accepted was {expected.get(thread, [])}")
    if whole and len(actual) != len(accepted):
        raise Failure(f"{what} has only {len(actual)} of {len(accepted)} that were accepted")
