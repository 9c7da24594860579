#!/usr/bin/env python3
"""What the module costs the programs of examples/luajit: each is run without it and with it, by
turns. Of each pair the processor time (user and system) is compared, and the median of the pairs
given, with the interval that holds the true one in 95 of 100 series. So are the quartiles of the
runs without the module: LuaJIT itself chooses by chance which loops become traces. One more run
of each round is not compared, but measures the time in the module's handlers: it shows what the
noise of whole runs hides.

    overhead.py [--rounds 15] [--flush buffered] LIBRARY_FOLDER [PROGRAM]...
"""
import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Tuple

TESTS = pathlib.Path(__file__).resolve().parent
EXAMPLE = TESTS.parent.parent.parent / "examples" / "luajit"


def run(program: pathlib.Path, modules: List[str], library: str,
        flush: str) -> Tuple[float, float, str]:
    """Processor time, real time, standard error."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "LD_LIBRARY_PATH": library, "JITDUMPDIR": directory,
                       "JITDUMP_FLUSH": flush, "LUA_PATH": f"{EXAMPLE}/?.lua;{TESTS}/?.lua;;"}
        words = [word for module in modules for word in ("-l", module)]
        begin = time.perf_counter()
        process = subprocess.Popen(["luajit", *words, str(program)], env=environment, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{program}: {error}")
        return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, error


def paired(without: List[float], used: List[float]) -> Tuple[float, float, float]:
    """Median of the pairs' changes in percent, and the ends of its interval: of so many pairs
    how many are above the true median is a coin's matter, whatever the distribution."""
    changes = sorted(100 * (b / a - 1) for a, b in zip(without, used))
    count = len(changes)
    skip = max(0, int(count / 2 - 0.98 * math.sqrt(count)))
    return statistics.median(changes), changes[skip], changes[count - 1 - skip]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--flush", default="buffered")
    parser.add_argument("library")
    parser.add_argument("program", nargs="*",
                        default=sorted((EXAMPLE / "programs").glob("*.lua")))
    arguments = parser.parse_args()

    kinds = {"without": [], "with": ["jitdump"], "handlers": ["handlers"]}
    print("medians          processor s          real s      with/without   in handlers")
    for program in map(pathlib.Path, arguments.program):
        cpu: Dict[str, List[float]] = {kind: [] for kind in kinds}
        real: Dict[str, List[float]] = {kind: [] for kind in kinds}
        spent: List[float] = []
        for number in range(arguments.rounds):
            order = list(kinds) if number % 2 == 0 else list(reversed(kinds))
            for kind in order:
                used, lasted, error = run(program, kinds[kind], arguments.library,
                                          arguments.flush)
                cpu[kind].append(used)
                real[kind].append(lasted)
                if kind == "handlers":
                    spent.append(float(error))
        median = statistics.median
        change, least, most = paired(cpu["without"], cpu["with"])
        low, _, high = statistics.quantiles(cpu["without"])
        print(f"{program.stem:14} {median(cpu['without']):6.3f} -> {median(cpu['with']):6.3f}"
              f"   {median(real['without']):6.3f} -> {median(real['with']):6.3f}"
              f"   {change:+5.2f} % ({least:+.2f} to {most:+.2f}; quartiles without it"
              f" {low:.3f} and {high:.3f})   {1000 * median(spent):.1f} ms, "
              f"{100 * median(spent) / median(cpu['without']):.2f} %", flush=True)


if __name__ == "__main__":
    main()
