#!/usr/bin/env python3
"""Makes a Go module of the binding and the library's sources, which needs no installed library:

    python3 src/packaging/go_module.py FOLDER

writes what a module proxy has of it, FOLDER/MODULE/@v/, and GOPROXY=file://FOLDER serves it. The
zip's contents are also what a repository for `go get` would hold.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BINDING = PROJECT / "examples" / "ffi" / "go"
INSTALLED = "// #cgo pkg-config: jitdump\n"
VENDORED = "// #cgo CFLAGS: -std=gnu11 -pthread -fvisibility=hidden\n// #cgo LDFLAGS: -pthread\n"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    module_file = (BINDING / "go.mod").read_text(encoding="utf-8")
    match = re.search(r"^module (\S+)", module_file, re.M)
    assert match
    module = match[1]
    header = (PROJECT / "include" / "jitdump.h").read_text(encoding="utf-8")
    version = "v" + ".".join(
        re.findall(r"#define JITDUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    files = {"go.mod": module_file, "LICENSE": (PROJECT / "LICENSE").read_text(encoding="utf-8")}
    for path in BINDING.rglob("*.go"):
        if not path.name.endswith("_test.go"):
            files[str(path.relative_to(BINDING))] = path.read_text(encoding="utf-8")
    assert INSTALLED in files["jitdump.go"]
    files["jitdump.go"] = files["jitdump.go"].replace(INSTALLED, VENDORED)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(PROJECT / "src/packaging/amalgamate.py"), folder],
                       check=True)
        for name in ("jitdump.c", "jitdump.h"):
            files[name] = (pathlib.Path(folder) / name).read_text(encoding="utf-8")

    target = pathlib.Path(sys.argv[1]) / module / "@v"
    target.mkdir(parents=True, exist_ok=True)
    (target / "list").write_text(version + "\n", encoding="utf-8")
    (target / f"{version}.mod").write_text(module_file, encoding="utf-8")
    (target / f"{version}.info").write_text(json.dumps({"Version": version}), encoding="utf-8")
    with zipfile.ZipFile(target / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(f"{module}@{version}/{name}", files[name])


if __name__ == "__main__":
    main()
