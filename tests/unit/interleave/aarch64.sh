#!/bin/sh
# The same on aarch64, whose memory is weakly ordered, under qemu-user: once with the exclusive
# loads and stores of ARMv8.0, in which a weak compare-and-swap really fails without reason, and
# once with the atomic instructions of ARMv8.1.
#
# What it shows: the code for that processor, its atomics and its clock, is right. What it does
# not: qemu on x86 keeps the order of memory accesses that x86 keeps.
#
# usage: aarch64.sh SOURCE_DIRECTORY WORK_DIRECTORY
set -eu
source=$1
work=$2
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed"
        exit 77
    fi
done
mkdir -p "$work"
for architecture in armv8-a armv8.1-a; do
    aarch64-linux-gnu-gcc -std=c11 -O2 -march=$architecture -mno-outline-atomics -static -pthread \
        -include "$source/tests/unit/interleave/yielding_atomics.h" \
        -I"$source/include" -I"$source/src" \
        "$source"/src/*.c "$source/tests/unit/interleave/test_interleave.c" -o "$work/$architecture"
    echo "$architecture"
    qemu-aarch64 "$work/$architecture" "$work" 200
done
