"""One binding: python3 test_binding.py LANGUAGE BUILD_FOLDER [COMMAND]...

Runs examples/ffi/LANGUAGE/run.sh, which runs the binding's own tests too, and then looks at what
it has left in BUILD_FOLDER/LANGUAGE: in layout.json the binding's declarations, as layout.py
describes; perf.jit.data; and in output.txt what the example says of itself, in lines of JSON,
which truth.py reads:

    {"function": NAME, "pid": PID, "addr": ADDRESS, "size": BYTES, "since": 0, "file": FILE,
     "lines": [[OFFSET, LINE, 1], ...], "code": HEX}
    {"dump": PATH, "pid": PID}

Exit code 77: skipped, because a COMMAND is missing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
for folder in ("consumers", "reader"):
    sys.path.append(str(TESTS / folder))

import fact  # noqa: E402
import jitdump_reader  # noqa: E402
import perf  # noqa: E402
from case import PerfTest, Profile  # noqa: E402
from truth import Truth  # noqa: E402

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
        done = subprocess.run(["sh", perf.WORKLOAD, str(self.build)], text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, f"run.sh: exit code {done.returncode}")
        folder = self.build / self.language
        with self.subTest("declarations"):
            self.check_layout(folder / "layout.json")
        with self.subTest("profile"):
            self.check_profile(folder)

    def check_layout(self, layout: pathlib.Path) -> None:
        perf.run(["sh", TESTS / "abi" / "dump.sh", TESTS.parent, self.build / "abi"])
        print(perf.run([sys.executable, TESTS / "bindings" / "layout.py",
                        self.build / "abi" / "jitdump.abi", layout]).stdout)

    def check_profile(self, folder: pathlib.Path) -> None:
        truth = Truth((folder / "output.txt").read_text(encoding="utf-8"))
        jitdump_reader.read(truth.dump)
        for function in truth.functions.values():
            function.file = pathlib.Path(function.file).name  # as perf shows it
        session = perf.Session(folder)
        session.injected = folder / "perf.jit.data"
        self.check_samples(Profile(session, truth, session.samples()))


if __name__ == "__main__":
    BindingTest.language, BindingTest.build = sys.argv[1], pathlib.Path(sys.argv[2])
    BindingTest.commands = ["cc", "abidw", *sys.argv[3:]]
    sys.exit(fact.main("__main__", "BindingTest"))
