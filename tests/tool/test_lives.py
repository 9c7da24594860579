"""Lives, against a model that looks at each byte of a small address space at each time."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import random
import tempfile
import unittest
from typing import Optional

from jitdump_tests import tool
from jitdump_tests.dump_writer import CLOSE, Dump

PROGRAMS = 150
SPACE = 64  # bytes of address space
BASE = 0x7F0000000000


@dataclasses.dataclass
class Life:
    piece: int  # offset of the load
    address: int
    size: int
    begin: int
    end: Optional[int] = None
    ended: str = "to the end"
    covered_by: Optional[int] = None


class Model:
    """What the records say, one after the other by time."""

    def __init__(self) -> None:
        self.lives: list[Life] = []
        self.at: list[Optional[Life]] = [None] * SPACE
        self.last: dict[int, Life] = {}  # by the load's offset
        self.by_index: dict[int, tuple[int, int]] = {}  # code_index to (load's offset, size)

    def _end(self, life: Life, time: int, ended: str, by: Optional[int] = None) -> None:
        life.end, life.ended, life.covered_by = time, ended, by
        self.at = [None if each is life else each for each in self.at]

    def begin(self, piece: int, address: int, size: int, time: int) -> None:
        for offset in range(address - BASE, address - BASE + size):
            if self.at[offset] is not None:
                self._end(self.at[offset], time, "covered", piece)
        life = Life(piece, address, size, time)
        self.at[address - BASE:address - BASE + size] = [life] * size
        self.lives.append(life)
        self.last[piece] = life

    def load(self, piece: int, address: int, size: int, index: int, time: int) -> None:
        self.by_index[index] = (piece, size)
        if size > 0:
            self.begin(piece, address, size, time)

    def move(self, index: int, address: int, time: int) -> None:
        if index not in self.by_index:
            return
        piece, size = self.by_index[index]
        if size == 0:
            return
        if self.last[piece].end is None:
            self._end(self.last[piece], time, "moved")
        self.begin(piece, address, size, time)


def random_program(random_: random.Random) -> tuple[Dump, Model, list[int]]:
    """A dump, what it means, and its times."""
    dump = Dump(order=random_.choice("<>"))
    events = []  # time, offset, and the rest
    time = random_.choice([0, 1000])
    sizes: dict[int, int] = {}
    where: dict[int, int] = {}
    backwards = random_.random() < 0.3
    largest = random_.choice([1, 4, 12, SPACE])
    for number in range(random_.randint(0, random_.choice([5, 30, 120]))):
        time += random_.choice([0, 1, 1, 5])
        stamp = random_.randint(0, time) if backwards and random_.random() < 0.2 else time
        kind = random_.random()
        if kind < 0.6 or not sizes:
            size = random_.randint(0, largest)
            address = BASE + random_.randint(0, SPACE - size)
            index = number if random_.random() < 0.95 else random_.randint(0, number)
            offset = dump.load(stamp, address, bytes(size), index, b"f%d" % number)
            events.append((stamp, offset, "load", address, size, index))
            sizes[index], where[index] = size, address
        elif kind < 0.9:
            # Now and then one that nobody loaded, or from where it is not.
            index = random_.choice(list(sizes)) if random_.random() < 0.95 else 10 ** 6
            size = sizes.get(index, 1)
            address = BASE + random_.randint(0, SPACE - largest)
            old = where.get(index, 0) if random_.random() < 0.9 else 1
            offset = dump.move(stamp, old, address, size, index)
            events.append((stamp, offset, "move", address, size, index))
            where[index] = address
        else:
            dump.record(4711, stamp, b"unknown to all")
    if random_.random() < 0.5:
        dump.record(CLOSE, time, b"")
    model = Model()
    for stamp, offset, kind, address, size, index in sorted(events):
        if kind == "load":
            model.load(offset, address, size, index, stamp)
        else:
            model.move(index, address, stamp)
    return dump, model, [event[0] for event in events]


class History(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "jit-4711.dump"

    def compare(self, dump: Dump, model: Model, times: list[int]) -> None:
        self.path.write_bytes(dump.data)
        expected: dict[int, list[Life]] = {}
        for life in model.lives:
            expected.setdefault(life.piece, []).append(life)
        arguments = ("dump", "--json", "--function", "", self.path)
        if b"f" not in dump.data:  # no load at all
            self.assertEqual(tool.run(*arguments).status, 1)
            return
        for function in tool.functions(self.path):
            found = [Life(function["offset"], int(life["address"], 0), function["code_size"],
                          life["begin"], life["end"], life["ended"], life.get("covered_by"))
                     for life in function["lives"]]
            self.assertEqual(found, expected.get(function["offset"], []))
        for time in [*times[:3], *times[-2:], None]:
            found = tool.objects("--at", "end" if time is None else f"0.{time:09}", self.path)
            there = sorted((life for life in model.lives
                            if (life.end is None if time is None else
                                life.begin <= time < (life.end if life.end is not None else time + 1))),
                           key=lambda life: life.address)
            self.assertEqual([(int(each["address"], 0), each["size"], each["load_offset"])
                              for each in found],
                             [(life.address, life.size, life.piece) for life in there])
            for one, other in zip(found, found[1:]):
                self.assertLessEqual(int(one["address"], 0) + one["size"], int(other["address"], 0))

    def test_random_programs(self) -> None:
        seed = os.environ.get("JITDUMP_SEED") or os.urandom(8).hex()
        print(f"seed {seed}")
        for number in range(PROGRAMS):
            with self.subTest(program=number):
                self.compare(*random_program(random.Random(f"{seed} {number}")))

    def test_end_of_the_address_space(self) -> None:
        dump = Dump()
        dump.load(1, 2 ** 64 - 9, bytes(8), 1, b"last")
        dump.load(2, 2 ** 64 - 8, bytes(8), 2, b"past the end")
        dump.load(3, 2 ** 64 - 20, bytes(16), 3, b"over the last")
        dump.move(4, 2 ** 64 - 20, 2 ** 64 - 8, 16, 3)
        self.path.write_bytes(dump.data)
        done = tool.run("dump", "--json", "--function", "", self.path)
        self.assertIn("reaches past the end of the address space", done.err)
        self.assertNotIn(b"past the end", done.out)
        found = tool.objects("--at", "end", self.path)
        self.assertEqual([each["name"] for each in found], ["over the last"])

    def test_many_loads_reusing_one_another(self) -> None:
        """100 000 loads, each over the two or three before it: every one but the last is covered."""
        dump = Dump()
        chunks = []
        for number in range(100_000):
            each = Dump()
            header = len(each.data)
            each.load(number, BASE + 3 * (number % 1000), bytes(8), number, b"f")
            chunks.append(each.data[header:])
        dump.data += b"".join(chunks)
        self.path.write_bytes(dump.data)
        (found,) = tool.objects("--stat", self.path)
        self.assertEqual(found["functions"], 100_000)
        self.assertEqual(found["covered"] + found["live"], 100_000)
        at_end = tool.objects("--at", "end", self.path)
        self.assertEqual(len(at_end), found["live"])
        self.assertEqual(at_end[-1]["code_index"], 99_999)


if __name__ == "__main__":
    unittest.main()
