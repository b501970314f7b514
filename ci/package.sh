#!/usr/bin/env bash
# Packages the published crates and builds each from what its package contains.
#
# Cargo takes a package of one path and version for one that never changes: its unpacked sources in
# Cargo's home and what was compiled from them. A second run in the same folder would build against
# the sources of the first, so both are removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
shopt -s nullglob
target=${CARGO_TARGET_DIR:-target}/packages
rm -rf "$target" "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/ebbtide*-[0-9]*
cargo package --allow-dirty --target-dir "$target" --package ebbtide --package ebbtide-derive --package ebbtide-global \
    --package ebbtide-capi --package ebbtide-new --package ebbtide-bumpalo \
    --package ebbtide-typed-arena
