#!/bin/sh
# Usage: amalgamation.sh SOURCE FOLDER COMPILER PYTHON...
# The two files that vendors like, made and compiled, by this compiler and those others that there are;
# used from C and C++; and each of the emitter's files compiled by itself.
set -eu
source=$1 folder=$2 cc=$3
shift 3
warnings="-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror"

rm -rf "$folder"
mkdir -p "$folder"
"$@" "$source/src/packaging/amalgamate.py" "$folder"
cd "$folder"
test "$(grep -c '^#include "' jitdump.c)" = "$(grep -c '^#include "jitdump.h"$' jitdump.c)"

for compiler in "$cc" gcc clang musl-gcc; do
    command -v "$compiler" >/dev/null || continue
    echo "$compiler"
    # shellcheck disable=SC2086 # several words
    "$compiler" $warnings -O2 -c jitdump.c -o jitdump.o
    "$compiler" -I. "$source/tests/packaging/install/consumer/consumer.c" jitdump.o -pthread -o consumer
    ./consumer
done

cat >consumer.cpp <<'EOF'
#include "jitdump.h"
int main()
{
    jitdump *dump = nullptr;
    return jitdump_open(&dump, nullptr) != 0 || jitdump_path(dump) == nullptr ||
           jitdump_close(dump) != 0;
}
EOF
"$cc" -c jitdump.c -o jitdump.o
if command -v c++ >/dev/null; then
    c++ -Wall -Wextra -Wpedantic -Werror consumer.cpp jitdump.o -pthread -o consumer_cpp
    ./consumer_cpp
fi

for file in "$source"/src/emitter/*.c "$source"/src/encode/*.c "$source"/src/buffer/*.c \
    "$source"/src/system/*.c; do
    # shellcheck disable=SC2086
    "$cc" $warnings -fsyntax-only "$file" -I"$source/include"
done
