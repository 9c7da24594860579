#!/bin/sh
# Go describes a function that it has generated, under perf; tests and installs what is
# missing first, on Debian and Ubuntu.
#
#     sh examples/ffi/go/run.sh [DIRECTORY for what is made]
set -eu
. "$(dirname "$0")/../../profile.sh"

need go golang-go
begin "$@"
say "Building and testing the package"
(
    cd "$here"
    go build -o "$directory/" ./hello ./layout
    go vet ./...
    go test -count=1 .
    "$directory/layout" "$directory/hello" >"$directory/layout.json"
)
profile hello_from_go ./hello
