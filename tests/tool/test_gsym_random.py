#!/usr/bin/env python3
"""Random histories -> a dump -> jitdump gsym: at every address of the code llvm-gsymutil says the
function, the inlined calls, files and lines that were described, and the same of the GSYM file that
it makes itself of `jitdump elf`'s; and so does llvm-symbolizer, from version 21 on.

    test_gsym_random.py JITDUMP ENCODE [HISTORIES [LOADS [SEED]]]
"""
import pathlib
import subprocess
import sys
from typing import Dict

from jitdump_tests import dump_bytes
from jitdump_tests import gsym
from jitdump_tests import random_histories
from jitdump_tests.histories import OUTERMOST_LINES, Chain

SKIPPED = 77


def convert(tool: str, kind: str, dump: pathlib.Path, *options: str) -> pathlib.Path:
    path = dump.with_suffix(f".{kind}")
    done = subprocess.run([tool, kind, str(dump), "-o", str(path), *options], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return path


def compare_reference(program: str, elf: pathlib.Path, truth: Dict[int, Chain]) -> int:
    """Where both know a line, it is the same. Of a function that has code without line the
    reference goes on with the line before, or says no line anywhere."""
    answers = gsym.chains(gsym.lookup(program, gsym.converted(program, elf)[0], sorted(truth)))
    known = [address for address, chain in answers.items()
             if chain[0].line and truth[address][0].line]
    assert known
    return sum(answers[address] != [place._replace(column=0) for place in truth[address]]
               for address in known)


def check_history(tool, encode, directory, history, choose, dialect) -> tuple:
    outermost = choose.random() < 0.3
    dump = history.write(encode, directory, dialect, OUTERMOST_LINES if outermost else 0)
    count = len(history.operations)
    options = []
    if choose.random() < 0.5:
        count, time = dump_bytes.time_after(dump, choose.randrange(count // 2, count))
        options = ["--at", time]
    live = history.live_after(count)
    truth = history.chains(live, dialect, outermost)
    elf = convert(tool, "elf", dump, *options)
    wrong = 0
    if choose.random() < 0.3:
        dump_bytes.swap_byte_order(dump)
    for version in (1, 2):
        path = convert(tool, "gsym", dump, f"--format={version}", *options)
        for program in gsym.symbolizers(version):
            wrong += gsym.wrong_by_symbolizer(program, elf, path, truth)
    path = convert(tool, "gsym", dump, *options)
    for program in gsym.installed():
        wrong += gsym.compare(program, path, truth, live.keys())
        wrong += gsym.found_outside(program, path, truth)
        wrong += compare_reference(program, elf, truth)
    if wrong:
        print(f"{wrong} wrong; dialect {dialect}, outermost {outermost}, options {options}")
    dump.unlink()
    return wrong, len(truth), max(map(len, truth.values()))


def main() -> int:
    if not gsym.installed():
        print("there is no llvm-gsymutil")
        return SKIPPED
    return random_histories.run(check_history, sys.argv[1:], 6, 400)


if __name__ == "__main__":
    sys.exit(main())
