#!/usr/bin/env python3
"""What the collector costs whole runs: each program runs for some seconds without it and with it, by turns, its
start and all compilation included, and counts its rounds. Compared is the time for a round: of the processor in
user mode, in both modes, and of the clock. Given is the median of the pairs' changes, and all of them. No perf is
running.

    overhead.py [--seconds 10] [--pairs 5] COLLECTOR PYTHON [php|numba|wasmtime|jax|onednn]...

oneDNN's program is $JITDUMP_ONEDNN, and built beside the collector's other tests.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PHP = ["php8.2", "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0",
       "-d", "opcache.jit_buffer_size=32M", "-d", "opcache.jit=function"]


def programs(collector, python, seconds):
    """Command, the command with the collector if it is another, and its variables."""
    return {
        "php": (PHP + [HERE / "mix.php", seconds],
                PHP + ["-d", "opcache.jit_debug=384", HERE / "mix.php", seconds],
                {"INTEL_JIT_PROFILER64": collector}),
        "numba": ([python, HERE / "numba_mix.py", seconds], None, {"LD_PRELOAD": collector}),
        "wasmtime": ([python, HERE / "wasmtime_mix.py", seconds, "nobody"],
                     [python, HERE / "wasmtime_mix.py", seconds, "vtune"], {"INTEL_JIT_PROFILER64": collector}),
        "jax": ([python, HERE / "jax_mix.py", seconds], None, {"LD_PRELOAD": collector}),
        "onednn": ([os.environ.get("JITDUMP_ONEDNN", "collector_onednn"), seconds], None,
                   {"INTEL_JIT_PROFILER64": collector}),
    }


def times_per_round(command, environment):
    """Of the whole process, from its start to its end: by the processor in user mode, in both, by the clock."""
    with tempfile.TemporaryDirectory() as directory:
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True,
                              env={**os.environ, "JITDUMPDIR": directory, **environment})
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    user = after.ru_utime - before.ru_utime
    rounds = int(done.stderr.split()[-1])
    return [used / rounds for used in (user, user + after.ru_stime - before.ru_stime, ended - started)]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", default="10")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("collector")
    parser.add_argument("python")
    parser.add_argument("program", nargs="*")
    arguments = parser.parse_args()
    known = programs(arguments.collector, arguments.python, arguments.seconds)
    for name in arguments.program or known:
        without, used, environment = known[name]
        changes = []
        for number in range(arguments.pairs):
            order = [(without, {}), (used or without, environment)]
            times = [times_per_round(*each) for each in (order if number % 2 == 0 else order[::-1])]
            if number % 2:
                times.reverse()
            changes.append([100 * (with_it / without_it - 1) for without_it, with_it in zip(*times)])
        for kind, pairs in zip(("user", "user and system", "clock"), zip(*changes)):
            print(f"{name:10} {kind:16} {statistics.median(pairs):+.2f} %; pairs:"
                  f" {' '.join(f'{change:+.2f}' for change in sorted(pairs))}", flush=True)


if __name__ == "__main__":
    main()
