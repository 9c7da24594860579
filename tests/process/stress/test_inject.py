"""perf inject makes an ELF file of each function, with its name, code and lines, also of programs
that an emulator runs: of other word sizes, and, but for the lines (P22), of the other byte order."""
from __future__ import annotations

import glob
import os
import re
import sys
from typing import List, Tuple

from jitdump_tests import harness, jitdump_reader, perf
from jitdump_tests.perf_case import PerfTest

TEXT_ADDR = 0x80  # where perf's ELF files have the code
FUNCTION = re.compile(r"\s*1: ([0-9a-f]+) +([0-9]+) FUNC .* 1 (.*)")
LINE = re.compile(r"(\S+) +([0-9]+) +0x([0-9a-f]+) +x")


class Inject(PerfTest):
    def test(self) -> None:
        session = self.session()
        # The emulator maps the marker page without the right to execute it, which perf record
        # takes for data.
        session.perf(*perf.RECORD, *perf.MONOTONIC, "--data", "-o", session.data, "--",
                     *harness.command(str(session.directory), operations=100, code_size_max=3000,
                                      threads=2, seed=21))
        done = session.inject(check=False)
        if session.crashed_on_moves(done):
            self.skipTest(f"{perf.version()} crashes on moves (P29)")
        perf.succeeded(done)
        path, = glob.glob(str(session.directory / "jit-*.dump"))
        dump = jitdump_reader.read(path)
        self.assertGreater(len(dump.functions), 100)
        native = {"little": "<", "big": ">"}[sys.byteorder] == dump.header.order
        right_lines = described = 0
        for function in dump.functions:
            load = function.load
            elf = f"{session.directory}/jitted-{load.pid}-{load.code_index}.so"
            symbols = perf.run(["readelf", "--symbols", "--wide", elf]).stdout
            self.assertEqual(FUNCTION.findall(symbols),
                             [(f"{TEXT_ADDR:016x}", str(load.code_size), load.name)])
            self.assertEqual(self.code(elf), load.code)
            table = function.described_by(jitdump_reader.DebugInfo)
            if table is not None:
                described += 1
                right_lines += self.lines(elf) == [
                    (os.path.basename(entry.name), entry.line,
                     TEXT_ADDR + entry.code_addr - load.code_addr) for entry in table.entries]
        self.assertEqual(len(glob.glob(str(session.directory / "jitted-*.so"))),
                         len(dump.functions))
        self.assertGreater(described, 20)
        print(f"elf_mach {dump.header.elf_mach}, byte order {dump.header.order}:"
              f" {len(dump.functions)} functions with their code, {right_lines} of {described} line"
              " tables right")
        if native:
            self.assertEqual(right_lines, described)

    def code(self, elf: str) -> bytes:
        perf.run(["objcopy", "--output-target=binary", "--only-section=.text", elf, elf + ".text"])
        with open(elf + ".text", "rb") as file:
            return file.read()

    def lines(self, elf: str) -> List[Tuple[str, int, int]]:
        decoded = perf.run(["readelf", "--debug-dump=decodedline", elf]).stdout
        return [(os.path.basename(file), int(line), int(address, 16))
                for file, line, address in LINE.findall(decoded)]
