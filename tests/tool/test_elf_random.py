#!/usr/bin/env python3
"""Random histories -> a dump -> jitdump elf: at every address of the code each symboliser says the
function, the inlined calls, files and lines that were described; and nobody complains of the file.

    test_elf_random.py JITDUMP ENCODE [HISTORIES [LOADS [SEED]]]
"""
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from jitdump_tests import dump_bytes
from jitdump_tests import histories
from jitdump_tests import symbolizers
from jitdump_tests.histories import OUTERMOST_LINES, PERF, SAMPLY_2023, SAMPLY_2026


def complaints(elf: pathlib.Path) -> str:
    """What those say that look for mistakes."""
    result = ""
    done = subprocess.run(["readelf", "-a", "-w", "-W", str(elf)], capture_output=True, text=True,
                          check=False)
    # They come by this way alone. Among the rest are the functions' names, and a function of Node's
    # is called getDeprecationWarningEmitter.
    result += done.stderr
    if shutil.which("llvm-dwarfdump") is None:
        return result
    done = subprocess.run(["llvm-dwarfdump", "--verify", str(elf)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0 or "No errors." not in done.stdout:
        result += done.stdout[-2000:] + done.stderr[-2000:]
    return result


def check_elf(elf, truth, columns) -> int:
    wrong = 0
    text = complaints(elf)
    if text:
        print(f"complaints of {elf.name}:\n{text}")
        wrong += 1
    for name in symbolizers.installed():
        wrong += symbolizers.compare(name, elf, truth, columns)
    return wrong


def check_history(tool, encode, directory, history, choose, dialect) -> tuple:
    outermost = choose.random() < 0.3
    dump = history.write(encode, directory, dialect, OUTERMOST_LINES if outermost else 0)
    count = len(history.operations)
    options = choose.choice([[], ["--dynsym"], ["--relative"]])
    if choose.random() < 0.5:
        count = choose.randrange(count // 2, count)
        options += ["--at", dump_bytes.time_after(dump, count)]
    elf = directory / "out.elf"
    done = subprocess.run([tool, "elf", str(dump), "-o", str(elf), *options], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    base = int(done.stdout, 16) if "--relative" in options else 0
    truth = {address - base: chain for address, chain in
             history.chains(history.live_after(count), dialect, outermost).items()}
    # In the dialect of 2023 columns count from 0, and 0 is unknown too.
    wrong = check_elf(elf, truth, dialect != SAMPLY_2023)
    if wrong:
        print(f"{wrong} wrong; dialect {dialect}, outermost {outermost}, options {options}")
    dump.unlink()
    return wrong, len(truth), max(map(len, truth.values()))


def main() -> int:
    tool, encode = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    loads = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    seed = sys.argv[5] if len(sys.argv) > 5 else os.urandom(8).hex()
    print(f"{count} histories of {loads} loads, seed {seed}", flush=True)
    choose = random.Random(seed)
    wrong, asked, deepest = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        for _, dialect in zip(range(count), itertools.cycle((SAMPLY_2026, SAMPLY_2023, PERF))):
            history = histories.random_history(choose, loads)
            counts = check_history(tool, encode, pathlib.Path(name), history, choose, dialect)
            wrong += counts[0]
            asked += counts[1]
            deepest = max(deepest, counts[2])
    print(f"{asked} addresses, chains of up to {deepest}, {wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
