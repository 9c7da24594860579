#!/bin/sh
# numba compiles Python functions, described by a module that is imported before, under perf. Installs
# what is missing first, on Debian and Ubuntu; numba from PyPI, into a virtual environment of its own.
#
#     sh examples/recipes/numba/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

need python3 python3
python3 -c 'import ensurepip' 2>/dev/null || packages="$packages python3-venv"
begin "$@"

say "Installing numba"
if ! { python3 -m venv venv && venv/bin/pip install --quiet --requirement "$here/requirements.txt"; }; then
    echo "skipped: numba can't be installed for $(python3 --version)"
    exit 77
fi
export PYTHONPATH="$source/examples/ffi/python" PYTHONDONTWRITEBYTECODE=1 JITDUMP=debug
call_graph=dwarf,16384 # Python's interpreter needs more stack than perf copies by itself
profile __main__.leaf venv/bin/python "$here/program.py" 3
