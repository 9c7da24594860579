#!/bin/sh
# Usage: names.sh SOURCE LIBDIR
# The installed libraries against the header and the version script, as readelf and nm see them.
set -eu
source=$1 libdir=$2
header=$source/include/jitdump.h map=$source/src/packaging/jitdump.map
library=$libdir/libjitdump.so

header_version() {
    sed -n "s/^#define JITDUMP_VERSION_$1 \([0-9]*\)$/\1/p" "$header"
}
abi=$(header_version MAJOR).$(header_version MINOR)
version=$abi.$(header_version PATCH)

. "$(dirname "$0")/expect.sh"

dynamic_entries() {
    readelf --dynamic --wide "$library" | sed -n "s/.*($1).*\[\(.*\)\]$/\1/p"
}
expect "SONAME" "libjitdump.so.$abi" "$(dynamic_entries SONAME)"
expect "file behind libjitdump.so" "libjitdump.so.$version" \
    "$(basename "$(readlink -f "$library")")"
expect "file behind the SONAME" "libjitdump.so.$version" \
    "$(basename "$(readlink -f "$libdir/libjitdump.so.$abi")")"
expect "libraries needed besides libc, its threads and the loader" "" \
    "$(dynamic_entries NEEDED | grep -v -E '^(libc|libpthread|ld-linux.*)\.so' || true)"

functions=$(sed -n 's/^JITDUMP_API .*\(jitdump_[a-z_]*\)(.*/\1/p' "$header" | sort)
expect "declarations understood in the header" \
    "$(grep -c '^JITDUMP_API ' "$header")" "$(echo "$functions" | wc -l)"
expect "names in the version script" "$functions" \
    "$(sed -n 's/^ *\(jitdump_[a-z_]*\);$/\1/p' "$map" | sort)"
expect "names exported, with the version node of this ABI" \
    "$(echo "$functions" | sed "s/$/@@JITDUMP_$abi/")" \
    "$(readelf --dyn-syms --wide "$library" |
        awk '$1 ~ /^[0-9]+:$/ && $7 ~ /^[0-9]+$/ { print $8 }' | sort)"

# Of the static library, which has no version script, what a program could collide with.
expect "global names of the static library that are neither jitdump_ nor jd_" "" \
    "$(nm --extern-only --defined-only "$libdir/libjitdump.a" |
        awk 'NF == 3 && $3 !~ /^(jitdump|jd)_/ { print $3 }')"

# Of the collector, what runtimes look for in it.
collector=$libdir/jitdump/libjitdump-collector.so
expect "names that the collector exports" "$(
    sed -n 's/^ *\([A-Za-z_]*\);$/\1/p' "$source/src/collector/collector.map" | sort)" "$(
    nm --dynamic --defined-only "$collector" | awk '{ print $3 }' | sort)"
expect "what the collector needs besides the C library" "" \
    "$(readelf --dynamic --wide "$collector" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' |
        grep -v -E '^(libc|libpthread|libdl|ld-linux.*)\.so' || true)"

exit $failed
