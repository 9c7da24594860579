#!/bin/sh
# Makes tests/packaging/abi/jitdump.abi, which check.py compares with, anew from the header. Before
# a change that breaks programs goes in, JITDUMP_VERSION_MINOR (from 1.0 on MAJOR) is raised.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
sh "$here/dump.sh" "$here/../../.." "$build"
cp "$build/jitdump.abi" "$here/jitdump.abi"
