"""The source lines that perf shows."""

import dataclasses

from jitdump_tests import dump_edit, jitdump_reader
from jitdump_tests.perf_case import PerfTest, Profile


class LinesTest(PerfTest):
    def profile_of_lines(self) -> Profile:
        """Of the function with three hot lines, the last one being the table's last."""
        profile = self.profile("--duration-ms", "900", "lines")
        function = profile.truth.functions["three_hot_lines"]
        weights = {f"{function.file}:{line}": weight for _, line, weight in function.lines}
        self.check_shares(profile.by_line(), weights)
        return profile


class P10_last_line(LinesTest):
    def test(self) -> None:
        profile = self.profile_of_lines()
        bad = profile.with_dump_edited(dump_edit.each_debug_table(lambda entries: entries[:-1]))
        self.show_fact(bad.verdict.with_line < 0.9 * bad.verdict.total,
                       "the code behind the last entry has no line: "
                       f"{bad.verdict.with_line} of {bad.verdict.total} samples with a line")


class P11_line_addresses(LinesTest):
    def test(self) -> None:
        profile = self.profile_of_lines()
        bad = profile.with_dump_edited(dump_edit.each_debug_table(
            lambda entries: [dataclasses.replace(entry, code_addr=entry.code_addr + 0x40)
                             for entry in entries]))
        self.show_fact(bad.verdict.with_line < 0.9 * bad.verdict.total,
                       "addresses with 0x40 added are wrong: "
                       f"{bad.verdict.with_line} of {bad.verdict.total} with the right line")


class P12_file_names(LinesTest):
    """Each entry bears its file's name, also where that is the one before's."""

    def test(self) -> None:
        profile = self.profile_of_lines()
        function = profile.truth.functions["three_hot_lines"]
        described, = jitdump_reader.read(profile.truth.dump).functions
        table = described.described_by(jitdump_reader.DebugInfo)
        names = [entry.name for entry in table.entries]
        self.assertEqual(names, [function.file] * (len(function.lines) + 1))

        bad = profile.with_dump_edited(dump_edit.each_debug_table(
            lambda entries: entries[:1] + [dataclasses.replace(entry, name="\udcff")
                                           for entry in entries[1:]]))
        self.show_fact(bad.verdict.with_line < 0.9 * bad.verdict.total,
                       r"""the name "\xff\0" does not stand for the one before: """
                       f"{bad.verdict.with_line} of {bad.verdict.total} with the right line")
