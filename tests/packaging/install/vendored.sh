#!/bin/sh
# Usage: vendored.sh SOURCE FOLDER COMPILER
# The library's sources in other projects' builds, without CMake.
set -eu
source=$1 folder=$2 cc=$3
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
consumer=$here/consumer

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

. "$here/expect.sh"
# exported LIBRARY; what begins with _ is the C library's start and end.
exported() {
    nm --dynamic --defined-only "$1" | awk '$2 ~ /[A-Z]/ && $3 !~ /^_/ { print $3 }' | sort
}

hidden='-DJITDUMP_API=__attribute__((visibility("hidden")))'
public=$(sed -n 's/^JITDUMP_API .*\(jitdump_[a-z_]*\)(.*/\1/p' "$source/include/jitdump.h" | sort)
"$cc" -shared -fPIC "$source"/src/*.c -I"$source/include" -pthread -o default.so
expect "names that a shared object exports" "$public" "$(exported default.so)"
"$cc" -shared -fPIC "$hidden" "$source"/src/*.c -I"$source/include" -pthread -o hidden.so
expect "names exported with JITDUMP_API hidden" "" "$(exported hidden.so)"
"$cc" -shared -fPIC -fvisibility=hidden -DJITDUMP_API= "$source"/src/*.c -I"$source/include" \
    -pthread -o empty.so
expect "names exported with -fvisibility=hidden and JITDUMP_API empty" "" "$(exported empty.so)"

# In a build with flags of its own.
"$cc" -fsyntax-only -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Werror "$source"/src/*.c -I"$source/include" ||
    failed=1

# With -Isrc no header of ours can hide one of the system's: there is none in that folder itself.
expect "headers in src/ itself" "" "$(find "$source/src" -maxdepth 1 -name '*.h')"

# As part of one source of the program's own, in any order of ours: no two have a static name in
# common, and the public functions may be static too. (Those for other systems are the same functions.)
sed -n '/unsupported/d; s|^#include "\(.*\)"|#include "'"$source"'/src/\1"|p' "$source/src/jitdump.c" >forwards.c
sed -n '1!G;h;$p' forwards.c >backwards.c
for order in forwards backwards; do
    echo "#include \"$consumer/consumer.c\"" >>"$order.c"
    "$cc" -DJITDUMP_API=static -Werror "$order.c" -I"$source/include" -pthread -o "$order" &&
        "./$order" || failed=1
    expect "public functions with JITDUMP_API static" "" \
        "$(nm --extern-only --defined-only "$order" | awk '$3 ~ /^jitdump_/ { print $3 }')"
done

# With a C library that lacks what not all of them have.
"$cc" -fsyntax-only -Werror=implicit-function-declaration -I"$here/lesser_libc" "$source"/src/*.c     -I"$source/include" || failed=1

# Two versions in one process, each in a shared object of its own: each calls itself.
libraries=
for patch in 101 102; do
    mkdir -p "$patch/include"
    sed "s/^\(#define JITDUMP_VERSION_PATCH\) .*/\1 $patch/" "$source/include/jitdump.h" \
        >"$patch/include/jitdump.h"
    "$cc" -shared -fPIC "$hidden" -Dvendor="vendor_$patch" -I"$patch/include" \
        "$consumer/vendor.c" "$source"/src/*.c -pthread -o "libvendor_$patch.so"
    libraries="$libraries libvendor_$patch.so"
done
# shellcheck disable=SC2086 # a list
"$cc" "$consumer/two_vendors.c" $libraries -Wl,-rpath,"$PWD" -o two_vendors
mkdir dumps
./two_vendors || failed=1

exit $failed
