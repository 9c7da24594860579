"""python3 -m unittest: what the binding adds to the library, judged by the dumps that it writes,
which the tests' own reader reads."""

import gc
import os
import pathlib
import sys
import tempfile
import threading
import unittest

import jitdump
from jitdump import ErrorCode
from jitdump_tests import jitdump_reader

X86_64 = 62  # EM_X86_64 of elf.h


def some_code(**changes: object) -> jitdump.Code:
    return jitdump.Code(**{"name": "f", "code_addr": 0x1000, "code_size": 4,
                           "code_bytes": b"abcd", **changes})


class DumpTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def open(self, **options: object) -> jitdump.Dump:
        dump = jitdump.open(self.directory, **options)
        self.addCleanup(dump.close)
        return dump

    def assert_fails(self, code: ErrorCode, call: object, *arguments: object) -> None:
        with self.assertRaises(jitdump.Error) as raised:
            call(*arguments)
        self.assertIs(raised.exception.code, code)
        self.assertEqual(str(raised.exception), jitdump.strerror(code))


class Errors(DumpTest):
    def test_open_says_on_which_path_it_failed(self) -> None:
        missing = self.directory / "missing"
        with self.assertRaises(jitdump.Error) as raised:
            jitdump.open(missing)
        self.assertIs(raised.exception.code, ErrorCode.DIRECTORY_MISSING)
        self.assertIn(str(missing), str(raised.exception))

    def test_a_dialect_that_nothing_reads_is_warned_of(self) -> None:
        with self.assertWarnsRegex(UserWarning, "no profiler"):
            self.open(dialect=jitdump.Dialect.SAMPLY_2023).close()

    def test_the_environment_decides(self) -> None:
        self.addCleanup(os.environ.pop, "JITDUMP", None)
        self.assertFalse(self.open(from_environment=True))
        os.environ["JITDUMP"] = "flush=buffered"
        self.assertTrue(self.open(from_environment=True))
        os.environ["JITDUMP"] = "nonsense"
        with self.assertRaisesRegex(jitdump.Error, "nonsense") as raised:
            self.open(from_environment=True)
        self.assertIs(raised.exception.code, ErrorCode.ENVIRONMENT)

    def test_an_unknown_option(self) -> None:
        with self.assertRaises(jitdump.Error) as raised:
            self.open(clock=7)
        self.assertIs(raised.exception.code, ErrorCode.OPTION)

    def test_bad_code_appends_nothing_and_the_dump_stays_usable(self) -> None:
        dump = self.open(flags=jitdump.OptionFlags.STRICT)
        line = jitdump.Line(0x1000, 1, "a")
        for code, bad in [
                (ErrorCode.NAME_MISSING, {"name": ""}),
                (ErrorCode.CODE_MISSING, {"code_addr": 0, "code_bytes": None}),
                (ErrorCode.LINES_ORDER, {"lines": [line, line]}),
                (ErrorCode.LINES_RANGE, {"lines": [line._replace(code_addr=0x1004)]}),
                (ErrorCode.LINE_FILE, {"lines": [line._replace(file="")]}),
                (ErrorCode.TIER, {"tier": 3}),
                (ErrorCode.UNWIND_FRAME, {"unwind": jitdump.Unwind(7)}),
                (ErrorCode.TRACK_EMPTY, {"tracks": [jitdump.Track("source", [], [], [])]})]:
            with self.subTest(code.name):
                self.assert_fails(code, dump.load, some_code(**bad))
        dump.load(some_code())
        self.assertEqual(len(jitdump_reader.read(dump.path).functions), 1)

    def test_what_does_not_fit_into_c_is_refused_and_not_cut_off(self) -> None:
        dump = self.open()
        for exception, bad in [(ValueError, {"name": "a\0b"}), (OverflowError, {"tier": 1 << 32}),
                               (OverflowError, {"code_addr": -1}), (TypeError, {"code_addr": "0"}),
                               (ValueError, {"code_bytes": b"abc"})]:
            with self.subTest(str(bad)), self.assertRaises(exception):
                dump.load(some_code(**bad))
        with self.assertRaises(OverflowError):
            dump.move(1, 0, -1, 4)
        with self.assertRaises(ValueError):
            dump.embed_source("a\0b", "")
        self.assertEqual(jitdump_reader.read(dump.path).records, [])

    def test_an_error_that_the_module_does_not_know(self) -> None:
        error = jitdump.Error(-9999)
        self.assertEqual(error.code, -9999)
        self.assertTrue(str(error))

    def test_a_sticky_one(self) -> None:
        dump = self.open(size_limit=4096)
        code = some_code(code_size=5000, code_bytes=bytes(5000))
        self.assert_fails(ErrorCode.SIZE_LIMIT, dump.load, code)
        self.assert_fails(ErrorCode.SIZE_LIMIT, dump.load, some_code())
        self.assert_fails(ErrorCode.SIZE_LIMIT, dump.close)
        self.assertFalse(dump)


class NoHandle(DumpTest):
    def check(self, dump: jitdump.Dump) -> None:
        self.assertFalse(dump)
        self.assertIsNone(dump.path)
        self.assertEqual(dump.load(some_code()), 0)
        self.assertEqual(dump.unwind_size(some_code(unwind=jitdump.Unwind(
            jitdump.UnwindFrame.STEPS))), 0)
        self.assertEqual(dump.add_tier("t", jitdump.Color.RED), 0)
        dump.move(1, 0x1000, 0x2000, 4)
        dump.embed_source("a", "text")
        dump.append_raw(1000, b"x")
        dump.flush()
        dump.flush_from_signal()
        dump.close()

    def test_every_call_does_nothing(self) -> None:
        self.check(jitdump.Dump())

    def test_nor_does_any_after_close(self) -> None:
        with self.open() as dump:
            path = dump.path
            self.assertTrue(dump)
        self.check(dump)
        self.assertTrue(jitdump_reader.read(path).closed)


class Contents(DumpTest):
    def test_all_that_a_function_can_have(self) -> None:
        dump = self.open(flags=jitdump.OptionFlags.SOURCE_FILES, elf_mach=X86_64)
        # Made here and nowhere kept: they must stay alive until the call ends, and no longer.
        tier = dump.add_tier("".join(["ti", "er"]), jitdump.Color.GREEN, "Tier: ")
        dump.embed_source("".join(["so", "urce"]), "text\nof it\n")
        steps = [jitdump.UnwindStep(1, jitdump.UnwindOp.DEF_CFA, jitdump.X8664Register.RSP, 16),
                 jitdump.UnwindStep(3, jitdump.UnwindOp.DEF_CFA, jitdump.X8664Register.RSP, 8)]
        track = jitdump.Track(
            "source", [jitdump.Function(f"function {i}", f"file {i}", i + 1) for i in range(2)],
            [jitdump.Position(0, 10), jitdump.Position(1, 20, 5, caller=0)],
            [jitdump.Offset(0, 0), jitdump.Offset(2, 1)])
        code = some_code(name="näme", tier=tier, tracks=[track],
                         unwind=jitdump.Unwind(jitdump.UnwindFrame.STEPS, steps))
        gc.collect()
        without_steps = code._replace(unwind=jitdump.Unwind(jitdump.UnwindFrame.STEPS))
        self.assertGreater(dump.unwind_size(code), dump.unwind_size(without_steps))
        index = dump.load(code)
        dump.move(index, 0x1000, 0x2000, 4 + dump.unwind_size(code))
        dump.append_raw(1000, b"payload")
        dump.flush()
        read = jitdump_reader.read(dump.path)
        function, = read.functions
        self.assertEqual((function.load.name, function.load.code, function.load.code_index),
                         ("Tier: näme", b"abcd", index))
        entries = function.described_by(jitdump_reader.DebugInfo).entries
        self.assertEqual([(entry.code_addr, entry.line, entry.name) for entry in entries[:2]],
                         [(0x1000, 10, "file 0"), (0x1002, 20, "file 1")])
        self.assertTrue(function.described_by(jitdump_reader.UnwindingInfo).eh_frame)
        raw, = [record for record in read.records if isinstance(record, jitdump_reader.Raw)]
        self.assertEqual((raw.id, raw.payload), (1000, b"payload"))
        source, = self.directory.glob("jit-*-source")
        self.assertEqual(source.read_text(), "text\nof it\n")

    def test_lines_in_great_number(self) -> None:
        dump = self.open()
        lines = [jitdump.Line(0x1000 + i, i + 1, f"file {i}", i) for i in range(5000)]
        dump.load(some_code(code_size=5000, code_bytes=bytes(5000), lines=lines))
        function, = jitdump_reader.read(dump.path).functions
        entries = function.described_by(jitdump_reader.DebugInfo).entries
        self.assertEqual([(e.code_addr, e.line, e.name, e.discrim) for e in entries[:5000]],
                         [tuple(line) for line in lines])

    def test_code_that_is_no_bytes_object_is_copied_and_the_copy_kept(self) -> None:
        dump = self.open()
        code = bytearray(range(256)) * 4096  # so large that a freed copy is no longer mapped
        dump.load(some_code(code_size=len(code), code_bytes=code))
        dump.load(some_code(code_size=16, code_bytes=memoryview(code)[:16]))
        first, second = jitdump_reader.read(dump.path).functions
        self.assertEqual((first.load.code, second.load.code), (code, code[:16]))

    def test_unwinding_data_of_the_callers_own(self) -> None:
        dump = self.open()
        dump.load(some_code(unwind=jitdump.Unwind(jitdump.UnwindFrame.STEPS)))
        made, = self.unwinding(dump)
        dump.load(some_code(eh_frame=made.eh_frame, eh_frame_hdr=made.eh_frame_hdr))
        made, given = self.unwinding(dump)
        self.assertEqual((given.eh_frame, given.eh_frame_hdr), (made.eh_frame, made.eh_frame_hdr))

    @staticmethod
    def unwinding(dump: jitdump.Dump) -> list:
        return [function.described_by(jitdump_reader.UnwindingInfo)
                for function in jitdump_reader.read(dump.path).functions]

    def test_eh_frame_for_the_process_itself(self) -> None:
        code = some_code(unwind=jitdump.Unwind(jitdump.UnwindFrame.STEPS))
        section = jitdump.unwind_eh_frame(code, elf_mach=X86_64)
        self.assertIn((0x1000).to_bytes(8, "little"), section)
        self.assertEqual(section[-4:], bytes(4), "a terminator")
        self.assert_fails(ErrorCode.ARGUMENT, jitdump.unwind_eh_frame, some_code())

    def test_line_rows(self) -> None:
        dump = self.open()
        dump.load(some_code(line_rows=[jitdump.LineRow(0, 1, 7, 3), jitdump.LineRow(2, 0, 9)],
                            files=["a.é", b"b.c"]))
        function, = jitdump_reader.read(dump.path).functions
        entries = function.described_by(jitdump_reader.DebugInfo).entries
        self.assertEqual([(entry.code_addr, entry.line, entry.discrim, entry.name)
                          for entry in entries],
                         [(0x1000, 7, 3, "b.c"), (0x1002, 9, 0, "a.é"), (0x1004, 9, 0, "a.é")])
        for row in (jitdump.LineRow(0, 0, -1), jitdump.LineRow(1 << 32, 0, 1)):
            with self.assertRaises(OverflowError):
                dump.load(some_code(line_rows=[row], files=["f"]))
        with self.assertRaises(ValueError):
            dump.load(some_code(line_rows=[jitdump.LineRow(0, 0, 1)], files=["a\0b"]))

    def test_nothing_is_kept_of_loads(self) -> None:
        dump = self.open(flush_mode=jitdump.FlushMode.BUFFERED)
        track = jitdump.Track("t", [jitdump.Function("f", "f.c")], [jitdump.Position(0, 1)],
                              [jitdump.Offset(0, 0)])
        for changes in ({}, {"lines": [jitdump.Line(0x1000 + i, 1 + i, "f.c") for i in range(4)]},
                        {"line_rows": [jitdump.LineRow(i, 0, 1 + i) for i in range(4)],
                         "files": ["f.c"]}, {"tracks": [track]}, {"unwind": jitdump.Unwind()}):
            code = some_code(**{"code_size": 64, "code_bytes": bytes(64), **changes})
            for _ in range(2):  # the second time nothing is new
                before = sys.getallocatedblocks()
                for _ in range(1000):
                    dump.load(code)
                gc.collect()
                kept = sys.getallocatedblocks() - before
            self.assertLess(kept, 100, changes)

    def test_threads(self) -> None:
        dump = self.open(flush_mode=jitdump.FlushMode.BACKGROUND)

        def load(thread: int) -> None:
            for i in range(200):
                dump.load(some_code(name=f"{thread}.{i}"))
        threads = [threading.Thread(target=load, args=[number]) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        dump.flush()
        names = {function.load.name for function in jitdump_reader.read(dump.path).functions}
        self.assertEqual(names, {f"{thread}.{i}" for thread in range(4) for i in range(200)})

    def test_fork(self) -> None:
        dump = self.open()
        dump.load(some_code(name="parent's"))
        child = os.fork()
        if child == 0:
            dump.load(some_code(name="child's"))
            os._exit(0)
        self.assertEqual(os.waitpid(child, 0), (child, 0))
        path = self.directory / f"jit-{child}.dump"
        function, = jitdump_reader.read(path, child_of_fork=True).functions
        self.assertEqual(function.load.name, "child's")

    def test_the_library_is_of_this_version(self) -> None:
        self.assertEqual(jitdump.version()[:2], (0, 2))


if __name__ == "__main__":
    unittest.main()
