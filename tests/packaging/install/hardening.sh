#!/bin/sh
# Usage: hardening.sh LIBDIR FOLDER
# What readelf, nm and objdump say of the installed libraries' hardening. FOLDER is for the static
# library's objects.
set -eu
libdir=$1 folder=$2
library=$libdir/libjitdump.so

failed=0
# expect WHAT COMMAND...: the command must succeed.
expect() {
    what=$1
    shift
    if ! "$@" >/dev/null; then
        echo "not so: $what"
        failed=1
    fi
}
# in_output PATTERN COMMAND...
in_output() {
    pattern=$1
    shift
    "$@" | grep -E "$pattern"
}
not_in_output() {
    ! in_output "$@"
}

expect "addresses of functions are read-only once they are bound" \
    in_output ' GNU_RELRO ' readelf --program-headers --wide "$library"
expect "all are bound when the library is loaded" \
    in_output '\(FLAGS(_1)?\).*(BIND_NOW|NOW)' readelf --dynamic --wide "$library"
expect "the stack is not executable" \
    in_output ' GNU_STACK .* RW  *0x' readelf --program-headers --wide "$library"
expect "no memory is writable and executable" \
    not_in_output ' RWE ' readelf --program-headers --wide "$library"
expect "code needs no relocation" not_in_output 'TEXTREL' readelf --dynamic --wide "$library"
expect "stack frames are guarded" \
    in_output ' __stack_chk_fail(@|$)' nm --dynamic --undefined-only "$library"
# Other C libraries have no such functions.
if grep -q __GLIBC__ /usr/include/features.h; then
    expect "libc calls are checked" \
        in_output ' __snprintf_chk(@|$)' nm --dynamic --undefined-only "$library"
fi

rm -rf "$folder"
mkdir "$folder"
cd "$folder"
ar x "$libdir/libjitdump.a"
for object in *.o; do
    expect "$object wants no executable stack" \
        in_output '\.note\.GNU-stack +PROGBITS +[0-9a-f]+ [0-9a-f]+ 0+ [0-9]+ +[0-9]' \
        readelf --sections --wide "$object"
    if readelf --file-header "$object" | grep -q 'Machine:.*X86-64'; then
        expect "$object marks the targets of indirect jumps" \
            in_output 'IBT, SHSTK' readelf --notes --wide "$object"
    fi
done
if readelf --file-header jitdump.c.o | grep -q 'Machine:.*X86-64'; then
    expect "large stack frames touch each page" \
        in_output 'sub +\$0x1000,%r' objdump --disassemble jitdump.c.o
fi

exit $failed
