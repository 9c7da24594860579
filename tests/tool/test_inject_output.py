"""What jitdump inject makes is there whole or not at all, and in the place of nothing else."""
from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import stat
import unittest

from jitdump_tests import perf, tool
from jitdump_tests.inject_case import SHORT, InjectTest, Session

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]
RENAME = "?rename,?renameat,?renameat2"  # whichever the machine has


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
            done = perf.run([*UNSHARE, "sh", "-c", script, "sh", place, tool.TOOL, size], check=False,
                            cwd=session.directory)
            if "status" not in done.stdout:
                self.skipTest("user namespaces, or file systems in them, are not permitted")
            self.assertEqual(done.stdout, "status 2\n", done.stderr)
            self.assertIn(what, done.stderr)


if __name__ == "__main__":
    unittest.main()
