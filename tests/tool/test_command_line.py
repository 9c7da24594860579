"""The command line: what people and scripts may expect of it."""
from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from jitdump_tests import terminal
from jitdump_tests import tool
from jitdump_tests.dump_writer import Dump

COMPLETION = pathlib.Path(__file__).resolve().parents[2] / "src" / "tool" / "jitdump.bash"
HOSTILE = "name\x1b[2J\n\r\x9b31m\u202e\x7f".encode() + b"\xff\xc0\x80"


class CommandLine(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "jit-4711.dump"

    def write(self, dump: Dump) -> pathlib.Path:
        self.path.write_bytes(dump.data)
        return self.path

    def small(self, name: bytes = b"f", count: int = 1) -> pathlib.Path:
        dump = Dump()
        records = [dump.data]
        for index in range(count):
            each = Dump()
            header = len(each.data)
            each.load(1_500_000_000 + index, 0x1000 + 16 * index, b"\xc3", index + 1, name)
            records.append(each.data[header:])
        dump.data = b"".join(records)
        return self.write(dump)

    def test_help_and_version(self) -> None:
        for arguments in (["--help"], ["help"], ["dump", "--help"], ["dump", "-h"]):
            done = tool.run(*arguments)
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertTrue(done.out.startswith(b"Usage: jitdump"))
        self.assertRegex(tool.run("--version").out, rb"\Ajitdump \d+\.\d+\.\d+\n\Z")

    def test_wrong_usage(self) -> None:
        path = self.small()
        for arguments in ([], ["frobnicate"], ["--frobnicate"], ["dump"], ["dump", path, path],
                          ["dump", "--frobnicate", path], ["dump", "--stat", "--at", "end", path],
                          ["dump", "--color=mauve", path], ["dump", "--at"]):
            with self.subTest(arguments=arguments):
                done = tool.run(*arguments)
                self.assertEqual((done.status, done.out), (2, b""))
                self.assertRegex(done.err, r"Try 'jitdump[a-z ]* --help'\.\n\Z")

    def test_files_that_are_none(self) -> None:
        nowhere = self.path.parent / "nowhere"
        self.assertIn("No such file", tool.run("dump", nowhere).err)
        self.assertIn("not a regular file", tool.run("dump", self.path.parent).err)
        fifo = self.path.parent / "fifo"
        os.mkfifo(fifo)
        self.assertIn("not a regular file", tool.run("dump", fifo).err)
        for data, reason in ((b"", "is empty"), (b"x" * 39, "too short"), (bytes(100), "zeros"),
                             (b"x" * 100, "JiTD"), (b"PERFILE2" * 13, "a profile"),
                             (Dump().data[:4] + bytes(36), "version"),
                             (Dump().data[:8] + b"\xff" * 32, "size")):
            self.path.write_bytes(data)
            done = tool.run("dump", self.path)
            self.assertEqual((done.status, done.out), (2, b""))
            self.assertIn(reason, done.err)
            self.assertIn(str(self.path), done.err)

    def test_cut_off_and_broken_off(self) -> None:
        dump = Dump()
        dump.load(1, 0x1000, b"\xc3", 1)
        self.write(dump)
        with self.path.open("ab") as file:
            file.write(b"\0" * 15)
        for options in ([], ["--json"], ["--stat"], ["--at", "end"], ["--function", "f"]):
            done = tool.run("dump", *options, self.path)
            self.assertEqual(done.status, 0, options)
            self.assertIn(f"cut off at offset {len(dump.data):#x}", done.err)
        with self.path.open("ab") as file:
            file.write(b"\0" * 15)
        for options in ([], ["--json"], ["--stat"], ["--at", "end"], ["--function", "f"]):
            done = tool.run("dump", *options, self.path)
            self.assertEqual(done.status, 2, options)
            self.assertIn(f"at offset {len(dump.data):#x}: ", done.err)
            self.assertNotEqual(done.out, b"")

    def test_records_that_cannot_be_read(self) -> None:
        dump = Dump()
        dump.load(1, 0x1000, b"\xc3", 1, b"good")
        broken = dump.record(0, 2, b"short")
        dump.load(3, 0x2000, b"\xc3", 2, b"good too")
        self.write(dump)
        done = tool.run("dump", self.path)
        self.assertEqual(done.status, 2)
        self.assertRegex(done.out.decode(), rf"0x{broken:08x} .* LOAD .*shorter than its fields")
        self.assertIn("good too", done.out.decode())
        (found,) = [each for each in tool.objects(self.path, status=2) if "problem" in each]
        self.assertEqual(found["offset"], broken)
        self.assertIn("shorter", found["problem"])

    def test_function(self) -> None:
        dump = Dump()
        for number, name in enumerate((b"fib", b"JS:*fibonacci a.js:1", b"other")):
            dump.load(10 ** 9 * (number + 1), 0x1000 + 0x10 * number, b"\xc3" * 16, number, name)
        dump.load(5 * 10 ** 9, 0x1000, b"\xc3" * 16, 4, b"later")
        path = self.write(dump)

        def names(*options: object) -> list[str]:
            return [each["function"] for each in tool.objects(*options, path)]

        self.assertEqual(names("--function", "fib"), ["fib"])
        self.assertEqual(names("--function", "fibo"), ["JS:*fibonacci a.js:1"])
        self.assertEqual(names("--function", ""), ["fib", "JS:*fibonacci a.js:1", "other", "later"])
        self.assertEqual(names("--function", "0x100f"), ["fib", "later"])
        self.assertEqual(names("--function", "0x100f", "--at", "end"), ["later"])
        self.assertEqual(names("--function", "0x100f", "--at", "4.999999999"), ["fib"])
        self.assertEqual(names("--function", "", "--at", "2"), ["fib", "JS:*fibonacci a.js:1"])
        for wanted in ("nobody", "0x2000", "0xzz"):
            done = tool.run("dump", "--function", wanted, path)
            self.assertEqual((done.status, done.out), (1, b""))
            self.assertIn(wanted, done.err)

    def test_times(self) -> None:
        path = self.small()
        self.assertRegex(tool.run("dump", path).out.decode(), r" 1\.500000000  LOAD ")
        self.assertEqual(len(tool.objects("--at", "1.5", path)), 1)
        self.assertEqual(len(tool.objects("--at", "1.499999999", path)), 0)
        self.assertEqual(len(tool.objects("--at", "2", path)), 1)
        for time in ("", "x", "-1", "1.5x", "1.5.5", "99999999999999999999", "1e3"):
            self.assertEqual(tool.run("dump", "--at", time, path).status, 2, time)

    def test_counter_values(self) -> None:
        dump = Dump(flags=1)
        dump.load(1_500_000_000, 0x1000, b"\xc3", 1)
        path = self.write(dump)
        self.assertRegex(tool.run("dump", path).out.decode(), r" 1500000000  LOAD ")
        self.assertEqual(len(tool.objects("--at", "1500000000", path)), 1)
        self.assertEqual(len(tool.objects("--at", "1499999999", path)), 0)

    def test_names_are_harmless(self) -> None:
        path = self.small(HOSTILE)
        for options in ([], ["--json"], ["--stat"], ["--at", "end"], ["--function", ""],
                        ["--json", "--function", ""], ["--json", "--at", "end"]):
            done = tool.run("dump", *options, path)
            text = done.out.decode()  # UTF-8
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", options)
            self.assertEqual(done.err, "")
        records = tool.objects(path)
        self.assertEqual(records[1]["name"], tool.escaped(HOSTILE))
        self.assertIn(r"name\x1b[2J\n\x0d\u{9b}31m\u{202e}\x7f\xff\xc0\x80",
                      tool.run("dump", path).out.decode())

    def test_files_names_are_harmless(self) -> None:
        """Also those that are complained about: a profile names the dumps' paths."""
        path = self.path.parent / os.fsdecode(HOSTILE)
        err = tool.run("dump", path).err
        self.assertNotRegex(err, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
        self.assertIn(r"name\x1b[2J\n\x0d\u{9b}31m\u{202e}\x7f\xff\xc0\x80: No such file", err)

    # Pipes and terminals

    def test_reader_that_leaves(self) -> None:
        """With SIGPIPE as it is by default, and ignored."""
        path = self.small(count=20000)
        for action in (signal.SIG_DFL, signal.SIG_IGN):
            with subprocess.Popen([tool.TOOL, "dump", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, restore_signals=False,
                                  preexec_fn=lambda: signal.signal(signal.SIGPIPE, action)) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertEqual(process.wait(),
                                 -signal.SIGPIPE if action == signal.SIG_DFL else 2)

    def test_file_cut_while_it_is_read(self) -> None:
        """The pipe is full before the second half of the file has been looked at."""
        path = self.small(name=b"f" * 100, count=20000)
        with subprocess.Popen([tool.TOOL, "dump", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            os.truncate(path, 1 << 17)
            process.stdout.read()
            self.assertEqual(process.wait(), 2)
            self.assertIn("cut shorter while it was read", process.stderr.read())

    def test_full_disk(self) -> None:
        path = self.small(count=20000)
        store = self.path.parent / "store"
        for arguments in (["dump", path], ["dump", "--json", path], ["dump", "--help"],
                          ["check", path], ["check", "--json", path], ["check", "--help"],
                          ["elf", "--relative", path, "-o", self.path.parent / "elf"],
                          ["breakpad", path, "-o", store], ["record", "--help"], ["--help"],
                          ["--version"]):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([tool.TOOL, *arguments], stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr,
                                 "jitdump: standard output: No space left on device\n")

    def test_closed_output(self) -> None:
        """An error of what has something to say."""
        path = self.small()
        elf = self.path.parent / "elf"
        for arguments, status in ((["dump", path], 2), (["check", path], 2),
                                  (["check", "--quiet", path], 0), (["elf", path, "-o", elf], 0)):
            with self.subTest(arguments):
                done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', tool.TOOL, *arguments],
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    def test_closed_input(self) -> None:
        """What is opened next must not be read in its place."""
        done = subprocess.run(["sh", "-c", '"$0" inject -i - -o out <&-', tool.TOOL], cwd=self.path.parent,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "jitdump: standard input: Bad file descriptor\n"))

    def on_terminal(self, *arguments: object, of: str = "stdout", **environment: str) -> str:
        """What comes out when standard output (or error) is a terminal."""
        status, text = terminal.run([tool.TOOL, *arguments], of,
                                    env={**os.environ, "TERM": "xterm", **environment})
        self.assertEqual(status, 0)
        return text.decode()

    def test_progress(self) -> None:
        """On standard error, if that is a terminal, and gone when the work is done."""
        dump = Dump()
        self.write(dump)
        size = 10 << 20
        with self.path.open("ab") as file:  # with holes for code
            for number in range(20):
                file.write(dump.pack("IIQIIQQQQ", 0, 58 + size, number, 1, 1, number * size,
                                     number * size, size, number) + b"f\0")
                file.truncate(file.tell() + size)
                file.seek(0, os.SEEK_END)
        text = self.on_terminal("dump", "--stat", self.path, of="stderr")
        self.assertRegex(text, r"\A(\rjitdump: reading, \d+ %){2,}\r\x1b\[K\Z")
        self.assertEqual(tool.run("dump", "--stat", self.path).err, "")

    def test_colours(self) -> None:
        path = self.small()
        escape = "\x1b["
        self.assertIn(escape, self.on_terminal("dump", "--no-pager", path))
        self.assertNotIn(escape, self.on_terminal("dump", "--no-pager", "--color=never", path))
        self.assertNotIn(escape, self.on_terminal("dump", "--no-pager", path, NO_COLOR="1"))
        self.assertNotIn(escape, self.on_terminal("dump", "--no-pager", path, TERM="dumb"))
        self.assertNotIn(escape, tool.run("dump", path).out.decode())
        self.assertIn(escape, tool.run("dump", "--color=always", path).out.decode())

    def test_pager(self) -> None:
        path = self.small()
        pager = "sed s/^/paged:/"
        self.assertIn("paged:", self.on_terminal("dump", path, PAGER=pager))
        self.assertNotIn("paged:", self.on_terminal("dump", "--no-pager", path, PAGER=pager))
        self.assertNotIn(b"paged:", tool.run("dump", path, env={**os.environ, "PAGER": pager}).out)
        self.on_terminal("dump", path, PAGER="true")  # that a user leaves it is no error
        status, text = terminal.run([tool.TOOL, "dump", path], "stdout",
                                    env={**os.environ, "TERM": "xterm", "PAGER": "/nowhere/less"})
        self.assertEqual(status, 2)  # nothing was shown

    def test_completion(self) -> None:
        """Each option of --help is completed, and no other."""
        commands = re.findall(r"(?m)^  (\w+)  ", tool.run("--help").out.decode())

        def complete(*words: str) -> list[str]:
            script = f"""
                compopt() {{ :; }}
                . {COMPLETION}
                COMP_WORDS=({' '.join(f'"{word}"' for word in words)})
                COMP_CWORD={len(words) - 1}
                _jitdump
                printf '%s\\n' "${{COMPREPLY[@]}}" """
            return subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                                  check=True).stdout.split()

        self.assertEqual(set(complete("jitdump", "")), {*commands, "--help", "--version"})
        for command in commands:
            text = tool.run(command, "--help").out.decode()
            options = set(re.findall(r"--[a-z-]+", "\n".join(
                line for line in text.splitlines() if line.startswith("  "))))
            with self.subTest(command=command):
                self.assertEqual(set(complete("jitdump", command, "--")), options)
        self.assertEqual(complete("jitdump", "dump", "--color", "a"), ["auto", "always"])


if __name__ == "__main__":
    unittest.main()
