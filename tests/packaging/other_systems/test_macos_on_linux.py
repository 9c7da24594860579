#!/usr/bin/env python3
"""The library as it is on macOS, tried on Linux.

    test_macos_on_linux.py SOURCE FOLDER COMPILER TOOL

What it shares with Linux, and that is nearly all, is compiled as for macOS; the few functions that macOS alone has are
made by Linux's. In place of the library by which samply hears of open() there, one that does the same
here is preloaded. This does not run macOS: what its kernel does otherwise it does not show.

samply is $SAMPLY or the one in $PATH.
"""
from __future__ import annotations

import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SHIM = HERE / "macos_on_linux"
STRESS = HERE.parent.parent / "process" / "stress"
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
SAMPLY = os.environ.get("SAMPLY") or shutil.which("samply")
HEADER_SIZE = 40
PATH_MAX = 244
FILE_TOO_LARGE = "-15"
EMITTER: list[object] = []
FOLDER = pathlib.Path()
TOOL = ""


def run(*command: object, **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=300, env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def build(source: pathlib.Path, compiler: str) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    cc = [compiler, *WARNINGS, "-O1", "-g", f"-I{source}/include"]
    run(*cc, "-U__linux__", "-D__APPLE__", "-include", SHIM / "macos.h", f"-I{SHIM}", "-c",
        source / "src" / "jitdump.c", "-o", FOLDER / "jitdump.o")
    run(*cc, "-shared", "-fPIC", SHIM / "announced.c", "-o", FOLDER / "announced.so", "-ldl")
    emitter = [FOLDER / "jitdump.o", SHIM / "macos_on_linux.c", "-pthread"]
    run(*cc, HERE / "emits.c", *emitter, "-o", FOLDER / "emits")
    run(*cc, source / "examples" / "hello.c", *emitter, "-o", FOLDER / "hello")
    run(*cc, *sorted(STRESS.glob("*.c")), *emitter, "-o", FOLDER / "stress")


class Emits(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()
        self.log = self.directory / "announced"

    def emit(self, directory: pathlib.Path, *arguments: object) -> dict[str, str]:
        said = run(FOLDER / "emits", directory, *arguments, LD_PRELOAD=str(FOLDER / "announced.so"),
                   ANNOUNCED=str(self.log))
        return dict(line.split(": ", 1) for line in said.splitlines())

    def announced(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_a_dump_is_announced_once_and_has_its_header_then(self) -> None:
        said = self.emit(self.directory)
        self.assertEqual(said["open"], "0 ")
        self.assertEqual((said["load"], said["flush"], said["close"]), ("0", "0", "0"))
        self.assertEqual(self.announced(), [f"{HEADER_SIZE} {said['path']}"])
        self.assertIn("1 functions, nothing to complain about", run(TOOL, "check", said["path"]))

    def test_a_stale_dump_is_not_announced(self) -> None:
        """The shell's pid is the program's."""
        stale = "echo stale >jit-$$.dump; touch -d '1 hour ago' jit-$$.dump"
        command = f"cd {self.directory}; {stale}; export LD_PRELOAD=$3 ANNOUNCED=$4; exec $1 $2"
        said = run("sh", "-c", command, "sh", FOLDER / "emits", self.directory, FOLDER / "announced.so",
                   self.log)
        path = re.search("path: (.*)", said)[1]
        self.assertIn("open: 0", said)
        self.assertEqual(self.announced(), [f"{HEADER_SIZE} {path}"])

    def test_a_dump_that_may_be_in_use_is_left_alone(self) -> None:
        """As new as the process is what another emitter in it may be writing."""
        command = "cd $2; echo new >jit-$$.dump; echo $$; exec $1 $2"
        said = run("sh", "-c", command, "sh", FOLDER / "emits", self.directory)
        pid = said.split()[0]
        self.assertNotIn("open: 0", said)
        self.assertEqual((self.directory / f"jit-{pid}.dump").read_text(), "new\n")

    def test_a_path_that_is_too_long_is_told(self) -> None:
        """The dump is made; samply can't hear of it. 30 bytes are left for the name."""
        for length, is_announced in ((PATH_MAX - 30, True), (PATH_MAX + 1, False)):
            self.log.unlink(missing_ok=True)
            directory = self.directory / ("d" * (length - len(str(self.directory)) - 1))
            directory.mkdir()
            said = self.emit(directory)
            self.assertEqual((said["load"], said["close"]), ("0", "0"))
            self.assertEqual("244 bytes" in said["open"], not is_announced)
            self.assertEqual(len(self.announced()), int(is_announced))

    def test_a_limit_of_file_sizes_is_an_error_and_no_signal(self) -> None:
        """Also to a thread that blocks none."""
        for limit in (4096, 5001):
            said = self.emit(self.directory, limit)
            self.assertEqual((said["flush"], said["close"]), (FILE_TOO_LARGE, FILE_TOO_LARGE))
            size = pathlib.Path(said["path"]).stat().st_size
            self.assertTrue(limit - 200 < size <= limit, size)
            self.assertIn("nothing to complain about", run(TOOL, "check", said["path"]))

    def test_threads_forks_and_ends(self) -> None:
        for driver in ("threads", "fork", "exit"):
            with self.subTest(driver=driver):
                run(sys.executable, STRESS / f"test_{driver}.py", JITDUMP_STRESS=str(FOLDER / "stress"),
                    JITDUMP_STRESS_SCALE=os.environ.get("JITDUMP_STRESS_SCALE", "0.02"),
                    PYTHONPATH=str(HERE.parent.parent))


class Samply(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()
        if SAMPLY is None:
            self.skipTest("samply is not installed (cargo install samply --locked)")
        try:
            self.record("true", "true")
        except AssertionError as refusal:
            self.skipTest(f"samply can't record here: {str(refusal).strip().splitlines()[-1]}")

    def record(self, name: str, *command: object) -> pathlib.Path:
        """As root samply has to be shown another number; see consumers/samply/test_samply.py."""
        profile = self.directory / f"{name}.json.gz"
        line = [SAMPLY, "record", "--save-only", "-o", profile, "--", *command]
        if os.geteuid() == 0 and int(pathlib.Path(PARANOID).read_text()) > 1:
            one = self.directory / "one"
            one.write_text("1\n")
            line = ["unshare", "-m", "sh", "-c", f'mount --bind "{one}" {PARANOID} && exec "$@"', "sh", *line]
        run(*line, JITDUMPDIR=str(self.directory))
        return profile

    def leaves(self, profile: pathlib.Path) -> collections.Counter[str]:
        names: collections.Counter[str] = collections.Counter()
        with gzip.open(profile) as file:
            threads = json.load(file)["threads"]
        for thread in threads:
            stacks, frames, functions = (thread["stackTable"], thread["frameTable"], thread["funcTable"])
            for stack in thread["samples"]["stack"]:
                if stack is not None:
                    function = frames["func"][stacks["frame"][stack]]
                    names[thread["stringArray"][functions["name"][function]]] += 1
        return names

    def test_samply_names_what_was_announced_and_nothing_else(self) -> None:
        announced = self.leaves(self.record("announced", "env", f"LD_PRELOAD={FOLDER}/announced.so",
                                            f"ANNOUNCED={self.directory}/log", FOLDER / "hello"))
        without = self.leaves(self.record("without", FOLDER / "hello"))
        self.assertGreater(announced["hello_jit"], 0.95 * sum(announced.values()), announced)
        self.assertGreater(sum(announced.values()), 300)
        self.assertEqual(without["hello_jit"], 0, without)
        print(f"samply: {announced['hello_jit']} of {sum(announced.values())} samples have their name; not"
              f" announced: 0 of {sum(without.values())}")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    TOOL = sys.argv.pop(4)
    FOLDER = pathlib.Path(sys.argv.pop(2)).resolve()
    build(pathlib.Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1))
    unittest.main()
