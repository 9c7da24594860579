#!/usr/bin/env python3
"""Counts the instructions of an append with callgrind: they repeat exactly, times do not.

usage: instructions.py BENCH DIRECTORY

Inside of the append alone, the C library included, the kernel and the clock's vDSO not. The
mean over a pass: a share of handing on a full block is in it.
"""
import json
import re
import subprocess
import sys
import tempfile

SIZES = (64, 512, 4096)
# How the benchmark's function for a writer's append is called.
FUNCTIONS = {
    "limit-copy": "copy_append",
    "limit-ordered": "ordered_append",
    "mutex-stdio": "stdio_append",
    "writev-each": "writev_append",
    "writes-each": "writes_append",
    "buffered": "library_append",
    "background": "library_append",
    "write-through": "library_append",
}


def count(bench: str, directory: str, writer: str, size: int, description: str) -> float:
    with tempfile.NamedTemporaryFile() as profile:
        run = subprocess.run(
            [
                "valgrind", "--tool=callgrind", "--callgrind-out-file=" + profile.name,
                "--toggle-collect=" + FUNCTIONS[writer],
                bench, "-r", "1", "-b", "400000", "-t", "1", "-s", str(size), "-d", description,
                "-w", writer, directory,
            ],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
        )
    collected = re.search(r"Collected : (\d+)", run.stderr)
    assert collected is not None, run.stderr
    (row,) = json.loads(run.stdout)["rows"]
    return int(collected.group(1)) / (2 * row["records"])  # two passes


def main() -> None:
    bench, directory = sys.argv[1:]
    cells = [(size, description) for description in ("none", "lines") for size in SIZES]
    titles = ["%d B, %s" % cell for cell in cells]
    print("| writer | " + " | ".join(titles) + " |")
    print("|" + "---|" * (len(cells) + 1))
    for writer in FUNCTIONS:
        counts = [count(bench, directory, writer, size, description) for size, description in cells]
        print("| %s | " % writer + " | ".join("%.0f" % c for c in counts) + " |", flush=True)


if __name__ == "__main__":
    main()
