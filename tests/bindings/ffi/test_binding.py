"""One binding: python3 test_binding.py LANGUAGE BUILD_FOLDER [COMMAND]...

Runs examples/ffi/LANGUAGE/run.sh, which runs the binding's own tests too, and then looks at what
it has left in BUILD_FOLDER/LANGUAGE: in layout.json the binding's declarations, as layout.py
describes; perf.jit.data; and in output.txt what the example says of itself, in lines of JSON,
which truth.py reads:

    {"function": NAME, "pid": PID, "addr": ADDRESS, "size": BYTES, "since": 0, "file": FILE,
     "lines": [[OFFSET, LINE, 1], ...], "code": HEX}
    {"dump": PATH, "pid": PID}

Exit code 77: skipped, because a COMMAND is missing, or because run.sh has said so.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

from jitdump_tests import ctest_class, jitdump_reader, perf
from jitdump_tests.jitdump_records import JIT_CODE_LOAD, JIT_CODE_MOVE
from jitdump_tests.perf_case import PerfTest, Profile
from jitdump_tests.truth import Function, Truth

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent
# Their tests make the calls of contents.c, too, where JITDUMP_TESTS_CONTENTS says; the others'
# read what they have written themselves.
WITH_CONTENTS = {"go", "node", "java"}
REQUIRED = os.environ.get("JITDUMP_TESTS_REQUIRE_FFI") == "1"


class BindingTest(PerfTest):
    language = ""
    build = pathlib.Path()
    commands = [""]

    @property
    def fact(self) -> str:
        return self.language

    def setUp(self) -> None:
        if REQUIRED:  # what is missing, perf too, is for run.sh to install
            return
        super().setUp()
        missing = [command for command in self.commands if shutil.which(command) is None]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")

    def test(self) -> None:
        folder = self.build / self.language
        contents = folder / "contents"
        shutil.rmtree(contents, ignore_errors=True)
        contents.mkdir(parents=True)
        done = subprocess.run(["sh", perf.WORKLOAD, str(self.build)], text=True, errors="replace",
                              env={**os.environ, "JITDUMP_TESTS_CONTENTS": str(contents)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        print(done.stdout)
        if done.returncode == 77:
            self.skipTest(done.stdout.splitlines()[-1].removeprefix("skipped: "))
        self.assertEqual(done.returncode, 0, f"run.sh: exit code {done.returncode}")
        with self.subTest("declarations"):
            self.check_layout(folder / "layout.json")
        with self.subTest("profile"):
            self.check_profile(folder)
        if self.language in WITH_CONTENTS:
            with self.subTest("contents"):
                self.check_contents(contents)

    def check_layout(self, layout: pathlib.Path) -> None:
        perf.run(["sh", TESTS / "packaging" / "abi" / "dump.sh", TESTS.parent, self.build / "abi"])
        print(perf.run([sys.executable, TESTS / "jitdump_tests" / "layout.py",
                        self.build / "abi" / "jitdump.abi", layout]).stdout)

    def check_profile(self, folder: pathlib.Path) -> None:
        truth = Truth((folder / "output.txt").read_text(encoding="utf-8"))
        jitdump_reader.read(truth.dump)
        for function in truth.functions.values():
            self.check_source(function)
            function.file = pathlib.Path(function.file).name  # as perf shows it
        session = perf.Session(folder)
        session.injected = folder / "perf.jit.data"
        samples = session.samples([path.name for path in folder.glob("jitted-*.so")])
        self.check_samples(Profile(session, truth, samples))

    def check_source(self, function: Function) -> None:
        """The bytes of each instruction stand in the line that it is said to come from."""
        source = pathlib.Path(function.file).read_text(encoding="utf-8").splitlines()
        ends = [offset for offset, _, _ in function.lines[1:]] + [function.size]
        for (begin, line, _), end in zip(function.lines, ends):
            self.assertRegex(source[line - 1].lower(), r"\b" + r"\W+".join(
                f"(0x)?{byte:02x}" for byte in function.code[begin:end]) + r"\b")

    def check_contents(self, folder: pathlib.Path) -> None:
        """The binding's dump and C's differ in what no two processes have in common alone."""
        found, = folder.iterdir()
        found_bytes = without_process(found.read_bytes())
        found.unlink()
        perf.run([os.environ["JITDUMP_CONTENTS"], folder])
        expected, = folder.iterdir()
        self.assertEqual(found_bytes, without_process(expected.read_bytes()))
        print(f"contents: {self.language} {len(found_bytes)} bytes alike")


def without_process(dump: bytes) -> bytes:
    """The dump with zeros in place of times, process and thread ids, and with each code_index less
    the first."""
    zeroed = bytearray(dump)
    index_at = {JIT_CODE_LOAD: 48, JIT_CODE_MOVE: 56}
    first = None
    zeroed[20:32] = bytes(12)
    offset = jitdump_reader.FILE_HEADER_SIZE
    while offset < len(dump):
        record, size = struct.unpack_from("=II", dump, offset)
        zeroed[offset + 8:offset + 16] = bytes(8)
        if record in index_at:
            zeroed[offset + 16:offset + 24] = bytes(8)
            index, = struct.unpack_from("=Q", dump, offset + index_at[record])
            first = index if first is None else first
            struct.pack_into("=Q", zeroed, offset + index_at[record], index - first)
        offset += size
    return bytes(zeroed)


if __name__ == "__main__":
    BindingTest.language, BindingTest.build = sys.argv[1], pathlib.Path(sys.argv[2])
    BindingTest.commands = ["cc", "abidw", *sys.argv[3:]]
    sys.exit(ctest_class.main("__main__", "BindingTest"))
