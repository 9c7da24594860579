"""The collector in real runtimes, which are as their packages have them: perf's samples against the
runtimes' own listings of their functions."""
from __future__ import annotations

import collections
import json
import os
import pathlib
import re
import shutil
import sys
from typing import Dict, List, Sequence

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.listing import Listing, take_perf_map
from jitdump_tests.perf_case import PerfTest

COLLECTOR = os.environ["JITDUMP_COLLECTOR"]
HERE = pathlib.Path(__file__).resolve().parent
SAMPLES_MIN = 300
RIGHT_MIN = 0.99


class RuntimeTest(PerfTest):
    def setUp(self) -> None:
        super().setUp()
        self.recording = self.session()

    def record(self, command: Sequence[object], **environment: str) -> int:
        """Runs it under perf; the pid of the one process that has a dump."""
        words = [f"{name}={value}" for name, value in environment.items()]
        self.output = self.recording.perf(*perf.RECORD, *perf.MONOTONIC, "-o", self.recording.data, "--",
                                          "env", *words, *command).stdout
        (dump,) = self.recording.directory.glob("jit-*.dump")
        jitdump_reader.read(str(dump), allow_torn_tail=True)
        return int(dump.stem.split("-")[1])

    def samples(self, pid: int) -> List[perf.Sample]:
        self.recording.inject()
        text = self.recording.script("-G", "-F", "comm,pid,tid,time,ip,sym")
        return [sample for sample in perf.parse_samples(text) if sample.pid == pid]

    def check_names(self, pid: int, listing: Listing) -> None:
        """Of the samples where the listing has a function, at least 99 % have its name."""
        found: Dict[str, int] = collections.Counter()
        wrong: Dict[str, int] = collections.Counter()
        for sample in self.samples(pid):
            names = listing.at(sample.ip)
            if names is None:
                continue
            if sample.symbol in names:
                found["right"] += 1
            elif sample.symbol == "[unknown]":
                found["unknown"] += 1
            else:
                found["wrong"] += 1
                wrong[f"{sample.symbol} not {names[-1]}"] += 1
        total = sum(found.values())
        print(f"samples: {self.id()} n={total} {dict(found)} {wrong.most_common(3)}")
        self.assertGreaterEqual(total, SAMPLES_MIN)
        self.assertGreaterEqual(found["right"], RIGHT_MIN * total)


    def python(self, module: str) -> str:
        """A Python that has the package: $JITDUMP_TESTS_PYTHON, or the one that runs this."""
        python = os.environ.get("JITDUMP_TESTS_PYTHON", sys.executable)
        if perf.run([python, "-c", f"import {module}"], check=False).returncode != 0:
            self.skipTest(f"{python} has no package {module}")
        return python


class Numba(RuntimeTest):
    @staticmethod
    def demangled(name: str) -> str:
        """As perf does it: without arguments."""
        return perf.run(["c++filt", "-p", name]).stdout.strip() if name.startswith("_Z") else name

    def listing(self) -> Listing:
        """A function reaches to the next one, or is of a page at most."""
        functions = sorted((address, self.demangled(name))
                           for name, address, _ in map(json.loads, self.output.splitlines()))
        listing = Listing()
        for (address, name), (end, _) in zip(functions, [*functions[1:], (functions[-1][0] + 4096, "")]):
            listing.add(address, min(end - address, 4096), name)
        return listing

    def check(self, **environment: str) -> None:
        pid = self.record([self.python("numba"), HERE / "numba_mix.py", "2"], **environment)
        self.check_names(pid, self.listing())

    def test_gdb(self) -> None:
        """The bytes are those behind the relocation, which comes after LLVM's report."""
        self.check(LD_PRELOAD=COLLECTOR)
        (path,) = self.recording.directory.glob("jit-*.dump")
        loads = [function.load for function in
                 jitdump_reader.read(str(path), allow_torn_tail=True).functions]
        final = {name: bytes.fromhex(code) for name, _, code in map(json.loads, self.output.splitlines())}
        compared = [load for load in loads if load.name in final]
        self.assertGreaterEqual(len(compared), 6)
        for load in compared:
            self.assertEqual(load.code[:64], final[load.name][:load.code_size], load.name)

    def test_itt(self) -> None:
        self.check(INTEL_JIT_PROFILER64=COLLECTOR, INTEL_JIT_BACKWARD_COMPATIBILITY="1",
                   NUMBA_ENABLE_PROFILING="1")

    def test_modules(self) -> None:
        self.check(INTEL_LIBITTNOTIFY64=COLLECTOR, NUMBA_ENABLE_PROFILING="1")


class Wasmtime(RuntimeTest):
    def test_functions(self) -> None:
        pid = self.record([self.python("wasmtime"), HERE / "wasmtime_mix.py", "2"],
                          INTEL_JIT_PROFILER64=COLLECTOR)
        listing = Listing()
        for name, address, size in map(json.loads, self.output.splitlines()):
            # It reports wasm[0]::function[1]::spin as the method spin of the class wasmtime.
            listing.add(address, size, re.sub(r"^wasm\[.*::", "wasmtime::", name))
        self.check_names(pid, listing)


class Jax(RuntimeTest):
    def test_functions(self) -> None:
        """XLA writes the objects that it loads to files, but not where it does: names alone."""
        directory = self.recording.directory / "xla"
        pid = self.record([self.python("jax"), HERE / "jax_mix.py", "3"], LD_PRELOAD=COLLECTOR,
                          JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_dump_to={directory}")
        names = set()
        for path in directory.glob("*.o"):
            names.update(line.split()[-1] for line in
                         perf.run(["readelf", "-sW", path]).stdout.splitlines() if " FUNC " in line)
        self.recording.inject()
        found: Dict[str, int] = collections.Counter()
        for line in self.recording.script("-G", "-F", "pid,ip,sym,dso").splitlines():
            match = re.match(r" *(\d+) +[0-9a-f]+ (.*) \((.*)\)$", line)
            if match and int(match[1]) == pid and ("jitted-" in match[3] or match[3] in ("//anon", "[unknown]")):
                found["right" if match[2] in names else
                      "unknown" if match[2] == "[unknown]" else "wrong"] += 1
        total = sum(found.values())
        print(f"samples: {self.id()} n={total} {dict(found)}, {len(names)} names in {directory}")
        self.assertGreaterEqual(total, SAMPLES_MIN)
        self.assertGreaterEqual(found["right"], RIGHT_MIN * total)


class Php(RuntimeTest):
    # 128: ITT. 256: GDB's interface, by which memory stays writable and executable; without it the
    # mapping event of an mprotect() hides all functions (P17). 16: PHP's own perf map.
    OPTIONS = ["-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0",
               "-d", "opcache.jit_buffer_size=32M"]

    def php(self, *jit: str) -> List[object]:
        if shutil.which("php8.2") is None:
            self.skipTest("php8.2 is not installed")
        loaded = perf.run(["php8.2", *self.OPTIONS, "-r",
                           "echo function_exists('opcache_get_status') ? 'yes' : 'no';"]).stdout
        if loaded != "yes":
            self.skipTest("php has no opcache")
        options = [option for setting in jit for option in ("-d", f"opcache.{setting}")]
        return ["php8.2", *self.OPTIONS, *options, HERE / "mix.php", "1.5"]

    def test_functions(self) -> None:
        pid = self.record(self.php("jit=function", "jit_debug=400"), INTEL_JIT_PROFILER64=COLLECTOR)
        self.check_names(pid, take_perf_map(pid))

    def test_traces(self) -> None:
        pid = self.record(self.php("jit=tracing", "jit_debug=400"), INTEL_JIT_PROFILER64=COLLECTOR)
        self.check_names(pid, take_perf_map(pid))


class Onednn(RuntimeTest):
    def test_kernels(self) -> None:
        program = os.environ.get("JITDUMP_ONEDNN", "")
        if not program:
            self.skipTest("libdnnl-dev (2.x) is not installed")
        # 1: ITT. 2: its own perf map.
        pid = self.record([program, "2"], INTEL_JIT_PROFILER64=COLLECTOR, DNNL_JIT_PROFILE="3",
                          OMP_NUM_THREADS="1")
        self.check_names(pid, take_perf_map(pid))
