#!/usr/bin/env python3
"""Makes one file of the emitter, for those who vendor it as two: jitdump.h and jitdump.c.

    python3 src/packaging/amalgamate.py FOLDER

copies include/jitdump.h there, and writes jitdump.c: src/jitdump.c with each file that it includes in
the include's place, each once.
"""
import pathlib
import re
import shutil
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'#include "([^"]+)"')


def inline(path, seen, lines):
    """Appends the lines of the file at `path` and of those that it includes."""
    seen.add(path)
    lines.append(f"/* {path.relative_to(PROJECT / 'src')} */\n")
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        match = INCLUDE.match(line)
        if not match:
            lines.append(line)
            continue
        target = (path.parent / match[1]).resolve()
        if not target.exists():
            lines.append(line)  # jitdump.h, which is not the emitter's own
        elif target not in seen:
            inline(target, seen, lines)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    header = PROJECT / "include" / "jitdump.h"
    version = re.findall(r"#define JITDUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         header.read_text(encoding="utf-8"))
    licence = (PROJECT / "LICENSE").read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines = [f"/*\n * libjitdump {'.'.join(version)}, the emitter in one file. "
             "Made by src/packaging/amalgamate.py.\n *\n"]
    lines += [f" * {line}".rstrip() + "\n" for line in licence]
    lines.append(" */\n")
    inline(PROJECT / "src" / "jitdump.c", set(), lines)
    (folder / "jitdump.c").write_text("".join(lines), encoding="utf-8")
    shutil.copy(header, folder / "jitdump.h")


if __name__ == "__main__":
    main()
