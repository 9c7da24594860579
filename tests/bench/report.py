#!/usr/bin/env python3
"""Makes tables, and a plot, of the benchmark's results.

usage: report.py RESULTS.json [--summary | --full] [--plot FILE.svg]

Without options: the ratios that have targets, as far as the results have both sides. --summary: a table per figure, for one thread
and for 8. --full: every row.
A figure is the median over the rounds; a ratio is the median of the ratios within each
round. --plot needs matplotlib.
"""
import argparse
import json
from statistics import median
from typing import Any, Dict, List, Optional, Tuple

LIMIT = "limit-copy"
# The writers between which there are ratios with targets.
COMPARED = (LIMIT, "mutex-stdio", "writev-each", "buffered", "background", "write-through")
# Directory, threads, code size, description.
Cell = Tuple[str, int, int, str]
Row = Dict[str, Any]
Rows = Dict[Cell, Dict[str, Row]]


def load(path: str) -> Rows:
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    rows: Rows = {}
    for row in results["rows"]:
        cell = (row["directory"], row["threads"], row["code_size"], row["description"])
        rows.setdefault(cell, {})[row["writer"]] = row
    return rows


def figure(row: Row, name: str) -> float:
    return median(r[name] for r in row["rounds"])


def ratio(of: Row, to: Row, name: str) -> float:
    return median(a[name] / b[name] for a, b in zip(of["rounds"], to["rounds"]) if b[name])


def print_table(titles: List[str], lines: List[List[str]]) -> None:
    print("| " + " | ".join(titles) + " |")
    print("|" + "|".join("---" for _ in titles) + "|")
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def print_full(rows: Rows) -> None:
    for cell, writers in rows.items():
        print("### %s, %d threads, %d bytes, description: %s\n" % cell)
        table = []
        for name, row in writers.items():
            base = writers.get(LIMIT, row)
            table.append(
                [name]
                + [
                    "%.0f" % figure(row, f)
                    for f in ("total_ns", "cpu_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns")
                ]
                + ["%.4f" % figure(row, "writes"), "%.0f" % figure(row, "bytes")]
                + ["%.2f" % ratio(row, base, f) for f in ("total_ns", "p50_ns")]
            )
        print_table(
            "writer,total ns,CPU ns,p50 ns,p99 ns,p99.9 ns,max ns,writes,bytes,"
            "total : limit,p50 : limit".split(","),
            table,
        )


def print_summary(rows: Rows) -> None:
    for directory, description in dict.fromkeys((c[0], c[3]) for c in rows):
        cells = [c for c in rows if (c[0], c[3]) == (directory, description) and c[1] in (1, 8)]
        if not cells:
            continue
        titles = ["%d thread%s, %d B" % (c[1], "" if c[1] == 1 else "s", c[2]) for c in cells]
        for name, key in (("p50", "p50_ns"), ("p99.9", "p999_ns"), ("total", "total_ns")):
            print("%s, ns per append, %s, description: %s\n" % (name, directory, description))
            print_table(
                ["writer"] + titles,
                [
                    [writer] + ["%.0f" % figure(rows[cell][writer], key) for cell in cells]
                    for writer in rows[cells[0]]
                ],
            )


def print_targets(rows: Rows) -> None:
    table: List[List[str]] = []

    def add(what: str, cell: Cell, target: str, value: float, good: Optional[bool]) -> None:
        place = "%s, %d thread%s, %d B" % (cell[0], cell[1], "" if cell[1] == 1 else "s", cell[2])
        met = "" if good is None else "yes" if good else "**no**"
        table.append([what, place, target, "%.2f" % value, met])

    def at_most(what: str, cell: Cell, target: float, value: float) -> None:
        add(what, cell, "≤ %g" % target, value, value <= target)

    def at_least(what: str, cell: Cell, target: float, value: float) -> None:
        add(what, cell, "≥ %g" % target, value, value >= target)

    for cell, writers in rows.items():
        directory, threads, size, description = cell
        if description != "none" or not all(name in writers for name in COMPARED):
            continue
        limit, stdio, writev, buffered, background, through = (writers[n] for n in COMPARED)
        # But for JIT_CODE_CLOSE, which close appends.
        through_writes = round(figure(through, "writes") - 1 / through["records"], 4)
        if threads == 1:
            if size <= 512:
                at_most("buffered p50 : limit", cell, 1.25, ratio(buffered, limit, "p50_ns"))
            at_most("buffered total : limit", cell, 1.15, ratio(buffered, limit, "total_ns"))
            add("buffered CPU : limit", cell, "", ratio(buffered, limit, "cpu_ns"), None)
            if size <= 512:
                at_least("mutex-stdio p50 : buffered", cell, 4, ratio(stdio, buffered, "p50_ns"))
                at_least("writev-each p50 : buffered", cell, 15, ratio(writev, buffered, "p50_ns"))
            own_tail = median(r["p999_ns"] / r["p50_ns"] for r in background["rounds"])
            if size == 64:
                at_most("background p99.9 : its p50", cell, 6, own_tail)
            at_most("write-through writes", cell, 1, through_writes)
            for_total, for_cpu = (ratio(through, writev, f) for f in ("total_ns", "cpu_ns"))
            at_most("write-through total : writev-each", cell, 1, for_total)
            add("write-through CPU : writev-each", cell, "", for_cpu, None)
        if threads == 8:
            one = rows.get((directory, 1, size, description), {}).get("buffered")
            if one is not None:
                at_most("buffered p50 : one thread's", cell, 1.5, ratio(buffered, one, "p50_ns"))
                at_most("buffered total : one thread's", cell, 1, ratio(buffered, one, "total_ns"))
            at_least("mutex-stdio p99.9 : buffered", cell, 5, ratio(stdio, buffered, "p999_ns"))
            for_tail = ratio(stdio, background, "p999_ns")
            add("mutex-stdio p99.9 : background", cell, "", for_tail, None)
            at_most("write-through writes", cell, 0.7, through_writes)
    print_table(["ratio", "where", "target", "measured", "met"], table)


def plot(rows: Rows, path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as pyplot

    pyplot.rcParams["svg.fonttype"] = "none"  # text as text
    pyplot.rcParams["svg.hashsalt"] = "jitdump"  # the same ids each time
    cells = [c for c in rows if c[2] in (64, 4096) and c[3] == "none"]
    if not cells:
        raise SystemExit("nothing to plot: no rows of 64 or 4096 bytes of code without description")
    threads = {c[1] for c in cells}
    shown = {1, 8} & threads or {min(threads), max(threads)}
    cells = [c for c in cells if c[0] == cells[0][0] and c[1] in shown]
    figures, axes = pyplot.subplots(1, len(cells), figsize=(3.6 * len(cells), 4), squeeze=False)
    quantiles: List[Tuple[str, str, str]] = [
        ("p50", "p50_ns", "o"), ("p99", "p99_ns", "s"), ("p99.9", "p999_ns", "^"),
    ]
    for axis, cell in zip(axes[0], cells):
        names = [n for n in rows[cell] if n != "limit-write"]
        for label, key, marker in quantiles:
            values = [figure(rows[cell][name], key) for name in names]
            axis.plot(values, range(len(names)), marker, label=label)
        axis.set_xscale("log")
        axis.set_yticks(range(len(names)))
        axis.set_yticklabels(names if axis is axes[0][0] else [])
        axis.invert_yaxis()
        axis.grid(alpha=0.3)
        axis.set_xlabel("ns per append")
        axis.set_title("%d thread%s, %d bytes" % (cell[1], "" if cell[1] == 1 else "s", cell[2]))
    axes[0][0].legend()
    figures.tight_layout()
    figures.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables and a plot of the benchmark's results.")
    parser.add_argument("results")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    rows = load(arguments.results)
    if arguments.full:
        print_full(rows)
    elif arguments.summary:
        print_summary(rows)
    else:
        print_targets(rows)
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
