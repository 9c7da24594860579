"""jitdump inject says which processes have generated code and no dump: against what is true of random processes,
and against what perf leaves without a name."""
from __future__ import annotations

import contextlib
import os
import pathlib
import random
import re
import shutil
import tempfile
import unittest
from collections import Counter
from typing import Iterable, Iterator

from jitdump_tests import perf, random_processes, tool

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = pathlib.Path(os.environ.get("JITDUMP_EXAMPLES", ""))
BF = [EXAMPLES / "bf", ROOT / "examples" / "hyperfactorial.bf"]
ROUNDS = int(os.environ.get("JITDUMP_ROUNDS", "60"))
SEED = int(os.environ.get("JITDUMP_SEED", "1"))
LINES_MAX = 5
HINT = ("jitdump: most runtimes have to be told to write a dump (man jitdump-troubleshooting, or "
        "docs/troubleshooting.md)")
ABOUT = re.compile(r"^jitdump: (?:\d+ samples lie in |most runtimes ).*$", re.M)
REASON = perf.why_unusable()


def lines_for(found: list[tuple[int, int, str]], user_samples: int) -> list[str]:
    """What is to be said of them, the worst of whom come first."""
    def worth(samples: int) -> bool:
        return samples > 0 and samples >= user_samples / 100

    own = [each for each in found[:LINES_MAX] if worth(each[0])]
    rest = found[len(own):]
    sum_of_rest = sum(samples for samples, _, _ in rest)
    if len(rest) == 1 and worth(sum_of_rest):
        own, rest = found, []
    lines = [f"jitdump: {samples} samples lie in generated code of process {pid} ({name}), which has no dump"
             for samples, pid, name in own]
    if rest and worth(sum_of_rest):
        lines.append(f"jitdump: {sum_of_rest} samples lie in generated code of {len(rest)}{' more' if own else ''} "
                     "processes that have no dump")
    return lines + [HINT] if lines else []


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="jitdump-undescribed-")).resolve()
        self.addCleanup(shutil.rmtree, self.directory)
        self.data, self.injected = self.directory / "perf.data", self.directory / "named.data"

    def told(self, *options: object) -> list[str]:
        done = tool.run("inject", "-i", self.data, "-o", self.injected, *options, cwd=self.directory)
        self.assertIn(done.status, (0, 1), done.err)
        self.assertTrue(self.injected.exists())
        return ABOUT.findall(done.err)


@contextlib.contextmanager
def perf_maps(pids: Iterable[int]) -> Iterator[None]:
    """In which there is a name for all addresses."""
    paths = [pathlib.Path(f"/tmp/perf-{pid}.map") for pid in pids]
    try:
        for path in paths:
            path.write_text("1000 7fffffffff00 mapped\n", encoding="ascii")
        yield
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


class RandomProcesses(Folder):
    def profile(self, seed: int) -> random_processes.Profile:
        choose = random.Random(seed)
        made = random_processes.Profile(choose, choose.choice((50, 300, 2000)), choose.choice((1, 2, 3, 6, 10)))
        made.write(self.data)
        return made

    def test_told(self) -> None:
        lengths = set()
        for seed in range(SEED, SEED + ROUNDS):
            made = self.profile(seed)
            with self.subTest(seed=seed), perf_maps(made.mapped):
                lines = lines_for(made.expected(), made.user_samples)
                lengths.add(len(lines))
                self.assertEqual(self.told(), lines)
        self.assertTrue(len(lengths) > 3 or ROUNDS < 60, lengths)

    def test_dump_after_the_fork(self) -> None:
        """What is in it is the parent's alone, and the child has nothing but what the parent has mapped."""
        made = random_processes.Profile(random.Random(SEED), 0, 1)
        parent, = made.processes
        steps = (lambda: made.put(parent, 1, 4, random_processes.OTHER_NAMES[0], True), lambda: made.fork(parent),
                 lambda: made.open_dump(parent),
                 *(lambda: [made.sample(process) for process in made.processes] for _ in range(50)))
        for step in steps:
            made.time += 100
            step()
        made.write(self.data)
        (samples, pid, _), = made.expected()
        self.assertEqual((samples > 20, pid), (True, parent.pid + 1))
        self.assertEqual(self.told(), lines_for(made.expected(), made.user_samples))

    def test_one_more(self) -> None:
        """A line that is a sum of one process names that."""
        for seed in range(SEED, SEED + 1000):
            made = random_processes.Profile(random.Random(seed), 100, LINES_MAX + 1)
            lines = lines_for(made.expected(), made.user_samples)
            if len(made.expected()) == LINES_MAX + 1 and len(lines) == LINES_MAX + 2:
                break
        made.write(self.data)
        with perf_maps(made.mapped):
            self.assertEqual(self.told(), lines)
        self.assertNotIn("processes", "".join(lines))
        self.assertEqual(len(lines), LINES_MAX + 2)

    @unittest.skipIf(shutil.which("perf") is None, "perf is not installed")
    def test_what_perf_shows(self) -> None:
        """That what is counted has no name, and nothing else that was generated."""
        compared = 0
        for seed in range(SEED, SEED + ROUNDS // 10):
            made = self.profile(seed)
            with self.subTest(seed=seed), perf_maps(made.mapped):
                shown = perf.run(["perf", "script", "-f", "-F", "pid,sym,ip,dso", "-i", self.data]).stdout
            nameless = Counter(int(pid) for pid, file in re.findall(
                r"^ *(\d+) +[0-9a-f]+ \[unknown\] \((.*)\)$", shown, re.M)
                if file.startswith(("/tmp/perf-", "/memfd:", "[anon:")))
            for process in made.processes:
                if not process.had_dump:
                    self.assertEqual(process.earlier + process.undescribed, nameless[process.pid])
                    compared += nameless[process.pid] != 0
        self.assertGreater(compared, ROUNDS // 10)


@unittest.skipIf(REASON, REASON or "")
class Recorded(Folder):
    def record(self, script: str) -> None:
        perf.run(["perf", *perf.RECORD, *perf.MONOTONIC, "-o", self.data, "--", "sh", "-c", script, "sh",
                  perf.WORKLOAD, *BF], cwd=self.directory, env={**os.environ, "JITDUMPDIR": str(self.directory)})

    def nameless(self, profile: pathlib.Path) -> Counter[str]:
        """Samples whose code perf takes for generated, by the process's name."""
        shown = perf.run(["perf", "script", "-f", "-F", "comm,ip,sym,dso", "-i", profile]).stdout
        return Counter(re.findall(r"^ *(\S+) +[0-9a-f]+ \[unknown\] \(/tmp/perf-\d+\.map\)$", shown, re.M))

    def test_beside_one_with_a_dump(self) -> None:
        self.record('"$1" --duration-ms 300 lines & "$2" "$3" & wait')
        told = self.told()
        self.assertEqual(len(told), 2, told)
        self.assertEqual(told[1], HINT)
        found = re.fullmatch(r"jitdump: (\d+) samples lie in generated code of process \d+ \(bf\), which has no "
                             r"dump", told[0])
        self.assertIsNotNone(found, told)
        self.assertGreater(int(found[1]), 100)
        self.assertEqual(self.nameless(self.injected), {"bf": int(found[1])})

    def test_none(self) -> None:
        """Code of a process with a dump, in its child too, and no code at all."""
        for script in ('"$1" --duration-ms 200 workers', 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'):
            self.record(script)
            self.assertEqual(self.told(), [])


if __name__ == "__main__":
    unittest.main()
