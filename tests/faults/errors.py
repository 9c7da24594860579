"""Which error each fault must lead to, as include/jitdump.h has it."""
from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from typing import Dict, Optional, Set

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/jitdump.h")

with open(HEADER, encoding="utf-8") as header:
    NAMES: Dict[int, str] = {int(value): name for name, value in
                             re.findall(r"JITDUMP_ERROR_(\w+) = (-\d+)", header.read())}
NAMES[0] = "0"

# What an error that a call does not retry says of a file.
FILE_ERRORS: Dict[int, str] = {
    errno.ENOENT: "DIRECTORY_MISSING", errno.ENOTDIR: "DIRECTORY_MISSING",
    errno.EACCES: "DIRECTORY_NOT_WRITABLE", errno.EPERM: "DIRECTORY_NOT_WRITABLE",
    errno.EROFS: "DIRECTORY_NOT_WRITABLE",
    errno.EMFILE: "TOO_MANY_FILES", errno.ENFILE: "TOO_MANY_FILES",
    errno.ENOMEM: "NO_MEMORY",
    errno.ENOSPC: "DISK_FULL", errno.EDQUOT: "DISK_FULL",
    errno.EFBIG: "FILE_TOO_LARGE",
}
WRITE_ERRORS = {number: FILE_ERRORS[number] for number in
                (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)}
MARKER_ERRORS = {errno.EPERM: "DIRECTORY_NOEXEC", errno.EACCES: "DIRECTORY_NOEXEC",
                 errno.ENOMEM: "NO_MEMORY"}
# Of opening what has the name already.
STALE_FOREIGN = {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO}


@dataclass
class Effect:
    """NONE: all calls return 0. ONCE: the call under way returns the error. STICKY: and all that
    follow. REPORTED: flushes and the close return it. CLOSE: the close alone."""

    kind: str
    errors: Set[str]


NONE = Effect("NONE", set())


def _start(scenario: str, step: str, error: str) -> Effect:
    """Of making a file: at open, or at the first append of a forked child, where it stays."""
    return Effect("ONCE" if step == "open" else "STICKY", {error})


def effect(call: str, occurrence: int, number: int, always: bool, scenario: str,
           step: str) -> Optional[Effect]:
    """Of the call's failure with the errno `number` during the step. None: it can't be."""
    name, _, kind = call.partition(".")
    starts = step == "open" or (scenario.startswith("fork") and step == "load of-the-child")
    interrupted = number == errno.EINTR
    if interrupted and name in ("writev", "pread", "ftruncate", "sigtimedwait"):
        return None if always else NONE  # tried again, without an end
    if name in ("realpath", "stat"):
        return Effect("ONCE", {FILE_ERRORS.get(number, "IO")})
    if name == "open":
        if kind == "dump":
            return _start(scenario, step, FILE_ERRORS.get(number, "IO"))
        if kind == "map":
            return _start(scenario, step, "PERF_MAP")
        return Effect("ONCE", {"SOURCE_FILE"})
    if name == "open-stale":
        if number == errno.ENOENT and not always:
            return NONE  # gone meanwhile
        if number == errno.ENOENT and kind == "dump":
            return Effect("ONCE", {"FILE_FOREIGN"})
        if kind == "map":
            return Effect("ONCE", {"PERF_MAP"})
        return Effect("ONCE", {"FILE_FOREIGN" if number in STALE_FOREIGN
                               else FILE_ERRORS.get(number, "IO")})
    if name in ("fstat", "lstat", "flock") and (starts or step.startswith("source")):
        return None  # whether the new file is still ours is not known, and it is made once more
    if name == "flock":
        if kind == "stale" and number == errno.EAGAIN:
            return Effect("ONCE", {"FILE_IN_USE", "PERF_MAP"})
        return NONE
    if name in ("lstat", "unlink") and step == "open" and scenario == "stale":
        if number == errno.ENOENT:
            if name == "unlink" and always:  # it is gone, they say, and is still in the way
                return Effect("ONCE", {"FILE_FOREIGN" if kind == "dump" else "PERF_MAP"})
            return NONE
        error = FILE_ERRORS.get(number, "IO") if kind == "dump" else "PERF_MAP"
        return Effect("ONCE", {error})
    if name == "writev":
        if kind == "dump":
            error = WRITE_ERRORS.get(number, "IO")
            return Effect("ONCE", {error}) if step == "open" else Effect("STICKY", {error})
        if kind == "map":
            # The first write of a child's map is the copy of its parent's.
            return Effect("STICKY" if starts and occurrence == 1 else "REPORTED", {"PERF_MAP"})
        return Effect("ONCE", {"SOURCE_FILE"})
    if name == "pread":
        return Effect("STICKY", {"PERF_MAP"}) if starts and occurrence == 1 else NONE
    if name == "mmap":
        if kind == "dump":
            return _start(scenario, step, MARKER_ERRORS.get(number, "IO"))
        return Effect("ONCE", {"NO_MEMORY"})
    if name == "close":
        if interrupted:
            return NONE
        if kind == "source":
            return Effect("ONCE", {"SOURCE_FILE"})
        if starts and not always or scenario in ("unlink", "stale", "fork_unlink"):
            return NONE  # of the parent's map, and of what is removed
        if kind == "dump":
            return Effect("CLOSE", {WRITE_ERRORS.get(number, "IO")})
        return Effect("CLOSE", {"PERF_MAP"})
    if name in ("malloc", "calloc", "realloc", "strdup"):
        # Of a load it can be a record's memory, or the name that the perf map keeps.
        if step.startswith("load") or always:
            return Effect("ONCE or REPORTED", {"NO_MEMORY", "PERF_MAP"})
        return Effect("ONCE", {"NO_MEMORY"})
    if name == "pthread_create":
        return _start(scenario, step, "THREAD")
    if name == "pthread_atfork":
        return Effect("ONCE", {"NO_MEMORY"})
    # fchmod, fstat, ftruncate, munmap, futex, the signal mask ...: what can't be done is left.
    return NONE
