#!/bin/sh
# Usage: meson.sh SOURCE FOLDER
# A project that has the library as Meson's subproject, by our wrap file, and the library built by
# Meson alone: both work, and export what the version script says.
set -eu
source=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/project/subprojects/packagefiles/jitdump" "$folder/origin"
cp -R "$source/include" "$source/src" "$folder/origin"
git -C "$folder/origin" init --quiet
git -C "$folder/origin" add .
git -C "$folder/origin" -c user.name=test -c user.email=test commit --quiet --message=test
revision=$(git -C "$folder/origin" rev-parse HEAD)

cd "$folder/project"
sed -e "s|^url = .*|url = file://$folder/origin|" -e "s|^revision = .*|revision = $revision|" \
    -e '/^depth/d' "$source/src/packaging/meson/jitdump.wrap" >subprojects/jitdump.wrap
cp "$source/src/packaging/meson/meson.build" subprojects/packagefiles/jitdump
cp "$source/examples/hello.c" .
cat >meson.build <<'end'
project('user', 'c')
executable('hello', 'hello.c', dependencies: dependency('jitdump'))
end
meson setup build
meson compile -C build
mkdir -p "$folder/dumps"
JITDUMPDIR=$folder/dumps build/hello
ls "$folder"/dumps/jit-*.dump

cp "$source/src/packaging/meson/meson.build" "$folder/origin"
meson setup "$folder/alone" "$folder/origin" --prefix="$folder/prefix" --libdir=lib
meson install -C "$folder/alone"
nm --dynamic --defined-only "$folder/prefix/lib/libjitdump.so" | grep ' T jitdump_open@@JITDUMP_'
[ "$(nm --dynamic --defined-only "$folder/prefix/lib/libjitdump.so" | grep -c ' T jitdump_')" = \
    "$(grep -c '^JITDUMP_API' "$source/include/jitdump.h")" ]
PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig pkg-config --modversion jitdump
