"""Runs the real perf on the workload, and reads what perf says of it."""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
from typing import Iterator, List, Optional, Sequence

from jitdump_tests import jitdump_reader, jitdump_records
from jitdump_tests.truth import Truth

WORKLOAD = os.environ.get("JITDUMP_WORKLOAD", "")
# A software event, which virtual machines have too; of user space alone, for which perf
# needs the least permission.
RECORD = ["record", "-e", "cpu-clock:u", "-F", "1999",
          "--no-bpf-event"]  # whose thread in perf takes a second to end
MONOTONIC = ["-k", "mono"]
SECONDS_LIMIT = 120  # of one program, so that a hanging one ends the test


@dataclasses.dataclass
class Sample:
    pid: int
    time: int  # nanoseconds of the clock recorded with
    ip: int
    symbol: str
    file: Optional[str] = None
    line: Optional[int] = None
    chain: List[str] = dataclasses.field(default_factory=list)  # symbols, the innermost first


def run(command: Sequence[object], check: bool = True,
        **options: object) -> subprocess.CompletedProcess:
    """Runs a program with its output captured; a failure's message holds all of it."""
    words = [str(word) for word in command]
    options.setdefault("stdin", subprocess.DEVNULL)
    # SIGPIPE stays ignored, as in Python: perf would die of it when addr2line ends because a
    # file is missing.
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=SECONDS_LIMIT, restore_signals=False, **options)
    return succeeded(done) if check else done


def succeeded(done: subprocess.CompletedProcess) -> subprocess.CompletedProcess:
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(done.args)}: exit code {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
    return done


def why_unusable() -> Optional[str]:
    """Why the tests can't run here; None if they can."""
    if not WORKLOAD:
        return "there is no code generator for this processor"
    if shutil.which("perf") is None:
        return "perf is not installed"
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(["perf", *RECORD, *MONOTONIC, "-o", f"{directory}/perf.data", "true"])
        except AssertionError as refusal:
            return f"perf events are not permitted: {str(refusal).strip()}"
    return None


def version() -> str:
    return run(["perf", "--version"]).stdout.strip()


def record_ids(dump: bytes) -> Iterator[int]:
    """Of a dump in either byte order, with whatever in its records."""
    order = "<" if dump.startswith(b"DTiJ") else ">"
    offset = jitdump_reader.FILE_HEADER_SIZE
    while offset < len(dump):
        record_id, size = struct.unpack_from(order + "II", dump, offset)
        yield record_id
        offset += size


class Session:
    """A directory with the workload's dump and perf's recording of it."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.data = directory / "perf.data"
        self.injected = directory / "perf.injected.data"
        # No configuration of the user's.
        self.environment = {**os.environ, "HOME": str(directory), "JITDUMPDIR": str(directory)}
        self.call_graph: List[str] = []

    def perf(self, *arguments: object, check: bool = True,
             **options: object) -> subprocess.CompletedProcess:
        # Without copies of all files that perf meets, of which every generated function is one.
        return run(["perf", "--buildid-dir", "/dev/null", *arguments], check=check,
                   cwd=self.directory, env=self.environment, **options)

    def record(self, *workload: object, clock: Sequence[str] = MONOTONIC,
               call_graph: bool = False) -> Truth:
        """Records the workload from its start to its end."""
        self.call_graph = ["--call-graph", "dwarf"] if call_graph else []
        done = self.perf(*RECORD, *clock, *self.call_graph, "-o", self.data, "--",
                         WORKLOAD, *workload)
        return Truth(done.stdout)

    def start(self, *workload: object, prefix: Sequence[str] = ()) -> "Running":
        """Starts the workload, not under perf, and returns when its code is loaded."""
        return Running([*prefix, WORKLOAD, "--until-eof", *map(str, workload)], self)

    def attach(self, pid: int) -> None:
        """Records a running process for a second."""
        self.perf(*RECORD, *MONOTONIC, "-o", self.data, "-p", pid, "--", "sleep", "1")

    def inject(self, check: bool = True) -> subprocess.CompletedProcess:
        return self.perf("inject", "--jit", "-i", self.data, "-o", self.injected, check=check)

    def inject_moves(self) -> None:
        """By perf, or by the tool where perf crashes on moves (P29)."""
        done = self.inject(check=False)
        if not self.crashed_on_moves(done):
            succeeded(done)
            return
        print(f"fact: P29 still so in {version()}: perf inject crashes on moves; the tool injects")
        self.inject_by_tool()

    def inject_by_tool(self) -> None:
        run([os.environ["JITDUMP_TOOL"], "inject", "-i", self.data, "-o", self.injected],
            cwd=self.directory, env=self.environment)

    def crashed_on_moves(self, done: subprocess.CompletedProcess) -> bool:
        return done.returncode == -signal.SIGSEGV and any(
            jitdump_records.JIT_CODE_MOVE in record_ids(path.read_bytes())
            for path in self.directory.glob("jit-*.dump"))

    def samples(self, dsos: Sequence[str] = ()) -> List[Sample]:
        """All samples after the injection, with their call chains where recorded. With their
        lines, or if some are named, with those of these DSOs: of a large library's, which may
        take minutes, nobody asks."""
        fields = "comm,pid,tid,time,ip,sym"
        lines_of = ["--dsos", ",".join(dsos)] if dsos else []
        samples = list(parse_samples(self.script("-G", "-F", fields + ",srcline", *lines_of)))
        if dsos:
            with_line = {(sample.time, sample.ip): sample for sample in samples}
            samples = [with_line.get((sample.time, sample.ip), sample)
                       for sample in parse_samples(self.script("-G", "-F", fields))]
        if self.call_graph:
            # What is inlined in the host's programs and libraries takes minutes to look for.
            chains = list(parse_chains(self.script("--no-inline", "-F", fields)))
            assert len(chains) == len(samples), "perf script: as many chains as samples"
            for sample, chain in zip(samples, chains):
                sample.chain = chain
        return samples

    def annotate(self, symbol: str) -> str:
        """The symbol's instructions with their source lines. perf 6.12 parses them, but for
        --asm-raw, and crashes over it."""
        return self.perf("annotate", "--stdio", "--asm-raw", "-i", self.injected, "-s",
                         symbol).stdout

    def script(self, *arguments: str) -> str:
        return self.perf("script", "--ns", "-i", self.injected, *arguments).stdout


class Running:
    """A workload that runs until finish() is called."""

    def __init__(self, command: Sequence[str], session: Session) -> None:
        self.process = subprocess.Popen(command, cwd=session.directory, env=session.environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.output = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if '"ready"' in line:
                return
        raise AssertionError(f"{' '.join(command)}: ended early\n{self.output}")

    def finish(self) -> Truth:
        rest, _ = self.process.communicate(timeout=SECONDS_LIMIT)
        if self.process.returncode != 0:
            raise AssertionError(f"the workload failed: exit code {self.process.returncode}")
        return Truth(self.output + rest)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


HEADER = re.compile(r"\s*\S.*?\s+(?P<pid>\d+)/\d+\s+(?P<seconds>\d+)\.(?P<fraction>\d{9}):\s*"
                    r"(?:(?P<ip>[0-9a-f]+) (?P<symbol>.*?))?\s*$")
SOURCE_LINE = re.compile(r"  (?P<file>\S.*):(?P<line>\d+)$")
FRAME = re.compile(r"\s+[0-9a-f]+ (?P<symbol>.*?)(?: \(inlined\))?$")


def parse_samples(text: str) -> Iterator[Sample]:
    sample = None
    for line in text.splitlines():
        header = HEADER.match(line)
        if header:
            if sample:
                yield sample
            sample = Sample(int(header["pid"]), int(header["seconds"] + header["fraction"]),
                            int(header["ip"], 16), header["symbol"])
            continue
        source = SOURCE_LINE.match(line)
        if source and sample and int(source["line"]) > 0:
            sample.file, sample.line = source["file"], int(source["line"])
    if sample:
        yield sample


def parse_chains(text: str) -> Iterator[List[str]]:
    chain: Optional[List[str]] = None
    for line in text.splitlines():
        frame = FRAME.match(line)
        if HEADER.match(line):
            if chain is not None:
                yield chain
            chain = []
        elif frame and chain is not None:
            chain.append(frame["symbol"])
    if chain is not None:
        yield chain
