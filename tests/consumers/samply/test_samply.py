#!/usr/bin/env python3
"""samply itself on the tiered example, with dumps of each dialect: each sample in generated code has
a function that was there at that time, its tier's category and colour, and the line that was
described for its offset.

    test_samply.py TIERED

samply is $SAMPLY or the one in $PATH.
"""
from __future__ import annotations

import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from jitdump_tests import samply
from jitdump_tests.samply import SAMPLY
from jitdump_tests.tiered_log import Code, Log

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent.parent / "examples" / "tiered" / "program.tl"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
TIERED = ""
SAMPLES_MIN = 300
HEADER_SIZE = 40
TIME = slice(24, 32)  # in the header
CATEGORIES = {"Baseline": ("Baseline", "blue"), "Ion": ("Ion", "green")}


def run(*command: object, directory: str) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, timeout=120,
                          cwd=directory, env={**os.environ, "JITDUMPDIR": directory})
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def record_command(directory: str) -> list[str]:
    """samply 0.13 takes every failure to open an event for one of permission, and where there are
    no hardware counters then gives up if perf_event_paranoid is above 1, even for root, to whom
    the kernel permits it. So root shows it another number, in a mount namespace of its own."""
    command = [str(SAMPLY), "record"]
    if os.geteuid() != 0 or int(pathlib.Path(PARANOID).read_text()) <= 1:
        return command
    one = pathlib.Path(directory) / "one"
    one.write_text("1\n")
    return ["unshare", "-m", "sh", "-c", f'mount --bind "{one}" {PARANOID} && exec "$@"', "sh",
            *command]


def why_unusable() -> str | None:
    if not TIERED:
        return "the examples have no code for this processor"
    if SAMPLY is None:
        return "samply is not installed (cargo install samply --locked)"
    with tempfile.TemporaryDirectory() as directory:
        try:
            run(*record_command(directory), "--save-only", "-o", "true.json.gz", "--", "true",
                directory=directory)
        except AssertionError as refusal:
            return f"samply can't record here: {str(refusal).strip().splitlines()[-1]}"
    return None


class Profile:
    """What is needed of a profile in the Firefox Profiler's format."""

    def __init__(self, path: pathlib.Path) -> None:
        with gzip.open(path) as file:
            profile = json.load(file)
        self.categories = profile["meta"]["categories"]
        (self.lib,) = [lib for lib in profile["libs"] if lib["name"].startswith("jit-")]
        # Function, category, address in the dump's code, time in nanoseconds; of leaves.
        self.samples: list[tuple[str, dict, int, float]] = []
        for thread in profile["threads"]:
            self.add(thread)

    def add(self, thread: dict) -> None:
        frames, functions, strings = (thread["frameTable"], thread["funcTable"],
                                      thread["stringArray"])
        for stack, time in zip(thread["samples"]["stack"], thread["samples"]["time"]):
            if stack is None:
                continue
            frame = thread["stackTable"]["frame"][stack]
            name = strings[functions["name"][frames["func"][frame]]]
            if name.startswith(("Baseline: ", "Ion: ")):
                category = self.categories[frames["category"][frame]]
                self.samples.append((name, category, frames["address"][frame], time * 1e6))

    def symbolicate(self, path: pathlib.Path) -> tuple[bool, dict[int, dict]]:
        """Whether samply's own server knows the dump, and what it says of each address."""
        addresses = sorted({address for _, _, address, _ in self.samples})
        known, answers = samply.symbolicate(path, [self.lib], [(0, address) for address in addresses])
        return known[0], dict(zip(addresses, answers))


class Samply(unittest.TestCase):
    def check(self, dialect: str) -> tuple[pathlib.Path, Profile]:
        directory = tempfile.mkdtemp(prefix="jitdump-")
        self.addCleanup(shutil.rmtree, directory)
        path = pathlib.Path(directory) / "profile.json.gz"
        log_path = pathlib.Path(directory) / "log"
        run(*record_command(directory), "--save-only", "-r", "1999", "-o", path, "--", TIERED,
            "--jitdump", dialect, "--log", log_path, "--rounds", "16000", "--hot", "40000000",
            PROGRAM, directory=directory)
        log, profile = Log(log_path), Profile(path)
        known, lines = profile.symbolicate(path)
        self.assertTrue(known)

        # samply puts all code of a dump one behind the other, in the order of the loads.
        loads: list[tuple[int, Code, int]] = []
        start = 0
        for since, _, code in log.placements:
            loads.append((start, code, since))
            start += code.size
        first_optimised = {code.name.split()[1]: since for _, code, since in reversed(loads)
                           if code.name.startswith("Ion")}

        shown: collections.Counter[str] = collections.Counter()
        for name, category, address, time in profile.samples:
            begin, code, since = [load for load in loads if load[0] <= address][-1]
            self.assertEqual(name, code.name)
            tier, function = name.split(": ")
            self.assertGreaterEqual(time, since - 1000)  # of the log's line, behind the load
            if tier == "Baseline" and function in first_optimised:
                self.assertLess(time, first_optimised[function])
            self.assertEqual((category["name"], category["color"]), CATEGORIES[tier])
            frame = code.chain(address - begin)[0]
            answer = lines[address]
            self.assertEqual((answer["function"], answer["file"], answer["line"]),
                             (name, str(PROGRAM), frame.line))
            shown[f"{name}, {category['name']} ({category['color']}), line {frame.line}"] += 1
        self.assertGreaterEqual(sum(shown.values()), SAMPLES_MIN)
        self.assertEqual({text.split(":")[0] for text in shown}, set(CATEGORIES))
        print(f"samples: {dialect} {sum(shown.values())} all right, on {len(shown)} lines")
        for text, count in shown.most_common(6):
            print(f"    {count:5} {text}")
        return path, profile

    def test_perf(self) -> None:
        path, profile = self.check("perf")
        with self.subTest("S18"):
            self.check_emptied(path, profile)

    def check_emptied(self, path: pathlib.Path, profile: Profile) -> None:
        """A dump that the server does not know leaves the profile's names as they are; one that it
        knows and that has no names in it takes them away."""
        dump = pathlib.Path(profile.lib["path"])
        header = dump.read_bytes()[:HEADER_SIZE]
        time = int.from_bytes(header[TIME], sys.byteorder)
        later = header[:TIME.start] + (time + 1).to_bytes(8, sys.byteorder) + header[TIME.stop:]
        for left, expected in ((header, True), (later, False)):
            dump.write_bytes(left)
            known, lines = profile.symbolicate(path)
            self.assertEqual(known, expected)
            self.assertEqual([line for line in lines.values() if "function" in line], [])

    def test_2023(self) -> None:
        self.check("samply-2023")

    def test_2026(self) -> None:
        self.check("samply-2026")


if __name__ == "__main__":
    TIERED = os.path.abspath(sys.argv[1]) if sys.argv[1] else ""
    why_not = why_unusable()
    if why_not and os.environ.get("JITDUMP_TESTS_REQUIRE_SAMPLY") == "1":
        sys.exit(why_not)
    if why_not:
        print("skipped:", why_not)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
