#!/usr/bin/env bash
# Builds the manual: scripts/site.sh [build | serve] [options of mkdocs]. Needs python3 only; the site is in target/site.
# A link to nothing, an anchor that does not exist: each ends with an error.
set -euo pipefail
cd "$(dirname "$0")/.."
place=${SITE_VENV:-.venv/site}
pinned=scripts/site/requirements.txt
if ! cmp -s "$pinned" "$place/requirements.txt"; then
  python3 -m venv --clear "$place"
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$pinned"
  cp "$pinned" "$place/requirements.txt"
fi
python3 scripts/figures.py --check
command=${1:-build}
shift || true
# Two lines about the future of MkDocs are no concern of a build with pinned versions.
export NO_MKDOCS_2_WARNING=1
exec "$place/bin/python" -m mkdocs "$command" --strict "$@"
