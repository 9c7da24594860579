#!/usr/bin/env python3
"""Makes a site of README.md and docs/, by MkDocs, which must be installed for this Python:

    python3 src/packaging/site.py FOLDER [URL]

writes FOLDER/site. URL is where the project's other files can be seen, for links to them. A link that
leads nowhere, to a file or a heading, is an error.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
NAVIGATION = [
    ("Start here", [("Overview", "index.md"), ("Recording", "recording.md"),
                    ("Troubleshooting", "troubleshooting.md"), ("The tool", "tool.md"),
                    ("Collectors", "collectors.md"), ("Symbolising", "symbolising.md")]),
    ("For runtimes", [("Building it in", "integration.md"), ("Lines and inlining", "debug-info.md"),
                      ("Call chains", "unwinding.md"), ("Recipes", "recipes.md"),
                      ("Other languages", "bindings.md"), ("Performance", "performance.md"),
                      ("Packages", "packaging.md"), ("Changes", "changelog.md")]),
    ("How it works", [("The format", "format.md"), ("What consumers do", "consumers.md"),
                      ("Design", "design.md"), ("Robustness", "robustness.md")]),
]


def lead_out(text: str, folder: pathlib.PurePosixPath, url: str) -> str:
    """Links to files that are not of the site lead to where the project's are."""
    def lead(match: "re.Match[str]") -> str:
        target, hash_, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", target) or not target:
            return match[0]
        path = (PROJECT / folder / target).resolve()
        if not path.exists():
            sys.exit(f"{folder}: no file {target}")
        relative = path.relative_to(PROJECT)
        if relative.parts[0] == "docs" and relative.suffix in (".md", ".svg", ".png"):
            return f"]({relative.relative_to('docs')}{hash_}{anchor})"
        if relative == pathlib.Path("README.md"):
            return f"](index.md{hash_}{anchor})"
        return f"]({url}/{relative}{hash_}{anchor})"
    return re.sub(r"\]\(([^)\s]+)\)", lead, text)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    url = sys.argv[2] if len(sys.argv) == 3 else "https://example.org/libjitdump/tree/main"
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(PROJECT / "docs", pages)
    shutil.copy(PROJECT / "README.md", pages / "index.md")
    for page in pages.rglob("*.md"):
        source = pathlib.PurePosixPath("." if page.name == "index.md" else "docs")
        page.write_text(lead_out(page.read_text(encoding="utf-8"), source, url), encoding="utf-8")
    listed = {file for _, group in NAVIGATION for _, file in group}
    forgotten = {page.name for page in pages.glob("*.md")} - listed
    if forgotten:
        sys.exit(f"not in the navigation: {sorted(forgotten)}")
    (folder / "mkdocs.json").write_text(json.dumps({  # which is YAML
        "site_name": "libjitdump", "docs_dir": str(pages), "site_dir": str(folder / "site"),
        "theme": {"name": "mkdocs", "navigation_depth": 3}, "use_directory_urls": False,
        "nav": [{title: [{name: file} for name, file in group if (pages / file).exists()]}
                for title, group in NAVIGATION],
        "validation": {"links": {"anchors": "warn", "unrecognized_links": "warn"}},
    }), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file",
                    str(folder / "mkdocs.json")], check=True)


if __name__ == "__main__":
    main()
