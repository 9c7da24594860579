"""The tool as the tests run it: by its command line."""
from __future__ import annotations

import bisect
import json
import os
import pathlib
import signal
import subprocess
from typing import Any, NamedTuple, Optional, Sequence

TOOL = os.environ["JITDUMP_TOOL"]
Object = dict[str, Any]


class Done(NamedTuple):
    status: int
    out: bytes
    err: str


def run(*arguments: object, before: Sequence[object] = (), **options: Any) -> Done:
    done = subprocess.run([*map(str, before), TOOL, *map(str, arguments)], capture_output=True, check=False,
                          **options)
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def default_signals() -> None:
    """For preexec_fn: what runs in the background, or under nohup, may ignore them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def objects(*arguments: object, status: int = 0) -> list[Object]:
    """What --json prints: an object to a line."""
    done = run("dump", "--json", *arguments)
    assert done.status == status, (done.status, done.err)
    return [json.loads(line) for line in done.out.splitlines()]


def functions(path: pathlib.Path, *options: object) -> list[Object]:
    """All of them: any name contains the empty one."""
    return objects("--function", "", *options, path)


def escaped(name: bytes) -> str:
    """A name as json.loads() gives it."""
    return name.decode("utf-8", "surrogateescape")


class Frame(NamedTuple):
    function: Optional[str]
    file: Optional[str]
    line: int
    column: int


class Lines:
    """A function's lines and inlining, looked up by offset."""

    def __init__(self, function: Object) -> None:
        self.function = function
        self.starts = [row[0] for row in function["rows"]]
        # Depth first: what is inside comes later.
        self.innermost: list[Optional[int]] = [None] * function["code_size"]
        for index, call in enumerate(function["calls"]):
            for begin, end in call["ranges"]:
                for offset in range(begin, end):
                    assert self.innermost[offset] == call["parent"], "not within the caller's code"
                    self.innermost[offset] = index

    def name(self, index: int) -> Optional[str]:
        names = self.function["functions"]
        return names[index]["name"] if names else None

    def chain(self, offset: int) -> list[Frame]:
        """Innermost first. A frame without a line has no file."""
        index = bisect.bisect(self.starts, offset) - 1
        _, file, line, column = self.function["rows"][index] if index >= 0 else (0, None, 0, 0)
        frames = []
        call_index = self.innermost[offset]
        while True:
            call = None if call_index is None else self.function["calls"][call_index]
            frames.append(Frame(self.name(call["function"] if call else 0), file if line else None,
                                line, column))
            if call is None:
                return frames
            file, line, column = call["call_file"], call["call_line"], call["call_column"]
            call_index = call["parent"]
