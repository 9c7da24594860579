#!/usr/bin/env python3
"""Random histories -> a dump -> jitdump breakpad and jitdump minidump: at every address of the code
each reader says the function, the inlined calls, files and lines that were described.

    test_breakpad_random.py JITDUMP ENCODE [HISTORIES [LOADS [SEED]]]
"""
import pathlib
import random
import re
import sys
import tempfile

from jitdump_tests import breakpad
from jitdump_tests import dump_bytes
from jitdump_tests import histories, random_histories
from jitdump_tests.histories import OUTERMOST_LINES, SAMPLY_2026
from jitdump_tests.inlining_descriptions import NONE, Description, Function, Position

SKIPPED = 77
PAGE = 4096


def random_maps(choose: random.Random, addresses) -> str:
    """All that there is, in mappings that lie together, between others."""
    begin, end = min(addresses) // PAGE * PAGE, (max(addresses) // PAGE + 1) * PAGE
    cuts = sorted(choose.choices(range(begin, end + 1, PAGE), k=choose.randint(0, 3)))
    ends = [begin, *cuts, end]
    lines = ["00400000-00401000 r-xp 00000000 fe:01 4711 /usr/bin/jit"]
    lines += [f"{a:x}-{b:x} rwxp 00000000 00:00 0" for a, b in zip(ends, ends[1:]) if a < b]
    lines += ["ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]"]
    return "\n".join(lines) + "\n"


def check_history(tool, encode, directory, history, choose, dialect) -> tuple:
    outermost = choose.random() < 0.3
    dump = history.write(encode, directory, dialect, OUTERMOST_LINES if outermost else 0)
    count = len(history.operations)
    options = []
    if choose.random() < 0.5 and count > 1:
        count, time = dump_bytes.time_after(dump, choose.randrange(count // 2, count))
        options = ["--at", time]
    truth = history.chains(history.live_after(count), dialect, outermost)
    pid = int(dump.stem.split("-")[1])
    wrong = breakpad.check(tool, dump, truth, random_maps(choose, truth), *options, pid=pid)
    if wrong:
        print(f"{wrong} wrong; dialect {dialect}, outermost {outermost}, options {options}")
    dump.unlink()
    return wrong, len(truth), max(map(len, truth.values()))


def many_pieces() -> histories.History:
    """Calls of more ranges than one line takes, within each other."""
    functions = [Function(f"function{i}", f"file{i}.js", 1, 1, 0) for i in range(3)]
    positions = [Position(0, 10, 1, NONE), Position(1, 20, 1, 0), Position(2, 30, 1, 1)]
    offsets = [(3 * i + k, k) for i in range(700) for k in range(3)]
    description = Description(2100, functions, positions, offsets)
    return histories.History([histories.Piece("pieces", description)],
                             [histories.Operation(0, histories.BASE + 64, False)])


def check_depth(tool, encode, directory) -> int:
    """Of calls 1023 deep the outer thousand are there. Names of digits get something in front."""
    functions = [Function(f"{i % 7}", "file.js", 1, 1, 0) for i in range(1024)]
    positions = [Position(i, 10 + i, 1, i - 1 if i > 0 else NONE) for i in range(1024)]
    piece = histories.Piece("deep", Description(4, functions, positions, [(0, 0), (2, 1023)]))
    history = histories.History([piece], [histories.Operation(0, histories.BASE, False)])
    dump = history.write(encode, directory, SAMPLY_2026, 0)
    path, = breakpad.Store(tool, dump, directory / "deep").files.values()
    text = path.read_text()
    levels = re.findall(r"(?m)^INLINE (\d+) (\d+)", text)
    assert re.findall(r"(?m)^INLINE_ORIGIN \d+ (.*)", text) == [f"_{(i + 1) % 7}" for i in range(7)]
    expected = [(str(i), str(10 + i)) for i in range(1000)]
    if levels != expected:
        print(f"{len(levels)} levels, not 1000")
    dump.unlink()
    return levels != expected


def main() -> int:
    tool, encode = sys.argv[1:3]
    if not breakpad.installed():
        return SKIPPED
    print("by", " and ".join(breakpad.installed()))
    with tempfile.TemporaryDirectory() as name:
        if check_depth(tool, encode, pathlib.Path(name)):
            return 1
    return random_histories.run(check_history, sys.argv[1:], 3, 300, [many_pieces(), many_pieces()])


if __name__ == "__main__":
    sys.exit(main())
