#!/usr/bin/env python3
"""Whether the man pages are clean and complete: mandoc has nothing to say of any, each function, struct
and enum of the header has one, and all words of its comments are in it.

    test_man_pages.py PROJECT FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def words(text: str) -> set:
    """Without what a renderer may change: marks of comments and Markdown, hyphens, quotes."""
    return set(re.findall(r"[a-z_]\w*(?:\(\))?|\d+", re.sub(r"[*`]", " ", text.lower())))


def rendered(page: pathlib.Path) -> str:
    done = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=1000", str(page)],
                          capture_output=True, text=True, check=True)
    return re.sub(".\b", "", done.stdout)


def main() -> int:
    project, folder = map(pathlib.Path, sys.argv[1:])
    for program in ("lowdown", "mandoc"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            return SKIPPED
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, str(project / "src/packaging/man_pages.py"), str(folder),
                    "2026-01-31"], check=True)
    failed = False

    pages = sorted(folder.glob("man*/*"))
    for page in pages:
        lint = subprocess.run(["mandoc", "-T", "lint", str(page)], capture_output=True, text=True,
                              check=False)
        if lint.returncode != 0 or lint.stdout or lint.stderr:
            print(lint.stdout + lint.stderr)
            failed = True

    for page in pages:
        if files := re.findall(r"(?<!/)\b(?:tool|format|troubleshooting)\.md", rendered(page)):
            print(f"{page.name} speaks of {files[0]}, which is a page, too")
            failed = True

    header = (project / "include/jitdump.h").read_text(encoding="utf-8")
    described = 0
    # A comment that begins in the first column, with the declaration right below it.
    for comment, declaration in re.findall(
            r"^/\*((?:(?!\*/).)*)\*/\n((?:JITDUMP_API|struct|enum)[^;{]*(?:\{.*?^\})?)", header, re.S | re.M):
        name = re.search(r"\b(jitdump_\w+)\(|(?:struct|enum) (jitdump_\w+)", declaration)
        if not name or "{" not in declaration and not name[1]:
            continue  # declared, not defined
        page = folder / "man3" / f"{name[1] or name[2]}.3"
        described += 1
        if not page.exists():
            print(f"{page.name} is missing")
            failed = True
        elif missing := words(comment + declaration) - words(rendered(page)) - {"jitdump_api"}:
            print(f"{page.name} lacks {sorted(missing)}")
            failed = True
    public = set(re.findall(r"^JITDUMP_API[^;]*?\b(jitdump_\w+)\(", header, re.S | re.M))
    missing_functions = public - {page.stem for page in pages}
    if missing_functions or described < len(public) or len(pages) < len(public) + 3:
        print(f"no page: {sorted(missing_functions)}; {described} described, {len(pages)} pages")
        failed = True
    print(f"{len(pages)} pages, {described} of them compared with the header")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
