#!/bin/sh
# The stress program alone, without children and without a look into the files: each call is
# checked, and the sizes of the files. More appends than the drivers have time to verify.
#
# usage: in_process.sh PROGRAM [EMULATOR]
set -eu
stress=$1
emulator=${2:-}
scale=${JITDUMP_STRESS_SCALE:-1}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT INT TERM

# run THREADS APPENDS [option]...: of each thread.
run() {
    threads=$1
    operations=$(awk "BEGIN { print int($2 * $scale) + 1 }")
    shift 2
    echo "$threads threads, $operations appends, $*"
    $emulator "$stress" --directory "$directory" --threads "$threads" --operations "$operations" "$@" >/dev/null
    rm -f "$directory"/*
}

for mode in write-through buffered background; do
    run 8 15000 --mode $mode --code-size-max 150 --flush-every 100 --flush-bytes 4096
    run 8 15000 --mode $mode --code-size-max 150 --flush-every 100
    # Quiet now and then, so that a lost wake-up is not made good by the next append.
    run 2 40000 --mode $mode --code-size-max 50 --meet-every 1 --flush-interval-ns 1000
    run 8 6000 --mode $mode --code-size-max 3000 --meet-every 2 --flush-every 5 --flush-bytes 4096 \
        --flush-interval-ns 100000
    run 2 3000 --mode $mode --meet-every 1 --flush-every 2 --flush-bytes 1000000 \
        --flush-interval-ns 1000
    run 8 600 --mode $mode --meet-every 1 --flush-every 3 --flush-bytes 1000000 \
        --flush-interval-ns 1000
done
