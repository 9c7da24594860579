"""Which dumps jitdump inject finds for which processes."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import struct
import sys
import unittest
from typing import Optional

from jitdump_tests import perf, perf_data, tool
from jitdump_tests.inject_case import SHORT, InjectTest, Session
from jitdump_tests.truth import Truth

HEADER_TIME_AT = 24  # in a dump
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"]
# Runs workloads in containers, keeps a copy of what each has in its own file system, and prints the pids.
CONTAINERS = """
import json, os, pathlib, subprocess, sys
unshare, workload, inside, end = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
pids = {}
for name in ("lines", "shares"):
    folder = pathlib.Path(name)
    folder.mkdir()
    container = subprocess.Popen(
        [*unshare, "sh", "-c", 'mount -t tmpfs none "$JITDUMPDIR" && exec "$@"', "sh", workload, "--until-eof",
         name], stdin=subprocess.PIPE if end < 0 else end, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "JITDUMPDIR": inside})
    said = b""
    while b'"ready"' not in said:
        said += container.stdout.readline()
    children = pathlib.Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text()
    pids[name] = int(children)
    stat = pathlib.Path(f"/proc/{pids[name]}/stat")
    while int(stat.read_text().rsplit(")", 1)[1].split()[11]) < 30:  # hundredths of a second of user time
        pass
    dump = pathlib.Path(f"/proc/{pids[name]}/root{inside}/jit-1.dump")
    (folder / "jit-1.dump").write_bytes(dump.read_bytes())
    (folder / "truth").write_bytes(said)
    if end < 0:
        container.communicate()
print(json.dumps(pids))
"""


class Discovery(InjectTest):
    def test_named_in_vain(self) -> None:
        """A dump that is not there, or is of no process of the profile, is not injected: the status says so."""
        session = self.session()
        session.record(*SHORT, "shares")
        nowhere = session.directory / "nowhere.dump"
        done = tool.run("inject", "-i", session.data, "-o", session.injected, nowhere)
        self.assertEqual((done.status, done.err),
                         (1, f"jitdump: {nowhere}: No such file or directory\n"))
        (dump,) = session.directory.glob("jit-*.dump")
        done = tool.run("inject", "-i", session.data, "-o", session.injected, "--pid", "4194305", dump)
        self.assertEqual(done.status, 1)
        self.assertIn(f"{dump}: the profile has no process 4194305", done.err)

    def test_late_attach(self) -> None:
        session = self.session()
        with session.start("shares") as running:
            session.attach(running.process.pid)
            truth = running.finish()
        self.profile_of(session, truth)

    def test_one_dump_of_several(self) -> None:
        """A process whose dump is missing, or no dump, costs the other nothing."""
        session = self.session()
        outputs = [session.directory / name for name in ("whole", "lost")]
        script = '"$1" --duration-ms 300 lines >"$3" & "$1" --duration-ms 300 shares >"$2"; wait'
        session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", session.data, "--", "sh", "-c", script,
                     "sh", perf.WORKLOAD, *outputs)
        whole, lost = (Truth(path.read_text(encoding="utf-8")) for path in outputs)
        dump = pathlib.Path(lost.dump)
        content = dump.read_bytes()
        elsewhere = session.directory / "elsewhere"
        elsewhere.mkdir()
        for bad in (content[:40], content[:20], b"", b"\0" * 4096, None):
            with self.subTest(bad and len(bad)):
                if bad is None:
                    dump.rename(elsewhere / dump.name)
                    (elsewhere / dump.name).write_bytes(content)
                else:
                    dump.write_bytes(bad)
                done = session.inject(check=False)
                has_header = bad == content[:40]
                self.assertEqual(done.status, 0 if has_header else 1, done.err)
                self.assertEqual(dump.name in done.err, not has_header)
                self.verdict(session, whole)
                self.verdict(session, lost, named=False)
        for options in (["--dump-dir", elsewhere], [elsewhere / dump.name]):
            session.options = tuple(options)
            session.inject()
            self.verdict(session, whole)
            self.verdict(session, lost)

    def test_renamed(self) -> None:
        session = self.session()
        truth = session.record(*SHORT, "shares")
        renamed = session.directory / "kept.dump"
        pathlib.Path(truth.dump).rename(renamed)
        session.options = ("--pid", truth.pid, renamed)
        self.profile_renamed(session, truth)

    def containers(self, session: Session, end: Optional[int] = None) -> dict[str, int]:
        """Two of them, recorded, and their pids by the workload that runs there: one after the other, or until
        the descriptor's other side is closed."""
        inside = session.directory / "inside"
        inside.mkdir()
        if perf.run([*UNSHARE, "mount", "-t", "tmpfs", "none", inside], check=False).returncode != 0:
            self.skipTest("user namespaces, or file systems in them, are not permitted")
        done = session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", session.data, "--", sys.executable, "-c",
                            CONTAINERS, json.dumps(UNSHARE), perf.WORKLOAD, inside,
                            -1 if end is None else end, pass_fds=[] if end is None else [end])
        return json.loads(done.stdout.splitlines()[-1])

    def names_of(self, session: Session, pids: dict[str, int]) -> dict[str, set[str]]:
        """Of each process those that are any process's function."""
        samples = session.samples()
        truth = {name: {*Truth((session.directory / name / "truth").read_text(encoding="utf-8")).functions}
                 for name in pids}
        every = set().union(*truth.values())
        shown = {name: {sample.symbol for sample in samples if sample.pid == pid} & every
                 for name, pid in pids.items()}
        for name in pids:
            self.assertIn(shown[name], (truth[name], set()), "all of its own, or none")
        return shown

    def test_containers_that_run(self) -> None:
        """Process 1 of each has a dump of the same path, in a file system of its own."""
        session = self.session()
        end, ours = os.pipe()
        with open(end, "rb"), open(ours, "wb"):
            pids = self.containers(session, end)
            decoy = session.directory / "inside" / "jit-1.dump"  # where they say that theirs is
            shutil.copyfile(session.directory / "lines" / "jit-1.dump", decoy)
            session.inject()
        self.assertTrue(all(self.names_of(session, pids).values()))

    def test_containers_that_have_ended(self) -> None:
        """Of their dumps there are copies, which only the time of their opening tells apart."""
        session = self.session()
        pids = self.containers(session)
        folders = [session.directory / name for name in pids]
        for order in (folders, folders[::-1]):
            session.options = ("--dump-dir", order[0], "--dump-dir", order[1])
            session.inject()
            self.assertTrue(all(self.names_of(session, pids).values()))
        session.options = ("--dump-dir", folders[0])
        done = session.inject(check=False)
        self.assertEqual(done.status, 1)
        self.assertIn("several processes had a dump of this name", done.err)
        self.assertEqual([bool(names) for names in self.names_of(session, pids).values()], [True, False])

    def test_containers_that_began_together(self) -> None:
        """As far as the dumps say: then nothing is named, but for what --pid says."""
        session = self.session()
        pids = self.containers(session)
        dumps = [session.directory / name / "jit-1.dump" for name in pids]
        for dump in dumps:
            content = bytearray(dump.read_bytes())
            struct.pack_into("=Q", content, HEADER_TIME_AT, 1)
            dump.write_bytes(content)
        session.options = tuple(dumps)
        done = session.inject(check=False)
        self.assertEqual(done.status, 1)
        self.assertEqual(done.err.count("several processes had a dump of this name"), 2)
        self.assertFalse(any(self.names_of(session, pids).values()))
        for i, (name, pid) in enumerate(pids.items()):
            self.assertIn(f"--pid {pid} ", done.err)
            session.options = ("--pid", pid, dumps[i])
            session.inject(check=False)
            self.assertEqual({each for each, names in self.names_of(session, pids).items() if names}, {name})
        for order in ((0, 1), (1, 0)):
            session.options = tuple(word for i in order for word in ("--pid", [*pids.values()][i], dumps[i]))
            session.inject()
            self.assertTrue(all(self.names_of(session, pids).values()))
        for wrong in (("--pid", 1), ("--pid", 1, "--pid", 2, dumps[0]), (dumps[0], "--pid", 1)):
            session.options = wrong
            done = session.inject(check=False)
            self.assertEqual(done.status, 2)
            self.assertIn("the dumps behind it are of: name one", done.err)

    def test_whole_machine(self) -> None:
        """perf record -a: two JITs, one of which forks, with dumps in two places."""
        session = self.session()
        outputs = [session.directory / name for name in ("forking", "plain")]
        elsewhere = session.directory / "elsewhere"
        elsewhere.mkdir()
        script = ('"$1" --duration-ms 400 fork >"$2" & '
                  'JITDUMPDIR=$4 "$1" --duration-ms 400 lines >"$3"; wait')
        done = session.perf(*perf.RECORD, *perf.MONOTONIC, "-a", "-o", session.data, "--", "sh", "-c",
                            script, "sh", perf.WORKLOAD, *outputs, elsewhere, check=False)
        if done.returncode != 0:
            self.skipTest(f"perf record -a is not permitted: {done.stderr}")
        session.inject(check=False)  # other processes may be there, which have ended with their dumps
        truths = [Truth(path.read_text(encoding="utf-8")) for path in outputs]
        # Not asking for the lines of whatever else runs here, which may be another test's workload.
        files = pathlib.Path(f"{session.injected}.jit").iterdir()
        ours = {placement.pid for truth in truths for placement in truth.placements}
        samples = [sample for sample in session.samples([str(file) for file in files])
                   if sample.pid in ours]
        for truth in truths:
            self.verdict(session, truth, samples=samples)
        pids = {sample.pid for sample in samples if sample.symbol in truths[0].functions}
        self.assertEqual(len(pids), 2, "the process and its child")

    def test_without_mappings(self) -> None:
        """As perf record --overwrite leaves it, with the last samples alone: who names the dump has names."""
        session = self.session()
        truth = session.record(*SHORT, "shares")
        perf_data.drop_events(session.data, {perf_data.PERF_RECORD_MMAP, perf_data.PERF_RECORD_MMAP2})
        session.inject()
        self.verdict(session, truth, named=False)
        for options in ((truth.dump,), ("--pid", truth.pid, truth.dump)):
            session.options = options
            session.inject()
            self.verdict(session, truth)

    def profile_renamed(self, session: Session, truth: Truth) -> None:
        session.inject()
        self.verdict(session, truth)

    def test_container_that_has_ended(self) -> None:
        """A pid that perf inject can't translate any more."""
        session = self.session()
        prefix = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child",
                  "--mount-proc"]
        if perf.run([*prefix, "true"], check=False).returncode != 0:
            self.skipTest("user namespaces are not permitted")
        with session.start("shares", prefix=prefix) as running:
            parent = running.process.pid
            child = int(pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text())
            session.attach(child)
            truth = running.finish()
        session.inject()
        shown = {sample.symbol for sample in session.samples() if sample.pid == child}
        self.assertLessEqual({*truth.functions}, shown)


if __name__ == "__main__":
    unittest.main()
