"""jitdump inject against the truth, and against what perf shows after perf inject --jit.

With another perf first in PATH (tests/other-perfs.sh), that one is asked.
"""
from __future__ import annotations

import hashlib
import json
import mmap
import os
import pathlib
import shutil
import stat
import struct
import sys
import unittest
from typing import Optional

from jitdump_tests import perf, perf_data, tool
from jitdump_tests.perf_case import PerfTest, Profile
from jitdump_tests.truth import Truth

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "examples" / "hyperfactorial.bf"
EXAMPLES = os.environ.get("JITDUMP_EXAMPLES", "")
SOURCE_RECORD = 827346261
HEADER_TIME_AT = 24  # in a dump
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"]
RENAME = "?rename,?renameat,?renameat2"  # whichever the machine has
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
# Small buffers, which perf empties often: it sorts events only within some rounds of that.
MANY_ROUNDS = (*perf.MONOTONIC, "-m", "1")
SHORT = ("--duration-ms", "300")
FIELDS = "pid,tid,time,ip,sym,srcline"


class Session(perf.Session):
    """perf's, but for who injects."""
    options: tuple[object, ...] = ()

    def inject(self, check: bool = True) -> tool.Done:
        done = tool.run("inject", "-i", self.data, "-o", self.injected, *self.options)
        if check:
            assert (done.status, done.out, done.err) == (0, b"", ""), done
        return done

    def inject_moves(self) -> None:
        self.inject()


class InjectTest(PerfTest):
    def session(self) -> Session:
        session = super().session()
        session.__class__ = Session
        return session

    def verdict(self, session: Session, truth: Truth, named: bool = True,
                samples: Optional[list[perf.Sample]] = None) -> None:
        """All samples in generated code are named right, or none is named."""
        profile = Profile(session, truth, samples or session.samples())
        self.assertGreater(profile.verdict.total, 100)
        self.assertEqual(profile.verdict.wrong[:5], [])
        if named:
            self.assertGreaterEqual(profile.verdict.named, 0.99 * profile.verdict.total)
        else:
            self.assertEqual(profile.verdict.named, 0)


class Scenarios(InjectTest):
    """Whatever perf inject can do."""

    def check_all(self, *workload: str, **how: object) -> Profile:
        profile = self.profile(*SHORT, *workload, **how)
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        return profile

    def test_one_after_the_other(self) -> None:
        for workload in ("shares", "lines", "fork", "threads", "two-dumps"):
            with self.subTest(workload):
                self.profile(*SHORT, workload)

    def test_moves_and_addresses_used_again(self) -> None:
        for workload in ("move", "reuse"):
            with self.subTest(workload):
                self.profile("--duration-ms", "600", workload, clock=MANY_ROUNDS)

    def test_memory_that_becomes_executable_again(self) -> None:
        for kind in ("anonymous", "memfd", "shared", "file"):
            with self.subTest(kind):
                self.check_all("--protect", "--memory", kind, "shares")

    def test_chains(self) -> None:
        for options in ([], ["--no-gap"]):
            with self.subTest(options):
                profile = self.profile("--duration-ms", "500", *options, "neighbours",
                                       call_graph=True)
                whole = sum("main" in sample.chain for sample in profile.samples)
                self.assertGreaterEqual(whole, 0.99 * len(profile.samples))

    def test_after_perf_inject(self) -> None:
        """Which takes the dump's mapping away, and puts in an ELF file of each function."""
        session = self.session()
        truth = session.record(*SHORT, "neighbours", call_graph=True)
        session.inject()
        shown = ["script", "--ns", "-F", "comm,pid,time,ip,sym,srcline", "-i", session.injected]
        before = session.perf(*shown).stdout
        original = session.directory / "original.data"
        session.data.rename(original)
        session.perf("inject", "--jit", "-i", original, "-o", session.data)
        theirs = session.perf("script", "--show-mmap-events", "-i", session.data).stdout
        self.assertIn(f"/jitted-{truth.pid}-", theirs)
        session.options = (truth.dump,)
        session.inject()
        ours = session.perf("script", "--show-mmap-events", "-i", session.injected).stdout
        self.assertNotIn(f"/jitted-{truth.pid}-", ours)
        self.assertEqual(session.perf(*shown).stdout, before)

    def test_chains_where_data_is_mapped_later(self) -> None:
        """As LLVM maps the data of its next object, right below the code, where the unwinding data are to lie."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "neighbours", call_graph=True)
        first = min(truth.placements, key=lambda placement: placement.addr)
        page = first.addr // mmap.PAGESIZE * mmap.PAGESIZE
        perf_data.add_mapping(session.data, truth.pid, page - 16 * mmap.PAGESIZE, 16 * mmap.PAGESIZE,
                              max(placement.since for placement in truth.placements) + 1000)
        profile = self.profile_of(session, truth)
        whole = sum("main" in sample.chain for sample in profile.samples)
        self.assertGreaterEqual(whole, 0.99 * len(profile.samples))

    def test_files_like_those_of_perf_inject(self) -> None:
        """A library of the program's, mapped where generated code was, is a library whatever it is called."""
        session = self.session()
        truth = session.record(*SHORT, "shares")
        first = min(truth.placements, key=lambda placement: placement.addr)
        names = {b"/opt/jitted-math.so": True, b"/opt/jitted-1-2-3.so": True, b"/opt/jitted-4711-17.so": False}
        for name in names:
            perf_data.add_mapping(session.data, truth.pid, first.addr // mmap.PAGESIZE * mmap.PAGESIZE, mmap.PAGESIZE,
                                  (1 << 62), name, mmap.PROT_READ | mmap.PROT_EXEC)
        session.inject()
        shown = session.perf("script", "--show-mmap-events", "-i", session.injected).stdout
        self.assertEqual({name: name.decode() in shown for name in names}, names)

    def rows(self, session: Session) -> list[str]:
        report = session.perf("report", "--stdio", "-q", "-t", ",", "-F", "overhead,sym", "-i",
                              session.injected).stdout
        return [line.split(",")[-1].strip() for line in report.splitlines() if "[.]" in line]

    def test_by_name(self) -> None:
        """A function that was moved again and again has one row in perf report (P28)."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "move")
        self.profile_of(session, truth)
        apart = self.rows(session)
        session.options = ("--by-name",)
        self.profile_of(session, truth)
        together = self.rows(session)
        self.assertGreater(len(apart), len(set(apart)))
        self.assertEqual(sorted(together), sorted(set(apart)))

    def test_only_sampled(self) -> None:
        session = self.session()
        session.options = ("--only-sampled",)
        self.profile_of(session, session.record(*SHORT, "lines"))
        session.record(*SHORT, "chain", call_graph=True)
        session.injected.unlink()
        done = session.inject(check=False)
        self.assertEqual(done.status, 2)
        self.assertIn("leave out --only-sampled", done.err)
        self.assertFalse(session.injected.exists())


class Clocks(InjectTest):
    def test_converted(self) -> None:
        session = self.session()
        truth = session.record("--duration-ms", "500", "--tsc", "--force-tsc", "reuse")
        perf_data.set_time_conv(session.data, perf_data.time_conv(*truth.clocks))
        self.profile_of(session, truth)

    def test_not_monotonic(self) -> None:
        """Two functions in turn at one address, and perf's own clock."""
        session = self.session()
        truth = session.record("--duration-ms", "500", "reuse", clock=())
        done = session.inject(check=False)
        self.assertEqual(done.status, 0)
        self.assertIn("-k mono was not given", done.err)
        named = [sample.symbol for sample in session.samples()]
        self.assertEqual({*named} & {*truth.functions}, {*truth.functions})


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


class Outputs(InjectTest):
    def test_whole_or_not_at_all(self) -> None:
        session = self.session()
        session.record(*SHORT, "shares")
        whole = session.data.read_bytes()
        folder = pathlib.Path(f"{session.injected}.jit")
        for size in (0, 8, 100, 2000, len(whole) // 2, len(whole) - 1):
            session.data.write_bytes(whole[:size])
            done = session.inject(check=False)
            self.assertEqual(done.status, 2, size)
            self.assertIn(str(session.data), done.err)
            self.assertEqual((session.injected.exists(), folder.exists()), (False, False))
        session.data.write_bytes(whole)
        session.inject()
        first = session.injected.read_bytes()
        self.assertEqual(session.injected.stat().st_mode, session.data.stat().st_mode)
        (folder / "jit-1-2.elf").touch()
        session.inject()
        self.assertEqual(session.injected.read_bytes(), first)
        self.assertEqual(len(list(folder.iterdir())), 1)
        for name in ("notes", "jit-1.dump"):
            (folder / name).touch()
            self.assertIn("has other things in it", session.inject(check=False).err)
            self.assertTrue((folder / name).exists())
            self.assertEqual(session.injected.read_bytes(), first)
            (folder / name).unlink()

    def test_folder(self) -> None:
        """For those who may read the profile, and in the place of nothing that others have put there."""
        session = self.session()
        session.record(*SHORT, "shares")
        folder = pathlib.Path(f"{session.injected}.jit")
        for mode, readers in ((0o600, 0o700), (0o640, 0o750), (0o644, 0o755)):
            session.data.chmod(mode)
            old = os.umask(0o022)
            try:
                session.inject()
            finally:
                os.umask(old)
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), readers)
        shutil.rmtree(folder)
        victim = session.directory / "victim"
        victim.mkdir()
        (victim / "jit-4711").touch()
        folder.symlink_to(victim)
        self.assertIn("is there, and no folder", session.inject(check=False).err)
        self.assertTrue((victim / "jit-4711").exists())
        self.assertTrue(folder.is_symlink())
        if os.geteuid() == 0:
            folder.unlink()
            folder.mkdir()
            os.chown(folder, 65534, -1)
            self.assertIn("another user's", session.inject(check=False).err)
            self.assertTrue(folder.is_dir())

    def test_not_over_what_is_read(self) -> None:
        session = self.session()
        session.record(*SHORT, "shares")
        profile = session.data.read_bytes()
        (dump,) = session.directory.glob("jit-*.dump")
        whole = dump.read_bytes()
        link = session.directory / "link"
        link.symlink_to(session.data)
        for output in (session.data, link, dump):
            done = tool.run("inject", "-i", session.data, "-o", output)
            self.assertEqual((done.status, done.out), (2, b""), output)
            self.assertIn(f"{output}: is ", done.err)
        self.assertEqual(session.data.read_bytes(), profile)
        self.assertEqual(dump.read_bytes(), whole)
        self.assertTrue(link.is_symlink())

    def test_calls_that_fail(self) -> None:
        """Each system call that makes the output, at each time it is made: the output is as without, or is not there,
        which is said; and nothing else is left."""
        if not shutil.which("strace") or perf.run(["strace", "-qq", "-o", os.devnull, "true"],
                                                  check=False).returncode != 0:
            self.skipTest("strace is not installed, or may not trace")
        session = self.session()
        session.record(*SHORT, "lines")
        session.inject()
        good = self.left(session)
        for fault in ("pwrite64:error=ENOSPC", "pwrite64:error=EIO", "openat:error=EACCES", "?mkdir,?mkdirat:error=EDQUOT",
                      f"{RENAME}:error=EIO", "linkat:error=ENOSPC", "?fstat,?newfstatat:error=EIO",
                      "pwrite64:signal=KILL", "linkat:signal=KILL", f"{RENAME}:signal=KILL", "pwrite64:signal=TERM",
                      "linkat:signal=INT", f"{RENAME}:signal=TERM", "openat:signal=HUP", "?mkdir,?mkdirat:signal=INT",
                      "pwrite64:signal=BUS"):  # of a file that is cut shorter while it is read
            failed = 0
            for when in range(1, 60):
                shutil.rmtree(f"{session.injected}.jit", ignore_errors=True)
                session.injected.unlink(missing_ok=True)
                trace = session.directory / "trace"
                calls, what = fault.split(":")
                # Which looks for leaks by ptrace, as strace does.
                environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
                done = tool.run("inject", "-i", session.data, "-o", session.injected, env=environment,
                                preexec_fn=tool.default_signals,
                                before=["strace", "-qq", "-o", trace, "-e", f"trace={calls}", "-e",
                                        f"inject={calls}:{what}:when={when}"])
                text = trace.read_text(errors="replace")
                trace.unlink()
                left = self.left(session)
                if not any(sign in text for sign in ("INJECTED", "killed by", "--- SIG")):
                    self.assertEqual((done.status, left), (0, good), fault)
                    break
                with self.subTest(fault, when=when):
                    failed += done.status != 0
                    if "signal" in what and "KILL" not in what:
                        if "BUS" in what:
                            self.assertEqual(done.status, 2)
                            self.assertIn("a file was cut shorter", done.err)
                        else:
                            self.assertLess(done.status, 0)
                        self.assertTrue(left in ({}, good), [*left])
                        beside = {path.name for path in session.directory.glob(f"{session.injected.name}*")}
                        self.assertLessEqual(beside, {session.injected.name, f"{session.injected.name}.jit"})
                    elif "signal" in what:
                        profile = left.get(session.injected.name)
                        self.assertIn(profile, (None, good[session.injected.name]))
                    elif done.status == 0:
                        self.assertEqual(left, good)
                    elif done.status == 1:
                        self.assertIn("is left without names", done.err)
                    else:
                        self.assertNotEqual(done.err, "")
                        self.assertEqual(left, {})
                for path in session.directory.glob(f"{session.injected.name}.*"):
                    if path.is_dir():
                        shutil.rmtree(path)
                    else:
                        path.unlink()
            print(f"{fault}: {failed} of {when - 1} runs failed")
            self.assertGreater(when, 1, fault)

    def left(self, session: Session) -> dict[str, str]:
        """What lies under the output's name, and names made of it, and what is in there: by its hash, since where
        a test fails unittest takes minutes to compare the bytes."""
        return {str(path.relative_to(session.directory)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(session.directory.rglob("*"))
                if path.is_file() and session.injected.name in str(path)}

    def test_no_room(self) -> None:
        """A file system that is full, or may not be written to."""
        session = self.session()
        session.record(*SHORT, "lines")
        place = session.directory / "place"
        place.mkdir()
        script = ('mount -t tmpfs -o size=$3 none "$1" && if [ "$3" = 1m ]; then mount -o remount,ro "$1"; fi && '
                  '{ "$2" inject -i perf.data -o "$1/out"; echo "status $?"; ls "$1"; }')
        for size, what in (("16k", "No space left on device"), ("1m", "Read-only file system")):
            done = perf.run([*UNSHARE[:4], "sh", "-c", script, "sh", place, tool.TOOL, size], check=False,
                            cwd=session.directory)
            if "status" not in done.stdout:
                self.skipTest("user namespaces, or file systems in them, are not permitted")
            self.assertEqual(done.stdout, "status 2\n", done.stderr)
            self.assertIn(what, done.stderr)

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


class Sources(InjectTest):
    def test_embedded(self) -> None:
        """A source in the dump becomes a file, which perf annotate shows; names stay as they are."""
        session = self.session()
        truth = session.record(*SHORT, "lines")
        function, = (each for each in truth.functions.values() if each.name == "three_hot_lines")
        text = b"".join(b"the text of line %d\n" % line for line in range(1, 2000))
        path = function.file.encode() + b"\0"
        payload = struct.pack("=II", len(path), len(text)) + path + text
        payload += bytes(-len(payload) % 4)
        dump = pathlib.Path(truth.dump)
        content = dump.read_bytes()
        at, last = 40, 40
        while at < len(content):
            last, size = at, struct.unpack_from("=I", content, at + 4)[0]
            at += size
        time = struct.unpack_from("=Q", content, last + 8)[0]
        dump.write_bytes(content[:last] + struct.pack("=IIQ", SOURCE_RECORD, 16 + len(payload), time)
                         + payload + content[last:])
        self.profile_of(session, truth)
        sources = [path for path in pathlib.Path(f"{session.injected}.jit").rglob("*")
                   if path.is_file() and path.suffix != ".elf"]
        self.assertEqual([path.name for path in sources], [pathlib.Path(function.file).name])
        self.assertEqual(sources[0].read_bytes(), text)
        self.assertIn("the text of line", session.annotate(function.name))


@unittest.skipIf(not EXAMPLES, "the examples are not built")
class Examples(InjectTest):
    """Sample by sample as after perf inject."""

    def compare(self, *program: object, call_graph: tuple[str, ...] = ()) -> None:
        session = self.session()
        theirs = session.directory / "theirs.data"
        session.perf(*perf.RECORD, *perf.MONOTONIC, *call_graph, "-o", session.data, "--", *program)
        session.perf("inject", "--jit", "-i", session.data, "-o", theirs)
        session.inject()
        shown = [session.perf("script", "--ns", "-G", "-i", data, "-F", FIELDS).stdout.splitlines()
                 for data in (theirs, session.injected)]
        self.assertGreater(len(shown[0]), 200)
        self.assertEqual(*([line.strip() for line in lines] for lines in shown))

    def test_bf(self) -> None:
        self.compare(f"{EXAMPLES}/bf", "--jitdump", "--move", PROGRAM)


if __name__ == "__main__":
    unittest.main()
