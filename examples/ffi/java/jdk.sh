#!/bin/sh
# Prints where the programs of a JDK of version 22 or newer are; fails if there is none.
for javac in "${JAVA_HOME:-}/bin/javac" "$(command -v javac)" /usr/lib/jvm/*/bin/javac; do
    version=$("$javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 22 ]; then
        dirname "$javac"
        exit
    fi
done
exit 1
