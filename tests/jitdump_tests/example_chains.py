"""Dumps of the examples bf and tiered, and what each address of their code is: said by the program
that was compiled, or by its log, and not by what reads dumps."""
import os
import pathlib
import random
import subprocess
import tempfile
from typing import Dict, Iterator, List, NamedTuple

from jitdump_tests import jitdump_reader
from jitdump_tests.histories import Chain, Place
from jitdump_tests.tiered_log import Code, Log

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "examples" / "tiered" / "program.tl"


class Instant(NamedTuple):
    """A dump's code at a time."""
    dump: pathlib.Path
    options: List[str]  # of the tool, to have it
    truth: Dict[int, Chain]


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


def bf_at_the_end(program: str, directory: pathlib.Path, *options: str) -> Instant:
    source = directory / "program.bf"
    source.write_text(bf_source(random.Random(7), 5))
    path = run(program, "--jitdump", *options, source, directory=directory)
    truth: Dict[int, Chain] = {}
    for address, function in last_places(jitdump_reader.read(str(path))).items():
        truth.update(line_chains(function, address))
    return Instant(path, [], truth)


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


def tiered_truth(log: Log, time: int, with_inlining: bool) -> Dict[int, Chain]:
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


def tiered_instants(program: str, dialect: str, directory: pathlib.Path) -> Iterator[Instant]:
    """Some on the way, and the end. Its dialect is perf, samply-2023 or samply-2026; perf's has no
    inlining, and with the other two some chains are 3 deep."""
    log_path = directory / "log"
    dump = run(program, "--jitdump", dialect, "--rounds", "300", "--hot", "100000", "--log",
               log_path, PROGRAM, directory=directory)
    log = Log(log_path)
    # Each is read behind the call that it is about.
    times = sorted({since for since, _, _ in log.placements})
    for time in times[4::6] + times[-1:]:
        options = ["--at", f"{time // 10**9}.{time % 10**9:09}"] if time != times[-1] else []
        yield Instant(dump, options, tiered_truth(log, time, dialect != "perf"))


class ExampleTests:
    """For a unittest.TestCase: check(), which it has itself, with each instant of each example."""
    bf = tiered = ""  # the programs

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def test_bf(self) -> None:
        self.check(bf_at_the_end(self.bf, self.directory))

    def test_bf_moving(self) -> None:
        self.check(bf_at_the_end(self.bf, self.directory, "--move"))

    def check_tiered(self, dialect: str) -> None:
        for instant in tiered_instants(self.tiered, dialect, self.directory):
            self.check(instant)

    def test_tiered_perf(self) -> None:
        self.check_tiered("perf")

    def test_tiered_2023(self) -> None:
        self.check_tiered("samply-2023")

    def test_tiered_2026(self) -> None:
        self.check_tiered("samply-2026")
