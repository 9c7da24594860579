#!/bin/sh
# Usage: rust.sh SOURCE FOLDER
# The crates as `cargo package` makes them, unpacked and used by a project of its own, where the example
# runs; no library is installed.
set -eu
source=$1 folder=$2
command -v cargo >/dev/null || {
    echo "skipped: cargo is not installed"
    exit 77
}
rm -rf "$folder"
mkdir -p "$folder/elsewhere/src"
# Older ones can't package crates that need each other before they are published.
minor=$(cargo --version | sed 's/^cargo 1\.\([0-9]*\).*/\1/')
if [ "$minor" -lt 90 ]; then
    echo "skipped: cargo 1.90 or newer is needed"
    exit 77
fi
sh "$source/src/packaging/rust_crates.sh" "$folder/crates"
for crate in "$folder"/crates/target/package/*.crate; do
    tar -C "$folder" -xf "$crate"
done
cd "$folder/elsewhere"
cp "$source/examples/ffi/rust/examples/hello.rs" src/main.rs
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$source/examples/ffi/rust/Cargo.toml")
cat >Cargo.toml <<end
[package]
name = "elsewhere"
version = "1.0.0"
edition = "2021"
[dependencies]
jitdump = "$version"
[patch.crates-io]
jitdump = { path = "../jitdump-$version" }
jitdump-sys = { path = "../jitdump-sys-$version" }
end
unset PKG_CONFIG_PATH
CARGO_TARGET_DIR=$folder/target cargo run --quiet --offline
ls jit-*.dump
