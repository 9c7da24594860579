#!/bin/sh
# Usage: walk_emulated.sh MACHINE FUNCTION...
# Runs walk.c for another machine. Exit code 77: skipped, for want of a compiler or an emulator.
set -eu
machine=$1
shift
compiler=$machine-linux-gnu-gcc
emulator=qemu-$machine
for program in "$compiler" "$emulator"; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: there is no $program"
        exit 77
    fi
done
if ! echo '#include <stdio.h>' | "$compiler" -E -x c - >/dev/null 2>&1; then
    echo "skipped: $compiler has no C library"
    exit 77
fi

here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Static, so that the emulator needs no libraries of that machine.
"$compiler" -std=c11 -O2 -static -fasynchronous-unwind-tables -I"$here/../../../include" \
    "$here/walk.c" "$here/elf_frames.c" "$here/functions.c" "$here/functions_$machine.S" "$here"/../../../src/*.c \
    -o "$folder/walk" -pthread
"$emulator" "$folder/walk" "$@"
