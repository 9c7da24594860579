#!/bin/sh
# Usage: node.sh SOURCE FOLDER
# `npm pack`, and the package installed in a project of its own, where the example runs; no library is
# installed.
set -eu
source=$1 folder=$2
command -v npm >/dev/null || {
    echo "skipped: npm is not installed"
    exit 77
}
rm -rf "$folder"
mkdir -p "$folder/project/examples/ffi" "$folder/elsewhere"
cp -R "$source/LICENSE" "$source/include" "$source/src" "$folder/project"
cp -R "$source/examples/ffi/node" "$folder/project/examples/ffi"
(cd "$folder/project/examples/ffi/node" && npm pack --silent --pack-destination "$folder")
cd "$folder/elsewhere"
npm init --yes --silent >/dev/null
npm install --silent --no-audit --no-fund "$folder"/jitdump-*.tgz
sed "s|'./jitdump.js'|'jitdump'|" "$source/examples/ffi/node/hello.js" >hello.mjs
node hello.mjs
ls jit-*.dump node_modules/jitdump/*
! ls node_modules/jitdump/*.test.js 2>/dev/null || exit 1
