#!/bin/sh
# Cranelift compiles functions, described through the Rust crate, under perf. Installs what is
# missing first, on Debian and Ubuntu, but for a cargo that is new enough.
#
#     sh examples/recipes/cranelift/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

if ! command -v cargo >/dev/null; then
    echo "skipped: no cargo is installed"
    exit 77
fi
begin "$@"
export CARGO_TARGET_DIR="$directory/target"
say "Building Cranelift, unoptimised: about a minute of processor time"
cargo build --quiet --locked --manifest-path "$here/Cargo.toml" 2>build.log || {
    cat build.log
    grep -q 'is not supported by the following package' build.log || exit 1
    echo "skipped: this cargo is older than Cranelift wants"
    exit 77
}
export JITDUMP=debug
call_graph=dwarf
profile leaf "$CARGO_TARGET_DIR/debug/jitdump-cranelift" 1
