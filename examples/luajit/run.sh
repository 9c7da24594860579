#!/bin/sh
# Profiles four Lua programs under LuaJIT and perf: their hottest traces, by name and source line.
#
#     sh examples/luajit/run.sh [DIRECTORY]
#
# Made for Debian and Ubuntu, for root or a user with sudo, which is used to install what is
# missing. Everything else stays in DIRECTORY, or in a new one under /tmp.
set -eu

example=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$example/../.." && pwd)
directory=${1:-$(mktemp -d /tmp/jitdump-luajit.XXXXXX)}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

# need COMMAND PACKAGE
need() {
    command -v "$1" >/dev/null || packages="$packages $2"
}
packages=
need luajit luajit
need cc 'gcc libc6-dev'
need cmake cmake
need make make
[ -n "$(sh "$source/tests/find-perf.sh")" ] ||
    packages="$packages linux-perf|linux-tools-generic"
# shellcheck disable=SC2086 # several words are wanted
sh "$source/tests/install-packages.sh" $packages
PATH=$(dirname "$(sh "$source/tests/find-perf.sh")"):$PATH

echo "== Building and installing the library in $directory"
{
    cmake -S "$source" -B "$directory/build" -DJITDUMP_BUILD_TESTS=OFF \
        -DJITDUMP_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_PREFIX="$directory/prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib &&
        cmake --build "$directory/build" &&
        cmake --install "$directory/build"
} >"$directory/build.log" 2>&1 || { cat "$directory/build.log"; exit 1; }

# What a user sets: where the library and the module are, and where the dump shall go.
export LD_LIBRARY_PATH="$directory/prefix/lib" LUA_PATH="$example/?.lua;;" JITDUMPDIR="$directory"
export PERF_PAGER=cat

# Without what would be the same in each row, and with the lines' text behind their numbers.
report() {
    perf report --stdio -q -i perf.jit.data --no-children --percent-limit 3 -F overhead,"$1" \
        --sort "$1" | sed -e '/^#/d' -e '/^ *$/d' | sort -rn | head -n 8
}
with_text() {
    awk 'NR == FNR { text[FNR] = $0; next }
         { split($2, place, ":"); print $0 text[place[2]] }' "$1" -
}

cd "$directory"
for program in nbody spectral_norm fannkuch words; do
    printf '\n== luajit -l jitdump %s.lua\n' "$program"
    perf record -k mono -e cpu-clock:u -F 1999 -o perf.data -- \
        luajit -l jitdump "$example/programs/$program.lua"
    perf --buildid-dir "$directory/buildid" inject --jit -i perf.data -o perf.jit.data
    echo
    report sym
    report srcline | with_text "$example/programs/$program.lua"
    echo
    perf script -i perf.data --ns -G -F tid,time,ip,sym,dso >before.txt
    perf script -i perf.jit.data --ns -G -F tid,time,ip,sym,dso,srcline >after.txt
    awk -f "$source/examples/share.awk" -v minimum=99 before.txt after.txt
done
