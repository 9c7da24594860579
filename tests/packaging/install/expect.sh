# For scripts that end with `exit $failed`: what is not so is said, and the rest is still looked at.
# shellcheck shell=sh
failed=0
# expect WHAT EXPECTED FOUND
# shellcheck disable=SC2046,SC2086,SC2116 # lists are shown on one line
expect() {
    if [ "$2" != "$3" ]; then
        printf '%s\n  expected: %s\n  found:    %s\n' "$1" "$(echo $2)" "$(echo $3)"
        failed=1
    fi
}
