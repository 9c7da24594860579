"""The agent for Java in a real virtual machine: names against what HotSpot itself says of each
address, lines and inlining against a program whose machine code shows them."""
from __future__ import annotations

import collections
import os
import pathlib
import re
import struct
import subprocess

from jitdump_tests import decoder, hotspot, perf
from jitdump_tests.perf_case import NAMED_MIN, PerfTest

AGENT = perf.WORKLOAD
JDK = pathlib.Path(os.environ.get("JITDUMP_JDK", ""))
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "jvmti"
SAMPLES_MIN = 300
SECONDS = "5"


class Load:
    """A function in the dump."""

    def __init__(self, group: decoder.Group) -> None:
        _, _, _, self.addr, size, _ = struct.unpack_from("=IIQQQQ", group[decoder.LOAD])
        name, self.code = group[decoder.LOAD][40:].split(b"\0", 1)
        self.name = name.decode()
        assert len(self.code) == size
        self.lines = decoder.debug_info(group.get(decoder.DEBUG_INFO), self.addr, size)
        inline = group.get(decoder.INLINE_2023)
        self.calls = decoder.inline_2023(inline, size)[1] if inline else []


def loads(dump: pathlib.Path) -> list[Load]:
    # The agent leaves the closing record out: events may still come at the end.
    close = struct.pack("=IIQ", decoder.CLOSE, 16, 0)
    return [Load(group) for group in decoder.groups(dump.read_bytes() + close)]


class Jvmti(PerfTest):
    def setUp(self) -> None:
        if not AGENT:
            self.skipTest("there is no JDK, and so no agent")
        super().setUp()
        self.recording = self.session()
        self.directory = self.recording.directory
        perf.run([JDK / "bin" / "javac", "-g", "-d", self.directory / "classes",
                  *SOURCES.glob("*.java")])

    def java(self, *options: str) -> list[object]:
        return [JDK / "bin" / "java", *options, "-cp", self.directory / "classes"]

    def check(self, program: str, *options: str) -> hotspot.Truth:
        """Of the samples in generated code, all but 1 % have the right name."""
        output = self.recording.perf(
            *perf.RECORD, *perf.MONOTONIC, "-o", self.recording.data, "--",
            *self.java(f"-agentpath:{AGENT}", *hotspot.OPTIONS,
                       f"-XX:LogFile={self.directory}/log.xml", *options),
            program, SECONDS).stdout
        (dump,) = self.directory.glob("jit-*.dump")
        # Not to be left where perf would find it, and take names from it.
        perf_map = pathlib.Path("/tmp", dump.stem.replace("jit", "perf") + ".map")
        perf_map_text = perf_map.read_text()
        perf_map.unlink()
        truth = hotspot.Truth((self.directory / "log.xml").read_text(errors="replace"), output,
                              perf_map_text)
        self.recording.inject()
        found: collections.Counter[str] = collections.Counter()
        wrong: collections.Counter[str] = collections.Counter()
        text = self.recording.script("-G", "-F", "comm,pid,tid,time,ip,sym")
        for sample in perf.parse_samples(text):
            if not truth.is_generated(sample.ip):
                continue
            if truth.is_named_rightly(sample.symbol, sample.ip, sample.time):
                found["right"] += 1
            elif sample.symbol == "[unknown]":
                found["unknown"] += 1
            else:
                found["wrong"] += 1
                wrong[sample.symbol] += 1
        total = sum(found.values())
        print(f"samples: jvmti {program} n={total} {dict(found)}, {len(truth.methods)} methods "
              f"compiled, at {len(set(truth.starts))} addresses, {truth.deoptimised} thrown away; "
              f"{wrong.most_common(3)}")
        self.assertGreaterEqual(total, SAMPLES_MIN)
        self.assertGreaterEqual(found["right"], NAMED_MIN * total)
        return truth


class Names(Jvmti):
    def test_sources(self) -> None:
        truth = self.check("Sources")
        self.assertGreaterEqual(len(truth.methods), 1000)

    def test_plugins(self) -> None:
        """Methods are unloaded, and their memory is used again as soon as HotSpot can."""
        truth = self.check("Plugins", "-XX:SweeperThreshold=0.01")
        self.assertLess(len(set(truth.starts)), len(truth.methods))

    def test_shapes(self) -> None:
        truth = self.check("Shapes")
        self.assertGreater(truth.deoptimised, 0)


class Lines(Jvmti):
    def run_lines(self, *options: str) -> tuple[list[Load], str]:
        """The methods in the dump, and what was printed, of one compiler only and in order."""
        output = perf.run([*self.java("-XX:-TieredCompilation", "-XX:CICompilerCount=1",
                                      "-XX:CompileCommand=dontinline,Lines::compute", *options),
                           "Lines", "1"],
                          cwd=self.directory, env=self.recording.environment).stdout
        (dump,) = self.directory.glob("jit-*.dump")
        return [load for load in loads(dump) if load.name.startswith("Lines.")], output

    def instructions(self, code: bytes) -> list[tuple[int, str]]:
        file = self.directory / "code"
        file.write_bytes(code)
        listing = perf.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", file]).stdout
        return [(int(at, 16), text) for at, text in
                re.findall(r"^ +([0-9a-f]+):\t[0-9a-f ]+\t(.*)$", listing, re.MULTILINE)]

    def test_lines(self) -> None:
        """Each line of the program has a constant of its own, and so have its instructions. The
        compiler's notes, from which the lines come, are not exact where it has mixed lines."""
        if os.uname().machine != "x86_64":
            self.skipTest("instructions have no constants of 32 bits here")
        lines = (SOURCES / "Lines.java").read_text().splitlines()
        expected = {int(constant, 16): number for number, line in enumerate(lines, 1)
                    for constant in re.findall("0x112233..", line)}
        right = total = 0
        constants = set()
        for load in self.run_lines(f"-agentpath:{AGENT}")[0]:
            for offset, text in self.instructions(load.code):
                for constant in re.findall(r"\$(0x112233..)\b", text):
                    line = load.lines[offset]
                    total += 1
                    right += line is not None and line.file == "Lines.java" and \
                        line.line == expected[int(constant, 16)]
                    constants.add(constant)
        print(f"lines: jvmti {right} of {total} instructions have their line")
        self.assertGreaterEqual(len(constants), 8)
        self.assertGreaterEqual(right, 0.75 * total)

    def test_inlined_calls(self) -> None:
        found, output = self.run_lines(f"-agentpath:{AGENT}=dialect=samply-2023",
                                       "-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintCompilation",
                                       "-XX:+PrintInlining")
        compiled = [load for load in found if load.name == "Lines.compute(int, int[])"][-1]
        described = collections.Counter(
            tuple(re.sub(r"\(.*", "", function.name) for function, _, _ in call.path)
            for call in compiled.calls)
        printed = hotspot.inlined_calls(output, "Lines::compute")
        self.assertIn(("Lines.twice", "Lines.scale"), printed)
        self.assertEqual(described, printed)


class Attached(Jvmti):
    def test_methods_from_before(self) -> None:
        """The agent comes when the program has run for a while: what was compiled before is known
        from then on."""
        with subprocess.Popen([*map(str, self.java()), "Shapes", "60"], cwd=self.directory,
                              env=self.recording.environment, stdout=subprocess.PIPE) as java:
            try:
                self.wait_until_compiled(java)
                perf.run([JDK / "bin" / "jcmd", java.pid, "JVMTI.agent_load", AGENT,
                          f'"directory={self.directory}"'])
                (dump,) = self.directory.glob(f"jit-{java.pid}.dump")
                self.recording.attach(java.pid)
                heaps = hotspot.code_heaps(perf.run(
                    [JDK / "bin" / "jcmd", java.pid, "Compiler.codecache"]).stdout)
            finally:
                java.kill()
                pathlib.Path(f"/tmp/.java_pid{java.pid}").unlink(missing_ok=True)  # jcmd's socket
        names = {load.name for load in loads(dump)}
        self.assertLessEqual({"Shapes$Square.area()", "Interpreter", "itable stub"}, names)
        self.recording.inject()
        found = collections.Counter(
            sample.symbol for sample in perf.parse_samples(
                self.recording.script("-G", "-F", "comm,pid,tid,time,ip,sym"))
            if any(low <= sample.ip < high for low, high in heaps))
        print(f"samples: jvmti attached {found.most_common(5)}, unknown {found['[unknown]']}")
        self.assertGreaterEqual(sum(found.values()), 50)
        self.assertLessEqual(found["[unknown]"], (1 - NAMED_MIN) * sum(found.values()))

    def wait_until_compiled(self, java: subprocess.Popen) -> None:
        while "Shapes$Square.area" not in perf.run(
                [JDK / "bin" / "jcmd", java.pid, "Compiler.codelist"], check=False).stdout:
            self.assertIsNone(java.poll())
