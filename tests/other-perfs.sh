#!/bin/sh
# Unpacks the perf of other Debian releases into a folder, with the libraries that it needs, and
# installs nothing:
#
#   sh tests/other-perfs.sh FOLDER [RELEASE]...
#
# For each release, "trixie sid" if none is named, it prints the path of a program `perf`, which
# may be put first in PATH. What is there already is not made again. Exit code 77: a release's
# perf can't be had, and a line on standard error says why.
set -eu
[ $# -gt 0 ] || { echo "Usage: sh tests/other-perfs.sh FOLDER [RELEASE]..." >&2; exit 2; }
mkdir -p "$1"
folder=$(CDPATH='' cd -- "$1" && pwd)
shift
[ $# -gt 0 ] || set -- trixie sid

# skip REASON
skip() {
    echo "skipped: $1" >&2
    exit 77
}
for tool in apt-get dpkg-deb; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || skip "$keyring (package debian-archive-keyring) is missing"
case $(uname -m) in
x86_64) architecture=amd64 loader=x86_64-linux-gnu/ld-linux-x86-64.so.2 ;;
aarch64) architecture=arm64 loader=aarch64-linux-gnu/ld-linux-aarch64.so.1 ;;
*) skip "the loader's name on $(uname -m) is not known" ;;
esac

# download RELEASE: linux-perf and all that it depends on, as if nothing was installed.
download() {
    mkdir -p "$folder/$1/lists/partial" "$folder/$1/archives/partial"
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $1 main" >"$folder/$1/sources"
    : >"$folder/$1/status"
    set -- apt-get --quiet=2 --option APT::Architecture=$architecture \
        --option APT::Architectures=$architecture --option APT::Sandbox::User=root \
        --option Dir::Etc::SourceList="$folder/$1/sources" \
        --option Dir::Etc::SourceParts=/dev/null --option Dir::Etc::PreferencesParts=/dev/null \
        --option Dir::State::Lists="$folder/$1/lists" \
        --option Dir::State::Status="$folder/$1/status" --option Dir::Cache="$folder/$1" \
        --option Debug::NoLocking=1 --option Acquire::Languages=none
    "$@" update && "$@" --yes --download-only --no-install-recommends install linux-perf
}

for release in "$@"; do
    root=$folder/$release/root perf=$folder/$release/bin/perf
    if [ ! -x "$perf" ]; then
        download "$release" >&2 || skip "linux-perf of $release can't be downloaded"
        for package in "$folder/$release"/archives/*.deb; do
            dpkg-deb --extract "$package" "$root"
        done
        mkdir -p "$folder/$release/bin"
        # By its own loader and C library, since the machine's may be too old for it.
        cat >"$perf" <<END
#!/bin/sh
exec '$root/usr/lib/$loader' --library-path '$root/usr/lib/${loader%/*}' '$root/usr/bin/perf' "\$@"
END
        chmod +x "$perf"
        rm -r "$folder/$release/archives" "$folder/$release/lists"
    fi
    "$perf" version >/dev/null 2>&1 || skip "the perf of $release does not run here"
    echo "$perf"
done
