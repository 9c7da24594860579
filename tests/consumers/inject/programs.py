"""The programs that are profiled, each with the truth about every address of its generated code."""
from __future__ import annotations

import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
from typing import Optional

from jitdump_tests import perf, tool
from jitdump_tests.readings import ROOT, Expected, Perf, Place, Recording, Shown, Truth
from jitdump_tests.tiered_log import Log
from jitdump_tests.truth import Truth as Placements

EXAMPLES = pathlib.Path(os.environ.get("JITDUMP_EXAMPLES", ""))
WORKLOAD = os.environ.get("JITDUMP_WORKLOAD", "")
CHAINS = os.environ.get("JITDUMP_CHAINS", "")
# By frame pointers, of which the C library has none.
LIBC_STARTS = ("__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl",
               "__libc_start_main@@GLIBC_2.34")
# perf 6.12 ends at those now and then, in all chains of a profile, after perf inject as well.
STARTS = ("_start", *LIBC_STARTS, "__clone3", "clone3", "__clone", "clone", "start_thread",
          "thread_start")


class Dump:
    """The code of a dump by address and time, as the tool reads it; which other tests compare with the
    strict reader, a model, and the truth of examples."""

    def __init__(self, path: pathlib.Path) -> None:
        self.lives = []
        # The status says that something in the dump can't be read, as of Node's.
        for line in tool.run("dump", "--json", "--function", "", path).out.splitlines():
            function = json.loads(line)
            lines = tool.Lines(function)
            for life in function["lives"]:
                end = life["end"] if life["end"] is not None else 1 << 64
                begin = int(life["address"], 16)
                self.lives.append((begin, begin + function["code_size"], life["begin"], end, lines))
        self.by_page: dict[int, list] = collections.defaultdict(list)
        for life in self.lives:
            for page in range(life[0] >> 12, (life[1] - 1 >> 12) + 1):
                self.by_page[page].append(life)

    def at(self, sample: Shown) -> Optional[Expected]:
        for begin, end, since, until, lines in self.by_page.get(sample.ip >> 12, ()):
            if begin <= sample.ip < end and since <= sample.time < until:
                frames = lines.chain(sample.ip - begin)
                name = lines.function["function"]
                return Expected([Place(frame.function or name, frame.file, frame.line or None)
                                 for frame in frames])
        return None


def only_dump(recording: Recording) -> pathlib.Path:
    dump, = recording.directory.glob("jit-*.dump")
    return dump


def bf(recording: Recording, who: Perf, scale: float) -> Truth:
    del scale
    recording.record(who, EXAMPLES / "bf", "--jitdump", ROOT / "examples" / "hyperfactorial.bf",
                     call_graph="dwarf,2048")
    dump = Dump(only_dump(recording))

    def truth(sample: Shown) -> Optional[Expected]:
        found = dump.at(sample)
        return found and found._replace(callers=[], last=STARTS)
    return truth


def tiered(recording: Recording, who: Perf, scale: float, call_graph: str = "dwarf,2048") -> Truth:
    """Two tiers with inlining, the code moved in between; in the dialect that has inlined calls."""
    path = recording.directory / "log"
    recording.record(who, EXAMPLES / "tiered", "--jitdump", "samply-2026", "--log", path, "--rounds",
                     int(16000 * scale), "--hot", int(40000000 * scale),
                     ROOT / "examples" / "tiered" / "program.tl", call_graph=call_graph)
    log = Log(path)

    def truth(sample: Shown) -> Optional[Expected]:
        place = log.at(sample.ip, sample.time)
        if place is None:
            return None
        code, offset = place
        frames = [Place(frame.function, "program.tl", frame.line) for frame in code.chain(offset)]
        frames[-1] = frames[-1]._replace(function=code.name)
        return Expected(frames, [], STARTS)
    return truth


def workload(*options: str):
    """A program of tests/consumers/perf, which says itself what lies where."""
    def program(recording: Recording, who: Perf, scale: float) -> Truth:
        output = recording.record(who, WORKLOAD, "--duration-ms", int(1000 * scale), *options,
                                  call_graph="dwarf,4096")
        placements = Placements(output)

        def truth(sample: Shown) -> Optional[Expected]:
            place = placements.at(sample.pid, sample.ip, sample.time)
            if place is None:
                return None
            function, offset = place
            frames = [Place(function.name, function.file, function.line_at(offset))]
            chain = re.fullmatch(r"(c\d+)_(\d+)of(\d+)", function.name)
            if chain is None:
                return Expected(frames)
            callers = [f"{chain[1]}_{i}of{chain[3]}" for i in range(int(chain[2]) + 1, int(chain[3]))]
            return Expected(frames, callers, STARTS)
        return truth
    return program


def tiered_frame_pointers(recording: Recording, who: Perf, scale: float) -> Truth:
    return tiered(recording, who, scale, "fp")


def placed(output: str) -> Truth:
    """What the output of a program of tests/consumers/perf says, whatever pid it has there."""
    placements = Placements(output)

    def truth(sample: Shown) -> Optional[Expected]:
        place = placements.at(sample.pid, sample.ip, sample.time)
        return place and Expected([Place(place[0].name, place[0].file, place[0].line_at(place[1]))])
    return truth


def container(recording: Recording, who: Perf, scale: float) -> Truth:
    """Has pids and a /proc of its own, and has ended when the profile is looked at."""
    return placed(recording.record(
        who, "unshare", "--pid", "--mount-proc", "--fork", WORKLOAD, "--duration-ms",
        int(1000 * scale), "shares"))


def other_clock(recording: Recording, who: Perf, scale: float) -> Truth:
    """Without -k mono. The samples have other times than the truth: the program is one in which no
    address is used twice."""
    truth = placed(recording.record(who, WORKLOAD, "--duration-ms", int(1000 * scale), "shares",
                                    clock=False))
    return lambda sample: truth(dataclasses.replace(sample, time=1 << 63))


def missing_dump(recording: Recording, who: Perf, scale: float) -> Truth:
    """Three processes, one of whose dumps is gone: of the two others."""
    script = " & ".join([f'"$0" --duration-ms {int(1000 * scale)} shares >out$$.{i}'
                         for i in range(3)]) + " & wait"
    recording.record(who, "sh", "-c", script, WORKLOAD)
    outputs = [path.read_text() for path in sorted(recording.directory.glob("out*"))]
    truths = {placements.pid: placed(output) for output in outputs
              for placements in [Placements(output)]}
    gone = min(truths)
    (recording.directory / f"jit-{gone}.dump").unlink()
    del truths[gone]
    return lambda sample: truths[sample.pid](sample) if sample.pid in truths else None


def chains(how: str, *functions: str):
    """A chain of calls of tests/consumers/unwind."""
    def program(recording: Recording, who: Perf, scale: float) -> Truth:
        output = recording.record(who, CHAINS, how, int(1000 * scale), *functions,
                                  call_graph="dwarf,4096")
        placements = Placements(output)
        calls = [*functions, "leaf"]
        callers = {name: [*calls[:index][::-1], "call_chain", "call_until", "main"]
                   for index, name in enumerate(calls)}

        def truth(sample: Shown) -> Optional[Expected]:
            place = placements.at(sample.pid, sample.ip, sample.time)
            if place is None:
                return None
            name = place[0].name
            return Expected([Place(name, None, None)], callers[name], STARTS)
        return truth
    return program


def luajit(recording: Recording, who: Perf, scale: float) -> Truth:
    del scale
    example = ROOT / "examples" / "luajit"
    recording.record(who, shutil.which("luajit"), "-l", "jitdump", example / "programs" / "nbody.lua",
                     LD_LIBRARY_PATH=os.environ["JITDUMP_LIBRARY"], LUA_PATH=f"{example}/?.lua;;")
    return Dump(only_dump(recording)).at


def hotspot(recording: Recording, who: Perf, scale: float) -> Truth:
    """With plugins loaded and unloaded: addresses are used again."""
    jdk = pathlib.Path(os.environ["JITDUMP_JDK"])
    classes = recording.directory / "classes"
    perf.run([jdk / "bin" / "javac", "-g", "-d", classes,
              *(ROOT / "examples" / "jvmti").glob("*.java")])
    recording.record(who, jdk / "bin" / "java", f"-agentpath:{os.environ['JITDUMP_AGENT']}", "-cp",
                     classes, "Plugins", max(2, int(3 * scale)))
    return Dump(only_dump(recording)).at


NODE = """
function mix(h, i) { h ^= i; h = Math.imul(h, 0x5bd1e995); return h ^ (h >>> 13); }
function table(n) { const t = new Array(n); for (let i = 0; i < n; i++) t[i] = mix(7, i) % 1000; return t; }
function sum(t) { let s = 0; for (const x of t) s += x > 500 ? x : mix(x, s) & 15; return s; }
let total = 0;
for (let round = 0; round < 2000; round++) total += sum(table(20000));
console.log(total);
"""


def node(recording: Recording, who: Perf, scale: float) -> Truth:
    program = recording.directory / "program.js"
    program.write_text(NODE.replace("2000;", f"{int(2000 * scale)};"))
    recording.record(who, shutil.which("node"), "--perf-prof", program)
    return Dump(only_dump(recording)).at
