#!/bin/sh
# Runs all tests, on a fresh Debian or Ubuntu too: installs what is missing (as root or with
# sudo), builds, tests, and says what was skipped and why.
#
#   sh tests/run.sh [ctest option]...
#
#   JITDUMP_TESTS_BUILD_DIR       where to build; if not set, build-tests in the project
#   JITDUMP_TESTS_REQUIRE_PERF=1  a perf that is missing or not permitted is a failure; if
#                                 not set, the tests that need it are skipped
set -eu
project=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=${JITDUMP_TESTS_BUILD_DIR:-$project/build-tests}

packages=
# need COMMAND PACKAGE
need() {
    command -v "$1" >/dev/null || packages="$packages $2"
}
# need_header HEADER PACKAGE
need_header() {
    echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1 || packages="$packages $2"
}
need cc gcc
need c++ g++
need cmake cmake
need make make
need pkg-config pkg-config
need python3 python3
need readelf binutils
need spin spin
need abidw abigail-tools
need strace strace
need luajit luajit
need perf 'linux-perf|linux-tools-generic'
need llvm-dwarfdump llvm
need eu-addr2line elfutils
need gdb gdb
need lowdown lowdown
need mandoc mandoc
need qemu-aarch64 qemu-user
need aarch64-linux-gnu-gcc 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross'
need riscv64-linux-gnu-gcc 'gcc-riscv64-linux-gnu libc6-dev-riscv64-cross'
need zstd zstd
need php8.2 'php8.2-cli php8.2-opcache'
need_header dnnl.h libdnnl-dev
# For what tests ask PyPI for.
python3 -c 'import ensurepip' 2>/dev/null || packages="$packages python3-venv"
need_header stdio.h libc6-dev
need_header cmocka.h libcmocka-dev
# shellcheck disable=SC2086 # several words are wanted
sh "$project/tests/install-packages.sh" $packages

perf=$(sh "$project/tests/find-perf.sh")
[ -z "$perf" ] || PATH=$(dirname "$perf"):$PATH

cmake -S "$project" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DJITDUMP_BUILD_TESTS=ON \
    -DJITDUMP_BUILD_EXAMPLES=ON
cmake --build "$build" --parallel "$(nproc)"
sh "$project/tests/ctest.sh" "$build" "$@"
