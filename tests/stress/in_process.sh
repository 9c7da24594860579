#!/bin/sh
# The stress program alone, without children and without a look into the files: each call is
# checked, and the size of each file. More appends than the drivers have time to verify.
set -eu
stress=$1
operations=$(awk "BEGIN { print int(15000 * ${JITDUMP_STRESS_SCALE:-1}) + 1 }")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT INT TERM
for mode in write-through buffered background; do
    for flush_bytes in 4096 65536; do
        echo "$mode, $flush_bytes bytes"
        "$stress" --directory "$directory" --mode $mode --flush-bytes $flush_bytes --threads 8 \
            --operations "$operations" --code-size-max 150 --flush-every 100
        rm -f "$directory"/*
    done
done
