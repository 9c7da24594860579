#!/usr/bin/env python3
"""The tiered example's dumps, read by the crate linux-perf-data, samply's reader: functions, moves
and lines are those that were described, whatever other records the dialect puts between them;
and the records that the crate does not know yet come out whole and mean the same.

    test_crate.py TIERED BUILD_FOLDER
"""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from jitdump_tests import decoder, dump_edit, jitdump_reader
from jitdump_tests.jitdump_records import JIT_CODE_MOVE
from jitdump_tests.tiered_log import Code, Log

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent.parent / "examples" / "tiered" / "program.tl"
UNWINDING_INFO, TIER, SOURCE = 4, 827346260, 827346261
CLOSE_SIZE = 16
TIERED, READ_DUMP = "", ""


def run(*command: object, directory: str) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          universal_newlines=True,
                          env={**os.environ, "JITDUMPDIR": directory}).stdout


def build(folder: str) -> str | None:
    """Builds the reader; says why that can't be done here."""
    global READ_DUMP
    if shutil.which("cargo") is None:
        return "cargo is not installed"
    done = subprocess.run(["cargo", "build", "--release", "--locked", "--manifest-path",
                           str(HERE / "crate" / "Cargo.toml"), "--target-dir", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    READ_DUMP = os.path.join(folder, "release", "read-dump")
    if done.returncode == 0:
        return None
    # Without network the crate can't be had; anything else is an error of ours.
    if "error[E" in done.stdout or "error: could not compile `read-dump`" in done.stdout:
        raise SystemExit(done.stdout)
    return "the crate linux-perf-data can't be built: " + done.stdout.strip().splitlines()[-1]


class Crate(unittest.TestCase):
    def dump(self, dialect: str) -> tuple[pathlib.Path, Log]:
        directory = tempfile.mkdtemp(prefix="jitdump-")
        self.addCleanup(shutil.rmtree, directory)
        log = pathlib.Path(directory) / "log"
        # Few rounds: all functions still become hot, and move.
        run(TIERED, "--jitdump", dialect, "--log", log, "--rounds", "120", PROGRAM,
            directory=directory)
        (dump,) = pathlib.Path(directory).glob("jit-*.dump")
        return dump, Log(log)

    def records(self, dump: pathlib.Path) -> list[dict]:
        text = run(READ_DUMP, dump, directory=str(dump.parent))
        return [json.loads(line) for line in text.splitlines()]

    def check_group(self, group: list[dict], code: Code) -> None:
        load = group[-1]
        self.assertEqual(load["name"], code.name)
        self.assertEqual(len(load["code"]), 2 * code.size)
        (debug_info,) = [record for record in group if record["id"] == decoder.DEBUG_INFO]
        self.assertEqual(len(debug_info["lines"]), code.size)
        for offset, line in enumerate(debug_info["lines"]):
            frame = code.chain(offset)[0]
            self.assertEqual(line, [str(PROGRAM), frame.line, frame.column])

    def check(self, dialect: str) -> list[list[dict]]:
        """The groups of functions."""
        dump, log = self.dump(dialect)
        records = self.records(dump)
        self.assertEqual(records[-1]["id"], decoder.CLOSE)
        groups: list[list[dict]] = []
        group: list[dict] = []
        placements = iter(log.placements)
        for record in records[:-1]:
            group.append(record)
            if record["id"] == decoder.LOAD:
                _, addr, code = next(placements)
                self.assertEqual(record["addr"], addr)
                self.check_group(group, code)
                groups.append(group)
                group = []
            elif record["id"] == SOURCE:
                group = []
        self.assertEqual(list(placements), [])
        self.assertEqual(len(self.codes_by_name(log)), 10)
        print(f"{dialect}: {len(records)} records, {len(groups)} functions, as described")
        return [[dict(record, of=log) for record in group] for group in groups]

    def extension(self, group: list[dict], record_id: int) -> bytes:
        (payload,) = [record["payload"] for record in group if record["id"] == record_id]
        return bytes.fromhex(payload)

    def codes_by_name(self, log: Log) -> dict[str, Code]:
        return {code.name: code for _, _, code in log.placements}

    def codes(self, groups: list[list[dict]]) -> list[Code]:
        by_name = self.codes_by_name(groups[0][0]["of"])
        return [by_name[group[-1]["name"]] for group in groups]

    def test_perf(self) -> None:
        for group in self.check("perf"):
            self.assertEqual([record["id"] for record in group],
                             [decoder.DEBUG_INFO, UNWINDING_INFO, decoder.LOAD])

    def test_other_byte_order(self) -> None:
        dump, _ = self.dump("perf")
        records = self.records(dump)
        dump_edit.swap_byte_order(dump)
        self.assertEqual(self.records(dump), records)

    def test_move(self) -> None:
        """The example loads anew what it has moved, so the record comes from here."""
        dump, _ = self.dump("perf")
        load = jitdump_reader.read(dump).functions[-1].load
        move = struct.pack("=IIQIIQQQQQ", JIT_CODE_MOVE, 64, load.timestamp, load.pid, load.tid,
                           load.code_addr + 0x10000, load.code_addr, load.code_addr + 0x10000,
                           load.code_size, load.code_index)
        records = dump.read_bytes()
        dump.write_bytes(records[:-CLOSE_SIZE] + move + records[-CLOSE_SIZE:])
        self.assertEqual(self.records(dump)[-2], {"id": JIT_CODE_MOVE, "index": load.code_index,
                                                  "addr": load.code_addr + 0x10000})

    def test_2023(self) -> None:
        groups = self.check("samply-2023")
        for group, code in zip(groups, self.codes(groups)):
            outer, calls, _ = decoder.inline_2023(self.extension(group, decoder.INLINE_2023),
                                                  code.size)
            for offset in range(code.size):
                here = [call.path for call in calls
                        if any(start <= offset < end for start, end in call.ranges)]
                deepest = max(here, key=len) if here else ()
                found = [outer.name] + [function.name for function, _, _ in deepest]
                self.assertEqual(found[::-1], [frame.function for frame in code.chain(offset)])
            self.assertNotIn(TIER, [record["id"] for record in group], "S13")
        # clamp, in the optimised score, is in two pieces, and square is inlined twice.
        score = groups[[group[-1]["name"] for group in groups].index("Ion: score")]
        _, calls, _ = decoder.inline_2023(self.extension(score, decoder.INLINE_2023),
                                          len(score[-1]["code"]) // 2)
        names = [call.path[-1][0].name for call in calls]
        self.assertEqual(sorted(names), ["clamp", "distance", "square", "square", "square"])
        self.assertEqual(len(calls[names.index("clamp")].ranges), 2)

    def test_2026(self) -> None:
        groups = self.check("samply-2026")
        for group, code in zip(groups, self.codes(groups)):
            chains = decoder.inline_2026(self.extension(group, decoder.INLINE_2026),
                                         group[-1]["addr"], code.size)
            for offset, chain in enumerate(chains):
                self.assertEqual([(f.function.name, f.line, f.column) for f in chain],
                                 [(f.function, f.line, f.column) for f in code.chain(offset)])


if __name__ == "__main__":
    TIERED = sys.argv[1]
    why_not = build(sys.argv[2]) if TIERED else "the examples have no code for this processor"
    if why_not and os.environ.get("JITDUMP_TESTS_REQUIRE_SAMPLY") != "1":
        print("skipped:", why_not)
        sys.exit(77)
    if why_not:
        sys.exit(why_not)
    unittest.main(argv=sys.argv[:1], verbosity=2)
