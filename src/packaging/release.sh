#!/bin/sh
# Usage: release.sh
# Walks through what a release needs: does what a machine can, and asks for the rest. Ends at the first
# thing that is not so. Nothing is published from here.
set -eu
cd "$(dirname "$0")/../.."

trap '[ $? = 0 ] || echo "That is not so: the release waits." >&2' EXIT
say() {
    printf '\n== %s\n' "$*"
}
ask() {
    printf '%s [y/n] ' "$*"
    read -r answer
    [ "$answer" = y ]
}
version=$(sed -n 's/^#define JITDUMP_VERSION_M[AI].* //p' include/jitdump.h | paste -s -d .)
version=$version.$(sed -n 's/^#define JITDUMP_VERSION_PATCH //p' include/jitdump.h)

say "All is committed, and there is no tag v$version yet"
[ -z "$(git status --porcelain)" ]
[ -z "$(git tag --list "v$version")" ]

say "One version everywhere, and docs/changelog.md begins with it, of today"
python3 tests/packaging/test_versions.py .
grep -q "^## $version, $(date +%Y-%m-%d)$" docs/changelog.md
ask "docs/changelog.md names all that users see, changes of the ABI first?"

say "The ABI guard: what changed since the last release breaks nobody, or the minor version was raised"
ask "git diff of tests/packaging/abi/jitdump.abi since the last tag: looked at?"

say "All tests, from a fresh clone (about an hour)"
clone=$(mktemp -d)
git clone --quiet . "$clone/jitdump"
"$clone/jitdump/.ci/run"
rm -rf "$clone"

say "Both commands of the README in bare chroots of Debian's last two releases and Ubuntu's last LTS"
ask "Done, and passed?"

say "What is left"
cat <<end
    git tag --annotate v$version
    the packages of docs/packaging.md, from the tag
    include/jitdump.h, docs/changelog.md: the next version
end
