"""How perf finds the dump: by a mapping, on which file systems, with which clock, when attached
late, across pid namespaces, and in the child of a fork."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from jitdump_tests import jitdump_reader, perf
from jitdump_tests.perf_case import SAMPLES_MIN, PerfTest, Profile
from jitdump_tests.truth import Truth

DIRECTORY_NOEXEC = -10  # JITDUMP_ERROR_DIRECTORY_NOEXEC


def unshare(*options: str) -> list:
    """The beginning of a command that runs in namespaces of its own; skips where the system
    does not permit them."""
    command = ["unshare", *options]
    if shutil.which("unshare") is None:
        raise unittest.SkipTest("unshare is not installed")
    try:
        perf.run([*command, "true"])
    except AssertionError as refusal:
        raise unittest.SkipTest(f"no namespaces here: {str(refusal).strip()}")
    return command


class P1_marker_mapping(PerfTest):
    def test_in_the_maps_of_the_process(self) -> None:
        with self.session().start("shares") as running:
            maps = pathlib.Path(f"/proc/{running.process.pid}/maps").read_text().splitlines()
            truth = running.finish()
        dump = pathlib.Path(truth.dump)
        self.assertEqual(dump.name, f"jit-{running.process.pid}.dump")
        permissions = [line.split()[1] for line in maps if line.endswith(f" {dump}")]
        self.assertEqual(permissions, ["r-xp"])

    def test_as_an_event(self) -> None:
        profile = self.profile("--duration-ms", "400", "shares")
        session, dump = profile.session, profile.truth.dump
        text = session.perf("script", "-i", session.data, "--show-mmap-events").stdout
        events = [line for line in text.splitlines()
                  if "PERF_RECORD_MMAP" in line and line.endswith(dump)]
        self.assertEqual(len(events), 1, text)
        self.assertIn(": r-xp ", events[0])

        # The same recording with another pid in the name of the file.
        other = dump[:-6] + chr(ord(dump[-6]) ^ 1) + dump[-5:]
        os.rename(dump, other)
        data = session.data.read_bytes()
        session.data.write_bytes(data.replace(dump.encode(), other.encode()))
        session.inject()
        bad = Profile(session, profile.truth, session.samples())
        self.show_fact(bad.verdict.named == 0, "a file named after another pid is not looked at: "
                       f"{bad.verdict.named} of {bad.verdict.total} samples named")


class P2_noexec_mount(PerfTest):
    def open_on_tmpfs(self, mount_options: str) -> subprocess.CompletedProcess:
        """The workload's output, and as standard error what it leaves in the directory."""
        script = ('mount -t tmpfs -o "$1" none "$2" && cd "$2" && { "$3" --duration-ms 1 shares; '
                  'code=$?; ls -A . >&2; exit $code; }')
        return perf.run([*unshare("--mount"), "sh", "-c", script, "sh", mount_options,
                         self.directory, perf.WORKLOAD], check=False,
                        env={**os.environ, "JITDUMPDIR": self.directory})

    def test(self) -> None:
        self.directory = str(self.session().directory)
        if perf.run([*unshare("--mount"), "mount", "-t", "tmpfs", "none", self.directory],
                    check=False).returncode != 0:
            self.skipTest("mounting a file system needs root")
        good = self.open_on_tmpfs("rw")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertRegex(good.stderr, r"^jit-\d+\.dump$")

        refused = self.open_on_tmpfs("noexec")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertEqual(refused.stderr, "", "files are left behind")
        error = Truth(refused.stdout).error
        print(f"message: {error['message']}")
        self.assertEqual(error["error"], DIRECTORY_NOEXEC)
        self.assertIn(self.directory, error["message"])
        for text in (error["message"], error["strerror"]):
            self.assertIn("noexec", text)
            self.assertIn("JITDUMPDIR", text, "the way out")
            self.assertNotIn("\n", text)


class P3_clock_of_the_recording(PerfTest):
    def test(self) -> None:
        profile = self.profile("--duration-ms", "400", "shares")
        self.check_shares(profile.by_symbol(), profile.truth.cpu)

        session = self.session()
        session.record("--duration-ms", "100", "shares", clock=[])
        refused = session.inject(check=False)
        self.show_fact(refused.returncode != 0 and not list(session.directory.glob("jitted-*")),
                       f"without -k mono: exit code {refused.returncode}, "
                       f"{refused.stderr.strip()!r}")


class P19_pid_namespace(PerfTest):
    NAMESPACE = ["--pid", "--fork", "--kill-child", "--mount-proc"]

    def test_perf_inside(self) -> None:
        done = perf.run([*unshare(*self.NAMESPACE), sys.executable, "-m",
                         "jitdump_tests.ctest_class", "test_discovery",
                         "P3_clock_of_the_recording"], check=False,
                        cwd=os.path.dirname(os.path.abspath(__file__)),
                        env={**os.environ, "JITDUMP_TESTS_REQUIRE_PERF": "1"})
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_perf_outside(self) -> None:
        session = self.session()
        with session.start("shares", prefix=unshare(*self.NAMESPACE)) as running:
            parent = running.process.pid
            child = int(pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text())
            session.attach(child)
            session.inject()
            meanwhile = session.samples()
            truth = running.finish()
        self.assertNotEqual(truth.pid, child)
        session.inject()
        afterwards = session.samples()
        shown = {when: Profile(session, truth, samples)
                 for when, samples in (("lives", meanwhile), ("has ended", afterwards))}
        # Up to 6.12 while it lives, with 7.2 when it has ended.
        whole = {when for when, profile in shown.items() if profile.verdict.named > 0}
        for when in shown:
            self.show_fact((when in whole) == (when == "lives"),
                           f"injected from outside when the process {when}: "
                           f"{shown[when].verdict.named} of {shown[when].verdict.total} samples named")
        self.assertEqual(len(whole), 1)
        profile = shown[whole.pop()]
        self.check_samples(profile)
        self.check_shares(profile.by_symbol(), truth.cpu)


class P20_late_attach(PerfTest):
    def test(self) -> None:
        session = self.session()
        with session.start("shares") as running:
            session.attach(running.process.pid)
            truth = running.finish()
        profile = self.profile_of(session, truth)
        self.check_shares(profile.by_symbol(), truth.cpu)


class P27_one_dump_of_several(PerfTest):
    """Two processes in one recording, and one of them leaves no dump, or none with functions."""

    def test(self) -> None:
        session = self.session()
        outputs = [session.directory / name for name in ("whole", "emptied")]
        script = '"$1" --duration-ms 300 --empty lines >"$3" & "$1" --duration-ms 500 shares >"$2"'
        session.perf(*perf.RECORD, *perf.MONOTONIC, "-o", session.data, "--", "sh", "-c",
                     script + "; wait", "sh", perf.WORKLOAD, *outputs)
        whole, emptied = (Truth(path.read_text(encoding="utf-8")) for path in outputs)
        left = pathlib.Path(emptied.dump)
        self.assertEqual(left.stat().st_size, jitdump_reader.FILE_HEADER_SIZE)
        self.assertEqual(jitdump_reader.read(str(left)).records, [])

        profile = self.profile_of(session, whole)
        self.check_shares(profile.by_symbol(), whole.cpu)
        verdict = Profile(session, emptied, session.samples()).verdict
        self.assertGreaterEqual(verdict.total, SAMPLES_MIN)
        self.assertEqual((verdict.named, verdict.wrong), (0, []))

        left.write_bytes(b"")
        self.show_failure("is an empty file", session, whole)
        left.unlink()
        self.show_failure("is missing", session, whole)

    def show_failure(self, what: str, session: perf.Session, whole: Truth) -> None:
        session.injected.unlink()
        failed = session.inject(check=False)
        shown = session.perf("script", "-i", session.injected, "-F", "sym", check=False).stdout
        named = sum(line.strip() in whole.functions for line in shown.splitlines())
        self.show_fact(failed.returncode != 0, f"one dump {what}: exit code {failed.returncode}, "
                       f"{failed.stderr.strip()!r}, {named} samples of the other named")


class fork_of_the_process(PerfTest):
    """Parent and child have different functions at one address, and one in common."""

    def test(self) -> None:
        profile = self.profile("--duration-ms", "600", "fork")
        self.check_shares(profile.by_symbol(), profile.truth.cpu)
        dumps = sorted(path.name for path in profile.session.directory.glob("jit-*.dump"))
        pids = {placement.pid for placement in profile.truth.placements}
        self.assertEqual(dumps, sorted(f"jit-{pid}.dump" for pid in pids))
        self.assertEqual(len(pids), 2)
