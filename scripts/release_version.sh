#!/usr/bin/env bash
# Fails unless every file that names the version names this one: scripts/release_version.sh 0.2.0
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?the version}
wrong=0
names() { # FILE PATTERN: the file has a line with exactly this
  grep -qxF -- "$2" "$1" || { echo "$1 does not say: $2"; wrong=1; }
}
names Cargo.toml "version = \"$version\""
names python/Cargo.toml "version = \"$version\""
names CITATION.cff "version: $version"
grep -q "^## $version" CHANGELOG.md || { echo "CHANGELOG.md has no section for $version"; wrong=1; }
exit "$wrong"
