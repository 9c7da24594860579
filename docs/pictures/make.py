#!/usr/bin/env python3
"""Makes the README's pictures: perf report of a program's generated code, before and after, and the
same profile in samply's view.

    make.py BUILD_FOLDER [--page URL]

It needs perf, samply, Chromium, and of PyPI rich, which draws a terminal's text as SVG, and playwright,
which works a page. samply's view is the page of the Firefox Profiler: the public one, or one that was
built and is served elsewhere. The page asks samply's own server, on this machine, for the profile.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = PROJECT / "examples" / "tiered" / "program.tl"
PICTURES = PROJECT / "docs" / "pictures"
SAMPLY = os.environ.get("SAMPLY", "samply")
ROWS = 8
WIDTH = 88
PAGE = {"width": 1000, "height": 680}
TREE_ROW = ".treeViewRowScrolledColumns"


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
    svg = console.export_svg(title=title)
    # Whoever looks at the picture shall not fetch a font.
    (PICTURES / name).write_text(re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S), encoding="utf-8")


def photograph(name: str, page_url: str, profile: pathlib.Path, child: str) -> None:
    """The page with the profile: the call tree, opened to `child`, and the source."""
    packed = profile.with_suffix(".json.gz")
    run(SAMPLY, "import", "--save-only", "-o", packed, profile)
    with subprocess.Popen([SAMPLY, "load", "--no-open", packed], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PROFILER_URL": page_url}) as server, \
            sync_playwright() as playwright:
        try:
            url = next(line for line in server.stdout or () if line.startswith(page_url)).strip()
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"),
                                                 args=["--no-sandbox"])
            page = browser.new_page(viewport=PAGE)
            # Without the frames that the page adds to those of JavaScript, as which samply takes them.
            page.goto(url + "&implementation=cpp")
            page.locator(".sidebar-open-close-button").click()
            # The source's name is there when samply's server has told all symbols.
            row = page.locator(TREE_ROW, has_text=PROGRAM.name).filter(has_text="Ion: main").first
            row.dblclick()
            page.locator(".cm-content").get_by_text("score(i)").wait_for()
            row.click()
            # Opens a row, and goes from an open one to its first, which is the hottest.
            for _ in range(8):
                page.keyboard.press("ArrowRight")
            page.locator(TREE_ROW, has_text=child).first.wait_for()
            page.locator(".treeViewBody").evaluate(
                "body => { for (let e = body; e; e = e.parentElement) e.scrollLeft = 0 }")
            page.screenshot(path=PICTURES / name)
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--page", default="https://profiler.firefox.com")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="jitted-") as folder:
        directory = pathlib.Path(folder) / "profile"
        shutil.copy(PROGRAM, folder)
        run(build / "src/tool/jitdump", "record", "-o", directory, "--call-graph", "dwarf",
            "-e", "cpu-clock:u", "--", build / "examples/tiered", "--jitdump", "samply-2026", PROGRAM.name,
            cwd=folder)
        recorded, named = directory / "recorded.data", directory / "perf.data"
        draw("before.svg", "before", "perf report --sort dso,sym",
             report(recorded, "-g", "none", "--sort", "dso,sym")[:ROWS])
        draw("after.svg", "after: jitdump record -- ./tiered program.tl",
             "perf report --sort sym,srcline", report(named, "-g", "none", "--sort", "sym,srcline")[:ROWS])
        draw("inlined.svg", "with inlined calls: --call-graph dwarf", "perf report --call-graph caller",
             report(named, "--sort", "sym", "--percent-limit", "20", "-g", "caller,3"))
        photograph("samply.png", arguments.page, recorded, "Ion: square")
        photograph("samply-inlined.png", arguments.page, named, "distance")


if __name__ == "__main__":
    main()
