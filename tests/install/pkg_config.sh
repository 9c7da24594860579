#!/bin/sh
# Usage: pkg_config.sh SOURCE VERSION LIBDIR BUILD COMPILER GENERATOR
# Builds the consumer with what pkg-config says of the installed library, and runs it.
set -eu
source=$1 version=$2 libdir=$3 build=$4 cc=$5 generator=$6
consumer=$(dirname "$0")/consumer/consumer.c
export PKG_CONFIG_PATH="$libdir/pkgconfig"

if ! command -v pkg-config; then
    echo "skipped: pkg-config is not installed"
    exit 77
fi
found=$(pkg-config --modversion jitdump)
if [ "$found" != "$version" ]; then
    echo "pkg-config says version $found, the header $version"
    exit 1
fi
rm -rf "$build"
mkdir -p "$build"
cd "$build"

needs_shared_library() {
    readelf --dynamic --wide "$1" | grep -q 'NEEDED.*libjitdump\.so'
}

# shellcheck disable=SC2046 # several words are wanted
"$cc" "$consumer" -o shared $(pkg-config --cflags --libs jitdump)
needs_shared_library shared
LD_LIBRARY_PATH=$libdir ./shared

# shellcheck disable=SC2046
"$cc" "$consumer" -o static -static $(pkg-config --static --cflags --libs jitdump)
! needs_shared_library static
./static

# A library folder may lie outside of the prefix.
cmake -S "$source" -B absolute -G "$generator" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_INSTALL_LIBDIR=/absolute/lib -DJITDUMP_BUILD_TESTS=OFF -DJITDUMP_BUILD_EXAMPLES=OFF \
    >absolute.log
found=$(PKG_CONFIG_PATH=absolute pkg-config --variable=libdir jitdump)
if [ "$found" != /absolute/lib ]; then
    echo "with the library folder /absolute/lib, pkg-config says $found"
    exit 1
fi
