#!/usr/bin/env python3
"""The dumps of the examples -> jitdump elf: at every address each symboliser says what the program
that was compiled says.

    test_elf_examples.py JITDUMP BF TIERED
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
from typing import Dict

from jitdump_tests import symbolizers
from jitdump_tests.histories import Chain, Place

HERE = pathlib.Path(__file__).resolve().parent
from jitdump_tests import jitdump_reader
from jitdump_tests.tiered_log import Code, Log

PROGRAM = HERE.parent.parent / "examples" / "tiered" / "program.tl"
TOOL, BF, TIERED = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


def run(*command: object, directory: pathlib.Path) -> pathlib.Path:
    """The dump that the command leaves."""
    for old in directory.glob("jit-*.dump"):
        old.unlink()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "JITDUMPDIR": str(directory)})
    dump, = directory.glob("jit-*.dump")
    return dump


def bf_source(choose: random.Random, depth: int) -> str:
    """A program that ends: loops that count down, a line each now and then."""
    if depth == 0:
        return choose.choice(["+++.", "++-+.", "+[-]", ">+<.\n"])
    body = "".join(bf_source(choose, depth - 1) for _ in range(choose.randint(1, 3)))
    return f"{'+' * choose.randint(1, 3)}[>{choose.choice(['', chr(10), '  '])}{body}<-]" + \
        choose.choice(["", "\n", "\n\n"])


def last_places(dump: jitdump_reader.Dump) -> Dict[int, jitdump_reader.Function]:
    """Address -> function. In these dumps moves go to free places only."""
    addresses = {f.load.code_index: f.load.code_addr for f in dump.functions}
    for record in dump.records:
        if isinstance(record, jitdump_reader.Move):
            addresses[record.code_index] = record.new_code_addr
    return {addresses[f.load.code_index]: f for f in dump.functions}


def line_chains(function: jitdump_reader.Function, address: int) -> Dict[int, Chain]:
    load = function.load
    entries = function.described_by(jitdump_reader.DebugInfo).entries
    result = {}
    for before, after in zip(entries, entries[1:]):
        place = Place(load.name, before.name, before.line, before.discrim)
        for code_addr in range(before.code_addr, after.code_addr):
            result[code_addr - load.code_addr + address] = [place]
    assert len(result) == load.code_size, "a line for every byte"
    return result


def tiered_places(log: Log, time: int) -> Dict[int, Code]:
    """What the log says of an instant: later code covers earlier."""
    live: Dict[int, Code] = {}
    for since, addr, code in log.placements:
        if since > time:
            break
        live = {a: c for a, c in live.items()
                if c is not code and (a >= addr + code.size or a + c.size <= addr)}
        live[addr] = code
    return live


class ExamplesTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def check(self, dump: pathlib.Path, truth: Dict[int, Chain], *options: str,
              columns: bool = True) -> None:
        elf = self.directory / "out.elf"
        subprocess.run([TOOL, "elf", dump, "-o", elf, *options], check=True)
        self.assertGreater(len(truth), 0)
        for name in symbolizers.installed():
            with self.subTest(name, options=options):
                self.assertEqual(symbolizers.compare(name, elf, truth, columns), 0)
        print(f"{self.id()} {' '.join(options)}: {len(truth)} addresses")

    def check_bf(self, *options: str) -> None:
        source = self.directory / "program.bf"
        source.write_text(bf_source(random.Random(7), 5))
        path = run(BF, "--jitdump", *options, source, directory=self.directory)
        dump = jitdump_reader.read(str(path))
        truth: Dict[int, Chain] = {}
        for address, function in last_places(dump).items():
            truth.update(line_chains(function, address))
        self.check(path, truth)

    def test_bf(self) -> None:
        self.check_bf()

    def test_bf_moving(self) -> None:
        self.check_bf("--move")

    def tiered_truth(self, log: Log, time: int, with_inlining: bool) -> Dict[int, Chain]:
        truth = {}
        for address, code in tiered_places(log, time).items():
            for offset in range(code.size):
                chain = [Place(f.function, str(PROGRAM), f.line, f.column)
                         for f in code.chain(offset)]
                if not with_inlining:
                    chain = chain[:1]
                chain[-1] = chain[-1]._replace(function=code.name)
                truth[address + offset] = chain
        return truth

    def check_tiered(self, dialect: str) -> None:
        log_path = self.directory / "log"
        dump = run(TIERED, "--jitdump", dialect, "--rounds", "300", "--hot", "100000", "--log",
                   log_path, PROGRAM, directory=self.directory)
        log = Log(log_path)
        with_inlining = dialect != "perf"
        deepest = 0
        # Each is read behind the call that it is about.
        times = sorted({since for since, _, _ in log.placements})
        for time in times[4::6] + times[-1:]:
            truth = self.tiered_truth(log, time, with_inlining)
            deepest = max([deepest] + [len(chain) for chain in truth.values()])
            options = ["--at", f"{time // 10**9}.{time % 10**9:09}"] if time != times[-1] else []
            self.check(dump, truth, *options, columns=dialect != "samply-2023")
        self.assertEqual(deepest, 3 if with_inlining else 1)

    def test_tiered_perf(self) -> None:
        self.check_tiered("perf")

    def test_tiered_2023(self) -> None:
        self.check_tiered("samply-2023")

    def test_tiered_2026(self) -> None:
        self.check_tiered("samply-2026")


if __name__ == "__main__":
    unittest.main(verbosity=2)
