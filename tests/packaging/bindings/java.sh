#!/bin/sh
# Usage: java.sh SOURCE FOLDER
# The jar, by Maven into a repository of its own, and the example as a project that depends on its
# coordinates; no library is installed.
set -eu
source=$1 folder=$2
command -v mvn >/dev/null || {
    echo "skipped: mvn is not installed"
    exit 77
}
jdk=$(sh "$source/examples/ffi/java/jdk.sh") || {
    echo "skipped: no JDK of version 22 or newer"
    exit 77
}
rm -rf "$folder"
mkdir -p "$folder/elsewhere/src/main/java" "$folder/native"
arch=$("$jdk/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *os.arch = //p')
mkdir -p "$folder/native/jitdump/linux-$arch"
cc -std=c11 -O2 -fPIC -shared -pthread -fvisibility=hidden -I"$source/include" "$source/src/jitdump.c" \
    -Wl,--version-script="$source/src/packaging/jitdump.map" \
    -o "$folder/native/jitdump/linux-$arch/libjitdump.so"
JAVA_HOME=$(dirname "$jdk")
export JAVA_HOME
maven() {
    mvn --batch-mode --quiet -Dmaven.repo.local="$folder/repository" "$@"
}
maven -f "$source/examples/ffi/java/pom.xml" -Dnative="$folder/native" -Dfolder="$folder/target" install

cd "$folder/elsewhere"
cp "$source/examples/ffi/java/Hello.java" src/main/java
version=$(sed -n 's|^  <version>\(.*\)</version>|\1|p' "$source/examples/ffi/java/pom.xml")
cat >pom.xml <<end
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>elsewhere</artifactId><version>1</version>
  <properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
  <dependencies><dependency>
    <groupId>org.example.jitdump</groupId><artifactId>jitdump</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
end
maven dependency:build-classpath -Dmdep.outputFile=classpath
"$jdk/javac" -cp "$(cat classpath)" -d target/classes src/main/java/Hello.java
"$jdk/java" --enable-native-access=ALL-UNNAMED \
    -cp "target/classes:$(cat classpath)" \
    Hello src/main/java/Hello.java
ls jit-*.dump
