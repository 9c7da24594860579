#!/usr/bin/env python3
"""Random histories -> a dump -> jitdump elf: at every address of the code each symboliser says the
function, the inlined calls, files and lines that were described; and nobody complains of the file.

    test_elf_random.py JITDUMP ENCODE [HISTORIES [LOADS [SEED]]]
"""
import pathlib
import shutil
import subprocess
import sys

from jitdump_tests import dump_bytes
from jitdump_tests import random_histories
from jitdump_tests import symbolizers
from jitdump_tests.histories import OUTERMOST_LINES, SAMPLY_2023


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
        count, time = dump_bytes.time_after(dump, choose.randrange(count // 2, count))
        options += ["--at", time]
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
    return random_histories.run(check_history, sys.argv[1:], 3, 1000)


if __name__ == "__main__":
    sys.exit(main())
