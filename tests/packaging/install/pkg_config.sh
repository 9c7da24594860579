#!/bin/sh
# Usage: pkg_config.sh SOURCE VERSION LIBRARY_BUILD LIBDIR BUILD COMPILER GENERATOR
# Builds the consumer with what pkg-config says of the installed library, and runs it.
set -eu
source=$1 version=$2 library_build=$3 libdir=$4 build=$5 cc=$6 generator=$7
consumer=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)/consumer/consumer.c
wrapper=$source/tests/packaging/header/wrapper.cpp

if ! command -v pkg-config; then
    echo "skipped: pkg-config is not installed"
    exit 77
fi
rm -rf "$build"
mkdir -p "$build"
cd "$build"

# expect WHAT EXPECTED FOUND
expect() {
    if [ "$3" != "$2" ]; then
        echo "$1: pkg-config says $3, not $2"
        exit 1
    fi
}

needs_shared_library() {
    readelf --dynamic --wide "$1" | grep -q 'NEEDED.*libjitdump\.so'
}

# check_consumers LIBDIR
check_consumers() {
    installed=$1
    export PKG_CONFIG_PATH="$installed/pkgconfig"
    expect version "$version" "$(pkg-config --modversion jitdump)"
    expect "library folder" "$installed" "$(pkg-config --variable=libdir jitdump)"
    expect "header folder" "$(dirname "$installed")/include" \
        "$(pkg-config --variable=includedir jitdump)"

    # What pkg-config prints is quoted for a shell.
    eval "set -- $(pkg-config --cflags --libs jitdump)"
    "$cc" "$consumer" -o shared "$@"
    needs_shared_library shared
    LD_LIBRARY_PATH=$installed ./shared
    if command -v c++ >/dev/null; then
        c++ -std=c++17 "$wrapper" -o shared-c++ "$@"
        needs_shared_library shared-c++
        rm -rf dump && mkdir dump
        env -u JITDUMP LD_LIBRARY_PATH="$installed" ./shared-c++ "$PWD/dump"
    fi

    eval "set -- $(pkg-config --static --cflags --libs jitdump)"
    "$cc" "$consumer" -o static -static "$@"
    if needs_shared_library static; then
        echo "the program linked statically needs the shared library"
        exit 1
    fi
    ./static
}

check_consumers "$libdir"

# In another prefix than the one that was configured, with a space in its name.
cmake --install "$library_build" --prefix "$build/other place" >install.log
check_consumers "$build/other place/lib"

# A library folder may lie outside of the prefix.
cmake -S "$source" -B absolute -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_INSTALL_LIBDIR=/absolute/lib -DJITDUMP_BUILD_TESTS=OFF -DJITDUMP_BUILD_EXAMPLES=OFF \
    >absolute.log
cmake --build absolute >>absolute.log
DESTDIR=$PWD/root cmake --install absolute >>absolute.log
PKG_CONFIG_PATH=$PWD/root/absolute/lib/pkgconfig
expect "absolute library folder" /absolute/lib "$(pkg-config --variable=libdir jitdump)"
