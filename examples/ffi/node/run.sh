#!/bin/sh
# Node.js describes a function that it has generated, under perf; tests and installs what is
# missing first, on Debian and Ubuntu.
#
#     sh examples/ffi/node/run.sh [DIRECTORY for what is made]
#
# The package is copied there, and npm puts koffi beside the copy.
set -eu
. "$(dirname "$0")/../../profile.sh"

need node nodejs
need npm npm
begin "$@"
say "Installing koffi, and testing the package"
cp "$here"/*.js "$here"/package*.json .
npm ci --ignore-scripts --no-audit --no-fund
node --test
node layout.js >layout.json
profile hello_from_node node hello.js
