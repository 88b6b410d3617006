#!/bin/sh
# Makes the environments that audits/libraries needs, below .venv/: one for each release, with pinned packages whose hashes are checked.
#
#   scripts/setup_libraries.sh                      all of them
#   scripts/setup_libraries.sh opendp pure-ldp      all releases of these libraries
#   scripts/setup_libraries.sh opendp-0.14.1        one release
#   scripts/setup_libraries.sh --lock [NAME...]     writes the pinned requirements anew; needs uv
#
# PYTHON is the interpreter, python3 when absent. The requirements are for CPython 3.11.
set -eu
cd "$(dirname "$0")/.."
list=scripts/libraries/releases

lock=
if [ "${1:-}" = --lock ]; then
    lock=yes
    shift
fi

wanted() {
    [ $# -eq 1 ] && return 0
    release=$1
    shift
    for name in "$@"; do
        case $release in "$name" | "$name"-[0-9]*) return 0 ;; esac
    done
    return 1
}

for name in "$@"; do
    grep -q -e "^$name " -e "^$name-[0-9]" "$list" || {
        echo "$name: no such library or release; known are: $(grep -v '^#' "$list" | cut -d' ' -f1 | tr '\n' ' ')" >&2
        exit 1
    }
done

grep -v '^#' "$list" | while read -r release packages; do
    wanted "$release" "$@" || continue
    pinned=scripts/libraries/$release.txt
    if [ -n "$lock" ]; then
        echo "$packages" | tr ' ' '\n' | uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 --output-file "$pinned" -
        echo "$pinned"
    else
        "${PYTHON:-python3}" -m venv ".venv/$release"
        ".venv/$release/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$pinned" </dev/null
        echo "$release: ready"
    fi
done
