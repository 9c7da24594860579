#!/usr/bin/env python3
"""What an agent costs: interleaved runs of a program with fixed work, without an agent and with
each of those given.

    overhead.py --jdk /usr/lib/jvm/... --agent ours=libjitdump-jvmti.so \\
                --agent perf=libperf-jvmti.so [--runs N]

Prints medians of wall and processor time, and of the processor time of the virtual machine's
service thread, in which the agents work: little of the whole, and so hidden in its noise.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

PROGRAM = ["Sources", "0"]  # one round
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "examples" / "jvmti"


def run_once(java: pathlib.Path, classes: str, agent: str) -> "tuple[float, float, float]":
    with tempfile.TemporaryDirectory() as directory:
        data = f"{directory}/perf.data"
        command = ["perf", "record", "-k", "mono", "-e", "cpu-clock", "-F", "4999", "-o", data,
                   "--", java, *([f"-agentpath:{agent}"] if agent else []), "-cp", classes,
                   *PROGRAM]
        environment = {**os.environ, "JITDUMPDIR": directory, "HOME": directory}
        begin = time.monotonic()
        process = subprocess.Popen(command, env=environment, cwd=directory,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{agent or 'no agent'}: exit code {process.returncode}")
        threads = subprocess.run(["perf", "script", "-i", data, "-F", "comm"], check=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    service = sum("Service Thread" in line for line in threads.stdout.splitlines()) / 4999
    return wall, usage.ru_utime + usage.ru_stime, service


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jdk", type=pathlib.Path, required=True)
    parser.add_argument("--agent", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    agents = {"none": "", **dict(agent.split("=", 1) for agent in arguments.agent)}
    times = {name: [] for name in agents}
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([arguments.jdk / "bin" / "javac", "-d", classes, SOURCES / "Sources.java"],
                       check=True)
        for number in range(arguments.runs):
            # Each comes first as often as the others.
            order = list(agents)[number % len(agents):] + list(agents)[:number % len(agents)]
            for name in order:
                times[name].append(run_once(arguments.jdk / "bin" / "java", classes, agents[name]))
    print(f"{arguments.runs} runs each, medians in seconds (quartiles)")
    for name, runs in times.items():
        print(f"{name:10}", end="")
        for label, values in zip(("wall", "processor", "service thread"), zip(*runs)):
            low, middle, high = statistics.quantiles(values, n=4)
            print(f"  {label} {middle:.3f} ({low:.3f} to {high:.3f})", end="")
        print()


if __name__ == "__main__":
    main()
