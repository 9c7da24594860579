#!/bin/sh
# Shows what libjitdump is for: builds a JIT for Brainfuck, profiles a program under it, and
# prints what perf knows about the generated code.
#
#     sh examples/demo.sh [DIRECTORY]
#
# Made for Debian and Ubuntu, for root or a user with sudo, which is used to install what is
# missing. Everything else stays in DIRECTORY, or in a new one under /tmp.
set -eu

source=$(cd "$(dirname "$0")/.." && pwd)
program=$source/examples/hyperfactorial.bf

. "$source/examples/perf.sh"

install_missing() {
    packages=
    command -v cc >/dev/null || packages="$packages gcc libc6-dev"
    command -v objdump >/dev/null || packages="$packages binutils"
    command -v cmake >/dev/null || packages="$packages cmake"
    command -v make >/dev/null || command -v ninja >/dev/null || packages="$packages make"
    [ -n "$(find_perf)" ] || packages="$packages linux-perf|linux-tools-generic"
    # shellcheck disable=SC2086 # several words are wanted
    sh "$source/tests/install-packages.sh" $packages
}

build() {
    generator=
    command -v make >/dev/null || generator='-G Ninja'
    {
        # shellcheck disable=SC2086 # empty or two words
        cmake -S "$source" -B build $generator -DJITDUMP_BUILD_TESTS=OFF &&
            cmake --build build --target bf
    } >build.log 2>&1 || { cat build.log; fail "the build has failed"; }
}

# The lines' text behind their numbers.
with_text() {
    awk 'NR == FNR { text[FNR] = $0; next }
         { split($2, place, ":")
           print $0 "  " (place[1] == "hyperfactorial.bf" ? text[place[2]] : "") }' "$program" -
}

# How many of the chains that begin in generated code go down to main().
count_chains() {
    perf script -i perf.jit.data -F ip,sym,dso |
        awk -v RS= '/^[^\n]*\/jitted-[0-9]+-[0-9]+\.so\)/ { all++; whole += / main \(/ }
             END { printf "%d of their %d call chains, %.2f %%, go down to main()\n",
                          whole, all, all ? 100 * whole / all : 0
                   exit whole < 0.99 * all }'
}

install_missing
directory=${1:-$(mktemp -d /tmp/jitted-demo.XXXXXX)} # perf 7 finds call chains there alone (P30)
mkdir -p "$directory"
cd "$directory"
directory=$PWD
use_perf "$directory"

say "Building in $directory"
build
# cpu-clock exists everywhere, also in virtual machines without hardware counters. With each
# sample comes a copy of the stack's top, from which the callers are found; of the 8 KiB that
# perf takes if not told, this program needs little.
how="-k mono -e cpu-clock:u -F 1999 --call-graph dwarf,2048"
say "Recording: perf record $how bf --jitdump hyperfactorial.bf"
# shellcheck disable=SC2086 # several words are wanted
perf record $how -o perf.data build/examples/bf --jitdump "$program" >hyperfactorial.txt
perf inject --jit -i perf.data -o perf.jit.data

say "Functions, each named after the line and column where its loop begins"
report -g none -F overhead,sym | tee functions.txt
hottest=$(sed -n '1s/.*\[\.\] *\([^ ]*\).*/\1/p' functions.txt)
[ -n "$hottest" ] || fail "perf has recorded nothing; it needs /proc and /sys"
say "The callers of the hottest one"
report -g caller -F overhead,sym -S "$hottest"
say "Source lines"
report -g none --sort srcline | with_text
say "The hottest function, annotated"
annotate "$hottest"

say "How much of the profile is told"
perf script -i perf.data --ns -G -F tid,time,ip,sym,dso >before.txt
perf script -i perf.jit.data --ns -G -F tid,time,ip,sym,dso,srcline >after.txt
{ awk -f "$source/examples/share.awk" -v minimum=99 before.txt after.txt && count_chains; } ||
    fail "that is less than 99 %: please report it, with $directory"
say "Everything is in $directory; to look around: perf report -i $directory/perf.jit.data"
