#!/usr/bin/env python3
"""usage: test_calls.py LIBRARY: what the static library calls of libc is known here, be it one of
the calls that the tests let fail (calls.txt) or one that can't."""
import os
import subprocess
import sys

CALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.txt")

CANNOT_FAIL = {
    # They touch memory of the library's own.
    "bcmp",  # which clang makes of a memcmp()
    "memchr", "memcmp", "memcpy", "memmove", "memrchr", "memset", "pthread_mutex_init",
    "snprintf", "strchr", "strcmp", "strcpy", "strlen", "strncmp", "strnlen", "strrchr",
    "strtoll", "strtoull", "vsnprintf",
    "sigaddset", "sigemptyset", "sigfillset", "sigismember",
    # The kernel has no error for them, or none but for arguments that are wrong.
    "clock_gettime", "getauxval", "getenv", "geteuid", "getpid", "pthread_join",
    "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_self", "pthread_setcancelstate",
    # Where it fails, fstat is asked.
    "lseek",
    # Sorts in place where glibc gets no memory.
    "qsort",
    # At exit alone, when it is tried no further.
    "pthread_mutex_timedlock",
    "sched_yield", "sysconf",
}


def main() -> int:
    with open(CALLS, encoding="ascii") as file:
        failing = {line.split()[0] for line in file}
    symbols = subprocess.run(["nm", "--undefined-only", "--format=posix", sys.argv[1]], check=True,
                             stdout=subprocess.PIPE, universal_newlines=True).stdout
    calls = {line.split()[0] for line in symbols.splitlines() if line.split()[1:2] == ["U"]}
    calls = {call for call in calls if not call.startswith(("_", "jd_", "jitdump_"))}
    unknown, unused = calls - failing - CANNOT_FAIL, failing - calls
    for call in sorted(unknown):
        print(f"{call}: does it fail? Add it to calls.txt and faults.c, or to CANNOT_FAIL here")
    for call in sorted(unused):
        print(f"{call}: is in calls.txt, but the library does not call it")
    print(f"{len(calls & failing)} calls that can fail, {len(calls & CANNOT_FAIL)} that can't")
    return 1 if unknown or unused or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
