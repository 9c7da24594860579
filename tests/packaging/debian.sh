#!/bin/sh
# Usage: debian.sh SOURCE FOLDER
# Builds the Debian packages of the files that git knows, in FOLDER, has lintian look at them, and lets
# autopkgtest install them on this machine and try them, as root.
set -eu
source=$1 folder=$2

rm -rf "$folder"
mkdir -p "$folder/jitdump"
git -C "$source" ls-files -z | tar -C "$source" --null --files-from=- -c | tar -C "$folder/jitdump" -x
cp -R "$source/src/packaging/debian" "$folder/jitdump"
cd "$folder/jitdump"
dpkg-buildpackage --build=binary --no-sign
# Whoever uploads them puts in an address, and the number of the bug that asks for the package.
lintian --allow-root --display-info --fail-on error,warning,info --tag-display-limit 0 \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs \
    ../jitdump_*.changes
# Left installed, they would stand in for what other tests build.
trap 'dpkg --purge jitdump-tools libjitdump-dev libjitdump0.2' EXIT
status=0
autopkgtest ../*.deb . -- null || status=$?
# 2: something was skipped, perf not being permitted, say.
[ $status = 0 ] || [ $status = 2 ]
