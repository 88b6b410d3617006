#!/usr/bin/env bash
# Builds the program for a target and packs it with its licences, manual pages and completions: scripts/pack.sh [TARGET] [more arguments of cargo build]
# The archive and its checksum are in target/packed.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
shift || true
cargo build --release --locked --bin dp-audit --target "$target" "$@"
folder=${CARGO_TARGET_DIR:-target}
program=$folder/$target/release/dp-audit
[ -f "$program" ] || program=$program.exe
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=dp-audit-$version-$target
packed=target/packed
rm -rf "${packed:?}/$name"
mkdir -p "$packed/$name"
cp "$program" LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$packed/$name/"
python3 scripts/third_party_licences.py Cargo.toml > "$packed/$name/THIRD-PARTY-LICENCES"
# A program for another processor cannot write its own pages.
if "$program" --version >/dev/null 2>&1; then
  "$program" man "$packed/$name/man" >/dev/null
  mkdir "$packed/$name/completions"
  for shell in bash zsh fish powershell; do "$program" completions "$shell" > "$packed/$name/completions/dp-audit.$shell"; done
fi
cd "$packed"
case $target in
  *windows*) archive=$name.zip; python3 -m zipfile -c "$archive" "$name" ;;
  *) archive=$name.tar.gz; tar czf "$archive" "$name" ;;
esac
rm -r "$name"
python3 - "$archive" <<'PYTHON' > "$archive.sha256"
import hashlib, pathlib, sys
print(hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest() + "  " + sys.argv[1])
PYTHON
cat "$archive.sha256"
