#!/usr/bin/env python3
"""CPython writes a perf map (-X perf, from 3.12 on) and a dump (-X perf_jit, from 3.13 on) of its own.
A dump that is opened in the same process leaves both to it.

Usage: test_cpython.py FOLDER_OF_THE_LIBRARY. Where no such CPython is found, it ends with 77.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, Optional, Tuple

SKIPPED = 77
BINDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/ffi/python")

# $1 is the directory of our dump.
PERF_MAP = """
import os, sys, jitdump
path = f"/tmp/perf-{os.getpid()}.map"
before = open(path, "rb").read()
dump = jitdump.open(sys.argv[1], flags=jitdump.OptionFlags.PERF_MAP |
                    jitdump.OptionFlags.UNLINK_AT_CLOSE)
dump.load(jitdump.Code("ours", 0x1000, 4, b"code"))
exec("def theirs_meanwhile(): pass\\ntheirs_meanwhile()")
dump.close()
exec("def theirs_afterwards(): pass\\ntheirs_afterwards()")
after = open(path, "rb").read()
os.unlink(path)
assert before and after.startswith(before), "the map is another"
for name in b" ours\\n", b"theirs_meanwhile", b"theirs_afterwards":
    assert after.count(name) == 1, (name, after.count(name))
"""
DUMP = """
import os, jitdump
path = f"/tmp/jit-{os.getpid()}.dump"
before = os.stat(path)
try:
    jitdump.open("/tmp")
    error = None
except jitdump.Error as caught:
    error = caught.code
after = os.stat(path)
os.unlink(path)
assert error == jitdump.ErrorCode.FILE_IN_USE, error
assert after.st_ino == before.st_ino and after.st_size >= before.st_size
"""


def interpreters() -> Dict[Tuple[int, ...], str]:
    """Each version's first on the path."""
    found: Dict[Tuple[int, ...], str] = {}
    for name in ("python3", *(f"python3.{minor}" for minor in range(12, 30))):
        path = shutil.which(name)
        if path is None:
            continue
        asked = subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if asked.returncode == 0:
            found.setdefault(tuple(map(int, asked.stdout.split())), path)
    return found


def run(least: Tuple[int, int], option: str, program: str) -> Optional[bool]:
    """None: there is no CPython for it."""
    python = next((path for version, path in sorted(interpreters().items()) if version >= least),
                  None)
    if python is None:
        print(f"-X {option}: skipped, no CPython {'.'.join(map(str, least))} or later")
        return None
    environment = dict(os.environ, LD_LIBRARY_PATH=sys.argv[1], PYTHONPATH=BINDING,
                       PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as directory:
        ended = subprocess.run([python, "-X", option, "-c", program, directory], env=environment,
                               check=False)
    print(f"-X {option}: {python} ended with {ended.returncode}")
    return ended.returncode == 0


def main() -> int:
    results = [run((3, 12), "perf", PERF_MAP), run((3, 13), "perf_jit", DUMP)]
    if False in results:
        return 1
    return 0 if True in results else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
