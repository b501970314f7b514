#!/usr/bin/env bash
# Checks the formatting of every workspace. Arguments are passed to `cargo fmt`; by default --check.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --all "${@:---check}"
for manifest in nostd fuzz crates/ebbtide-capi/examples/shared julia/Ebbtide/test/shared_scope; do
    cargo fmt --manifest-path "$manifest/Cargo.toml" "${@:---check}"
done
