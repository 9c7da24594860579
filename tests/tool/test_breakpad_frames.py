#!/usr/bin/env python3
"""Unwinding data -> STACK CFI: what compilers wrote for whole libraries, and each call frame
instruction, against readelf's rows.

    test_breakpad_frames.py JITDUMP
"""
from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from typing import Dict, List, Optional

from jitdump_tests import dump_bytes, stack_cfi
from jitdump_tests.frame_listing import ASSEMBLY, Row, libraries, readelf_rows, sections

TOOL = sys.argv.pop(1)


def stack_cfi_rows(dump: bytes, directory: pathlib.Path) -> List[stack_cfi.Row]:
    path = directory / "jit-1.dump"
    path.write_bytes(dump)
    done = subprocess.run([TOOL, "breakpad", path, "-o", directory / "store", "-b", "0"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return stack_cfi.rows((directory / "store" / done.stdout.split()[1]).read_text())


def expression(rule: str) -> Optional[str]:
    """readelf's rule for a register, in Breakpad's words. None: it has none for that."""
    if found := re.fullmatch(r"c([+-]\d+)", rule):
        return f".cfa {int(found[1])} + ^"
    if found := re.fullmatch(r"v([+-]\d+)", rule):
        return f".cfa {int(found[1])} +"
    return None if rule in ("exp", "vexp", "u", "s") else f"${rule}"


def expected_rules(row: Row) -> Optional[stack_cfi.Rules]:
    """None: nothing can be said there. What is not said of a register is that it is kept."""
    cfa, registers = row
    found = re.fullmatch(r"(\w+)([+-]\d+)", cfa)
    ra = registers.get("ra", "u")
    if found is None or (ra != "u" and expression(ra) is None):
        return None
    rules = {".cfa": f"${found[1]} {int(found[2])} +", ".ra": expression(ra) or "0"}
    for name, rule in registers.items():
        if name != "ra" and expression(rule) is not None:
            rules[f"${name}"] = expression(rule)
    return rules


def without_kept(rules: stack_cfi.Rules) -> stack_cfi.Rules:
    return {name: rule for name, rule in rules.items() if name != rule}


class FramesTest(unittest.TestCase):
    def setUp(self) -> None:
        if shutil.which("readelf") is None:
            self.skipTest("readelf is not installed")
        if sysconfig.get_platform() != "linux-x86_64":
            self.skipTest("register names are compared for x86-64")
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def compare(self, path: pathlib.Path) -> int:
        """The library as one piece of code, which ends where its .eh_frame begins."""
        address, offset, size = sections(path)[".eh_frame"]
        dump = dump_bytes.Writer()
        dump.unwinding(path.read_bytes()[offset:offset + size], 0)
        dump.load(0x100, address - 0x100, b"library")
        found = stack_cfi_rows(bytes(dump.bytes), self.directory)
        by_begin = {row.begin: row for row in found}
        raw: Dict[str, str] = {}
        compared = 0
        for begin, row in sorted(readelf_rows(path).items()):
            rules = expected_rules(row)
            said = by_begin.get(begin)
            # readelf has one letter for "there is no caller" and for "nothing is known of it".
            if rules is None or (said is None and rules[".ra"] == "0"):
                self.assertIsNone(said, hex(begin))
                continue
            if said is not None:
                raw = said.rules
            self.assertEqual(without_kept(raw), rules, hex(begin))
            for name, rule in row[1].items():
                if rule in ("exp", "vexp"):
                    self.assertNotIn(f"${name}", raw, "it is not kept either")
            compared += 1
        return compared

    def test_compilers_sections(self) -> None:
        compared = 0
        for path in libraries():
            with self.subTest(path=str(path)):
                compared += self.compare(path)
        print(f"{compared} rows alike")
        self.assertGreater(compared, 10000)

    def test_all_instructions(self) -> None:
        path = self.directory / "f.so"
        subprocess.run(["cc", "-shared", "-nostdlib", "-o", path, "-x", "assembler", "-"], check=True,
                       input=ASSEMBLY, text=True)
        self.assertGreaterEqual(self.compare(path), 11)


if __name__ == "__main__":
    unittest.main(verbosity=2)
