#!/usr/bin/env python3
"""The benchmark runs, every writer's file has the same records, and the report is made.

usage: test_bench.py BENCH

With counts so small that the figures mean nothing.
"""
import json
import os
import subprocess
import sys
import tempfile

REPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report.py")
HEADER = 40
CLOSE = 16


def report_of(results: str, *options: str) -> str:
    return subprocess.run([sys.executable, REPORT, results, *options], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        output = subprocess.run(
            [sys.argv[1], "-r", "1", "-b", "20000", "-t", "1", "-t", "2", "-t", "8",
             "-s", "64", "-s", "65536", directory],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        rows = json.loads(output)["rows"]
        results = os.path.join(directory, "results.json")
        with open(results, "wb") as file:
            file.write(output)
        report = report_of(results)
        # Also of a part of them: as if with `bench -t 8`, or `bench -w buffered`.
        for key, value in (("threads", 1), ("threads", 2), ("threads", 8), ("writer", "buffered")):
            with open(results, "w", encoding="utf-8") as file:
                json.dump({"rows": [row for row in rows if row[key] == value]}, file)
            for options in ([], ["--summary"], ["--full"]):
                report_of(results, *options)
    assert len(rows) == 3 * 2 * (9 + 9 + 6), len(rows)
    sizes = {}
    for row in rows:
        (figures,) = row["rounds"]
        assert all(value >= 0 for value in figures.values()), row
        # p50 is a mean of some appends in a row, and so only below the longest of all.
        assert figures["p50_ns"] <= figures["max_ns"], row
        assert figures["p99_ns"] <= figures["p999_ns"] <= figures["max_ns"], row
        ours = row["writer"] in ("buffered", "background", "write-through")
        cell = (row["threads"], row["code_size"], row["description"])
        sizes.setdefault(cell, set()).add(figures["bytes"] - HEADER - (CLOSE if ours else 0))
    # The same bytes from all: no writer is fast because it leaves something out.
    assert all(len(of_cell) == 1 for of_cell in sizes.values()), sizes
    assert "buffered p50 : limit" in report
    print("%d rows" % len(rows))


if __name__ == "__main__":
    main()
