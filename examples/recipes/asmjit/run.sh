#!/bin/sh
# AsmJit's compiler generates functions, described as they are written, under perf. Installs what is
# missing first, on Debian and Ubuntu.
#
#     sh examples/recipes/asmjit/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

echo '#include <asmjit/asmjit.h>' | c++ -E -x c++ - >/dev/null 2>&1 ||
    packages="$packages libasmjit-dev"
need c++ g++
begin "$@"

say "Building the program"
{
    # shellcheck disable=SC2086 # empty or two words
    cmake -S "$here" -B build $generator -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_PREFIX_PATH="$prefix" && cmake --build build
} >build.log 2>&1 || { cat build.log; fail "the build has failed"; }
export JITDUMP=debug
call_graph=dwarf
profile leaf build/run_asmjit 1
