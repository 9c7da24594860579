#!/usr/bin/env python3
"""What the fuzzers have found worth keeping: each input once more, and what the encoders make of
it read by the strict reader and by the decoder of the property test, which share no code with the
fuzz targets.

    test_corpus.py REPLAY_ENCODERS CORPUS
"""
import os
import re
import subprocess
import sys
import tempfile
from typing import List

from jitdump_tests import decoder, jitdump_reader
from jitdump_tests.inlining_check import SAMPLY_2026, expect
from jitdump_tests.inlining_descriptions import Description, Function, Position

TIER = 827346260


class Tier(jitdump_reader.GroupRecord):
    """SAMPLY_JIT_TIER, as far as it is the same for all."""

    @classmethod
    def parse(cls, prefix, body) -> "Tier":
        number, color = body.unpack("II", "TIER")
        name = body.string("TIER: name")
        if number == 0 or color > 15 or not name or body.rest().strip(b"\0"):
            raise jitdump_reader.FormatError(prefix[0], "TIER: not as it should be")
        return cls(*prefix)


def check_track(path: str) -> None:
    with open(path, encoding="ascii") as file:
        dialect, outermost, code_addr, code_size = map(int, file.readline().split())
        rows: List[List[str]] = [line.split() for line in file]
    description = Description(
        code_size,
        [Function(name, None if source == "-" else source, *map(int, numbers))
         for kind, name, source, *numbers in (row for row in rows if row[0] == "function")],
        [Position(*map(int, row[1:])) for row in rows if row[0] == "position"],
        [(int(row[1]), int(row[2])) for row in rows if row[0] == "offset"])
    with open(path.replace(".txt", ".dump"), "rb") as file:
        group, = decoder.groups(file.read())
    unwinding_and_tier = {4} if dialect == SAMPLY_2026 else {4, TIER}
    expect(description, code_addr,
           {id: body for id, body in group.items() if id not in unwinding_and_tier},
           dialect, bool(outermost))


def main() -> int:
    replay, corpus = sys.argv[1:]
    with tempfile.TemporaryDirectory() as output:
        done = subprocess.run([replay, corpus, output], capture_output=True, text=True, check=False)
        sys.stdout.write(done.stdout)
        if done.returncode != 0:
            sys.stdout.write(done.stderr[-4000:])
            return 1
        names = os.listdir(output)
        dumps = [name for name in names if re.fullmatch(r"jit-[0-9]+\.dump", name)]
        tracks = [name for name in names if name.endswith(".txt")]
        for name in dumps:
            dump = jitdump_reader.read(os.path.join(output, name), extensions={TIER: Tier})
            assert dump.closed and len(dump.functions) == 1
        for name in tracks:
            check_track(os.path.join(output, name))
    print(f"{len(dumps)} dumps read, {len(tracks)} tracks decoded")
    return 0 if dumps and tracks else 1


if __name__ == "__main__":
    sys.exit(main())
