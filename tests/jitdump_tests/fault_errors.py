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
# After these an append fails as those before it did.
STICKY = {"DISK_FULL", "FILE_TOO_LARGE", "IO", "THREAD", "PERF_MAP"}
# Of opening what has the name already.
STALE_FOREIGN = {errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO, errno.EISDIR}
CLOCK_ERRORS = {errno.EMFILE: "TOO_MANY_FILES", errno.ENFILE: "TOO_MANY_FILES",
                errno.ENOMEM: "NO_MEMORY"}


@dataclass
class Effect:
    """NONE: all calls return 0. ONCE: the call under way returns the error. STICKY: and all that
    follow. REPORTED: flushes and the close return it. CLOSE: the close alone.

    `undone`: a dump could not be made, and nothing of it may be there when the call returns."""

    kind: str
    errors: Set[str]
    undone: bool = False


NONE = Effect("NONE", set())


def file_error(kind: str, number: int) -> str:
    """Of a call on a file that fails with the errno `number`."""
    return {"map": "PERF_MAP", "source": "SOURCE_FILE"}.get(kind, FILE_ERRORS.get(number, "IO"))


def _making_file(call: str, occurrence: int, number: int, always: bool,
                 stale: bool) -> Optional[str]:
    """The error of a file that can't be made, because of a call that looks whether one is in the
    way (`stale`: it is), removes that or makes the new one. None: it is made."""
    name, _, kind = call.partition(".")
    of_stale = kind.startswith("stale-")
    kind = kind.replace("stale-", "")
    error = file_error(kind, number)
    foreign = error if kind != "dump" else "FILE_FOREIGN"
    # The new file does not count, and is made once more: the third attempt is the last, and a stale
    # file takes one, as does the removal of what was made before.
    lost = foreign if always or stale else None
    # It is gone, says the call. If it says so for ever, it is still in the way.
    gone = foreign if always else None
    if name in ("open", "fcntl", "fstat"):
        return error
    if name == "open-stale" and number == errno.EACCES and not always:
        return None  # it may be read
    if name == "open-stale":
        return gone if number == errno.ENOENT else foreign if number in STALE_FOREIGN else error
    if name == "unlink":
        return gone if number == errno.ENOENT else error
    if name == "lstat":
        # Of a stale file it asks twice.
        return error if number != errno.ENOENT else lost if not stale or occurrence == 3 else gone
    if name == "flock" and number in (errno.EAGAIN, errno.EBADF):
        return lost if not of_stale else error if kind != "dump" else "FILE_IN_USE"
    return None  # flock, fchmod, close: what can't be done is left


def effect(call: str, occurrence: int, number: int, always: bool, scenario: str, step: str,
           mode: int) -> Optional[Effect]:
    """Of the call's failure with the errno `number` during the step. None: it can't be."""
    name, _, kind = call.partition(".")
    opens = step == "open"
    starts = opens or (scenario.startswith("fork") and step == "load of-the-child")

    def unmade(error: str) -> Effect:
        """At open, or at the first append of a forked child, where it stays."""
        return Effect("ONCE" if opens else "STICKY", {error}, True)

    if kind in ("new", "stale-new") and not (number == errno.EINTR and always):
        return NONE  # then the dump itself is cut back
    if kind == "proc" and name != "close":
        # Whether what is in the way is stale is not known: the dump is refused, a map appended to.
        return unmade("FILE_IN_USE") if occurrence == 1 else NONE
    interrupted = number == errno.EINTR
    if interrupted and name in ("writev", "pread", "ftruncate", "sigtimedwait"):
        return None if always else NONE  # tried again, without an end
    if scenario == "descriptor" and opens and name in ("fcntl", "fstat", "flock"):
        if name == "flock":
            busy = number in (errno.EAGAIN, errno.EBADF)
            return unmade("FILE_IN_USE") if busy else NONE
        error = FILE_ERRORS.get(number) if name == "fcntl" and occurrence == 1 else None
        return unmade(error if error in ("TOO_MANY_FILES", "NO_MEMORY") else "DESCRIPTOR")
    if name in ("realpath", "stat"):
        return unmade(file_error("dump", number))
    if name == "perf_event_open":
        return unmade(CLOCK_ERRORS.get(number, "CLOCK_NOT_PERMITTED"))
    if call == "mmap.perf-event":
        return unmade("NO_MEMORY" if number == errno.ENOMEM else "CLOCK_NOT_PERMITTED")
    if scenario == "empty" and step == "close" and call in ("lstat.dump", "fstat.dump"):
        # Whether it is the dump is not known. (There is none, or so the call says.)
        return NONE if name == "lstat" and number == errno.ENOENT else \
            Effect("CLOSE", {WRITE_ERRORS.get(number, "IO")})
    if name in ("open", "open-stale", "fcntl", "lstat", "fstat", "flock") or \
            (name == "unlink" and starts):
        stale = starts and scenario in ("stale", "fork_unlink")
        if not starts and not step.startswith("source"):
            return NONE  # at the close
        error = _making_file(call, occurrence, number, always, stale)
        return NONE if error is None else unmade(error) if starts else Effect("ONCE", {error})
    if name == "writev":
        if kind == "dump":
            error = WRITE_ERRORS.get(number, "IO")
            # The header; the source that a child inherits.
            first = 2 if not opens and mode == 0 else 1
            return unmade(error) if starts and occurrence <= first else Effect("STICKY", {error})
        if kind == "map":
            # The first write of a child's map has its parent's functions.
            return unmade("PERF_MAP") if starts and occurrence == 1 else \
                Effect("REPORTED", {"PERF_MAP"})
        return Effect("ONCE", {"SOURCE_FILE"})
    if name == "pread":
        return NONE  # of what is cut back
    if name == "mmap":
        return unmade(MARKER_ERRORS.get(number, "IO") if kind == "dump" else "NO_MEMORY")
    if name == "close":
        if interrupted or kind.startswith("stale") or kind in ("perf-event", "proc"):
            return NONE
        if kind == "source":
            return Effect("ONCE", {"SOURCE_FILE"})
        if starts and not always or scenario in ("unlink", "empty", "stale", "fork_unlink"):
            return NONE  # of the parent's map, and of what is removed
        return Effect("CLOSE", {WRITE_ERRORS.get(number, "IO") if kind == "dump" else "PERF_MAP"})
    if scenario == "plain" and step == "load many1" and name == "malloc":
        return NONE  # without an index, the section is read for each function
    if name in ("malloc", "calloc", "strdup"):
        # Of a load it can be a record's memory, or the name that the perf map keeps.
        if step.startswith("load") or always:
            return Effect("ONCE or REPORTED", {"NO_MEMORY", "PERF_MAP"})
        return Effect("ONCE", {"NO_MEMORY"})
    if name == "pthread_create":
        return unmade("THREAD")
    if name == "pthread_atfork":
        return unmade("NO_MEMORY")
    # fchmod, ftruncate, madvise, munmap, futex, the signal mask ...: what can't be done is left.
    return NONE
