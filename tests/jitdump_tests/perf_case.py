"""What the consumer tests have in common: the base class, and profile against truth."""

import collections
import math
import os
import pathlib
import shutil
import tempfile
import unittest
from typing import Dict, List, Mapping, Sequence

from jitdump_tests import dump_edit, jitdump_reader, perf
from jitdump_tests.perf import Sample, Session
from jitdump_tests.truth import Function, Truth

SAMPLES_MIN = 150  # in generated code; fewer prove little
NAMED_MIN = 0.99  # the promise, for functions and for lines


class PerfTest(unittest.TestCase):
    """One fact, the class's name in front of the first underscore."""

    def setUp(self) -> None:
        reason = perf.why_unusable()
        if reason and os.environ.get("JITDUMP_TESTS_REQUIRE_PERF") == "1":
            self.fail(reason)
        if reason:
            self.skipTest(reason)
        print(self.id())

    @property
    def fact(self) -> str:
        return type(self).__name__.split("_")[0]

    def session(self) -> Session:
        directory = tempfile.mkdtemp(prefix="jitted-")  # P30
        self.addCleanup(shutil.rmtree, directory)
        return Session(pathlib.Path(directory).resolve())

    def profile(self, *workload: str, **how: object) -> "Profile":
        """Records the workload, injects, and checks each sample."""
        session = self.session()
        truth = session.record(*workload, **how)
        return self.profile_of(session, truth)

    def profile_of(self, session: Session, truth: Truth) -> "Profile":
        jitdump_reader.read(truth.dump)  # what perf is to read obeys all rules
        session.inject_moves()
        profile = Profile(session, truth, session.samples())
        self.check_samples(profile)
        return profile

    def check_samples(self, profile: "Profile") -> None:
        """No sample in generated code has another name or line than the code that was there at
        that time, and 99 % of them have one."""
        verdict = profile.verdict
        print(f"samples: {self.fact} {verdict}")
        self.assertGreaterEqual(verdict.total, SAMPLES_MIN)
        self.assertEqual(verdict.wrong[:5], [])
        self.assertGreaterEqual(verdict.named, NAMED_MIN * verdict.total)
        self.assertGreaterEqual(verdict.with_line, NAMED_MIN * verdict.named)

    def check_shares(self, found: Mapping[str, int], expected: Mapping[str, float]) -> None:
        """Compares counts of samples with expected weights, both taken as shares of their sum.
        Allowed are five standard deviations of the binomial distribution, and one percentage
        point for the work between the functions, interrupts, and a busy machine."""
        total = sum(found.values())
        whole = sum(expected.values())
        self.assertGreaterEqual(total, SAMPLES_MIN)
        deviations = {}
        for name, weight in expected.items():
            share = weight / whole
            deviations[name] = 100 * abs(found.get(name, 0) / total - share)
            allowed = 100 * 5 * math.sqrt(share * (1 - share) / total) + 1
            self.assertLessEqual(deviations[name], allowed,
                                 f"{name}: {found.get(name, 0)} of {total} samples, "
                                 f"expected {100 * share:.1f} %")
        self.assertLessEqual(set(found), set(expected), "symbols that nothing is expected of")
        worst = max(deviations.values())
        print(f"fidelity: {self.fact} worst deviation {worst:.2f} points (n={total})")

    def show_fact(self, still_so: bool, text: str) -> None:
        """Says whether what forces the library's hand is still true of this perf. Not a failure
        if not: that perf has become better, and the library is right either way."""
        state = "still so" if still_so else "NO LONGER SO"
        print(f"fact: {self.fact} {state} in {perf.version()}: {text}")


class Verdict:
    """How many samples in generated code have the right function and line, and what is wrong: a
    name or line that is missing is not."""

    def __init__(self) -> None:
        self.total = self.named = self.with_line = 0
        self.wrong: List[str] = []

    def add(self, sample: Sample, function: Function, offset: int) -> None:
        self.total += 1
        expected_line = function.line_at(offset)
        if sample.symbol == function.name:
            self.named += 1
            if (sample.file, sample.line) == (function.file, expected_line):
                self.with_line += 1
            elif sample.line is not None:
                self.wrong.append(f"{function.name}+{offset:#x}: {sample.file}:{sample.line} "
                                  f"instead of line {expected_line}")
        elif sample.symbol != "[unknown]":
            self.wrong.append(f"{sample.symbol} instead of {function.name}+{offset:#x}")

    def __str__(self) -> str:
        return (f"n={self.total} right function {self.named} right line {self.with_line} "
                f"wrong {len(self.wrong)}")


class Profile:
    """The samples that were taken in generated code, and what the truth says to each."""

    def __init__(self, session: Session, truth: Truth, samples: Sequence[Sample]) -> None:
        self.session = session
        self.truth = truth
        self.samples: List[Sample] = []
        self.verdict = Verdict()
        for sample in samples:
            place = truth.at(sample.pid, sample.ip, sample.time)
            if place is not None:
                self.samples.append(sample)
                self.verdict.add(sample, *place)
            elif sample.symbol in truth.functions:
                self.verdict.wrong.append(f"{sample.symbol} at {sample.ip:#x}, where it was not")

    def by_symbol(self) -> Dict[str, int]:
        return collections.Counter(sample.symbol for sample in self.samples)

    def by_line(self) -> Dict[str, int]:
        return collections.Counter(f"{sample.file}:{sample.line}" for sample in self.samples)

    def with_dump_edited(self, edit: dump_edit.Edit) -> "Profile":
        """The profile that perf makes of the same recording and an edited dump, which takes the
        good one's place."""
        dump_edit.edit_file(pathlib.Path(self.truth.dump), edit)
        self.session.inject()
        return Profile(self.session, self.truth, self.session.samples())
