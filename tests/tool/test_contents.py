"""`jitdump dump --json` against what is known to be in the file."""
from __future__ import annotations

import os
import pathlib
import random
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent

from jitdump_tests import dump_writer
from jitdump_tests import jitdump_reader
from jitdump_tests import jitdump_records
from jitdump_tests import tool
from jitdump_tests.inlining_descriptions import NONE, Description, random_description
from jitdump_tests.tiered_log import Log

EXAMPLES = TESTS.parent / "examples"
ENCODE = os.environ["JITDUMP_PROPERTY_ENCODE"]
PERF, SAMPLY_2023, SAMPLY_2026 = 0, 1, 2
CASES = 200
HEADER_SIZE = 40


class Extension(jitdump_reader.GroupRecord):
    """An inline or tier record, whose contents the strict reader does not know."""

    @classmethod
    def parse(cls, prefix: tuple[int, int, int, int], body: jitdump_records.Body) -> "Extension":
        body.rest()
        return cls(*prefix)


class Contents(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def example(self, name: str, *arguments: object) -> pathlib.Path:
        program = os.environ["JITDUMP_EXAMPLES"] and pathlib.Path(os.environ["JITDUMP_EXAMPLES"]) / name
        if not program or not program.exists():
            self.skipTest("the examples are not built for this processor")
        before = set(self.directory.iterdir())
        subprocess.run([program, *map(str, arguments)],
                       check=True, cwd=self.directory, stdout=subprocess.DEVNULL,
                       env={**os.environ, "JITDUMPDIR": str(self.directory)})
        new = {path for path in set(self.directory.iterdir()) - before if path.suffix == ".dump"}
        self.assertEqual(len(new), 1)
        return new.pop()

    def encode(self, dialect: int, cases: list[Description]) -> pathlib.Path:
        done = subprocess.run([ENCODE, self.directory, str(dialect), "0"], check=True, text=True,
                              input="".join(case.text() for case in cases), stdout=subprocess.PIPE)
        return pathlib.Path(done.stdout.strip())

    # The strict reader

    def compare(self, path: pathlib.Path) -> None:
        """With tests/reader, which is written apart from this reader and from the library."""
        expected = jitdump_reader.read(path, extensions={dump_writer.INLINE_2023: Extension,
                                                         dump_writer.TIER: Extension})
        header, *found = tool.objects(path)
        for field in ("version", "total_size", "elf_mach", "pid", "timestamp", "flags"):
            self.assertEqual(header[field], getattr(expected.header, field))
        self.assertEqual(len(found), len(expected.records))
        for record, other in zip(found, expected.records):
            for field in ("offset", "id", "total_size", "timestamp"):
                self.assertEqual(record[field], getattr(other, field))
            if isinstance(other, jitdump_reader.Load):
                for field in ("pid", "tid", "code_size", "code_index", "name"):
                    self.assertEqual(record[field], getattr(other, field))
                self.assertEqual(int(record["code_addr"], 0), other.code_addr)
            elif isinstance(other, jitdump_reader.Move):
                for field in ("pid", "tid", "code_size", "code_index"):
                    self.assertEqual(record[field], getattr(other, field))
                for field in ("vma", "old_code_addr", "new_code_addr"):
                    self.assertEqual(int(record[field], 0), getattr(other, field))
            elif isinstance(other, jitdump_reader.DebugInfo):
                self.assertEqual(record["nr_entry"], len(other.entries))
            elif isinstance(other, jitdump_reader.UnwindingInfo):
                self.assertEqual(record["eh_frame_size"], len(other.eh_frame))
                self.assertEqual(record["eh_frame_hdr_size"], len(other.eh_frame_hdr))
        self.compare_functions(path, expected)

    def compare_functions(self, path: pathlib.Path, expected: jitdump_reader.Dump) -> None:
        functions = tool.functions(path)
        self.assertEqual(len(functions), len(expected.functions))
        for found, other in zip(functions, expected.functions):
            self.assertEqual(found["function"], other.load.name)
            self.assertEqual(found["offset"], other.load.offset)
            self.assertEqual(bytes.fromhex(found["code"]), other.load.code)
            debug_info = other.described_by(jitdump_reader.DebugInfo)
            if found["described_by"] == "DEBUG_INFO":
                rows = [[entry.code_addr - other.load.code_addr,
                         entry.name, entry.line, entry.discrim]
                        for entry in debug_info.entries
                        if entry.code_addr < other.load.code_addr + other.load.code_size]
                self.assertEqual(found["rows"], rows)
            unwinding = other.described_by(jitdump_reader.UnwindingInfo)
            self.assertEqual(bool(found["frames"]), unwinding is not None)
            self.assertNotIn("frames_problem", found)

    def test_strict_reader_hello(self) -> None:
        self.compare(self.example("hello"))

    def test_strict_reader_bf(self) -> None:
        self.compare(self.example("bf", "--jitdump", EXAMPLES / "hyperfactorial.bf"))

    def test_strict_reader_tiered(self) -> None:
        for dialect in ("perf", "samply-2023", "samply-2026"):
            with self.subTest(dialect=dialect):
                self.compare(self.tiered(dialect)[0])

    def tiered(self, dialect: str) -> tuple[pathlib.Path, Log]:
        log = self.directory / "log"
        path = self.example("tiered", "--jitdump", dialect, "--rounds", 300, "--hot", 10000,
                            "--log", log, EXAMPLES / "tiered" / "program.tl")
        return path, Log(log)

    def test_tiered_log(self) -> None:
        """What the example says of itself: at each instruction the chain; at each time the place."""
        for dialect in ("samply-2023", "samply-2026"):
            path, log = self.tiered(dialect)
            lives = 0
            for function in tool.functions(path):
                lines = tool.Lines(function)
                code = next(code for _, _, code in log.placements
                            if code.name == function["function"])
                for offset in range(code.size):
                    found = [(frame.line, frame.column if dialect == "samply-2026" else None)
                             for frame in lines.chain(offset)]
                    expected = [(frame.line, frame.column if dialect == "samply-2026" else None)
                                for frame in code.chain(offset)]
                    self.assertEqual(found, expected, f"{code.name}+{offset:#x}")
                lives += len(function["lives"])
            self.assertEqual(lives, len(log.placements))
            for since, address, code in log.placements:
                names = [function["function"] for function in
                         tool.functions(path, "--at", f"{since // 10**9}.{since % 10**9:09}")
                         if any(int(life["address"], 0) == address and
                                life["begin"] <= since and (life["end"] or since + 1) > since
                                for life in function["lives"])]
                self.assertLessEqual(len(names), 1)

    # Random descriptions

    def expect(self, case: Description, function: tool.Object, dialect: int) -> None:
        lines = tool.Lines(function)

        def column(value: int) -> int:
            # From 0: the first column and none are the same.
            return 0 if dialect == SAMPLY_2023 and value == 1 else value

        for offset, position in enumerate(case.position_at()):
            found = lines.chain(offset)
            if position == NONE:
                self.assertEqual((len(found), found[0].line), (1, 0))
                continue
            frames = case.chain(position)
            if dialect == SAMPLY_2023:
                frames[1:] = case.callers_2023(position)
            expected = [tool.Frame(frame.function.name, frame.function.file if frame.line else None,
                                   frame.line, column(frame.column))
                        for frame in frames]
            if dialect == PERF:
                expected = [expected[0]._replace(function=None)]
            self.assertEqual([frame if frame.line else frame._replace(file=None, column=0)
                              for frame in found], expected, f"offset {offset}\n{case.text()}")

    def test_random_descriptions(self) -> None:
        seed = os.environ.get("JITDUMP_SEED") or os.urandom(8).hex()
        print(f"seed {seed}")
        random_ = random.Random(seed)
        for dialect in (PERF, SAMPLY_2023, SAMPLY_2026):
            cases = [random_description(random_) for _ in range(CASES)]
            path = self.encode(dialect, cases)
            functions = tool.functions(path)
            self.assertEqual(len(functions), len(cases))
            for case, function in zip(cases, functions):
                self.expect(case, function, dialect)
            # And the same from the other byte order.
            other = self.directory / "jit-1.dump"
            other.write_bytes(dump_writer.swapped(path.read_bytes()))
            self.assertEqual(tool.functions(other), functions)
            headers = [tool.objects(each)[0] for each in (path, other)]
            self.assertEqual({each["byte_order"] for each in headers}, {"little", "big"})
            path.unlink()

    def test_dump_that_grows(self) -> None:
        """Read while it is written: what is there is a beginning of what will be there."""
        random_ = random.Random(1)
        cases = [random_description(random_) for _ in range(CASES)]
        counts = []
        with subprocess.Popen([ENCODE, self.directory, str(SAMPLY_2026), "0"], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            while process.poll() is None and not any(
                    path.stat().st_size >= HEADER_SIZE for path in self.directory.glob("jit-*.dump")):
                pass
            for _ in range(20):
                for case in cases:
                    process.stdin.write(case.text())
                process.stdin.flush()
                for path in self.directory.glob("jit-*.dump"):
                    for statistics in tool.objects("--stat", path):
                        counts.append(statistics["functions"])
            process.stdin.close()
            path = pathlib.Path(process.stdout.read().strip())
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(len(set(counts)), 2)
        self.assertEqual(tool.objects("--stat", path)[0]["functions"], 20 * CASES)


if __name__ == "__main__":
    unittest.main()
