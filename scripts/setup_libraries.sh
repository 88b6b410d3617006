#!/bin/sh
# Installs the libraries that audits/libraries audits, each in its own virtual environment below .venv/.
set -eu
cd "$(dirname "$0")/.."

install() {
    name=$1
    shift
    "${PYTHON:-python3}" -m venv ".venv/$name"
    ".venv/$name/bin/python" -m pip install --quiet "$@"
    echo "$name: $*"
}

install opendp 'opendp==0.16.0'
# diffprivlib does not work with scikit-learn 1.6 and later.
install diffprivlib 'diffprivlib==0.6.6' 'scikit-learn<1.6'
install pydp 'python-dp==1.1.5'
