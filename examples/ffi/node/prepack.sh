#!/bin/sh
# Run by `npm pack` within the project: builds the library for this machine into the package. Who has
# it built on several machines puts all folders into one package.
set -eu
project=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
folder=$(node -p 'process.platform + "-" + process.arch')
mkdir -p "$folder"
cp "$project/LICENSE" .
"${CC:-cc}" -std=c11 -O2 -fPIC -shared -pthread -fvisibility=hidden -I"$project/include" \
    "$project/src/jitdump.c" -Wl,--version-script="$project/src/packaging/jitdump.map" \
    -Wl,-z,relro,-z,now -o "$folder/libjitdump.so"
