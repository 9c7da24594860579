"""One recording, read in several ways: injected by perf or by the tool, shown by one perf or another."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
from typing import Callable, NamedTuple, Optional

from jitdump_tests import perf

ROOT = pathlib.Path(__file__).resolve().parents[2]
THEIRS, OURS = "perf inject", "jitdump inject"


class Perf(NamedTuple):
    version: str
    program: str

    @property
    def number(self) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", self.version)]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PATH": f"{pathlib.Path(self.program).parent}:{os.environ['PATH']}"}


def perfs() -> list[Perf]:
    """The one on the path, by which is recorded; and those of other Debian releases, where $JITDUMP_PERFS names a
    folder for them, as far as they are newer: others can't read that (P43)."""
    programs = [shutil.which("perf")]
    folder = os.environ.get("JITDUMP_PERFS")
    if folder:
        done = subprocess.run(["sh", ROOT / "tests" / "other-perfs.sh", folder], check=False,
                              stdout=subprocess.PIPE, text=True)
        programs += done.stdout.split()
    found = [Perf(perf.run([program, "--version"]).stdout.split()[-1], program)
             for program in programs if program]
    return found[:1] + [who for who in found[1:] if who.number > found[0].number]


class Place(NamedTuple):
    """What a frame is said to be."""
    function: str
    file: Optional[str]
    line: Optional[int]


@dataclasses.dataclass
class Shown:
    """A sample as perf shows it."""
    pid: int
    time: int
    ip: int
    # Innermost first, inlined ones too; without call chains the sample's own.
    frames: list[Place]
    alone: Optional[Place] = None  # the sample's own, as perf shows it without its chain

    @property
    def place(self) -> Place:
        return self.alone or (self.frames or [Place("[unknown]", None, None)])[0]


HEADER = re.compile(r"\s*\S.*?\s+(?P<pid>\d+)/\d+\s+(?P<seconds>\d+)\.(?P<fraction>\d{9}):\s*"
                    r"(?:(?P<ip>[0-9a-f]+) (?P<symbol>.*?))?\s*$")
FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*?)(?: \(inlined\))?$")
LINE = re.compile(r"\s+(?P<file>\S.*?):(?P<line>\d+)(?: \(inlined\))?$")


def parse(text: str) -> list[Shown]:
    """`perf script --ns -F comm,pid,tid,time,ip,sym,srcline`, with call chains or with -G, where
    the one frame is on the sample's own line."""
    shown: list[Shown] = []
    for text_line in text.splitlines():
        header = HEADER.match(text_line)
        if header:
            ip = int(header["ip"], 16) if header["ip"] else 0
            shown.append(Shown(int(header["pid"]), int(header["seconds"] + header["fraction"]), ip,
                               [Place(header["symbol"], None, None)] if header["ip"] else []))
            continue
        frame = FRAME.match(text_line)
        if frame:
            shown[-1].frames.append(Place(frame["symbol"], None, None))
            continue
        line = LINE.match(text_line)
        if line and int(line["line"]) > 0 and shown and shown[-1].frames:
            function = shown[-1].frames[-1].function
            shown[-1].frames[-1] = Place(function, line["file"], int(line["line"]))
    return shown


class Recording:
    """A directory with what perf has recorded of a program, and its dumps, and one for what the tool
    makes of it: perf 7 unwinds by what perf inject has made only if the path begins with /tmp/jitted- (P30),
    and by a file of more than one function only if it does not."""

    def __init__(self, directory: pathlib.Path, output: pathlib.Path) -> None:
        self.directory = directory
        self.output = output
        self.data = directory / "perf.data"
        self.has_chains = False
        self.options: tuple[str, ...] = ()  # of perf record
        # No configuration of the user's.
        self.environment = {"HOME": str(directory), "JITDUMPDIR": str(directory)}

    def run(self, who: Perf, *arguments: object, check: bool = True,
            **environment: str) -> subprocess.CompletedProcess:
        return perf.run([who.program, "--buildid-dir", "/dev/null", *arguments], check=check,
                        cwd=self.directory, env={**who.environment, **self.environment, **environment})

    def record(self, who: Perf, *command: object, call_graph: str = "", clock: bool = True,
               **environment: str) -> str:
        """Returns the program's output."""
        self.has_chains = bool(call_graph)
        options = ["--call-graph", call_graph] if call_graph else []
        return self.run(who, *perf.RECORD, *(perf.MONOTONIC if clock else []), *options, *self.options, "-o",
                        self.data, "--", *command, **environment).stdout

    def inject(self, who: Perf, by: str) -> Optional[pathlib.Path]:
        """None: it has failed."""
        folder = self.directory if by == THEIRS else self.output
        output = folder / f"{who.version}.data"
        if by == THEIRS:
            done = self.run(who, "inject", "--jit", "-i", self.data, "-o", output, check=False)
        else:
            done = perf.run([os.environ["JITDUMP_TOOL"], "inject", "-i", self.data, "-o", output,
                             "--dump-dir", self.directory], check=False, cwd=self.directory,
                            env={**os.environ, **self.environment})
        # The tool's 1: all that could be injected is.
        if done.returncode not in ((0,) if by == THEIRS else (0, 1)):
            print(f"{by} {who.version}: exit code {done.returncode} {done.stderr.strip()[-200:]}")
            return None
        return output

    def script(self, who: Perf, data: pathlib.Path, *options: str) -> list[Shown]:
        return parse(self.run(who, "script", "--ns", "-i", data, *options).stdout)

    def generated(self, who: Perf, data: pathlib.Path) -> list[str]:
        """The files in which perf has found generated code."""
        text = self.run(who, "script", "-i", data, "-G", "-F", "ip,sym,dso").stdout
        files = set(re.findall(r" \((/[^()]*)\)$", text, re.M))
        return sorted(file for file in files
                      if file.startswith((str(self.directory), str(self.output))) and
                      re.search(r"/jit(ted)?-\d+[^/]*\.(so|elf)$", file))

    def shown(self, who: Perf, data: pathlib.Path, large: bool) -> list[Shown]:
        """All samples, with their chains where recorded. Of a large library's lines, which may take
        minutes, nobody asks: with `large` those of generated code alone, and no chains."""
        fields = "comm,pid,tid,time,ip,sym"
        if large:
            dsos = ",".join(self.generated(who, data))
            samples = self.script(who, data, "-G", "-F", fields + ",srcline", "--dsos", dsos)
            with_line = {(each.time, each.ip): each for each in samples}
            return [with_line.get((each.time, each.ip), each)
                    for each in self.script(who, data, "-G", "-F", fields)]
        samples = self.script(who, data, "-G", "-F", fields + ",srcline")
        if self.has_chains:
            # In chains of their own making some perfs show addresses in the file.
            chains = self.script(who, data, "-F", fields + ",srcline")
            assert len(chains) == len(samples), "perf script: as many chains as samples"
            for sample, chain in zip(samples, chains):
                sample.alone, sample.frames = sample.place, chain.frames
        return samples


class Expected(NamedTuple):
    """The truth about a sample in generated code."""
    # Innermost first; more than one where calls are inlined. A line of None: there is none to say.
    frames: list[Place]
    # What the callers' names have to be, innermost first, then any down to the last; None: nothing is known.
    callers: Optional[list[str]] = None
    last: tuple[str, ...] = ()


Truth = Callable[[Shown], Optional[Expected]]


@dataclasses.dataclass
class Score:
    samples: int = 0
    function: int = 0
    line: int = 0
    inlined: int = 0      # of with_inlining
    with_inlining: int = 0
    chain: int = 0        # of with_chain
    with_chain: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)

    def shares(self) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part}/{whole} {100 * part / whole:6.2f} %" if whole else "-"
        return (f"function {share(self.function, self.samples):>20}  "
                f"line {share(self.line, self.samples):>20}  "
                f"inlined {share(self.inlined, self.with_inlining):>20}  "
                f"chain {share(self.chain, self.with_chain):>20}")


def same_file(shown: Optional[str], expected: Optional[str]) -> bool:
    return shown is not None and expected is not None and \
        pathlib.PurePath(shown).name == pathlib.PurePath(expected).name


def same_line(shown: Place, expected: Place) -> bool:
    if not expected.line:
        return shown.line is None
    return shown.line == expected.line and same_file(shown.file, expected.file)


def score(samples: list[Shown], truth: Truth, chains: bool) -> Score:
    """Compares each sample with the truth. A name or a line that is missing is not right, and one
    that is another's is wrong besides."""
    result = Score()
    for sample in samples:
        expected = truth(sample)
        if expected is None:
            continue
        result.samples += 1
        inner, outer = expected.frames[0], expected.frames[-1]
        # perf shows the ELF symbol, or with chains and inlining the innermost call.
        right = sample.place.function in (inner.function, outer.function)
        result.function += right
        result.line += right and same_line(sample.place, inner)
        if not right and sample.place.function != "[unknown]":
            result.wrong.append(f"{sample.place.function} instead of {outer.function} at "
                                f"{sample.ip:#x}")
        elif right and sample.place.line and not same_line(sample.place, inner):
            result.wrong.append(f"{outer.function}: {sample.place.file}:{sample.place.line} instead "
                                f"of {inner.file}:{inner.line}")
        if not chains:
            continue
        depth = len(expected.frames)
        if depth > 1:
            result.with_inlining += 1
            result.inlined += len(sample.frames) >= depth and all(
                frame.function == wanted.function and same_line(frame, wanted)
                for frame, wanted in zip(sample.frames, expected.frames))
        if expected.callers is not None:
            result.with_chain += 1
            names = [frame.function for frame in sample.frames]
            # Whether the inlined calls are there is another question.
            start = next((i for i, name in enumerate(names) if name == outer.function), len(names))
            callers = names[start + 1:]
            result.chain += callers[:len(expected.callers)] == expected.callers and (
                not expected.last or (callers or [""])[-1] in expected.last)
    return result


def read(recording: Recording, who: Perf, by: str, truth: Truth,
         large: bool = False) -> Optional[Score]:
    """None: the injection has failed."""
    data = recording.inject(who, by)
    if data is None:
        return None
    return score(recording.shown(who, data, large), truth, recording.has_chains and not large)
