"""Random descriptions of inlining, and what they mean at each offset of the code."""
import random
from typing import List, NamedTuple, Optional, Sequence, Tuple

NONE = -1
CODE_ADDR = 0x10000
# Few lines and columns, so that neighbours are often alike.
LINES = (0, 1, 2, 3, 4000000000)
COLUMNS = (0, 1, 2, 4000000000)


class Function(NamedTuple):
    name: str
    file: Optional[str]
    start_line: int
    start_column: int
    flags: int


class Position(NamedTuple):
    function: int
    line: int
    column: int
    caller: int


class Frame(NamedTuple):
    """A place in a function: one element of the chain at an offset of the code."""
    function: Function
    line: int
    column: int


class Description(NamedTuple):
    code_size: int
    functions: List[Function]
    positions: List[Position]
    offsets: List[Tuple[int, int]]

    def text(self, name: str = "f", code_addr: int = CODE_ADDR) -> str:
        """A load of it, as encode.c reads it."""
        lines = [f"load {name} {code_addr}",
                 f"{self.code_size} {len(self.functions)} {len(self.positions)}"
                 f" {len(self.offsets)}"]
        lines += [f"{f.name} {f.file or '-'} {f.start_line} {f.start_column} {f.flags}"
                  for f in self.functions]
        lines += [" ".join(map(str, entry)) for entry in self.positions + self.offsets]
        return "\n".join(lines) + "\n"

    def position_at(self) -> List[int]:
        """For each offset of the code the index of its position."""
        result = [NONE] * self.code_size
        for index, (start, position) in enumerate(self.offsets):
            end = (self.offsets[index + 1][0] if index + 1 < len(self.offsets)
                   else self.code_size)
            result[start:end] = [position] * (end - start)
        return result

    def frame(self, index: int) -> Frame:
        """A line of a function without file is no line."""
        position = self.positions[index]
        function = self.functions[position.function]
        if function.file is None or position.line == 0:
            return Frame(function, 0, 0)
        return Frame(function, position.line, position.column)

    def chain(self, index: int) -> List[Frame]:
        """Innermost first."""
        frames = []
        while index != NONE:
            frames.append(self.frame(index))
            index = self.positions[index].caller
        return frames

    def callers_2023(self, index: int) -> List[Frame]:
        """The chain without its innermost, as the record of 2023 says it: it has no file for a call, whose
        line is one of the caller's file. So calls in other files of the code's own function have none."""
        frames = self.chain(index)[1:]
        if frames and frames[-1].function.file != self.outer().file:
            frames[-1] = Frame(frames[-1].function, 0, 0)
        return frames

    def outer(self) -> Function:
        return next(self.functions[p.function] for p in self.positions if p.caller == NONE)


def random_functions(random_: random.Random) -> List[Function]:
    names = [f"function{i}" for i in range(random_.randint(1, 12))]
    files = [f"dir/file{i}.js" for i in range(random_.randint(1, 5))] + [None]
    # Functions may share a name, a file, or both.
    return [Function(random_.choice(names), random_.choice(files), random_.randint(0, 50),
                     random_.randint(0, 5), random_.getrandbits(32))
            for _ in range(random_.randint(1, random_.choice([1, 5, 20, 200])))]


def random_positions(random_: random.Random, functions: List[Function], lines: Sequence[int],
                     columns: Sequence[int]) -> List[Position]:
    outer = random_.choice(functions).name
    # It may come from several files.
    outers = [i for i, function in enumerate(functions) if function.name == outer]
    outers = outers[:random_.choice([1, 1, 3])]
    # How readily a position is inlined in one of the last few, which makes chains deep, or in
    # any, which makes trees broad; or all in the first, with many functions at one caller.
    deep = random_.random()
    broad = random_.random() < 0.1
    inlined = random_.random()
    positions: List[Position] = []
    for index in range(random_.randint(1, random_.choice([2, 8, 30, 30, 400]))):
        caller, function = NONE, random_.choice(outers)
        if index > 0 and random_.random() < inlined:
            first = max(0, index - 3) if random_.random() < deep else 0
            caller = 0 if broad else random_.randrange(first, index)
            function = random_.randrange(len(functions))
            if random_.random() < 0.3:  # another position of a call that there is already
                caller, function = positions[-1].caller, positions[-1].function
        positions.append(Position(function, random_.choice(lines), random_.choice(columns),
                                  caller))
    return positions


def random_description(random_: random.Random, lines: Sequence[int] = LINES,
                       columns: Sequence[int] = COLUMNS) -> Description:
    functions = random_functions(random_)
    positions = random_positions(random_, functions, lines, columns)
    code_size = random_.randint(1, random_.choice([4, 40, 40, 300]))
    starts = sorted(random_.sample(range(code_size), random_.randint(1, code_size)))
    gaps = random_.choice([0, 0.1, 0.5])
    # Over and again the same few positions, or all of them.
    used = random_.sample(range(len(positions)), random_.randint(1, min(len(positions), 20)))
    offsets = [(start, NONE if random_.random() < gaps else random_.choice(used))
               for start in starts]
    if all(position == NONE for _, position in offsets):
        offsets[0] = (offsets[0][0], used[0])
    return Description(code_size, functions, positions, offsets)


def in_batches(random_: random.Random, loads: Sequence[str]) -> str:
    """The loads one after the other, some of them by one call, as encode.c reads it."""
    text = []
    at = 0
    while at < len(loads):
        count = min(random_.choice([1, 1, 2, 10, 64]), len(loads) - at)
        text += [f"many {count}\n"] if count > 1 else []
        text += loads[at:at + count]
        at += count
    return "".join(text)
