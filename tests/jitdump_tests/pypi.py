"""Packages of PyPI that tests ask, for what Debian does not have."""
import fcntl
import os
import pathlib
import subprocess
import sys
from typing import Optional

# A venv is made once for each build folder, in which the tests run.
FOLDER = pathlib.Path(os.environ.get("JITDUMP_PYPI", "pypi"))


def has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True,
                          check=False).returncode == 0


def python_with(module: str) -> Optional[str]:
    """A Python that has the module of that name, from the package of that name. None, with the
    reason printed: there is none."""
    if has(sys.executable, module):
        return sys.executable
    FOLDER.mkdir(parents=True, exist_ok=True)
    python = str(FOLDER.absolute() / module / "bin" / "python")
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(python) and has(python, module):
            return python
        for command in ([sys.executable, "-m", "venv", "--clear", str(FOLDER / module)],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                         "--retries", "0", "--timeout", "10", "--only-binary", ":all:", module]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                reason = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason"]
                print(f"PyPI's {module} is left out: {' '.join(command[1:3])}: {reason[0]}")
                return None
    return python

