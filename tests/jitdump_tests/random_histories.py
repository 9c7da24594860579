"""One random history after the other, each checked."""
import itertools
import os
import pathlib
import random
import tempfile
from typing import Callable, Iterable, Sequence, Tuple

from jitdump_tests import histories
from jitdump_tests.histories import PERF, SAMPLY_2023, SAMPLY_2026


def run(check_history: Callable[..., Tuple[int, int, int]], arguments: Sequence[str],
        histories_usually: int, loads_usually: int, first: Iterable[histories.History] = ()) -> int:
    """A program's exit status. Its arguments: JITDUMP ENCODE [HISTORIES [LOADS [SEED]]]. Those of `first`
    come before the random ones."""
    tool, encode = arguments[:2]
    count = int(arguments[2]) if len(arguments) > 2 else histories_usually
    loads = int(arguments[3]) if len(arguments) > 3 else loads_usually
    seed = arguments[4] if len(arguments) > 4 else os.urandom(8).hex()
    print(f"{count} histories of {loads} loads, seed {seed}", flush=True)
    choose = random.Random(seed)
    wrong, asked, deepest = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        drawn = (histories.random_history(choose, loads) for _ in range(count))
        dialects = itertools.cycle((SAMPLY_2026, SAMPLY_2023, PERF))
        for history, dialect in zip(itertools.chain(first, drawn), dialects):
            counts = check_history(tool, encode, pathlib.Path(name), history, choose, dialect)
            wrong += counts[0]
            asked += counts[1]
            deepest = max(deepest, counts[2])
    print(f"{asked} addresses, chains of up to {deepest}, {wrong} wrong answers")
    return 1 if wrong else 0
