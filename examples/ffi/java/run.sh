#!/bin/sh
# Java, by java.lang.foreign, describes a function that it has generated, under perf; tests and
# installs what is missing first, on Debian and Ubuntu.
#
#     sh examples/ffi/java/run.sh [DIRECTORY for what is made]
#
# Exit code 77: there is no JDK of version 22 or newer, nor one to be installed.
set -eu
. "$(dirname "$0")/../../profile.sh"

jdk=$(sh "$here/jdk.sh") ||
    packages='openjdk-25-jdk-headless|openjdk-24-jdk-headless|openjdk-23-jdk-headless'
begin "$@"
jdk=$(sh "$here/jdk.sh") || {
    echo "skipped: no JDK of version 22 or newer in JAVA_HOME, PATH or /usr/lib/jvm, nor a package"
    exit 77
}
run_java() {
    "$jdk/java" --enable-native-access=ALL-UNNAMED -cp classes "$@"
}
say "Building and testing the package with $("$jdk/javac" -version)"
rm -rf classes tests
"$jdk/javac" -Xlint:all,-restricted --release 22 -d classes "$here"/*.java "$here"/jitdump/*.java
mkdir tests
run_java JitdumpTest tests
run_java ContentsTest "${JITDUMP_TESTS_CONTENTS:-tests}"
run_java jitdump.Layout >layout.json
profile hello_from_java "$jdk/java" --enable-native-access=ALL-UNNAMED -cp classes \
    Hello "$here/Hello.java"
