"""One recipe: python3 test_recipes.py RECIPE BUILD_FOLDER [NEED]...

Runs examples/recipes/RECIPE/run.sh, and compares the profiles that it leaves in BUILD_FOLDER/RECIPE,
or in folders there, with the truth: what the program has printed of its functions (output.txt), as
truth.py reads it. All programs are of one shape, `leaf` called by `middle`, that by `outer`, that by
`run`, and that by the host, and none is called by another, so that where a sample is says what its
call chain must be.

Exit code 77: skipped, because a NEED (a command or a header) is missing, or because run.sh has said
so.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import List

from jitdump_tests import ctest_class, jitdump_reader, perf
from jitdump_tests.perf_case import NAMED_MIN, SAMPLES_MIN, PerfTest
from jitdump_tests.recipe_truth import truth_of
from jitdump_tests.truth import Function, Truth

CALLS = ["run", "outer", "middle", "leaf"]
REQUIRED = os.environ.get("JITDUMP_TESTS_REQUIRE_RECIPES") == "1"


class Shares:
    """Of the samples in generated code: how many have the right name, line and whole chain. Where the
    code comes from no line, none is right."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.truth = truth_of(folder)
        session = perf.Session(folder)
        session.injected = folder / "perf.jit.data"
        session.call_graph = ["--call-graph", "dwarf"]
        # Lines in large libraries are nobody's question here.
        samples = session.samples(sorted({path.name for path in folder.rglob("jitted-*.so")}))
        self.total = self.named = self.with_line = self.whole = 0
        self.wrong: List[str] = []
        for sample in samples:
            place = self.truth.at(sample.pid, sample.ip, sample.time)
            if place is not None:
                self.add(sample, *place)

    def add(self, sample: perf.Sample, function: Function, offset: int) -> None:
        line = function.line_at(offset)
        named = sample.symbol == function.name
        with_line = (sample.file, sample.line) == ((function.file, line) if line else (None, None))
        whole = is_whole(sample.chain, function.name)
        self.total += 1
        self.named += named
        self.with_line += with_line
        self.whole += whole
        if not (named and with_line and whole):
            self.wrong.append(f"{function.name}+{offset:#x}, line {line}: {sample.symbol}, "
                              f"{sample.file}:{sample.line}, {sample.chain[:6]}")

    def __str__(self) -> str:
        def percent(count: int) -> str:
            return f"{100 * count / max(self.total, 1):.1f} %"

        return (f"{self.total} samples: right name {percent(self.named)}, right line "
                f"{percent(self.with_line)}, whole chain {percent(self.whole)}")


def is_whole(chain: List[str], function: str) -> bool:
    """Each caller in turn, and then the host's down to the C library's start."""
    plain = [name.removeprefix("__main__.") for name in [function, *chain]]  # numba's have the module
    expected = CALLS[CALLS.index(plain[0])::-1] if plain[0] in CALLS else plain[:1]
    rest = chain[len(expected):]
    return plain[1:len(expected) + 1] == expected and any(
        name == "_start" or name.startswith("__libc_start_") for name in rest)


def is_there(need: str) -> bool:
    if need.endswith(".h"):
        done = subprocess.run(["c++", "-E", "-x", "c++", "-"], input=f"#include <{need}>\n", text=True,
                              capture_output=True, check=False)
        return done.returncode == 0
    return shutil.which(need) is not None


class RecipeTest(PerfTest):
    recipe = ""
    build = pathlib.Path()
    needs = [""]

    def setUp(self) -> None:
        if REQUIRED:  # what is missing, perf too, is for run.sh to install
            return
        super().setUp()
        missing = [need for need in self.needs if not is_there(need)]
        if missing:
            self.skipTest(f"not installed (JITDUMP_TESTS_REQUIRE_RECIPES=1 does it): "
                          f"{', '.join(missing)}")

    def test(self) -> None:
        done = subprocess.run(["sh", perf.WORKLOAD, str(self.build)], text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        print(done.stdout)
        if done.returncode == 77:
            self.skipTest(done.stdout.splitlines()[-1].removeprefix("skipped: "))
        self.assertEqual(done.returncode, 0, f"run.sh: exit code {done.returncode}")
        folders = sorted({path.parent for path in (self.build / self.recipe).glob("**/perf.jit.data")})
        self.assertNotEqual(folders, [])
        for folder in folders:
            with self.subTest(folder.name):
                self.check(folder)

    def check(self, folder: pathlib.Path) -> None:
        for dump in folder.glob("jit-*.dump"):
            jitdump_reader.read(dump)
        shares = Shares(folder)
        print(f"recipe: {self.recipe} {folder.name}: {shares}")
        self.check_marks(shares.truth)
        self.assertGreaterEqual(shares.total, SAMPLES_MIN)
        for count in [shares.named, shares.with_line, shares.whole]:
            self.assertGreaterEqual(count, NAMED_MIN * shares.total, shares.wrong[:5])

    def check_marks(self, truth: Truth) -> None:
        """Instructions with a constant that names their line come from that, says the truth."""
        for function in truth.functions.values():
            for mark in re.finditer(b"(..)DJ", function.code, re.DOTALL):
                line = int.from_bytes(mark[1], "little")
                self.assertEqual(function.line_at(mark.start()), line, function.name)


if __name__ == "__main__":
    RecipeTest.recipe, RecipeTest.build = sys.argv[1], pathlib.Path(sys.argv[2])
    RecipeTest.needs = sys.argv[3:]
    sys.exit(ctest_class.main("__main__", "RecipeTest"))
