#!/bin/sh
# Usage: rust_crates.sh FOLDER
# A workspace in FOLDER with the crates jitdump-sys, with the library's sources inside, and jitdump, and
# in FOLDER/target/package what `cargo publish` would send.
set -eu
project=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)

for file in Cargo.toml Cargo.lock src examples sys; do
    cp -R "$project/examples/ffi/rust/$file" "$folder"
done
python3 "$project/src/packaging/amalgamate.py" "$folder/sys/vendor"
cp "$project/LICENSE" "$folder"
cp "$project/LICENSE" "$folder/sys/vendor"
cd "$folder"
CARGO_TARGET_DIR=$folder/target cargo package --workspace --allow-dirty --quiet
