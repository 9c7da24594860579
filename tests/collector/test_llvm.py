"""The collector in runtimes that have LLVM inside: perf's samples against what LLVM or the runtime itself says
of the functions."""
from __future__ import annotations

import collections
import glob
import json
import os
import pathlib
import re
import shutil
import sys
from typing import Dict, Iterable, Sequence, Tuple

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.listing import DumpListing, Listing, take_perf_map
from jitdump_tests.runtime_case import COLLECTOR, DWARF, RuntimeTest

HERE = pathlib.Path(__file__).resolve().parent


def listing_of_starts(functions: Iterable[Tuple[int, str]]) -> Listing:
    """A function reaches to the next one, or is of a page at most."""
    listing = Listing()
    known = sorted(functions)
    for (address, name), (end, _) in zip(known, [*known[1:], (known[-1][0] + 4096, "")]):
        listing.add(address, min(end - address, 4096), name)
    return listing


def c_library_has_symbols() -> bool:
    """In itself, or where Debian has them."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    (library,) = set(re.findall(r"\S+/libc\.so\.6$", maps, re.M))
    said = perf.run(["readelf", "-W", "--notes", "--symbols", library]).stdout
    build_id = re.search(r"Build ID: (..)(\w+)", said)
    return " start_thread\n" in said or bool(build_id) and os.path.exists(
        "/usr/lib/debug/.build-id/{}/{}.debug".format(*build_id.groups()))


class Numba(RuntimeTest):
    @staticmethod
    def demangled(name: str) -> str:
        """As perf does it: without arguments."""
        return perf.run(["c++filt", "-p", name]).stdout.strip() if name.startswith("_Z") else name

    def listing(self) -> Listing:
        return listing_of_starts((address, self.demangled(name))
                                 for name, address, _ in map(json.loads, self.output.splitlines()))

    def run_mix(self, options: Sequence[str] = (), **environment: str) -> int:
        return self.record([self.python("numba"), HERE / "numba_mix.py", "2"], options, **environment)

    def check(self, **environment: str) -> None:
        pid = self.run_mix(**environment)
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

    def test_lines(self) -> None:
        """All three functions spend their time in their loops."""
        loops: Dict[str, range] = {}
        text = (HERE / "numba_mix.py").read_text()
        for match in re.finditer(r"@numba.njit\ndef (\w+).*\n((?:    .*\n)+)", text):
            first = text[:match.start(2)].count("\n") + 1
            body = match[2].splitlines()
            starts = next(number for number, line in enumerate(body) if line.startswith("    for "))
            loops[match[1]] = range(first + starts, first + len(body) - 1)
        self.assertEqual(sorted(loops), ["logistic", "primes", "spin"])
        pid = self.run_mix(LD_PRELOAD=COLLECTOR, NUMBA_ENABLE_PROFILING="1")
        self.check_lines(pid, lambda sample: loops.get(re.sub(r"^__main__::(\w+).*", r"\1", sample.symbol)))

    def test_chains(self) -> None:
        """LLVM describes the frames of functions that can't throw where lines are asked for."""
        pid = self.run_mix(DWARF, LD_PRELOAD=COLLECTOR, NUMBA_ENABLE_PROFILING="1")
        self.check_chains(pid, self.listing(), {"Py_BytesMain", "__libc_start_call_main", "_start"})


class XlaTest(RuntimeTest):
    """XLA writes the objects that it loads to files, but not where it does: names alone."""

    def check_xla(self, module: str, **environment: str) -> None:
        directory = self.recording.directory / "xla"
        pid = self.record([self.python(module), HERE / f"{module}_mix.py", "6"], LD_PRELOAD=COLLECTOR,
                          XLA_FLAGS=f"--xla_dump_to={directory}", **environment)
        names = set()
        for path in directory.glob("*.o"):
            names.update(line.split()[-1] for line in
                         perf.run(["readelf", "-sW", path]).stdout.splitlines() if " FUNC " in line)
        if "DNNL_JIT_PROFILE" in environment:
            for functions in take_perf_map(pid).functions.values():
                names.update(re.sub(r"\.\d+$", "", name) for _, name in functions)
        self.recording.inject()
        found: Dict[str, int] = collections.Counter()
        wrong: Dict[str, int] = collections.Counter()
        for line in self.recording.script("-G", "-F", "pid,ip,sym,dso").splitlines():
            match = re.match(r" *(\d+) +[0-9a-f]+ (.*) \((.*)\)$", line)
            if match and int(match[1]) == pid and ("jitted-" in match[3] or match[3] in ("//anon", "[unknown]")):
                found["right" if match[2] in names else "wrong"] += 1
                wrong[match[2]] += match[2] not in names
        self.check_found("samples", found, +collections.Counter(wrong))


class Jax(XlaTest):
    def test_functions(self) -> None:
        self.check_xla("jax", JAX_PLATFORMS="cpu")


class Tensorflow(XlaTest):
    def test_functions(self) -> None:
        """By both interfaces: oneDNN has ITT."""
        self.check_xla("tensorflow", INTEL_JIT_PROFILER64=COLLECTOR, DNNL_JIT_PROFILE="3")


class Opencl(RuntimeTest):
    """Intel's."""

    def test_kernels(self) -> None:
        python = self.python("pyopencl")
        library = pathlib.Path(python).parents[1] / "lib" / "libintelocl.so"
        if not library.exists():
            self.skipTest("Intel's OpenCL for the processor (PyPI's intel-opencl-rt) is not there")
        (self.recording.directory / "intel.icd").write_text(f"{library}\n")
        pid = self.record([python, HERE / "opencl_mix.py", "3"], LD_PRELOAD=COLLECTOR,
                          LD_LIBRARY_PATH=str(library.parent), OCL_ICD_VENDORS=str(self.recording.directory))
        listing = Listing()
        for name, address, size in map(json.loads, self.output.splitlines()):
            listing.add(address, size, name)
        self.check_names(pid, listing)


class Llvmpipe(RuntimeTest):
    """It gives LLVM's objects away once it has the functions' addresses: only who is told of them when they are
    registered can know more than that."""

    def run_mix(self, options: Sequence[str] = ()) -> Tuple[int, Listing]:
        pointers = self.recording.directory / "pointers"
        done = perf.run([sys.executable, HERE / "llvmpipe_mix.py", "0"], check=False)
        if done.returncode == 77:
            self.skipTest(f"llvmpipe: {done.stdout.strip()}")
        pid = self.record([sys.executable, HERE / "llvmpipe_mix.py", "2"], options,
                          LD_PRELOAD=f"{COLLECTOR} {os.environ['JITDUMP_LLVM_POINTERS']}",
                          LLVM_POINTERS=str(pointers))
        if not pointers.exists():
            self.skipTest("this Mesa asks LLVM for its functions by another call than LLVMGetPointerToGlobal()")
        words = (line.split(" ") for line in pointers.read_text().splitlines())
        return pid, listing_of_starts((int(start, 16), name) for start, name in words)

    def test_shaders(self) -> None:
        self.check_names(*self.run_mix())

    def test_chains(self) -> None:
        """They end where the C library starts a thread, by functions that it does not export."""
        if not c_library_has_symbols():
            self.skipTest("the C library has no symbols of where threads start (Debian's libc6-dbg)")
        pid, listing = self.run_mix(DWARF)
        self.check_chains(pid, listing, {"start_thread", "clone3", "__clone3", "clone"})


class Postgres(RuntimeTest):
    """One process without a server. LLVM writes a dump of its own (jit_profiling_support): that is the truth."""

    def run_mix(self, options: Sequence[str] = ()) -> Tuple[int, DumpListing]:
        programs = [path for path in sorted(glob.glob("/usr/lib/postgresql/*/bin"))
                    if os.path.exists(f"{path}/../lib/llvmjit.so")]
        if not programs:
            self.skipTest("PostgreSQL with its LLVM part is not installed")
        # It refuses to run as root.
        user = []
        directory = self.recording.directory
        if os.getuid() == 0:
            user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            os.chmod(directory, 0o777)
        collector = shutil.copy(COLLECTOR, directory)  # where anybody may read it
        os.chmod(collector, 0o755)
        data = directory / "data"
        perf.run([*user, f"{programs[-1]}/initdb", "--no-sync", "--auth=trust", "--username=postgres", "-D", data],
                 cwd=directory)
        settings = [word for setting in ("jit_above_cost=0", "jit_inline_above_cost=0", "jit_optimize_above_cost=0",
                                         "max_parallel_workers_per_gather=0", "fsync=off",
                                         "jit_debugging_support=on", "jit_profiling_support=on")
                    for word in ("-c", setting)]
        text = f"exec \"$@\" < '{HERE / 'postgres_mix.sql'}'"
        pid = self.record(["sh", "-c", text, "sh", *user, "env", f"LD_PRELOAD={collector}", f"HOME={directory}",
                           f"{programs[-1]}/postgres", "--single", "-D", data, *settings, "postgres"], options)
        (own,) = directory.glob(f".debug/jit/*/jit-{pid}.dump")
        dump = own.read_bytes()
        listing = DumpListing(dump)
        own.write_bytes(dump[:listing.header_size])  # so that perf takes no name from it
        return pid, listing

    def test_expressions(self) -> None:
        self.check_names(*self.run_mix())

    def test_chains(self) -> None:
        pid, listing = self.run_mix(DWARF)
        self.check_chains(pid, listing, {"main", "_start"})
