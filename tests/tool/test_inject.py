"""jitdump inject: perf shows of each sample what it shows after perf inject --jit."""
from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import unittest

from jitdump_tests import perf, tool

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = PROJECT / "examples" / "hyperfactorial.bf"
EXAMPLES = os.environ.get("JITDUMP_EXAMPLES", "")
REASON = perf.why_unusable() or ("" if EXAMPLES else "the examples are not built")


@unittest.skipIf(REASON, REASON)
class Examples(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.mkdtemp(prefix="inject-")
        self.addCleanup(shutil.rmtree, directory)
        self.session = perf.Session(pathlib.Path(directory).resolve())
        self.ours = self.session.directory / "ours.data"

    def script(self, data: pathlib.Path) -> list[str]:
        done = self.session.perf("script", "--ns", "-G", "-i", data, "-F",
                                 "pid,tid,time,ip,sym,srcline")
        return [line.strip() for line in done.stdout.splitlines()]

    def test_bf(self) -> None:
        self.session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", self.session.data, "--",
                          f"{EXAMPLES}/bf", "--jitdump", "--move", PROGRAM)
        self.session.inject()
        done = tool.run("inject", "-i", self.session.data, "-o", self.ours)
        self.assertEqual((done.status, done.out, done.err), (0, b"", ""))
        theirs, ours = self.script(self.session.injected), self.script(self.ours)
        self.assertGreater(len(ours), 200)
        self.assertEqual(theirs, ours)


if __name__ == "__main__":
    unittest.main()
