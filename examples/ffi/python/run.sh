#!/bin/sh
# Python describes a function that it has generated, under perf; tests and installs what is
# missing first, on Debian and Ubuntu.
#
#     sh examples/ffi/python/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

need python3 python3
begin "$@"
export PYTHONPATH="$here:$source/tests" PYTHONDONTWRITEBYTECODE=1
python3 -m jitdump.layout >layout.json
say "The binding's own tests"
python3 -m unittest discover --start-directory "$here"
profile hello_from_python python3 "$here/hello.py"
