"""What jitdump inject reads: profiles through pipes, in several files, compressed, with traces in them."""
from __future__ import annotations

import os
import pathlib
import shutil
import unittest

from jitdump_tests import perf, perf_data, tool
from jitdump_tests.inject_case import SHORT, InjectTest, Session
from jitdump_tests.truth import Truth


class Inputs(InjectTest):
    def test_aux_traces(self) -> None:
        """Their events are passed through, and found by the feature that names their places."""
        session = self.session()
        session.record(*SHORT, "shares")
        trace = b"trace" * 8
        perf_data.append_aux_trace(session.data, trace)
        session.inject()
        for path in (session.data, session.injected):
            (offset, size), = perf_data.auxtrace_index(path)
            event = path.read_bytes()[offset:offset + size]
            self.assertEqual(perf_data.EVENT_HEADER.unpack_from(event)[0],
                             perf_data.PERF_RECORD_AUXTRACE)
            self.assertEqual(event[-len(trace):], trace)

    def test_through_a_pipe(self) -> None:
        """perf record -o - | jitdump inject -i -: the new profile is a file."""
        session = self.session()
        stream, output = session.directory / "stream", session.directory / "output"
        script = f'perf {" ".join([*perf.RECORD, *perf.MONOTONIC])} -o - -- sh -c "$1" | cat >$2'
        perf.run(["sh", "-c", script, "sh", f"exec {perf.WORKLOAD} {' '.join(SHORT)} lines >{output}",
                  stream], cwd=session.directory, env=session.environment)
        truth = Truth(output.read_text(encoding="utf-8"))
        for source in (stream, "-"):
            with self.subTest(source), stream.open("rb") as opened:
                done = tool.run("inject", "-i", source, "-o", session.injected, stdin=opened)
                self.assertEqual((done.status, done.err), (0, ""))
                self.verdict(session, truth)
        # The last one's mark, which newer perfs take for a feature that they know.
        _, features, places = perf_data.sections(session.injected.read_bytes())
        self.assertEqual([feature for feature, (_, size) in zip(features, places) if size == 0], [])
        for size in (8, 16, 24, 200, len(stream.read_bytes()) - 1):
            short = session.directory / "short"
            short.write_bytes(stream.read_bytes()[:size])
            refused = tool.run("inject", "-i", short, "-o", session.directory / "none")
            self.assertEqual(refused.status, 2, size)
            self.assertFalse((session.directory / "none").exists())

    def refused(self, session: Session, what: str) -> None:
        done = session.inject(check=False)
        self.assertEqual((done.status, session.injected.exists()), (2, False), done.err)
        self.assertIn(what, done.err)

    def recorded(self, session: Session, *how: str) -> list[Truth]:
        """Two processes, with ways of recording that this perf may not have."""
        outputs = [session.directory / name for name in ("first", "second")]
        script = '"$1" --duration-ms 300 reuse >"$2" & "$1" --duration-ms 300 lines >"$3"; wait'
        done = session.perf(*perf.RECORD, *perf.MONOTONIC, *how, "-o", session.data, "--", "sh", "-c",
                            script, "sh", perf.WORKLOAD, *outputs, check=False)
        if done.returncode != 0:
            self.skipTest(f"{how}: {done.stderr}")
        return [Truth(path.read_text(encoding="utf-8")) for path in outputs]

    def samples_of(self, session: Session, profile: pathlib.Path) -> list[str]:
        """All samples, in no order."""
        return sorted(session.perf("script", "--ns", "-G", "-F", "pid,tid,time,ip", "-i",
                                   profile).stdout.splitlines())

    def test_several_files(self) -> None:
        session = self.session()
        truths = self.recorded(session, "--threads")
        self.assertTrue(session.data.is_dir())
        session.inject()
        self.assertEqual(session.injected.stat().st_mode & 0o77, 0)
        self.assertEqual(self.samples_of(session, session.injected),
                         self.samples_of(session, session.data))
        for truth in truths:
            self.verdict(session, truth)
        session.injected.unlink()
        part = max(session.data.glob("data.*"), key=lambda path: path.stat().st_size)
        part.write_bytes(part.read_bytes()[:-1])
        self.refused(session, f"{part.name}: at offset")
        (session.data / "data").unlink()
        self.refused(session, "data: No such file")

    @unittest.skipIf(not shutil.which("zstd"), "zstd is not installed")
    def test_compressed(self) -> None:
        for how in (("-z",), ("-z", "--threads")):
            with self.subTest(how):
                session = self.session()
                truths = self.recorded(session, *how)
                if perf_data.PERF_RECORD_COMPRESSED.isdisjoint(perf_data.kinds(session.data)):
                    self.skipTest("this perf can't compress")
                session.inject()
                self.assertEqual(self.samples_of(session, session.injected),
                                 self.samples_of(session, session.data))
                for truth in truths:
                    self.verdict(session, truth)

    @unittest.skipIf(not shutil.which("zstd"), "zstd is not installed")
    def test_compressed_and_damaged(self) -> None:
        session = self.session()
        self.recorded(session, "-z")
        whole = session.data.read_bytes()
        # The newer kind of event has a size in front. What is behind begins a block or the frame.
        places = [offset + (8 if kind == 81 else 16) for kind, offset, _ in perf_data.events(whole)
                  if kind in perf_data.PERF_RECORD_COMPRESSED]
        if not places:
            self.skipTest("this perf can't compress")
        for at in (places[0], places[-1]):
            broken = bytearray(whole)
            broken[at:at + 8] = bytes(byte ^ 0xff for byte in broken[at:at + 8])
            session.data.write_bytes(broken)
            self.refused(session, "compressed")
        session.data.write_bytes(whole)
        environment = {**os.environ, "PATH": str(session.directory)}
        done = tool.run("inject", "-i", session.data, "-o", session.injected, env=environment)
        self.assertEqual((done.status, session.injected.exists()), (2, False))
        self.assertIn("install zstd, or leave out -z of perf record", done.err)

    def test_nothing_to_inject(self) -> None:
        session = self.session()
        session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", session.data, "--", "true")
        session.inject()
        self.assertEqual(session.injected.read_bytes(), session.data.read_bytes())


if __name__ == "__main__":
    unittest.main()
