#!/bin/sh
# Profiles three Java programs with the agent, and prints what perf knows of their methods.
#
#     sh examples/jvmti/run.sh [DIRECTORY]
#
# Made for Debian and Ubuntu, for root or a user with sudo, which is used to install what is
# missing: perf, a compiler, and a JDK if none is on PATH. Everything else stays in DIRECTORY, or
# in a new one under /tmp.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
programs='Sources Plugins Shapes'
seconds=5

. "$source/examples/perf.sh"

# Without copies of all files that perf meets, of which every method is one.
perf() {
    command "$perf_program" --buildid-dir /dev/null "$@"
}

install_missing() {
    packages=
    command -v cc >/dev/null || packages="$packages gcc libc6-dev"
    command -v cmake >/dev/null || packages="$packages cmake"
    command -v make >/dev/null || packages="$packages make"
    command -v javac >/dev/null ||
        packages="$packages openjdk-17-jdk-headless|default-jdk-headless"
    [ -n "$(find_perf)" ] || packages="$packages linux-perf|linux-tools-generic"
    # shellcheck disable=SC2086 # several words are wanted
    sh "$source/tests/install-packages.sh" $packages
}

build() {
    cmake -S "$source" -B build -G 'Unix Makefiles' -DJITDUMP_BUILD_TESTS=OFF &&
        cmake --build build --target jitdump-jvmti && javac -g -d classes "$here"/*.java
}

# Which memory holds generated code is read from the profile as it was recorded.
count_named() {
    for profile in "$1.data" "$1.jit.data"; do
        perf script -i "$profile" --ns -G -F tid,time,ip,sym,dso >"$profile.txt" 2>>perf.log
    done
    awk -f "$source/examples/share.awk" "$1.data.txt" "$1.jit.data.txt" | head -n 2
}

profile() {
    say "$1"
    perf record -k mono -e cpu-clock:u -F 1999 -o "$1.data" \
        java "-agentpath:$agent" -cp classes "$1" "$seconds"
    perf inject --jit -i "$1.data" -o "$1.jit.data" 2>>perf.log
    # Generated code alone; perf has an object of its own for each method.
    perf report --stdio -q -i "$1.jit.data" --sort sym,dso 2>>perf.log |
        sed -n 's/  *jitted-[0-9-]*\.so *$//p' | head -n 12
    count_named "$1"
}

install_missing
directory=${1:-$(mktemp -d /tmp/jitdump-jvmti.XXXXXX)}
mkdir -p "$directory"
cd "$directory"
directory=$PWD
use_perf "$directory"
build >build.log 2>&1 || { cat build.log; fail "the build has failed"; }
agent=$directory/build/examples/jvmti/libjitdump-jvmti.so
for program in $programs; do
    profile "$program"
done
say 'The lines of Shapes.total()'
# In the folder below which the sources lie, perf also finds their text.
(cd "$here" && perf annotate --stdio -l --asm-raw -i "$directory/Shapes.jit.data" \
    'Shapes.total(java.util.List, java.util.function.DoubleUnaryOperator)' 2>>"$directory/perf.log") |
    grep -E '^ +[0-9.]+ +[A-Za-z/]+\.java:[0-9]+$' | head -n 8
printf '\nTo look around: cd %s && perf report -i Sources.jit.data\n' "$directory"
