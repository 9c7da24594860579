#!/bin/sh
# Usage: python.sh SOURCE FOLDER
# A wheel, installed in an environment of its own, where the example runs; no library is installed.
set -eu
source=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/elsewhere"
cp -R "$source/include" "$source/src" "$folder"
mkdir -p "$folder/examples/ffi"
cp -R "$source/examples/ffi/python" "$folder/examples/ffi"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder" "$folder/examples/ffi/python"
ls "$folder"/jitdump-*-py3-none-linux_*.whl
"$folder/venv/bin/pip" install --quiet "$folder"/jitdump-*.whl
cp "$source/examples/ffi/python/hello.py" "$folder/elsewhere" # beside it there is the package's source
cd "$folder/elsewhere"
"$folder/venv/bin/python3" hello.py
ls jit-*.dump
"$folder/venv/bin/python3" -c 'import jitdump; print(jitdump.__file__, jitdump.version())' |
    grep "^$folder/venv/"
