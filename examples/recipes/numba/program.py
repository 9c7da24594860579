"""Functions for numba, which run for so many seconds of processor time:

    JITDUMP=1 python3 program.py SECONDS

For who compares a profile with the truth, it keeps the object files that numba makes, and prints where
their functions are.
"""

import json
import os
import pathlib
import sys
import time

import jitdump_numba  # before anything is compiled
from numba import njit


@njit("int64(int64, int64)", debug=True)
def leaf(x, rounds):
    for i in range(rounds):
        x ^= x >> 33
        x *= 0x7ED558CCD
        x ^= (
            x >> 29)
        x += i
    return x


@njit("int64(int64, int64)", debug=True)
def middle(x, rounds):
    for i in range(rounds):
        y = x * 3
        z = x ^ i
        x += leaf(x, i % 64)
        x ^= y
        x -= z
    return x


@njit("int64(int64, int64)", debug=True)
def outer(x, rounds):
    for i in range(rounds):
        x ^= middle(x, 256)
        x += i
    return x


@njit("int64(int64, int64)", debug=True)
def run(x, rounds):
    for i in range(rounds):
        x += outer(x, 4)
        x ^= i
    return x


for function in (leaf, middle, outer, run):
    compiled, = function.overloads.values()
    name = compiled.fndesc.llvm_func_name
    if jitdump_numba.dump:
        pathlib.Path(f"{function.__name__}.o").write_bytes(compiled.library._get_compiled_object())
    print(json.dumps({"function": name, "pid": os.getpid(), "object": f"{function.__name__}.o",
                      "addr": compiled.library.get_pointer_to_function(name)}), flush=True)

while time.process_time() < float(sys.argv[1]):
    run(1, 8)
jitdump_numba.dump.close()
