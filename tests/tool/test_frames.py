"""Call frame information: the rows of whole libraries' .eh_frame sections, that compilers wrote,
against readelf's."""
from __future__ import annotations

import pathlib
import shutil
import subprocess
import sysconfig
import tempfile
import unittest

from jitdump_tests import tool
from jitdump_tests.dump_writer import Dump
from jitdump_tests.frame_listing import ASSEMBLY, Row, libraries, readelf_rows, sections

class Frames(unittest.TestCase):
    def libraries(self) -> list[pathlib.Path]:
        if shutil.which("readelf") is None:
            self.skipTest("readelf is not installed")
        if sysconfig.get_platform() != "linux-x86_64":
            self.skipTest("register names are compared for x86-64")
        return libraries()

    def test_compilers_sections(self) -> None:
        compared = 0
        for path in self.libraries():
            with self.subTest(path=str(path)):
                compared += self.compare(path)
        print(f"{compared} rows alike")
        self.assertGreater(compared, 10000)

    def test_all_instructions(self) -> None:
        self.libraries()
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "f.so"
            subprocess.run(["cc", "-shared", "-nostdlib", "-o", path, "-x", "assembler", "-"], check=True,
                           input=ASSEMBLY, text=True)
            self.assertGreaterEqual(self.compare(path), 9)

    def compare(self, path: pathlib.Path) -> int:
        """The library as one piece of code, which ends where its .eh_frame begins."""
        address, offset, size = sections(path)[".eh_frame"]
        with tempfile.TemporaryDirectory() as directory:
            dump = Dump()
            dump.unwinding(1, path.read_bytes()[offset:offset + size], b"")
            dump.load(1, 0x100, bytes(address - 0x100), 1, b"library")
            file = pathlib.Path(directory) / "jit-4711.dump"
            file.write_bytes(dump.data)
            (function,) = tool.functions(file)
        self.assertNotIn("frames_problem", function)
        expected = readelf_rows(path)
        found = {row["begin"] + 0x100: self.as_readelf(row) for row in function["frames"]}
        self.assertEqual(set(found), set(expected))
        compared = 0
        for row in function["frames"]:
            begin, end = row["begin"] + 0x100, row["end"] + 0x100
            cfa, rules = found[begin]
            other_cfa, others = expected[begin]
            self.assertEqual(cfa, other_cfa, hex(begin))
            self.assertEqual(rules, {name: rule for name, rule in others.items() if rule != "u"},
                             hex(begin))
            compared += 1
            self.assertLess(begin, end)
        return compared

    def as_readelf(self, row: tool.Object) -> Row:
        names = {"rip": "ra"}
        return row["cfa"], {names.get(name, name): rule for name, rule in row["registers"].items()
                            if rule != "u"}


if __name__ == "__main__":
    unittest.main()
