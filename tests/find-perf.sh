#!/bin/sh
# Prints the path of a perf that runs here; nothing, if there is none.
#
# Ubuntu's perf is a script that starts the one made for the running kernel, which in a
# container, or after an update, is often not installed. Any other does as well.
set -eu
for candidate in "$(command -v perf || :)" /usr/lib/linux-tools*/perf /usr/lib/linux-tools/*/perf; do
    if [ -x "$candidate" ] && "$candidate" version >/dev/null 2>&1; then
        echo "$candidate"
        break
    fi
done
