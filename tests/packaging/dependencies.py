#!/usr/bin/env python3
"""Draws which folder of src/ knows which, from the includes, and checks the drawing.

    dependencies.py           the drawing
    dependencies.py --check   fails where a folder knows one that it must not, where files include each
                              other in a circle, where docs/design.md has another drawing, and where something
                              else lies at the top of the repository
    dependencies.py --dot     the same for graphviz
"""
import pathlib
import re
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SRC = PROJECT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
TOP = {"CMakeLists.txt", "LICENSE", "README.md", "docs", "examples", "include", "src", "tests"}

# From the lowest. A folder may know those that it names, and itself.
MAY_KNOW = {
    "format": [],
    "platform": ["format"],
    "system": ["platform", "format"],
    "buffer": ["platform"],
    "encode": ["platform", "format"],
    "emitter": ["encode", "buffer", "system", "platform", "format"],
    "reader": ["format"],
    "check": ["reader", "format"],
    "writers": ["reader", "platform", "format"],
    "inject": ["writers", "reader", "format"],
    "object": ["format"],
    "collector": ["object", "emitter", "system", "platform", "format"],
    "tool": ["inject", "writers", "check", "reader", "platform", "format"],
}


def source_files():
    return sorted(path for path in SRC.glob("*/*.[ch]"))


def includes(path):
    """The project's own files that a file includes."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for base in (path.parent, SRC):
            target = (base / name).resolve()
            if target.is_file() and SRC in target.parents:
                yield target
                break


def room_of(path):
    return path.relative_to(SRC).parts[0]


def drawing(rooms):
    """A line for each folder, the highest first: whom it knows."""
    width = max(map(len, rooms))
    lines = []
    for room in reversed(list(MAY_KNOW)):
        if room in rooms:
            known = [other for other in reversed(list(MAY_KNOW)) if other in rooms[room]]
            lines.append(f"{room:{width}}  ->  {' '.join(known)}" if known else room)
    return "\n".join(lines) + "\n"


def circle(graph):
    """Modules (a .c with its .h) that include each other in a circle; None if there are none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return None
        path.append(module)
        for other in sorted(graph.get(module, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(module)
        return None

    for module in sorted(graph):
        found = visit(module)
        if found:
            return found
    return None


def strangers():
    """What lies at the top of the repository and does not belong there, as what a tool has left."""
    if shutil.which("git") is None:
        return []
    git = subprocess.run(["git", "-C", str(PROJECT), "ls-files"], capture_output=True, text=True, check=False)
    top = {line.strip('"').split("/")[0] for line in git.stdout.splitlines()}  # none: no checkout
    return sorted(name for name in top - TOP if not name.startswith("."))


def main():
    rooms, modules, wrong = {}, {}, []
    for path in source_files():
        room = room_of(path)
        module = str(path.relative_to(SRC).with_suffix(""))
        rooms.setdefault(room, set())
        modules.setdefault(module, set())
        if room not in MAY_KNOW:
            wrong.append(f"src/{room}/ has no place in {pathlib.Path(__file__).name}")
        for target in includes(path):
            other = room_of(target)
            other_module = str(target.relative_to(SRC).with_suffix(""))
            if other != room:
                rooms[room].add(other)
                if other not in MAY_KNOW.get(room, [other]):
                    wrong.append(f"{path.relative_to(PROJECT)} includes {other}/{target.name}: "
                                 f"{room} must not know {other}")
            if other_module != module:
                modules[module].add(other_module)

    if "--dot" in sys.argv:
        print("digraph src {")
        for room, known in rooms.items():
            for other in sorted(known):
                print(f'  "{room}" -> "{other}";')
        print("}")
        return 0
    drawn = drawing(rooms)
    if "--check" not in sys.argv:
        print(drawn, end="")
        return 0
    for name in strangers():
        wrong.append(f"{name} does not belong at the top of the repository")
    found = circle(modules)
    if found:
        wrong.append("a circle: " + " -> ".join(found))
    if drawn not in (PROJECT / "docs" / "design.md").read_text(encoding="utf-8"):
        wrong.append("docs/design.md does not have this drawing:\n" + drawn)
    print("\n".join(wrong) if wrong else "no arrow runs upwards")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
