"""samply's symbol server, which the profiler's page asks."""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request

SAMPLY = os.environ.get("SAMPLY") or shutil.which("samply")


def symbolicate(profile: pathlib.Path, libs: list[dict],
                frames: list[tuple[int, int]]) -> tuple[list[bool], list[dict]]:
    """Which of the libs the server knows, and what it says of each frame: the number of a lib, and an
    address in it."""
    with subprocess.Popen([str(SAMPLY), "load", "--no-open", "-P", "3100+", str(profile)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, cwd=profile.parent) as server:
        try:
            for line in server.stdout or ():
                found = re.search(r"symbolServer=http%3A%2F%2F127.0.0.1%3A(\d+)%2F(\w+)", line)
                if found:
                    break
            else:
                raise AssertionError("samply load ended early")
            query = {"memoryMap": [[lib["debugName"], lib["breakpadId"]] for lib in libs],
                     "stacks": [[list(frame) for frame in frames]]}
            request = urllib.request.Request(f"http://127.0.0.1:{found[1]}/{found[2]}/symbolicate/v5",
                                             json.dumps(query).encode())
            with urllib.request.urlopen(request, timeout=60) as answer:
                (result,) = json.load(answer)["results"]
        finally:
            server.kill()
    known = result["found_modules"]
    return [known[f"{lib['debugName']}/{lib['breakpadId']}"] for lib in libs], result["stacks"][0]
