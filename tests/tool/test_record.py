"""jitdump record: what it says is what perf shows of the profile, and what goes wrong is said, loses
nothing of the command's, and leaves nothing half behind."""
from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import Sequence

from jitdump_tests import perf, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = pathlib.Path(os.environ.get("JITDUMP_EXAMPLES", ""))
BF = [EXAMPLES / "bf", ROOT / "examples" / "hyperfactorial.bf"]
JIT = [perf.WORKLOAD, "--duration-ms", "300", "shares"]
REASON = perf.why_unusable()
DATA_SIZE_AT = 48  # in perf.data's header
LIMIT = 60  # seconds, of one program
# Runs until it is told to stop, and then takes its time.
STOPPED_BY_HAND = """
import os, signal, time
def stop(*_):
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    os.write(1, b"ended by itself\\n")
    os._exit(7)
signal.signal(signal.SIGINT, stop)
os.write(1, b"ready\\n")  # not print(): the signal may come before it has returned
while True:
    pass
"""


@unittest.skipIf(REASON, REASON or "")
class RecordTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitdump-record-")).resolve()
        self.addCleanup(shutil.rmtree, self.directory)
        self.output = self.directory / "out"
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("JITDUMP")}

    def record(self, *arguments: object, **options: object) -> tool.Done:
        options.setdefault("env", self.environment)
        return tool.run("record", *arguments, cwd=self.directory, timeout=LIMIT, **options)

    def left(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir())

    def fake_perf(self, script: str) -> None:
        """Takes perf's place on the path."""
        path = self.directory / "bin" / "perf"
        path.parent.mkdir()
        path.write_text(f"#!{sys.executable}\nimport os, shutil, sys\n{textwrap.dedent(script)}")
        path.chmod(0o755)
        self.environment["PATH"] = f"{path.parent}:{self.environment['PATH']}"

    def running(self) -> subprocess.Popen:
        """A process that computes until the test ends."""
        other = subprocess.Popen([sys.executable, "-c", STOPPED_BY_HAND], stdout=subprocess.PIPE)
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        other.stdout.readline()
        return other

    def shown(self, profile: pathlib.Path) -> list[tuple[str, str]]:
        """Symbol and file of each sample, as perf shows it."""
        text = perf.run(["perf", "script", "-f", "-G", "-F", "ip,sym,dso", "-i", profile]).stdout
        return re.findall(r"^ *[0-9a-f]+ (.*) \((.*)\)$", text, re.M)

    def number(self, done: tool.Done, what: str) -> int:
        return int(re.search(rf"^  {what} +(\d+) ", done.err, re.M)[1])


class Profiles(RecordTest):
    def check(self, done: tool.Done, directory: pathlib.Path) -> None:
        """What is said and what perf shows: the number of samples named, and the hottest function."""
        self.assertEqual(done.status, 0, done.err)
        ours = [symbol for symbol, file in self.shown(directory / "perf.data")
                if file.startswith(str(directory))]
        self.assertGreater(len(ours), 100)
        self.assertEqual(self.number(done, "named"), len(ours), done.err)
        hottest = max(set(ours), key=ours.count)
        self.assertRegex(done.err, rf"The hottest functions.*\n +[0-9.]+ %  {re.escape(hottest)}\n")

    def test_command(self) -> None:
        done = self.record("-o", "out", "--", BF[0], "--jitdump", BF[1])
        self.check(done, self.output)
        self.assertEqual(done.out, perf.run(BF).stdout.encode())
        self.assertEqual(self.number(done, "with line"), self.number(done, "named"))
        self.assertEqual(self.number(done, "whole chain"), self.number(done, "named"))
        self.assertIn(f"perf report -i {self.output}/perf.data\n", done.err)
        self.assertEqual(stat.S_IMODE(self.output.stat().st_mode), 0o700)
        self.assertEqual(len(list(self.output.glob("jit-*.dump"))), 1)

    def test_forks(self) -> None:
        """What children have from their parent counts, with a dump of their own and without."""
        for scenario, dumps in (("fork", 2), ("workers", 1)):
            with self.subTest(scenario):
                done = self.record("-o", scenario, "--", perf.WORKLOAD, "--duration-ms", "300",
                                   scenario)
                self.check(done, self.directory / scenario)
                self.assertIn(f"in generated code that has dumps ({dumps})\n", done.err)
                self.assertRegex(done.err, r"  named +\d+  100\.0 %\n")

    def test_commands_for_a_shell(self) -> None:
        """Those that are printed are right whatever the names are."""
        done = self.record("-o", "the user's", "--", perf.WORKLOAD, "--duration-ms", "300",
                           "workers")
        self.assertEqual(done.status, 0, done.err)
        report, = re.findall(r"^  (perf report -i .*)$", done.err, re.M)
        annotate, = re.findall(r"^  (perf annotate -i .*)$", done.err, re.M)
        hottest = re.search(r"The hottest functions.*\n +[0-9.]+ %  (.*)\n", done.err)[1]
        data = f"{self.directory}/the user's/perf.data"
        self.assertIn("'", hottest)
        self.assertEqual(shlex.split(report), ["perf", "report", "-i", data])
        self.assertEqual(shlex.split(annotate), ["perf", "annotate", "-i", data, hottest])

    def test_mangled_name(self) -> None:
        """perf finds a function by the name that it shows, which is another than the dump's."""
        done = self.record("-o", "out", "--", perf.WORKLOAD, "--duration-ms", "300", "mangled")
        annotate, = re.findall(r"^  (perf annotate .*)$", done.err, re.M)
        self.assertTrue(annotate.endswith(" '_ZN3jit4leafEi'"), annotate)
        self.assertIn("mangled.src:1", perf.run([*shlex.split(annotate), "--stdio", "-l"]).stdout)

    def test_no_dump(self) -> None:
        done = self.record("-o", "out", "--", sys.executable, "-c", "sum(range(10**6))")
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("0 in generated code that has dumps (0)\n  there is no dump: ", done.err)

    def test_directories_are_numbered(self) -> None:
        (self.directory / "jitdump-record-1").mkdir()
        done = self.record("-F", "1999", "--", *JIT)
        self.check(done, self.directory / "jitdump-record-2")

    def test_compressed(self) -> None:
        for name, options in (("compressed", ["-z"]), ("threads", ["--threads"])):
            done = self.record("-o", name, *options, "--", *JIT)
            if "install zstd" in done.err:
                continue
            self.check(done, self.directory / name)

    def test_whole_machine(self) -> None:
        done = self.record("-o", "out", "-a", "-F", "999", "--", *JIT)
        if "has ended before the command began" in done.err:
            self.skipTest("perf record -a is not permitted")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(self.number(done, "named"), 100)

    def test_stack_copies(self) -> None:
        """Chains that only perf knows."""
        done = self.record("-o", "out", "--call-graph", "dwarf,2048", "--", BF[0], "--jitdump",
                           BF[1])
        self.check(done, self.output)
        said = re.search(r"whole chain +(\d+) +([0-9.]+) %  \(of the first 2000, by perf\)\n", done.err)
        self.assertTrue(said, done.err)
        # The 2000 are also those in what generated code has called, which here are few.
        self.assertGreater(int(said[1]), 1500)
        self.assertGreaterEqual(float(said[2]), 99)

    def test_below(self) -> None:
        """Samples in what generated code has called: bf's output."""
        program = self.directory / "printing.bf"
        program.write_text(100 * "+" + "[>-[>-[>.<-]<-]<-]")
        for output, call_graph in (("frame-pointers", "fp"), ("stack-copies", "dwarf,2048")):
            done = self.record("-o", output, "-F", "4999", "--call-graph", call_graph, "--", BF[0],
                               "--jitdump", program)
            self.assertGreater(self.number(done, "below it"), 10, done.err)

    def test_user_without_rights(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("all tests run without rights")
        self.directory.chmod(0o777)
        home = self.directory / "home"
        home.mkdir()
        shutil.copy(perf.WORKLOAD, home / "workload")
        shutil.copy(tool.TOOL, home / "jitdump")
        home.chmod(0o755)
        done = subprocess.run([home / "jitdump", "record", "-o", "out", "--",
                               home / "workload", *JIT[1:]], cwd=self.directory, check=False,
                              user="nobody", env=self.environment, timeout=LIMIT,
                              capture_output=True)
        said = done.stderr.decode()
        if "perf_event_paranoid is" in said:
            self.skipTest(said)
        self.check(tool.Done(done.returncode, done.stdout, said), self.output)

    def test_running_process(self) -> None:
        other = self.running()
        done = self.record("-o", "out", "-p", other.pid, "--", "sleep", "0.3")
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(len(self.shown(self.output / "perf.data")), 10)

    def test_code_without_dump(self) -> None:
        """A runtime that was not asked for its dump."""
        done = self.record("-o", "out", "--", *BF)
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, r"samples lie in generated code of process \d+ \(bf\), which has no dump")
        self.assertIn(" 0 in generated code", done.err)

    def test_name_of_a_process_that_moved(self) -> None:
        """The events of the processor that it came from stand behind those of its last program."""
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) == 1:
            self.skipTest("there is one processor")
        done = self.record("-o", "out", "--", "taskset", "-c", processors[-1],
                           "taskset", "-c", processors[0], *BF)
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, r"generated code of process \d+ \(bf\)")


class Commands(RecordTest):
    outputs = 0

    def test_status(self) -> None:
        for script, status in (("exit 0", 0), ("exit 3", 3), ("exit 125", 125), ("kill -9 $$", 137)):
            done = self.record("-o", f"out{status}", "--", "sh", "-c", script)
            self.assertEqual(done.status, status, done.err)
            self.assertTrue((self.directory / f"out{status}" / "perf.data").exists())

    def test_not_there(self) -> None:
        (self.directory / "text").write_text("no program")
        for options in ((), ("--threads",)):  # with which perf writes a directory
            for command, status in (("./nosuch", 127), ("./text", 126)):
                done = self.record("-o", "out", *options, "--", command)
                self.assertEqual(done.status, status, done.err)
                self.assertIn(f"jitdump: {command}: ", done.err)
                self.assertEqual(self.left(), ["text"])

    def test_environment(self) -> None:
        show = ["sh", "-c", "echo $JITDUMP $JITDUMPDIR"]
        self.assertEqual(self.record("-o", "out", "--", *show).out.decode(), f"1 {self.output}\n")
        self.environment["JITDUMP"] = "flush=buffered"
        done = self.record("-o", "other", "--", *show)
        self.assertEqual(done.out.decode(), f"flush=buffered {self.directory}/other\n")

    def test_collector(self) -> None:
        collector = os.environ.get("JITDUMP_COLLECTOR")
        if not collector:
            self.skipTest("the collector is not built")
        show = ["sh", "-c", "realpath $INTEL_JIT_PROFILER64 $INTEL_LIBITTNOTIFY64"]
        self.environment.pop("INTEL_LIBITTNOTIFY64", None)
        self.environment["INTEL_JIT_PROFILER64"] = "/of/the/user"
        done = self.record("-o", "out", "--", "sh", "-c", "echo $INTEL_JIT_PROFILER64")
        self.assertEqual(done.out, b"/of/the/user\n")
        del self.environment["INTEL_JIT_PROFILER64"]
        done = self.record("-o", "other", "--", *show)
        self.assertEqual(done.out.decode(), 2 * f"{os.path.realpath(collector)}\n")

    def preloaded(self, *options: object, command: Sequence[object] = ("sh", "-c", 'echo "$LD_PRELOAD"')
                  ) -> str:
        """What the command finds in LD_PRELOAD, if it is what prints that."""
        self.outputs += 1
        done = self.record("-o", f"out{self.outputs}", *options, "--", *command)
        self.assertEqual(done.status, 0, done.err)
        return done.out.decode().strip()

    def test_preload(self) -> None:
        """The collector, behind what the user has there; not where a whole machine, or a process that runs
        already, is profiled."""
        collector = os.environ.get("JITDUMP_COLLECTOR")
        if not collector:
            self.skipTest("the collector is not built")
        if os.environ.get("JITDUMP_SANITIZED") == "1":
            self.assertEqual(self.preloaded(), "")
            return
        self.assertEqual(os.path.realpath(self.preloaded()), os.path.realpath(collector))
        self.assertEqual(self.preloaded("--no-preload"), "")
        script = self.directory / "script"
        script.write_text('#!/bin/sh\necho "$LD_PRELOAD"\n')
        script.chmod(0o755)
        self.assertNotEqual(self.preloaded(command=[script]), "")
        running = self.running()
        done = self.record("-o", "attached", "-p", running.pid, "--", "sh", "-c",
                           'echo "$LD_PRELOAD$INTEL_JIT_PROFILER64"')
        self.assertEqual(done.out, b"\n")
        self.environment["LD_PRELOAD"] = other = "/lib/libdoesnotexist.so"
        self.assertTrue(self.preloaded().startswith(f"{other}:/"))

    def test_preload_spares(self) -> None:
        """Programs that would not start with it."""
        source = self.directory / "program.c"
        source.write_text("""
            #include <stdio.h>
            #include <stdlib.h>
            int main(void) { const char *list = getenv("LD_PRELOAD"); puts(list != NULL ? list : "spared"); }
            """)
        program = self.directory / "program"
        tried = 0
        for compiler in (["cc", "-fsanitize=address"], ["musl-gcc"], ["cc", "-static"]):
            if shutil.which(compiler[0]) is None or subprocess.run(
                    [*compiler, source, "-o", program], stderr=subprocess.DEVNULL,
                    check=False).returncode != 0:
                continue
            with self.subTest(compiler):
                self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
                self.assertEqual(self.preloaded(command=[program]), "spared")
                tried += 1
        if tried == 0:
            self.skipTest("no compiler makes such programs")

    def test_preload_maps_no_file(self) -> None:
        """perf takes a file's lowest mapping for where it lies: one more would end all chains in it."""
        self.preloaded("--call-graph", "dwarf,1024", command=[sys.executable, "-c", "import zlib"])
        events = perf.run(["perf", "script", "--show-mmap-events", "--show-task-events", "-i",
                           self.directory / "out1" / "recorded.data"]).stdout
        # The tool's own process becomes the program's, and has a C library and its loader before that.
        _, executed, events = events.rpartition("PERF_RECORD_COMM exec")
        self.assertTrue(executed)
        files = re.findall(r"MMAP2 (\d+)/\d+: \[\S+ @ 0 [^\]]+\]: r--p (\S+\.so(?:\.[\d.]+)?)$", events, re.M)
        self.assertGreater(len(files), 2)
        self.assertEqual([pair for pair in set(files) if files.count(pair) > 1], [])

    def test_command_line(self) -> None:
        """What is perf's goes to perf, and a command needs no -- if nothing does."""
        self.fake_perf("print(*sys.argv[1:]); sys.exit(129)")
        out = self.record("-o", "out", "-F", "99", "-e", "cycles", "--", "a", "-o", "b").out.decode()
        self.assertRegex(out, f" -F 99 -e cycles -o {self.output}/recorded.data -- .* a -o b\n$")
        self.assertRegex(self.record("--output=out", "a", "-F").out.decode(), r" a -F\n$")
        self.assertNotIn("-F", self.record("-oout", "-c", "1000", "--", "a").out.decode())
        for wrong in ([], ["-F", "99", "a"], ["-o"], ["-o", "", "--", "a"], ["--"]):
            done = self.record(*wrong)
            self.assertEqual((done.status, done.out), (125, b""), wrong)
            self.assertIn("Try 'jitdump record --help'", done.err)
        for several in ("--switch-output=1G", "--timestamp-filename"):
            done = self.record(several, "--", "a")
            self.assertEqual((done.status, done.out), (125, b""), several)
            self.assertIn("jitdump inject -i on each", done.err)
        self.assertEqual(self.left(), ["bin"])
        self.assertIn(b"PERF OPTION", self.record("-F", "99", "--help").out)


class Signals(RecordTest):
    def start(self, *arguments: object) -> subprocess.Popen:
        record = subprocess.Popen([tool.TOOL, "record", "-o", "out", *map(str, arguments)],
                                  text=True, cwd=self.directory, env=self.environment,
                                  start_new_session=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        self.addCleanup(self.end, record)
        return record

    def end(self, record: subprocess.Popen) -> None:
        """With all that it has started."""
        if record.poll() is None:
            os.killpg(record.pid, signal.SIGKILL)
            record.communicate()

    def test_keyboard(self) -> None:
        """Ctrl-C is the command's, which ends by itself, and is profiled until then."""
        record = self.start("--", sys.executable, "-c", STOPPED_BY_HAND)
        self.assertEqual(record.stdout.readline(), "ready\n")
        os.killpg(record.pid, signal.SIGINT)
        out, err = record.communicate(timeout=LIMIT)
        self.assertEqual((out, record.returncode), ("ended by itself\n", 7), err)
        self.assertGreater(len(self.shown(self.output / "perf.data")), 100)

    def test_terminated(self) -> None:
        """perf gets it, ends the command, and the profile is made."""
        record = self.start("--", sys.executable, "-c", STOPPED_BY_HAND)
        self.assertEqual(record.stdout.readline(), "ready\n")
        record.terminate()
        _, err = record.communicate(timeout=LIMIT)
        self.assertEqual(record.returncode, 128 + signal.SIGTERM, err)
        self.assertTrue((self.output / "perf.data").exists())

    def test_attached(self) -> None:
        """Ctrl-C is how it ends, and no failure."""
        other = self.running()
        record = self.start("-p", other.pid)
        recorded = self.output / "recorded.data"
        while record.poll() is None and not recorded.exists():
            pass
        os.killpg(record.pid, signal.SIGINT)
        _, err = record.communicate(timeout=LIMIT)
        self.assertEqual(record.returncode, 0, err)
        self.assertTrue((self.output / "perf.data").exists(), err)
        self.assertIsNone(other.poll())

    def test_at_any_moment(self) -> None:
        """Before perf runs nothing stays behind; later what perf has written does, or the profile."""
        if not shutil.which("strace") or perf.run(["strace", "-qq", "-o", os.devnull, "true"],
                                                  check=False).returncode != 0:
            self.skipTest("strace is not installed, or may not trace")
        environment = {**self.environment, "ASAN_OPTIONS": "detect_leaks=0"}
        perfs = {"recorded.data"}
        whole = {*perfs, "perf.data", "perf.data.jit"}
        nothing = (125, set())
        # On a busy machine perf may be on its way before the signal reaches it, and the command may have had no
        # time for a dump.
        stopped = [(128 + signal.SIGTERM, left) for left in (whole, whole - {"perf.data.jit"})]
        # strace ends with the signal that has ended the tool.
        for calls, when, number, *outcomes in (
                ("?mkdir,?mkdirat", 1, "TERM", (-signal.SIGTERM, set())),
                ("?pipe,pipe2", 2, "INT", (-signal.SIGINT, set())),
                ("?fork,?vfork,clone,?clone3", 1, "TERM", nothing, *stopped),
                ("?mkdir,?mkdirat", 2, "INT", (-signal.SIGINT, perfs)),
                ("pwrite64", 1, "TERM", (-signal.SIGTERM, perfs)),
                ("pwrite64", 1, "BUS", (125, perfs)),  # of a file that is cut shorter while it is read
                ("linkat", 1, "HUP", (-signal.SIGHUP, whole))):
            trace = self.directory / "trace"
            done = self.record("-o", "out", "--", perf.WORKLOAD, "--duration-ms", "100", "lines", env=environment,
                               preexec_fn=tool.default_signals,
                               before=["strace", "-qq", "-o", trace, "-e", f"trace={calls}", "-e",
                                       f"inject={calls}:signal={number}:when={when}"])
            with self.subTest(calls, number=number):
                left = {path.name for path in self.output.glob("*") if not path.name.startswith("jit-")}
                self.assertIn((done.status, left), outcomes, done.err)
                self.assertEqual(self.output.exists(), bool(left))
            shutil.rmtree(self.output, ignore_errors=True)


class Trouble(RecordTest):
    def test_directory_in_use(self) -> None:
        self.output.mkdir()
        (self.output / "perf.data").write_text("precious")
        done = self.record("-o", "out", "--", "true")
        self.assertEqual(done.status, 125)
        self.assertIn("out: is not empty", done.err)
        self.assertEqual((self.output / "perf.data").read_text(), "precious")
        (self.output / "perf.data").unlink()
        self.assertEqual(self.record("-o", "out", "--", "true").status, 0)

    def test_directory_impossible(self) -> None:
        (self.directory / "file").write_text("")
        for name in ("file", "file/out", "no/such/place"):
            done = self.record("-o", name, "--", "touch", "ran")
            self.assertEqual(done.status, 125)
            self.assertIn(f"jitdump: {name}: ", done.err)
        self.assertEqual(self.left(), ["file"])

    def test_no_perf(self) -> None:
        self.environment["PATH"] = str(self.directory)
        done = self.record("--", "/bin/true")
        self.assertEqual(done.status, 125)
        self.assertIn("perf is not installed", done.err)
        self.assertEqual(self.left(), [])

    def test_perf_refuses(self) -> None:
        self.fake_perf("sys.exit('Permission error')")
        done = self.record("-o", "out", "--", "touch", "ran")
        self.assertEqual(done.status, 125)
        self.assertIn("perf record has ended before the command began", done.err)
        self.assertRegex(done.err, "perf_event_paranoid|--cap-add")
        self.assertEqual(self.left(), ["bin"])

    def test_perf_refuses_a_process(self) -> None:
        done = self.record("-o", "out", "-p", 999_999_999)
        self.assertEqual(done.status, 125)
        self.assertIn("perf record has ended before it recorded anything", done.err)
        self.assertEqual(self.left(), [])

    def test_closed_streams(self) -> None:
        """As of a daemon: the pipes between the processes must not take their places."""
        for closed in ("2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed):
                shell = f'exec "$0" record -o out -- sh -c "exit 3" {closed}'
                done = subprocess.run(["sh", "-c", shell, tool.TOOL], cwd=self.directory, env=self.environment,
                                      timeout=LIMIT, check=False)
                self.assertEqual(done.returncode, 3)
                self.assertTrue((self.output / "perf.data").exists())
                shutil.rmtree(self.output)

    def test_perf_fails_later(self) -> None:
        """The disk is full, or perf is killed: the header's size of the events stays 0."""
        self.assertEqual(self.record("-o", "whole", "--", *JIT).status, 0)
        whole = bytearray((self.directory / "whole" / "recorded.data").read_bytes())
        struct.pack_into("=Q", whole, DATA_SIZE_AT, 0)
        (self.directory / "part").write_bytes(whole)
        self.fake_perf(f"""
            target = sys.argv[sys.argv.index("-o") + 1]
            shutil.copy("{self.directory}/part", target)
            command = sys.argv[sys.argv.index("--") + 1:]
            if os.fork() == 0:
                os.execvp(command[0], command)
            os.wait()
            sys.exit(255)
            """)
        done = self.record("-o", "out", "--", "touch", "ran")
        self.assertEqual(done.status, 125)
        self.assertIn(f"perf record has failed; what it had written by then is {self.output}/recorded.data",
                      done.err)
        self.assertIn("ran", self.left())
        self.assertEqual([path.name for path in self.output.iterdir()], ["recorded.data"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
