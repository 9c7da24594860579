#!/bin/sh
# Usage: conan.sh SOURCE FOLDER
# `conan create` of the recipe, static and shared, by a Conan from PyPI.
set -eu
source=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/project"
# The test of a package builds in the recipe's folder.
cp -R "$source/CMakeLists.txt" "$source/LICENSE" "$source/examples" "$source/include" "$source/src" \
    "$folder/project"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet 'conan>=2,<3'
export CONAN_HOME="$folder/home" JITDUMPDIR="$folder"
"$folder/venv/bin/conan" profile detect
for shared in False True; do
    "$folder/venv/bin/conan" create "$folder/project/src/packaging/conan" --options "*:shared=$shared"
done
ls "$folder"/jit-*.dump
