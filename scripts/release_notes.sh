#!/usr/bin/env bash
# Prints the section of a version from CHANGELOG.md: scripts/release_notes.sh 0.2.0
set -euo pipefail
cd "$(dirname "$0")/.."
notes=$(awk -v title="## ${1:?the version}" 'index($0, title) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md)
[ -n "$notes" ] || { echo "CHANGELOG.md says nothing about $1" >&2; exit 1; }
printf '%s\n' "$notes"
