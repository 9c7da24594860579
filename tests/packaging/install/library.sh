#!/bin/sh
# Usage: library.sh SOURCE BUILD PREFIX [CMake option]...
# Builds and installs the library anew: a file that an earlier version installed must not
# stand in for one that is no longer installed.
set -eu
source=$1 build=$2 prefix=$3
shift 3

rm -rf "$build" "$prefix"
cmake -S "$source" -B "$build" "$@" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DJITDUMP_BUILD_TESTS=OFF -DJITDUMP_BUILD_EXAMPLES=OFF
cmake --build "$build"
cmake --install "$build"
