#!/bin/sh
# Usage: go.sh SOURCE FOLDER
# The Go module, served as a module proxy does, required by another module, where the example runs; no
# library is installed.
set -eu
source=$1 folder=$2
command -v go >/dev/null || {
    echo "skipped: go is not installed"
    exit 77
}
[ ! -d "$folder" ] || chmod -R u+w "$folder" # the module cache is read-only
rm -rf "$folder"
mkdir -p "$folder/elsewhere"
python3 "$source/src/packaging/go_module.py" "$folder/proxy"
cd "$folder/elsewhere"
export GOPROXY="file://$folder/proxy" GOSUMDB=off GOPATH="$folder/go" GOCACHE="$folder/cache" GOFLAGS=
unset PKG_CONFIG_PATH
cp "$source/examples/ffi/go/hello/main.go" .
go mod init example.org/elsewhere
go get example.org/jitdump@latest
go build -o hello .
./hello
ls jit-*.dump
go list -m example.org/jitdump
