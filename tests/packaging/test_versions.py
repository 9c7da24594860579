#!/usr/bin/env python3
"""Whether all that names the version names the header's.

    test_versions.py PROJECT
"""
import pathlib
import re
import sys

FULL, MINOR, NEXT = "{0}.{1}.{2}", "{0}.{1}", "{0}.{next}"
# File, expression with the version as its groups, and what each group is.
PLACES = [
    ("README.md", r"^Status: (\d+\.\d+)", [MINOR]),
    ("docs/changelog.md", r"\A# .*\n\n## (\d+\.\d+\.\d+), \d{4}-\d\d-\d\d$", [FULL]),
    ("docs/bindings.md", r"libjitdump\.so\.(\d+\.\d+)", [MINOR]),
    ("docs/bindings.md", r"`jitdump >= (\S+) jitdump < (\S+)`", [MINOR, NEXT]),
    ("src/packaging/jitdump.map", r"^JITDUMP_(\d+\.\d+) \{", [MINOR]),
    ("src/packaging/meson/meson.build", r"version: '(\d+\.\d+\.\d+)', license", [FULL]),
    ("src/packaging/meson/jitdump.wrap", r"^revision = v(\S+)", [FULL]),
    ("src/packaging/vcpkg/vcpkg.json", r'"version": "(.*)"', [FULL]),
    ("src/packaging/debian/changelog", r"\Ajitdump \((.*)-\d+\)", [FULL]),
    ("src/packaging/debian/control", r"^Package: libjitdump(\d.*)$", [MINOR]),
    ("examples/ffi/python/pyproject.toml", r'^version = "(.*)"', [FULL]),
    ("examples/ffi/python/jitdump/raw.py", r'"libjitdump\.so\.(.*)"', [MINOR]),
    ("examples/ffi/rust/Cargo.toml", r'^version = "(.*)"', [FULL]),
    ("examples/ffi/rust/Cargo.toml", r'version = "=(.*?)"', [FULL]),
    ("examples/ffi/rust/sys/Cargo.toml", r'^version = "(.*)"', [FULL]),
    ("examples/ffi/rust/sys/build.rs", r'"jitdump >= (\S+) jitdump < (\S+)"', [MINOR, NEXT]),
    ("examples/ffi/node/package.json", r'"version": "(.*)"', [FULL]),
    ("examples/ffi/node/native.js", r"'libjitdump\.so\.(.*)'", [MINOR]),
    ("examples/ffi/java/pom.xml", r"^  <version>(.*)</version>", [FULL]),
    ("examples/ffi/java/jitdump/Native.java", r'"libjitdump\.so\.(.*)"', [MINOR]),
    ("examples/luajit/jitdump.lua", r'"libjitdump\.so\.(.*)"', [MINOR]),
]


def main() -> int:
    project = pathlib.Path(sys.argv[1])
    header = (project / "include/jitdump.h").read_text(encoding="utf-8")
    version = re.findall(r"#define JITDUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    following = str(int(version[1]) + 1)
    wrong = 0
    for path, expression, forms in PLACES:
        match = re.search(expression, (project / path).read_text(encoding="utf-8"), re.M)
        expected = [form.format(*version, next=following) for form in forms]
        found = list(match.groups()) if match else None
        if found != expected:
            print(f"{path}: {found}, expected {expected}")
            wrong += 1
    print(f"{len(PLACES)} places, {wrong} of them not of version {'.'.join(version)}")
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())
