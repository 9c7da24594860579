"""Compares the binary interface with the one that is kept: check.py BUILD_FOLDER

abidiff says what is different. Any difference is a failure, so that what is kept is always that
of the header; the last line says whether programs break by it. Exit code 77: skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Iterator

from jitdump_tests.layout import Header

ABI = pathlib.Path(__file__).resolve().parent
KEPT = ABI / "jitdump.abi"


def broken(old: dict, new: dict) -> Iterator[str]:
    """What a program that was compiled with the old header relies on and does not get. A struct
    that begins with its size may grow at its end; the others are elements of arrays."""
    for part in ("constants", "functions"):
        for name, value in old[part].items():
            if new[part].get(name) != value:
                yield name
    for name, struct in old["structs"].items():
        found = new["structs"].get(name, {"size": 0, "fields": {}})
        for field, place in struct["fields"].items():
            if found["fields"].get(field) != place:
                yield f"{name}.{field}"
        grown = found["size"] > struct["size"] and "struct_size" in struct["fields"]
        if found["size"] != struct["size"] and not grown:
            yield f"sizeof({name})"


def main(build: str) -> int:
    for tool in ("gcc", "abidw", "abidiff"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            return 1 if os.environ.get("JITDUMP_TESTS_REQUIRE_ABI") == "1" else 77
    subprocess.run(["sh", ABI / "dump.sh", ABI.parents[2], build], check=True)
    current = pathlib.Path(build) / "jitdump.abi"
    report = subprocess.run(["abidiff", "--harmless", "--non-reachable-types", KEPT, current],
                            check=False)
    if report.returncode == 0:
        return 0
    old, new = Header(str(KEPT)), Header(str(current))
    places = list(broken(old.layout(), new.layout()))
    if old.soname != new.soname:
        print(f"{new.soname} in place of {old.soname}, a new interface: "
              "run tests/packaging/abi/renew.sh")
    elif places:
        print(f"This breaks compiled programs ({', '.join(places)}): undo it, or raise the version "
              f"that {old.soname} has in its name, and run tests/packaging/abi/renew.sh")
    else:
        print("All that was there is in its place. If abidiff shows additions only, run "
              "tests/packaging/abi/renew.sh")
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
