#!/usr/bin/env python3
"""Runs programs under the Brainfuck JIT and compares what they print with an interpreter.

    test_bf.py [--seed N] [--count N] COMMAND...

COMMAND is the path of bf, after the command of an emulator where one is needed.
"""
from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

COMMAND: list[str] = []
COUNT = 0
RANDOM = random.Random()
# As in bf.h and main.c.
SOURCE_MAX = 1 << 20
TAPE_SIZE = 1 << 18

HERE = os.path.dirname(os.path.abspath(__file__))


def bf(source: str, stdin: bytes = b"", *options: str) -> subprocess.CompletedProcess[bytes]:
    with tempfile.NamedTemporaryFile("w", suffix=".bf") as file:
        file.write(source)
        file.flush()
        return subprocess.run([*COMMAND, *options, file.name], input=stdin, capture_output=True)


class TooLong(Exception):
    pass


def interpret(source: str, stdin: bytes, steps_max: int) -> bytes | None:
    """What the program prints, or None where it leaves the tape at its left end."""
    partner: dict[int, int] = {}
    open_loops: list[int] = []
    for i, char in enumerate(source):
        if char == "[":
            open_loops.append(i)
        elif char == "]":
            begin = open_loops.pop()
            partner[begin], partner[i] = i, begin
    tape: dict[int, int] = {}
    output = bytearray()
    at = cell = steps = read = 0
    while at < len(source):
        steps += 1
        if steps > steps_max:
            raise TooLong
        char = source[at]
        if char == ">":
            cell += 1
        elif char == "<":
            cell -= 1
        elif char in "+-.,[]":
            if cell < 0:
                return None
            value = tape.get(cell, 0)
            if char == "+":
                tape[cell] = (value + 1) % 256
            elif char == "-":
                tape[cell] = (value - 1) % 256
            elif char == ".":
                output.append(value)
            elif char == ",":
                tape[cell] = stdin[read] if read < len(stdin) else 0
                read += 1
            elif (char == "[") == (value == 0):
                at = partner[at]
        at += 1
    return bytes(output)


def random_body(depth: int) -> str:
    """Comes back to the cell where it begins, most of the time."""
    parts, at = [], 0
    for _ in range(RANDOM.randint(2, 12)):
        kind = RANDOM.randrange(10)
        if kind < 3:
            parts.append(RANDOM.choice("+-") * RANDOM.randint(1, 5))
        elif kind < 6:
            step = RANDOM.choice([-2, -1, 1, 2, 3])
            parts.append(">" * step + "<" * -step)
            at += step
        elif kind < 7:
            parts.append(RANDOM.choice(["[-]", "[+]", ".", ",", "\n", " word "]))
        elif depth > 0:
            parts.append("+" * RANDOM.randint(0, 3) + "[" + random_body(depth - 1) + ".-]")
    if RANDOM.random() < 0.95:
        parts.append("<" * at + ">" * -at)
    return "".join(parts)


def random_program() -> str:
    return ">" * 12 + random_body(4) + random_body(4) + ".>." * 8


class Bf(unittest.TestCase):
    def check(self, source: str, stdin: bytes, expected: bytes | None, *options: str) -> None:
        result = bf(source, stdin, *options)
        shown = f"{options} {source[:2000]}"
        if expected is None:
            self.assertRegex(result.stderr, b"^bf: .* has left the tape\n$", shown)
            self.assertEqual(result.returncode, 1, shown)
        else:
            self.assertEqual((result.stdout, result.stderr), (expected, b""), shown)
            self.assertEqual(result.returncode, 0, shown)

    def test_random_programs(self) -> None:
        compared = busy = 0
        while compared < COUNT:
            source, stdin = random_program(), RANDOM.randbytes(20)
            try:
                expected = interpret(source, stdin, 20_000)
            except TooLong:
                continue
            self.check(source, stdin, expected, *RANDOM.choice(
                [[], ["--move"], ["--threads", "4"], ["--move", "--threads", "2"]]))
            compared += 1
            busy += expected is not None and len(expected) > 50
        self.assertGreater(busy, COUNT // 20, "too few of the programs did much")

    def test_long_runs(self) -> None:
        for count in 1, 127, 128, 255, 256, 257, 4095, 4096, 9000:
            self.check("+" * count + ".", b"", bytes([count % 256]))
            self.check("-" * count + ".", b"", bytes([-count % 256]))
            self.check("+" + ">" * count + "++." + "<" * count + ".", b"", b"\x02\x01")

    def test_functions_that_move(self) -> None:
        inner = "[->>+<<]>>[-<<++>>]<<" + "+-" * 20
        source = "+" * 200 + "[->" + "[-]+[" + inner + "[-]]" + ",." + "<]"
        stdin = bytes(range(200))
        self.check(source, stdin, interpret(source, stdin, 10_000_000), "--move")

    def test_hyperfactorial(self) -> None:
        path = os.path.join(HERE, "..", "hyperfactorial.bf")
        result = subprocess.run([*COMMAND, "--move", "--threads", "2", path], capture_output=True)
        self.assertEqual(result.stdout.decode(), f"{math.prod(k**k for k in range(1, 61))}\n")

    def test_several_programs_start_on_an_empty_tape(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".bf") as file:
            file.write("+++.")
            file.flush()
            result = subprocess.run([*COMMAND, "--threads", "3", file.name, file.name],
                                    capture_output=True)
        self.assertEqual(result.stdout, b"\x03\x03")

    def test_brackets(self) -> None:
        for source, place in (("+\n [<[]\n", ":2:2: this [ has no ]"),
                              ("[]\n\n+[+]]", ":3:5: this ] has no [")):
            result = bf(source)
            self.assertIn(place, result.stderr.decode())
            self.assertEqual(result.returncode, 1)

    def test_both_ends_of_the_tape(self) -> None:
        last_cell = TAPE_SIZE - 1
        self.check(">" * last_cell + "+.", b"", b"\x01")
        for source in "<+", "+[<+]", "+[>+]", ">" * TAPE_SIZE + "+", ">+>+<[>" + "<" * 9 + ".]":
            self.check(source, b"", None)

    def test_source_too_large(self) -> None:
        self.assertIn(b"the file is larger than", bf(" " * (SOURCE_MAX + 1)).stderr)
        # The largest that is taken does not get over the guard either.
        self.check(">" * (SOURCE_MAX - 1) + "+", b"", None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    COMMAND, COUNT = arguments.command, arguments.count
    RANDOM.seed(arguments.seed)
    print(f"random programs: --seed {arguments.seed}", file=sys.stderr)
    unittest.main(argv=[sys.argv[0]])
