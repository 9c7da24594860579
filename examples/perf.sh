# shellcheck shell=sh disable=SC2154 # names of what sources this
# What the demonstrations need of perf; sourced by them, not run. $source is the project.

say() {
    printf '\n== %s\n\n' "$*"
}

fail() {
    printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

find_perf() {
    sh "$source/tests/find-perf.sh"
}

# use_perf DIRECTORY: what perf and the programs under it write goes there.
use_perf() {
    perf_program=$(find_perf)
    [ -n "$perf_program" ] || fail "perf is still missing after the installation"
    perf_directory=$1
    export PERF_PAGER=cat JITDUMPDIR="$1"
    check_permission
}

perf() {
    command "$perf_program" --buildid-dir "$perf_directory/buildid" "$@"
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

# perf calls objdump for it. With --asm-raw it does not parse the instructions, over which
# perf 6.12 crashes. The number in front of a source line is not the line's own (perf 6.1 counts
# from elsewhere); those behind // are.
annotate() {
    perf annotate --stdio -q -l --asm-raw -i perf.jit.data "$1" | sed 's/^\( *: \)[0-9]* */\1/'
}
