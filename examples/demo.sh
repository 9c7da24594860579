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

say() {
    printf '\n== %s\n\n' "$*"
}

fail() {
    printf '\ndemo.sh: %s\n' "$*" >&2
    exit 1
}

find_perf() {
    sh "$source/tests/find-perf.sh"
}

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

check_permission() {
    perf record -k mono -e cpu-clock:u -o probe.data true >probe.log 2>&1 && return
    cat probe.log
    users=
    [ "$(id -u)" = 0 ] || users="
  - run this as root, or let users do it; kernel.perf_event_paranoid must be 2 or less
    and is $(cat /proc/sys/kernel/perf_event_paranoid) now:
        sudo sysctl kernel.perf_event_paranoid=2"
    fail "perf events are not permitted here. What helps:$users
  - in a container: start it with --cap-add PERFMON; and where its seccomp profile
    forbids perf_event_open all the same, with --security-opt seccomp=unconfined"
}

# Without what would be the same in each row: the command, the shared object.
report() {
    perf report --stdio -q -i perf.jit.data --no-children --percent-limit 0.5 "$@" |
        sed -e '/^#/d' -e '/^ *$/d'
}

# The lines' text behind their numbers.
with_text() {
    awk 'NR == FNR { text[FNR] = $0; next }
         { split($2, place, ":")
           print $0 "  " (place[1] == "hyperfactorial.bf" ? text[place[2]] : "") }' "$program" -
}

# perf calls objdump for it. With --asm-raw it does not parse the instructions, over which
# perf 6.12 crashes. The number in front of a source line is not the line's own (perf 6.1 counts
# from elsewhere); those behind // are.
annotate() {
    perf annotate --stdio -q -l --asm-raw -i perf.jit.data "$1" | sed 's/^\( *: \)[0-9]* */\1/'
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
perf_program=$(find_perf)
[ -n "$perf_program" ] || fail "perf is still missing after the installation"
directory=${1:-$(mktemp -d /tmp/jitdump-demo.XXXXXX)}
mkdir -p "$directory"
cd "$directory"
directory=$PWD
export PERF_PAGER=cat JITDUMPDIR="$directory"
perf() {
    command "$perf_program" --buildid-dir "$directory/buildid" "$@"
}
check_permission

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
