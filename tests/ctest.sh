#!/bin/sh
# Usage: ctest.sh BUILD_FOLDER [ctest option]...
# Runs ctest, and then says what was skipped and why, which ctest keeps to itself.
#
#   JITDUMP_TESTS_REPEAT=until-pass:2   ctest's --repeat; if not set, a test that fails has failed
set -eu
cd "$1"
shift

status=0
# shellcheck disable=SC2086 # none or two words
ctest ${JITDUMP_TESTS_REPEAT:+--repeat $JITDUMP_TESTS_REPEAT} --output-on-failure \
    --no-tests=error --timeout 400 --output-log Testing/Temporary/ctest.log "$@" || status=$?

# The first file tells which tests were skipped as a whole, the second has the output of all.
# Of cmocka the lines from a test's start up to its being skipped hold the reason.
skipped=$(awk '
    FNR == NR {
        if (/^[ \t]+[0-9]+ - [^ ]+ \(Skipped\)/)
            whole[$3] = 1
        next
    }
    /^[0-9]+\/[0-9]+ Test: / { name = $3 }
    /^Output:$/              { in_output = 1; next }
    /^<end of output>$/      { in_output = 0 }
    !in_output || /^-+$/     { next }
    name in whole && /skipped: / || /\.\.\. skipped / { print "  " name ": " $0; next }
    /^\[ RUN      \]/        { running = 1; said = ""; next }
    running && /^\[  SKIPPED \]/ { print "  " name ": " $4 ": " said }
    /^\[/                    { running = 0 }
    running                  { said = said $0 " " }
' Testing/Temporary/ctest.log Testing/Temporary/LastTest.log)
if [ "$skipped" ]; then
    printf '\nSkipped:\n%s\n' "$skipped"
fi
exit $status
