"""The collector in processes that have no JIT, or where it is not welcome: they do what they would without it,
and nothing is written."""
from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, List

from jitdump_tests import itt, jitdump_reader

COLLECTOR = os.environ["JITDUMP_COLLECTOR"]
EVERYWHERE = {"LD_PRELOAD": COLLECTOR, "INTEL_JIT_PROFILER64": COLLECTOR,
              "INTEL_LIBITTNOTIFY64": COLLECTOR}


class Strangers(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(prefix="jitdump-strangers-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()
        os.chmod(self.directory, 0o777)

    def run_with(self, command: List[str], **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(command, capture_output=True, check=False, cwd=self.directory,
                              env={**os.environ, "JITDUMPDIR": str(self.directory), **environment})

    def written(self) -> List[str]:
        return sorted(path.name for path in self.directory.glob("*.dump*"))

    def test_programs(self) -> None:
        """Of several kinds: static and not, with threads, children and objects that come and go."""
        commands = [["true"], ["false"], ["sh", "-c", "echo a | cat; exit 3"], ["ls", "/proc/self/"],
                    [sys.executable, "-c", "import ctypes, decimal, sqlite3, ssl; print(1)"],
                    [sys.executable, "-c", "import multiprocessing as m; print(m.Pool(2).map(abs, [-1]))"],
                    ["perl", "-e", "use POSIX; print floor(2.5)"], ["env", "-i", "true"],
                    ["gdb", "--version"], ["php8.2", "-r", "echo 1;"], ["cc", "--version"],
                    ["bash", "-c", "exec 3<&0; (exit 4) & wait $!"],
                    ["node", "-e", "for (let i = 0, s = 0; i < 1e6; i++) s += i; console.log(process.argv.length)"],
                    ["java", "-Xshare:auto", "-version"]]
        for command in commands:
            if shutil.which(command[0]) is None:
                continue
            plain = self.run_with(command)
            used = self.run_with(command, **EVERYWHERE)
            self.assertEqual((used.returncode, used.stdout, used.stderr),
                             (plain.returncode, plain.stdout, plain.stderr), command)
        self.assertEqual(self.written(), [])

    def test_qemu(self) -> None:
        """It tells GDB that all the memory for its code is one function."""
        if shutil.which("qemu-aarch64") is None or shutil.which("aarch64-linux-gnu-gcc") is None:
            self.skipTest("qemu-aarch64 and aarch64-linux-gnu-gcc are not both installed")
        symbols = subprocess.run(["readelf", "--dyn-syms", "-W", shutil.which("qemu-aarch64")],
                                 stdout=subprocess.PIPE, check=True).stdout
        if b"__jit_debug_register_code" not in symbols:
            self.skipTest("this QEMU is linked statically, or its interface can't be found from outside")
        (self.directory / "program.c").write_text("int main(void) { return 5; }\n")
        subprocess.run(["aarch64-linux-gnu-gcc", "-static", "program.c", "-o", "program"], check=True,
                       cwd=self.directory)
        done = self.run_with(["qemu-aarch64", "./program"], JITDUMP="debug", **EVERYWHERE)
        self.assertEqual(done.returncode, 5)
        self.assertIn(b"code_gen_buffer is left out", done.stderr)
        self.assertEqual(self.written(), [])

    def test_name_of_the_kernels_object(self) -> None:
        """The loader knows it by a name without a folder: the file of that name here is another's."""
        interface = os.environ["JITDUMP_INTERFACES"].split(":")[1]
        shutil.copy(interface, self.directory / "linux-vdso.so.1")
        done = self.run_with(["true"], JITDUMP="debug", **EVERYWHERE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_objects_that_come_and_go(self) -> None:
        """The interface is found each time, however often its object is loaded and unloaded."""
        interface = os.environ["JITDUMP_INTERFACES"].split(":")[1]
        text = f"""
import _ctypes, ctypes, mmap
for _ in range(100):
    library = ctypes.CDLL({interface!r})
    assert library.changed_registers() == 0
    library.register_object(ctypes.create_string_buffer(64), ctypes.c_uint64(64))
    _ctypes.dlclose(library._handle)
"""
        done = self.run_with([sys.executable, "-c", text], JITDUMP="debug", **EVERYWHERE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(b"an object is left out"), 1, done.stderr)
        self.assertNotIn(b"not seen", done.stderr)
        self.assertEqual(self.written(), [])

    def test_unloaded(self) -> None:
        """A runtime may unload the collector while others use it: it stays."""
        memory = itt.Memory()

        def scenario() -> None:
            import _ctypes
            library = ctypes.CDLL(COLLECTOR)
            copy = itt.Copy()
            copy.load(1, b"before", memory.address, 64)
            for _ in range(8):
                try:
                    _ctypes.dlclose(library._handle)
                except OSError:
                    break
            copy.load(2, b"behind", memory.address, 64)

        self.assertEqual([f.load.name for f in itt.Child(scenario).functions()], ["before", "behind"])

    def test_exec(self) -> None:
        """Children inherit the variables, and have dumps of their own."""
        memory = itt.Memory()
        child = ("from jitdump_tests import itt; memory = itt.Memory();"
                 "itt.Copy().load(1, b'child', memory.address, 64)")

        def scenario() -> None:
            itt.Copy().load(1, b"parent", memory.address, 64)
            subprocess.run([sys.executable, "-c", child], check=True)
            subprocess.run(["true"], check=True)

        made = itt.Child(scenario, **EVERYWHERE)
        names: Dict[str, List[str]] = {
            path.name: [f.load.name for f in jitdump_reader.read(str(path)).functions]
            for path in made.directory.glob("jit-*.dump")}
        self.assertEqual(sorted(names.values()), [["child"], ["parent"]])
        self.assertEqual(names[made.dump_path().name], ["parent"])

    def test_setuid(self) -> None:
        """A program with more rights than its user has: nothing is written, whoever loads the collector."""
        if os.getuid() != 0:
            self.skipTest("a setuid program can only be made by root")
        program = self.directory / "program"
        source = self.directory / "program.c"
        source.write_text(SETUID)
        subprocess.run(["cc", source, "-o", program, "-ldl"], check=True)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o755)
        # Where any user may read it.
        collector = shutil.copy(COLLECTOR, self.directory)
        self.assertEqual(self.run_with([str(program), collector]).stdout, b"0 1 1\n")
        self.assertEqual(len(self.written()), 1)
        os.unlink(self.directory / self.written()[0])
        os.chmod(program, 0o4755)
        everywhere = dict.fromkeys(EVERYWHERE, collector)
        said = self.run_with([str(program), collector], **everywhere).stdout
        if said.startswith(b"0"):
            self.skipTest("setuid is not honoured here")
        self.assertEqual(said, b"1 0 1\n")
        self.assertEqual(self.written(), [])


SETUID = """
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
static char code[64];
int main(int argc, char **argv)
{
    struct { unsigned id; const char *name; void *address; unsigned size, line_count; void *rest[4]; }
        load = {1, "f", code, sizeof(code), 0, {0}};
    void *library = dlopen(argv[argc - 1], RTLD_LAZY);
    unsigned (*initialize)(void) = (unsigned (*)(void))dlsym(library, "Initialize");
    unsigned (*notify)(unsigned, void *) = (unsigned (*)(unsigned, void *))dlsym(library, "NotifyEvent");
    unsigned initialized = initialize();
    printf("%lu %u %u\\n", getauxval(AT_SECURE), initialized, notify(13, &load));
    return 0;
}
"""
