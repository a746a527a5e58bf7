#!/bin/sh
# A logic in a POSIX shell: `balanced p q` says that q has never happened more often than p, and that at the end both
# have happened equally often. It counts without bound, which no automaton can.
#
#     property locks logic "process:sh balanced.sh" { "balanced acquire release" }
#
# A state is the number of p minus the number of q so far, or `broken`. See README.md for the protocol.

tab=$(printf '\t')
p= q=

say() { printf '%s\t%s\n' "$1" "$2"; }
holds() { case " $2 " in *" $1 "*) return 0 ;; esac; return 1; }

# The state after a step from state $1 at which the atoms $2 hold.
after() {
    state=$1
    [ "$state" = broken ] && return
    holds "$p" "$2" && state=$((state + 1))
    holds "$q" "$2" && state=$((state - 1))
    [ "$state" -lt 0 ] && state=broken
    return 0
}

# The line is taken apart by hand: a tab is white space to `read`, which would swallow an empty field.
while IFS= read -r line; do
    what=${line%%"$tab"*}
    rest=${line#*"$tab"}
    case $what in
    foretrace-logic) [ "$rest" = 1 ] && echo ok || say error "protocol $rest is not known" ;;
    atoms) atoms=$(printf '%s' "$rest" | tr '\t' ' ') && echo ok ;;
    formula)
        set -- $rest
        p=$2 q=$3
        if [ $# != 3 ] || [ "$1" != balanced ]; then
            say error "write: balanced P Q"
        elif ! holds "$p" "$atoms" || ! holds "$q" "$atoms"; then
            say error "$p or $q is not an atom"
        else
            echo ok
        fi
        ;;
    init) say state 0 ;;
    step)
        after "${rest%%"$tab"*}" "${rest#*"$tab"}"
        say state "$state"
        ;;
    verdict) [ "$rest" = broken ] && say verdict violated || say verdict pending ;;
    end)
        after "${rest%%"$tab"*}" "${rest#*"$tab"}"
        case $state in
        broken) say verdict violated ;;
        0) say verdict fulfilled ;;
        *) say verdict unfulfilled ;;
        esac
        ;;
    *) say error "$what is not a question" ;;
    esac
done
