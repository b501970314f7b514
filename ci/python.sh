#!/usr/bin/env bash
# Tests the Python package: from its folder, or, with `installed`, from its wheel in an empty
# virtual environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tests=(-m unittest discover --start-directory python/tests)
if [[ ${1:-} != installed ]]; then
    PYTHONPATH=python exec python3 "${tests[@]}"
fi
work=${CARGO_TARGET_DIR:-$PWD/target}/python
rm -rf "$work"
mkdir -p "$work"
cp -r python "$work/source"
python3 -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet "$work/source"
"$work/environment/bin/python" "${tests[@]}"
