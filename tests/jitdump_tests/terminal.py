"""A program whose standard output or error is a terminal."""
import os
import pty
import subprocess
from typing import Any, Sequence, Tuple


def run(command: Sequence[object], of: str, **options: Any) -> Tuple[int, bytes]:
    """Its exit status, and what comes out on the terminal; `of` is "stdout" or "stderr", the other
    is dropped."""
    ours, theirs = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, of: theirs}
    text = b""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, **streams,
                          **options) as process:
        os.close(theirs)
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # how Linux says that the other side is closed
            pass
        os.close(ours)
    return process.returncode, text
