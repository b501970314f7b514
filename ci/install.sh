#!/usr/bin/env bash
# Installs a tool of ci/fetched: install.sh NAME. Fails if the registry has another package under its
# name and version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$1

source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
bash ci/others/fetch.sh "$name" "$source/$name"
cargo install --locked --path "$source/$name"
