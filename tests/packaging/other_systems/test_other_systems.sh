#!/bin/sh
# Usage: test_other_systems.sh SOURCE FOLDER COMPILER PYTHON
# The library on other systems than Linux, by the ziglang package of PyPI, if PYTHON has it (with
# JITDUMP_TESTS_REQUIRE_ZIG=1 it must).
#
# For macOS the emitter is compiled and linked; test_macos_on_linux.py runs what it shares with Linux. Elsewhere there
# is no dump: the functions do nothing and say so, which is also run here, compiled as if this was not
# Linux. Programs are linked where that takes seconds; JITDUMP_TESTS_LINK=1 links for Windows too, which takes
# minutes, and runs that where there is a wine.
set -eu
source=$1 folder=$2 cc=$3 python=$4
here=$(CDPATH='' cd -- "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder"
warnings='-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror'

"$cc" -U__linux__ $warnings "-I$source/include" "$here/portable.c" "$source/src/jitdump.c" \
    -o "$folder/portable"
"$folder/portable"
said=$(JITDUMP=1 "$folder/portable" 2>&1)
case $said in
    "jitdump: there is no dump on this system"*) ;;
    *) echo "with JITDUMP=1 it says '$said'" >&2; exit 1 ;;
esac
echo "runs here, as if this was not Linux"

"$python" "$source/src/packaging/amalgamate.py" "$folder/amalgamated"
"$cc" -U__linux__ $warnings "-I$folder/amalgamated" "$here/portable.c" \
    "$folder/amalgamated/jitdump.c" -o "$folder/portable-amalgamated"
"$folder/portable-amalgamated"

if ! "$python" -m ziglang version >/dev/null 2>&1; then
    echo "skipped: $python has no ziglang"
    [ "${JITDUMP_TESTS_REQUIRE_ZIG:-}" = 1 ] && exit 1
    exit 77
fi
zig() {
    "$python" -m ziglang cc -target "$@" $warnings -O1 -fno-sanitize=all "-I$source/include"
}
for target in x86_64-macos aarch64-macos; do
    zig "$target" "$here/emits.c" "$source/src/jitdump.c" -o "$folder/emits-$target"
    # Mach-O of 64 bits, with the emitter in it.
    [ "$(od -A n -t x1 -N 4 "$folder/emits-$target" | tr -d ' ')" = cffaedfe ]
    grep -q 'jit-%u\.dump' "$folder/emits-$target"
    echo "$target: the emitter compiled and linked"
done
for target in x86_64-windows-gnu aarch64-windows-gnu x86_64-freebsd; do
    case $target-${JITDUMP_TESTS_LINK:-} in
        *windows*-)
            zig "$target" -c "$here/portable.c" -o "$folder/portable.o"
            zig "$target" -c "$source/src/jitdump.c" -o "$folder/jitdump.o"
            echo "$target: compiled"
            ;;
        *)
            zig "$target" "$here/portable.c" "$source/src/jitdump.c" -o "$folder/portable-$target.exe"
            echo "$target: compiled and linked"
            ;;
    esac
done
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
if [ "${JITDUMP_TESTS_LINK:-}" = 1 ] && [ -x "$wine" ]; then
    WINEPREFIX=$folder/wine WINEDEBUG=-all "$wine" "$folder/portable-x86_64-windows-gnu.exe"
    echo "x86_64-windows-gnu: runs"
fi
