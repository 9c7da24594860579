"""What holds of every command that makes a file of a dump: `jitdump COMMAND DUMP -o FILE`."""
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

from jitdump_tests import dump_bytes
from jitdump_tests import terminal

BASE = 0x7F0000000000


class OutputFile:
    """To be inherited from together with unittest.TestCase."""
    tool: str
    command: str

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.output = self.directory / "out"
        self.dump = dump_bytes.Writer()

    def write_dump(self) -> pathlib.Path:
        path = self.directory / "jit-1.dump"
        path.write_bytes(self.dump.bytes)
        return path

    def convert(self, *options: str, **arguments) -> subprocess.CompletedProcess:
        return subprocess.run([self.tool, self.command, self.write_dump(), "-o", self.output,
                               *options], capture_output=True, text=True, check=False, **arguments)

    def convert_well(self, *options: str) -> None:
        done = self.convert(*options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def expect_failure(self, reason: str, **arguments) -> None:
        done = self.convert(**arguments)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, reason)
        self.assertEqual(done.stdout, "")

    def test_cut_off(self) -> None:
        """What is whole is converted, and the rest is told."""
        self.dump.load(BASE, 64, b"whole")
        self.convert_well()
        whole = self.output.read_bytes()
        self.dump.load(BASE + 64, 64, b"torn")
        self.dump.bytes = self.dump.bytes[:-10]
        done = self.convert()
        self.assertEqual(done.returncode, 0)
        self.assertIn("cut off", done.stderr)
        self.assertEqual(self.output.read_bytes(), whole)

    def test_no_file(self) -> None:
        """Each error leaves what was there before."""
        self.output.write_text("old")
        self.expect_failure("there is no code")
        self.dump.bytes = b"no dump" * 10
        self.expect_failure("magic number")
        self.dump = dump_bytes.Writer()
        for number in range(3000):
            self.dump.load(BASE + 64 * number, 64, b"a rather long name, of number %d" % number)
        done = self.convert("--at", "noon")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--at takes a time", done.stderr)

        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))

        self.expect_failure("out: File too large", preexec_fn=no_room)
        self.assertEqual(self.output.read_text(), "old")
        self.assertEqual({path.name for path in self.directory.iterdir()}, {"out", "jit-1.dump"})

    def test_no_directory(self) -> None:
        self.dump.load(BASE, 64, b"one")
        self.output = self.directory / "none" / "out"
        self.expect_failure("No such file or directory")

    def test_not_over_a_device(self) -> None:
        self.dump.load(BASE, 64, b"one")
        self.output = pathlib.Path("/dev/null")
        self.expect_failure("no regular file")
        self.assertTrue(self.output.is_char_device())

    def test_not_over_a_link(self) -> None:
        """/dev/stdout is one. Neither it nor what it leads to is touched."""
        self.dump.load(BASE, 64, b"one")
        target = self.directory / "target"
        target.write_text("old")
        for place in (target, self.directory / "nothing"):
            with self.subTest(place):
                self.output.symlink_to(place)
                self.expect_failure("is a symbolic link")
                self.assertEqual(self.output.readlink(), place)
                self.output.unlink()
        self.assertEqual(target.read_text(), "old")

    def test_not_over_a_dump(self) -> None:
        """Neither its own nor another one, of either byte order."""
        self.dump.load(BASE, 64, b"one")
        self.output = self.write_dump()
        self.expect_failure("is a dump")
        self.assertEqual(self.output.read_bytes(), self.dump.bytes)
        self.output = self.directory / "jit-2.dump"
        self.output.write_bytes(b"DTiJ")
        self.expect_failure("is a dump")
        self.assertEqual(self.output.read_bytes(), b"DTiJ")

    def test_not_to_standard_output(self) -> None:
        self.dump.load(BASE, 64, b"one")
        self.output = pathlib.Path("-")
        self.expect_failure("standard output is no file", cwd=self.directory)
        self.assertFalse((self.directory / "-").exists())

    def test_progress(self) -> None:
        """On a terminal, and gone when the work is done."""
        for number in range(70000):
            self.dump.load(BASE + 16 * number, 16, b"f")
        status, text = terminal.run(
            [self.tool, self.command, self.write_dump(), "-o", self.output], of="stderr")
        self.assertEqual(status, 0)
        self.assertRegex(text, rb"\A(\rjitdump: (reading|writing), \d+ %)*(\rjitdump: writing, \d+ %)"
                               rb"{2,}\r\x1b\[K\Z")
        self.assertEqual(self.convert().stderr, "")

    def test_umask(self) -> None:
        self.dump.load(BASE, 64, b"one")
        old = os.umask(0o027)
        try:
            self.convert_well()
        finally:
            os.umask(old)
        self.assertEqual(self.output.stat().st_mode & 0o777, 0o640)

    def test_unreadable_records(self) -> None:
        """The first few are told, the rest counted; what is whole is converted."""
        self.dump.load(BASE, 64, b"whole")
        for _ in range(8):
            self.dump.record(dump_bytes.LOAD, b"short")
        done = self.convert()
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("is left out: "), 5)
        self.assertIn("3 more records are left out", done.stderr)
