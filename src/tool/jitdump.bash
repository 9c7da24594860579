# bash completion for jitdump.

_jitdump() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "breakpad check dump elf gsym inject minidump record --help --version" -- "$current")
        return
    fi
    local options=--help
    case ${COMP_WORDS[1]} in
    breakpad) options+=" --output --at --minidump --maps --base" ;;
    check) options+=" --function --json --quiet" ;;
    dump) options+=" --function --at --stat --json --color --no-pager" ;;
    elf) options+=" --output --at --relative --dynsym" ;;
    gsym) options+=" --output --at --format" ;;
    inject) options+=" --input --output --dump-dir --pid --only-sampled --by-name" ;;
    minidump) options+=" --output --at" ;;
    record) options+=" --output --no-preload" ;;
    esac
    case $previous in
    --color) mapfile -t COMPREPLY < <(compgen -W "auto never always" -- "$current") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "1 2" -- "$current") ;;
    --at | -a) mapfile -t COMPREPLY < <(compgen -W "end" -- "$current") ;;
    --function | -f | --base | -b) ;;
    *)
        case $current in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
        *) compopt -o default ;;
        esac
        ;;
    esac
}

complete -F _jitdump jitdump
