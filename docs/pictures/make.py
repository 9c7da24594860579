#!/usr/bin/env python3
"""Makes the README's pictures: perf report of a program's generated code, before and after.

    make.py BUILD_FOLDER

It needs perf, and rich of PyPI, which draws a terminal's text as SVG.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.text import Text

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = PROJECT / "examples" / "tiered" / "program.tl"
ROWS = 8
WIDTH = 88


def run(*command: object, **options: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True,
                          **options).stdout  # type: ignore[call-overload]


def report(profile: pathlib.Path, *options: str) -> list:
    text = run("perf", "report", "--stdio", "-q", "--no-children", "-i", profile, *options,
               cwd=profile.parent)
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def draw(name: str, title: str, command: str, rows: list) -> None:
    console = Console(record=True, width=WIDTH, file=open("/dev/null", "w", encoding="utf-8"))
    console.print(Text(f"$ {command}", style="bold"))
    for row in rows:
        console.print(Text(row[:WIDTH]))
    path = PROJECT / "docs" / "pictures" / name
    svg = console.export_svg(title=title)
    # Whoever looks at the picture shall not fetch a font.
    path.write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S), encoding="utf-8")


def main() -> None:
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="jitted-") as folder:
        directory = pathlib.Path(folder) / "profile"
        run(build / "src/tool/jitdump", "record", "-o", directory, "--call-graph", "dwarf", "--",
            build / "examples/tiered", "--jitdump", "samply-2026", PROGRAM.name, cwd=PROGRAM.parent)
        recorded, named = directory / "recorded.data", directory / "perf.data"
        draw("before.svg", "before", "perf report --sort dso,sym",
             report(recorded, "-g", "none", "--sort", "dso,sym")[:ROWS])
        draw("after.svg", "after: jitdump record -- ./tiered program.tl",
             "perf report --sort sym,srcline", report(named, "-g", "none", "--sort", "sym,srcline")[:ROWS])
        draw("inlined.svg", "with inlined calls: --call-graph dwarf", "perf report --call-graph caller",
             report(named, "--sort", "sym", "--percent-limit", "20", "-g", "caller,3"))


if __name__ == "__main__":
    main()
