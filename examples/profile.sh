# shellcheck shell=sh disable=SC2034,SC2154,SC2164 # names of what sources this
# What every run.sh of ffi/ and recipes/ does; sourced by it, not run. In this order:
#
#     . "$(dirname "$0")/../../profile.sh"
#     need python3 python3               a command, and the package that has it
#     begin "$@"                         installs that, builds and installs the library, and
#                                        goes to a folder for what is made: $directory
#     ... > layout.json                  the binding's declarations, for tests/bindings/ffi
#     profile NAME COMMAND...            runs the example under perf, and shows the function NAME
#
# $here is the example's folder. $prefix is where the library is installed: LD_LIBRARY_PATH and
# PKG_CONFIG_PATH lead there.

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
source=$(CDPATH='' cd -- "$here/../../.." && pwd)
. "$source/examples/perf.sh"

packages=
# need COMMAND PACKAGE
need() {
    command -v "$1" >/dev/null || packages="$packages $2"
}

# begin [DIRECTORY]
begin() {
    kind=$(basename "$(dirname "$here")")
    mkdir -p "${1:-$source/build-$kind}"
    root=$(CDPATH='' cd -- "${1:-$source/build-$kind}" && pwd)
    need cc 'gcc libc6-dev'
    need objdump binutils
    need cmake cmake
    need pkg-config pkg-config
    command -v make >/dev/null || need ninja make
    [ -n "$(find_perf)" ] || packages="$packages linux-perf|linux-tools-generic"
    # shellcheck disable=SC2086 # several words are wanted
    sh "$source/tests/install-packages.sh" $packages

    directory=$root/$(basename "$here") prefix=$root/prefix
    mkdir -p "$directory"
    cd "$directory"
    say "Building and installing the library into $prefix"
    generator=
    command -v make >/dev/null || generator='-G Ninja'
    {
        # shellcheck disable=SC2086 # empty or two words
        cmake -S "$source" -B "$root/library" $generator -DCMAKE_BUILD_TYPE=Release \
            -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
            -DJITDUMP_BUILD_TESTS=OFF -DJITDUMP_BUILD_EXAMPLES=OFF &&
            cmake --build "$root/library" --parallel "$(nproc)" &&
            cmake --install "$root/library"
    } >build.log 2>&1 || { cat build.log; fail "the build has failed"; }
    export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
}

# profile NAME COMMAND...: with $call_graph ("dwarf"), the callers of NAME too.
profile() {
    name=$1
    shift
    rm -rf jit-*.dump jitted-*.so perf.data perf.jit.data
    use_perf "$PWD"
    # cpu-clock exists everywhere, also in virtual machines without hardware counters.
    say "Recording: perf record -k mono -e cpu-clock:u ${call_graph:+--call-graph $call_graph }$*"
    perf record -k mono -e cpu-clock:u -F 1999 ${call_graph:+--call-graph "$call_graph"} \
        -o perf.data "$@" >output.txt
    perf inject --jit -i perf.data -o perf.jit.data
    say "Functions"
    report -g none -F overhead,sym | tee functions.txt
    grep -q -F -w -- "$name" functions.txt || fail "perf does not know the function $name"
    if [ "${call_graph:-}" ]; then
        say "$name, and its callers"
        report --no-inline -S "$name" -F overhead,sym -g caller,5,callee,function,percent
    fi
    # With each line's share, which a report would tell too, but look for the lines of everything
    # first: in a large runtime that takes minutes.
    say "$name, annotated"
    annotate "$name"
    say "Everything is in $PWD; to look around: perf report -i $PWD/perf.jit.data"
}
