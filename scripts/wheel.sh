#!/usr/bin/env bash
# Builds the wheel of the Python package, with the licences of everything in it: scripts/wheel.sh [arguments of `maturin build`].
# One wheel serves every Python from 3.10 on. Needs cargo, python3 and maturin; the wheel is in target/wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 scripts/third_party_licences.py > python/THIRD-PARTY-LICENCES
cd python
exec maturin build --release --locked "$@"
