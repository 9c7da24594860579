#!/bin/sh
# LLVM's ORC runs a C program, described by a plugin for JITLink and by a listener for RTDyld,
# under perf. Installs what is missing first, on Debian and Ubuntu.
#
#     sh examples/recipes/llvm/run.sh [DIRECTORY for what is made]
#
# LLVM_CONFIG: of the LLVM to take, 14 or newer. If not set: llvm-config.
set -eu
. "$(dirname "$0")/../../profile.sh"

llvm_config=${LLVM_CONFIG:-llvm-config}
[ -e "$("$llvm_config" --includedir 2>/dev/null)/llvm/ExecutionEngine/Orc/LLJIT.h" ] ||
    packages="$packages llvm-dev"
need c++ g++
need clang clang
begin "$@"

say "Building the program that runs in LLVM $("$llvm_config" --version)"
{
    # shellcheck disable=SC2086 # empty or two words
    cmake -S "$here" -B build $generator -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_PREFIX_PATH="$prefix" -DLLVM_DIR="$("$llvm_config" --cmakedir)" && cmake --build build
} >build.log 2>&1 || { cat build.log; fail "the build has failed"; }
# Of the same version, or the LLVM in which it runs may not know its bitcode.
clang=$("$llvm_config" --bindir)/clang
[ -x "$clang" ] || clang=clang
"$clang" -O2 -g -c -emit-llvm "$here/program.c" -o program.bc

export JITDUMP=debug
call_graph=dwarf
for linker in jitlink rtdyld; do
    mkdir -p "$directory/$linker"
    cd "$directory/$linker"
    profile leaf ../build/run_bitcode "$linker" ../program.bc 1
done
