#!/bin/sh
# Usage: install-packages.sh PACKAGE...
# Installs those of the Debian or Ubuntu packages that are missing, as root or with sudo.
# A|B stands for A, or for B where the distribution has no A.
set -eu

is_installed() {
    dpkg-query --show --showformat='${db:Status-Status}\n' "$1" 2>/dev/null | grep -q '^installed$'
}

missing=
for alternatives; do
    found=
    for package in $(echo "$alternatives" | tr '|' ' '); do
        if is_installed "$package"; then
            found=yes
        fi
    done
    [ "$found" ] || missing="$missing $alternatives"
done
[ "$missing" ] || exit 0

echo "Installing:$missing"
if ! command -v apt-get >/dev/null; then
    echo "This is no Debian or Ubuntu; please install them by hand." >&2
    exit 1
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update --quiet=2

chosen=
for alternatives in $missing; do
    for package in $(echo "$alternatives" | tr '|' ' '); do
        if apt-cache show --quiet=2 "$package" >/dev/null 2>&1; then
            chosen="$chosen $package"
            break
        fi
    done
done
# What to install is several words; sudo may be none.
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install --quiet=2 --option Dpkg::Use-Pty=0 --yes --no-install-recommends $chosen
