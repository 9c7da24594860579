#!/bin/sh
# Rust describes a function that it has generated, under perf; tests and installs what is missing
# first, on Debian and Ubuntu.
#
#     sh examples/ffi/rust/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

need cargo 'cargo rustc'
need python3 python3 # for the tests, which read dumps with it
begin "$@"
export CARGO_TARGET_DIR="$directory/target"
manifest=$here/Cargo.toml
cargo build --quiet --locked --release --no-default-features --examples --manifest-path "$manifest"
"$CARGO_TARGET_DIR/release/examples/layout" >layout.json
say "The binding's own tests"
cargo test --quiet --locked --release --no-default-features --manifest-path "$manifest"
profile hello_from_rust "$CARGO_TARGET_DIR/release/examples/hello"
