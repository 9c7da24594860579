"""Random histories of a process's code (loads, moves, addresses used again), and what they mean: at
each address the function, the inlined calls, files and lines."""
import itertools
import pathlib
import random
import subprocess
from typing import Dict, List, NamedTuple, Optional, Sequence

from jitdump_tests import inlining_descriptions
from jitdump_tests.inlining_descriptions import NONE, Description

PERF, SAMPLY_2023, SAMPLY_2026 = range(3)
OUTERMOST_LINES = 4
BASE = 0x7F1200000000
LINES = (0, 1, 2, 3, 4, 5, 9, 20, 1000, 2000000)
COLUMNS = (0, 1, 2, 77, 65535)


class Place(NamedTuple):
    """A frame of a chain. Without a line there is no file either."""
    function: str
    file: Optional[str]
    line: int
    column: int = 0


Chain = List[Place]  # innermost first


class Piece(NamedTuple):
    name: str
    description: Description

    def chain(self, offset_position: int, dialect: int, outermost: bool) -> Chain:
        if offset_position == NONE:
            return [Place(self.name, None, 0)]
        frames = self.description.chain(offset_position)
        if dialect == SAMPLY_2023:
            frames[1:] = self.description.callers_2023(offset_position)
        places = [Place(f.function.name, f.function.file if f.line else None, f.line, f.column)
                  for f in frames]
        if dialect == PERF:
            places = [places[-1 if outermost else 0]]
        places[-1] = places[-1]._replace(function=self.name)
        return places


class Operation(NamedTuple):
    piece: int
    address: int
    is_move: bool


class History(NamedTuple):
    pieces: List[Piece]
    operations: List[Operation]

    def live_after(self, count: int) -> Dict[int, int]:
        """Address -> piece, after so many operations."""
        live: Dict[int, int] = {}
        for operation in self.operations[:count]:
            self.apply(live, operation)
        return live

    def apply(self, live: Dict[int, int], operation: Operation) -> None:
        end = operation.address + self.pieces[operation.piece].description.code_size
        gone = [a for a, p in live.items()
                if (operation.is_move and p == operation.piece) or
                (a < end and a + self.pieces[p].description.code_size > operation.address)]
        for address in gone:
            del live[address]
        live[operation.address] = operation.piece

    def chains(self, live: Dict[int, int], dialect: int, outermost: bool) -> Dict[int, Chain]:
        """The truth at every address of the code."""
        result = {}
        for address, index in sorted(live.items()):
            piece = self.pieces[index]
            known: Dict[int, Chain] = {}
            for offset, position in enumerate(piece.description.position_at()):
                if position not in known:
                    known[position] = piece.chain(position, dialect, outermost)
                result[address + offset] = known[position]
        return result

    def write(self, program: str, directory: pathlib.Path, dialect: int,
              flags: int) -> pathlib.Path:
        text = []
        batches = random.Random(len(self.operations))
        for is_move, group in itertools.groupby(self.operations, lambda each: each.is_move):
            if is_move:
                text += [f"move {each.piece} {each.address}\n" for each in group]
                continue
            text.append(inlining_descriptions.in_batches(batches, [
                self.pieces[each.piece].description.text(self.pieces[each.piece].name, each.address)
                for each in group]))
        done = subprocess.run([program, directory, str(dialect), str(flags)], input="".join(text),
                              stdout=subprocess.PIPE, text=True, check=True)
        return pathlib.Path(done.stdout.strip())


def random_history(choose: random.Random, loads: int, base: int = BASE,
                   alignments: Sequence[int] = (1, 16, 64)) -> History:
    """Room for about half of what is loaded, so that much is covered by something later."""
    history = History([], [])
    live: Dict[int, int] = {}
    room = loads * 40
    while len(history.pieces) < loads:
        alignment = choose.choice(alignments)
        address = base + choose.randrange(room) // alignment * alignment
        if live and choose.random() < 0.2:
            operation = Operation(choose.choice(list(live.values())), address, True)
        else:
            name = f"piece{len(history.pieces)}" if choose.random() < 0.9 else "again"
            description = inlining_descriptions.random_description(choose, LINES, COLUMNS)
            history.pieces.append(Piece(name, description))
            operation = Operation(len(history.pieces) - 1, address, False)
        history.operations.append(operation)
        history.apply(live, operation)
    return history
