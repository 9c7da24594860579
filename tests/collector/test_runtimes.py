"""The collector in real runtimes, which are as their packages have them: perf's samples against the
runtimes' own listings of their functions. Those with LLVM inside: test_llvm.py."""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
from typing import List, Sequence, Tuple

from jitdump_tests import perf
from jitdump_tests.listing import Listing, take_perf_map
from jitdump_tests.runtime_case import COLLECTOR, RuntimeTest

HERE = pathlib.Path(__file__).resolve().parent


class Wasmtime(RuntimeTest):
    TRAMPOLINES = [f"wasm[0]::array_to_wasm_trampoline[{number}]" for number in range(2)]

    def run_mix(self, *arguments: object, options: Sequence[str] = (), **environment: str) -> Tuple[int, Listing]:
        pid = self.record([self.python("wasmtime"), HERE / "wasmtime_mix.py", "2", *arguments], options,
                          **environment)
        listing = Listing()
        for name, address, size in map(json.loads, self.output.splitlines()):
            listing.add(address, size, name)
        return pid, listing

    def test_itt(self) -> None:
        """It reports wasm[0]::function[1]::spin as the method spin of the class wasmtime."""
        pid, listing = self.run_mix("vtune", INTEL_JIT_PROFILER64=COLLECTOR)
        listing.rename(lambda name: re.sub(r"^wasm\[.*::", "wasmtime::", name))
        self.check_names(pid, listing)

    def test_gdb(self) -> None:
        """Names and lines of a module in C, and its chains as far as its frame pointers reach."""
        module = self.recording.directory / "mix.wasm"
        source = HERE / "wasm_mix.c"
        command = ["clang", "--target=wasm32", "-O1", "-g", "-gdwarf-4", "-nostdlib", "-Wl,--no-entry", source, "-o",
                   module]
        if shutil.which("clang") is None or perf.run(command, check=False).returncode != 0:
            self.skipTest("there is no clang and lld for wasm32")
        pid, listing = self.run_mix("gdb", module, options=["--call-graph", "fp"], LD_PRELOAD=COLLECTOR)
        self.check_names(pid, listing)
        self.check_chains(pid, listing, self.TRAMPOLINES)
        text = source.read_text().splitlines()
        begins = {name: next(number for number, line in enumerate(text, 1) if f" {name}(" in line)
                  for name in ("step", "spin", "fib")}
        # What is inlined counts to both.
        lines = {"spin": range(begins["step"], begins["fib"]), "fib": range(begins["fib"], len(text) + 1)}
        self.check_lines(pid, lambda sample: lines.get(sample.symbol.rsplit("::", 1)[-1]))


class Openvino(RuntimeTest):
    def test_kernels(self) -> None:
        """Its oneDNN writes a perf map, too, in which a number follows each name."""
        pid = self.record([self.python("openvino"), HERE / "openvino_mix.py", "3"], INTEL_JIT_PROFILER64=COLLECTOR,
                          DNNL_JIT_PROFILE="3", ONEDNN_JIT_PROFILE="3")
        listing = take_perf_map(pid)
        listing.rename(lambda name: re.sub(r"\.\d+$", "", name))
        self.check_names(pid, listing)


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
