#!/usr/bin/env python3
"""Random descriptions of inlining -> each encoding -> decoded again: at every offset of the code
the whole chain is the one that was described.

    test_inlining.py ENCODE [CASES [SEED]]
"""
import itertools
import os
import random
import subprocess
import sys
import tempfile
from typing import Tuple

from jitdump_tests import decoder
from jitdump_tests.inlining_check import PERF, SAMPLY_2023, SAMPLY_2026, expect
from jitdump_tests.inlining_descriptions import CODE_ADDR, Description, in_batches, random_description

OUTERMOST_LINES, SOURCE_FILES = 4, 8
SOURCE = 827346261
EMBEDDED = "dir/file0.js"  # of encode.c, with SOURCE_FILES


def encode(program: str, dialect: int, flags: int, text: str) -> Tuple[bytes, str]:
    """The dump, and the file beside it that stands for EMBEDDED."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([program, directory, str(dialect), str(flags)], input=text,
                              stdout=subprocess.PIPE, universal_newlines=True, check=True)
        path = done.stdout.strip()
        with open(path, "rb") as dump:
            return dump.read(), path.replace(".dump", "-0-file0.js")


def with_file(case: Description, path: str) -> Description:
    """All records name the file in place of EMBEDDED."""
    return case._replace(functions=[
        function._replace(file=path) if function.file == EMBEDDED else function
        for function in case.functions])


def main() -> int:
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    seed = sys.argv[3] if len(sys.argv) > 3 else os.urandom(8).hex()
    print(f"{count} cases, seed {seed}", flush=True)
    random_ = random.Random(seed)
    done, offsets, deepest, dialects = 0, 0, 0, itertools.cycle((PERF, SAMPLY_2023, SAMPLY_2026))
    while done < count:
        cases = [random_description(random_) for _ in range(min(1000, count - done))]
        dialect, outermost = next(dialects), random_.random() < 0.5
        in_files = random_.random() < 0.5
        flags = (OUTERMOST_LINES if outermost else 0) | (SOURCE_FILES if in_files else 0)
        loads = [case.text() for case in cases]
        dump, path = encode(program, dialect, flags, in_batches(random_, loads))
        groups = list(decoder.groups(dump))
        assert len(groups) == len(cases)
        assert (groups[0].pop(SOURCE, None) is not None) == (in_files and dialect != PERF)
        for case, group in zip(cases, groups):
            try:
                expect(with_file(case, path) if in_files else case, CODE_ADDR, group, dialect,
                       outermost)
            except (AssertionError, IndexError, ValueError) as error:
                print(f"case {done} of seed {seed}, dialect {dialect}, flags {flags}:\n"
                      f"{error}\n{case.text()}")
                return 1
            done += 1
            offsets += case.code_size
            deepest = max([deepest] + [len(case.chain(p)) for p in set(case.position_at())])
    print(f"{done} cases as described, at {offsets} offsets, chains of up to {deepest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
