"""Which records perf reads, and as whose."""

import pathlib

from jitdump_tests import dump_edit, jitdump_reader, perf
from jitdump_tests.jitdump_records import RECORD_HEADER_SIZE, Close, Raw
from jitdump_tests.perf_case import PerfTest


class P5_records_after_a_foreign_one(PerfTest):
    def test(self) -> None:
        profile = self.profile("--duration-ms", "700", "shares")
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        records = jitdump_reader.read(profile.truth.dump).records
        self.assertIn(Raw, map(type, records))
        self.assertEqual([type(r) for r in records if r.total_size == RECORD_HEADER_SIZE], [Close])
        self.assertIsInstance(records[-1], Close)

        bad = profile.with_dump_edited(dump_edit.insert_empty_record)
        self.show_fact(bad.by_symbol()["two"] == 0,
                       "a record without payload ends the reading: "
                       f"{bad.verdict.named} of {bad.verdict.total} samples named")


class P7_code_bytes(PerfTest):
    """perf annotates the bytes that were executed."""

    def code_in_perf_elf_files(self, directory: pathlib.Path) -> set:
        found = set()
        for elf in directory.glob("jitted-*.so"):
            text = elf.with_suffix(".text")
            perf.run(["objcopy", "-O", "binary", "--only-section=.text", elf, text])
            found.add(text.read_bytes())
        return found

    def test(self) -> None:
        profile = self.profile("--duration-ms", "400", "shares")
        expected = {function.code for function in profile.truth.functions.values()}
        self.assertEqual(len(expected), 3)
        self.assertEqual(self.code_in_perf_elf_files(profile.session.directory), expected)

        bad = profile.with_dump_edited(dump_edit.pad_loads)
        self.show_fact(self.code_in_perf_elf_files(bad.session.directory) != expected,
                       "the code is found from the end of the record")


class P9_groups_of_several_threads(PerfTest):
    def test(self) -> None:
        profile = self.profile("--duration-ms", "500", "threads")
        self.assertEqual(len(profile.truth.cpu), 2 * 16)
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        # How much the threads were in each other's way depends on the processors at hand.
        threads = [f.load.tid for f in jitdump_reader.read(profile.truth.dump).functions]
        changes = sum(a != b for a, b in zip(threads, threads[1:]))
        self.assertEqual(len(set(threads)), 2)
        print(f"threads: {changes} changes of thread among {len(threads)} functions")

        bad = profile.with_dump_edited(dump_edit.interleave_groups)
        self.show_fact(bad.verdict.with_line < bad.verdict.total / 2,
                       "debug info belongs to the next function in the file: "
                       f"{bad.verdict.with_line} of {bad.verdict.total} with the right line")
