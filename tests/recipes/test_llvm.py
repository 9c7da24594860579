"""As test_recipes.py, for LLVM: also inlined calls at each byte, and LLVM's own writer of dumps on the
same program."""

import pathlib
import shutil
import sys
from typing import List

from jitdump_tests import ctest_class, perf, symbolizers, tool
from jitdump_tests.recipe_truth import Object
from test_recipes import RecipeTest, Shares

INLINED_MIN = 0.95  # gdb counts padding to a loop's inlined call, which LLVM's line table does not


class LlvmTest(RecipeTest):
    def test(self) -> None:
        super().test()
        for linker in ["jitlink", "rtdyld"]:
            with self.subTest(f"inlining, {linker}"):
                self.check_inlining(linker)
        with self.subTest("LLVM's own"):
            self.show_own()

    def session_in(self, name: str) -> perf.Session:
        folder = self.build / f"{self.recipe}-more" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return perf.Session(folder.resolve())

    def program(self, linker: str, *arguments: object) -> List[object]:
        folder = (self.build / self.recipe).resolve()
        return [folder / "build" / "run_bitcode", linker, folder / "program.bc", *arguments]

    def check_inlining(self, linker: str) -> None:
        """The record of 2026 against gdb on the compiler's object, which has no line 0."""
        if shutil.which("gdb") is None:
            print("gdb is not installed: left out")
            return
        session = self.session_in(f"inlining-{linker}")
        perf.run(self.program(linker, 0.01), cwd=session.directory,
                 env={**session.environment, "JITDUMP": "dialect=2026"})
        linked = Object(session.directory / "program.o")
        dump, = session.directory.glob("jit-*.dump")
        same = deep = total = 0
        for function in tool.functions(dump):
            symbol = linked.functions[function["function"]]
            answers = symbolizers.gdb(linked.linked, list(range(symbol.addr, symbol.addr + symbol.size)))
            lines = tool.Lines(function)
            for offset in range(symbol.size):
                found = [(frame.function, frame.line) for frame in lines.chain(offset)]
                expected = [(place.function, place.line) for place in answers[symbol.addr + offset]]
                if found[0][1] > 0:
                    total += 1
                    deep += len(expected) > 1
                    same += found == expected
        print(f"recipe: llvm {linker}: {same} of {total} bytes with the inlined calls that gdb finds, "
              f"{deep} in inlined ones")
        self.assertGreater(deep, 50)
        self.assertGreaterEqual(same, INLINED_MIN * total)

    def show_own(self) -> None:
        session = self.session_in("llvm-own")
        done = session.perf(*perf.RECORD, *perf.MONOTONIC, "--call-graph", "dwarf", "-o", session.data,
                            "--", *self.program("rtdyld", 0.5, "llvm"))
        (session.directory / "output.txt").write_text(done.stdout, encoding="utf-8")
        session.injected = session.directory / "perf.jit.data"
        session.inject()
        shares = Shares(session.directory)
        print(f"recipe: llvm, its own PerfJITEventListener: {shares}")
        self.show_fact(shares.whole == 0 and shares.with_line < 0.9 * shares.total,
                       f"LLVM's own PerfJITEventListener: {shares}")


if __name__ == "__main__":
    LlvmTest.recipe, LlvmTest.build = sys.argv[1], pathlib.Path(sys.argv[2])
    LlvmTest.needs = sys.argv[3:]
    sys.exit(ctest_class.main("__main__", "LlvmTest"))
