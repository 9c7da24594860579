#!/bin/sh
# Usage: dump.sh SOURCE BUILD
# Writes what the header promises to programs that are compiled, as libabigail sees it, to
# BUILD/jitdump.abi: functions, structs and constants, those too that no function uses.
#
# It looks at a library of empty functions with the header's prototypes, since the real one's
# debugging information is full of types that are nobody else's business. That the real one
# exports just these functions is for tests/packaging/install/names.sh to see. By gcc: of what clang
# writes libabigail 2.2 says other things.
set -eu
source=$(CDPATH='' cd -- "$1" && pwd) build=$2
header=$source/include/jitdump.h
mkdir -p "$build"
cd "$build"

# Debugging information knows no macros; so their values are given to an enum's names. The
# version is no part of the interface, and the other two have no value.
{
    echo '#include "jitdump.h"'
    awk '/^JITDUMP_API / { inside = 1 }
         inside && sub(/;$/, " { __builtin_trap(); }") { print; inside = 0 }
         inside' "$header"
    echo 'enum jitdump_macros {'
    gcc -dM -E "$header" | awk '$1 == "#define" && $2 ~ /^JITDUMP_/ { print $2 }' |
        grep -v -x -E 'JITDUMP_(H|API|VERSION_[A-Z]+)' | sort |
        sed 's/.*/    macro_& = (&),/'
    echo '};'
} >jitdump.c

version() {
    sed -n "s/^#define JITDUMP_VERSION_$1 \([0-9]*\)$/\1/p" "$header"
}
# Freestanding: with the compiler's own stdint.h, so that it is the same with every libc.
gcc -shared -fPIC -g -fno-eliminate-unused-debug-types -fvisibility=hidden \
    -ffreestanding -nostdlib -I"$source/include" jitdump.c -o libjitdump.so \
    -Wl,-soname,"libjitdump.so.$(version MAJOR).$(version MINOR)"
abidw --load-all-types --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --no-architecture --type-id-style hash --out-file jitdump.abi libjitdump.so
