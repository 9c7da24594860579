#!/usr/bin/env python3
"""Runs programs under the Brainfuck JIT and compares what they print with an interpreter.

    test_bf.py [--seed N] [--count N] COMMAND...

COMMAND is the path of bf, after the command of an emulator where one is needed.
"""
from __future__ import annotations

import argparse
import glob
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HYPERFACTORIAL = os.path.join(HERE, "..", "hyperfactorial.bf")
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests"))
from jitdump_tests import jitdump_reader  # noqa: E402

# As in bf.h and main.c.
SOURCE_MAX = 1 << 20
TAPE_SIZE = 1 << 18

EM_X86_64 = 62
# How the code of each operation begins; a [ may be a call, a clearing or a loop.
X86_64_CODE = {"+": "8003", "-": "8003", ">": "4881c3", "<": "4881c3", ".": "0fb63b",
               ",": "41ff5424", "[": ("498b4424", "4c89e7be", "c60300", "803b00"), "]": "803b00"}

COMMAND: list[str] = []
COUNT = 0
RANDOM = random.Random()


def hyperfactorial(n: int) -> str:
    return f"{math.prod(k ** k for k in range(1, n + 1))}\n"


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


class Source:
    """Where a program's operations stand, found in another way than bf does it."""

    # As in program.c.
    FUNCTION_OPS_MIN = 16

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        self.functions: dict[str, list[tuple[int, int]]] = {}
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        text = " ".join(f"{char}{line}:{column}" for line, chars in enumerate(lines, 1)
                        for column, char in enumerate(chars, 1) if char in "+-><.,[]")
        # [-] is one operation if it stands on one line; and so is a run of + and -, or > and <.
        text = re.sub(r"\[(\d+):(\d+) [+-]\1:\d+ \]\1:\d+", r"0\1:\2", text)
        for kind in r"[+-]", "[><]":
            text = re.sub(rf"({kind}(\d+):\d+)(?: {kind}\2:\d+)+", r"\1", text)
        self.operations = text.split(" ")
        self.next = 0
        self.functions[f"bf:{self.name}"] = self.body()

    def body(self) -> list[tuple[int, int]]:
        """Up to the end of the loop that is open, or of the program."""
        places: list[tuple[int, int]] = []
        while self.next < len(self.operations):
            operation = self.operations[self.next]
            line, column = map(int, operation[1:].split(":"))
            places.append((line, column))
            self.next += 1
            if operation[0] == "]":
                break
            if operation[0] == "[":
                loop = places[-1:] + self.body()
                if len(loop) >= self.FUNCTION_OPS_MIN:
                    self.functions[f"bf:{self.name}:{line}:{column}"] = loop
                else:
                    places += loop[1:]
        return places


def random_body(depth: int) -> str:
    """Stays right of the cell where it begins and comes back to it, most of the time; so that
    most loops end, which count their own cell down."""
    parts, at = [], 0
    for _ in range(RANDOM.randint(3, 9)):
        kind = RANDOM.randrange(12)
        if kind < 3:
            parts.append(RANDOM.choice("+-") * RANDOM.randint(1, 5))
        elif kind < 6:
            step = RANDOM.randint(-min(at, 3), 3)
            parts.append(">" * step + "<" * -step)
            at += step
        elif kind < 8:
            parts.append(RANDOM.choice(["[-]", "[+]", ".", ",", "\n", " word ", "[->+<]", "[->>-<<]"]))
        elif depth > 0:
            parts.append("[-]" + "+" * RANDOM.randint(0, 5) + "[->" + random_body(depth - 1) + "<]")
    if RANDOM.random() < 0.99:
        parts.append("<" * at)
    return "".join(parts)


def random_program() -> str:
    return random_body(4) + random_body(4) + ".>." * 8


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
                expected = interpret(source, stdin, 200_000)
            except TooLong:
                continue
            self.check(source, stdin, expected, *RANDOM.choice(
                [[], ["--move"], ["--threads", "4"], ["--move", "--threads", "2"]]))
            compared += 1
            busy += expected is not None and len(expected) > 50
        self.assertGreater(busy, COUNT // 4, "too few of the programs did much")

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
        result = subprocess.run([*COMMAND, "--move", "--threads", "2", HYPERFACTORIAL],
                                capture_output=True)
        self.assertEqual(result.stdout.decode(), hyperfactorial(60))

    def test_dump(self) -> None:
        for options in ([], ["--flush", "buffered", "--threads", "8"],
                        ["--flush", "background", "--threads", "2", "--move"]):
            with self.subTest(options), tempfile.TemporaryDirectory() as directory:
                self.check_dump(directory, options)

    def check_dump(self, directory: str, options: list[str]) -> None:
        program = os.path.join(directory, "program.bf")
        with open(HYPERFACTORIAL, encoding="utf-8") as file:
            source = file.read().replace("++++++++++ ++++++++++ ++++++++++", "++++++++++")
        with open(program, "w", encoding="utf-8") as file:
            file.write(source)
        expected = Source(program).functions
        self.assertGreater(len(expected), 4)
        result = subprocess.run([*COMMAND, "--jitdump", *options, program], capture_output=True,
                                env={**os.environ, "JITDUMPDIR": directory})
        self.assertEqual(result.stdout.decode(), hyperfactorial(20))

        dump = jitdump_reader.read(glob.glob(os.path.join(directory, "jit-*.dump"))[0])
        self.assertTrue(dump.closed)
        lines = {}
        for function in dump.functions:
            entries = function.described_by(jitdump_reader.DebugInfo).entries
            self.assertEqual({entry.name for entry in entries}, {os.path.realpath(program)})
            # The last entry only closes the table.
            lines[function.load.name] = [(entry.line, entry.discrim) for entry in entries[:-1]]
            if dump.header.elf_mach == EM_X86_64:
                self.check_code(source, function.load, entries)
        self.assertEqual(lines, expected)
        # What has moved is loaded anew (P24).
        self.assertFalse(any(isinstance(record, jitdump_reader.Move) for record in dump.records))
        self.assertEqual(len(dump.functions) > len(expected) + 10, "--move" in options)

    def check_code(self, source: str, load: jitdump_reader.Load,
                   entries: list[jitdump_reader.DebugEntry]) -> None:
        """Each entry but the first, which has the function's beginning, stands at its code."""
        lines = source.split("\n")
        for entry in entries[1:-1]:
            code = load.code[entry.code_addr - load.code_addr:].hex()
            char = lines[entry.line - 1][entry.discrim - 1]
            self.assertTrue(code.startswith(X86_64_CODE[char]), f"{char} is {code[:20]}")

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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    COMMAND, COUNT = arguments.command, arguments.count
    RANDOM.seed(arguments.seed)
    unittest.main(argv=[sys.argv[0]])
