#!/usr/bin/env bash
# Runs Clippy on the workspace with every feature, on the core with fewer, and on nostd/. Warnings are
# errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo clippy --workspace --all-targets \
    --features ebbtide/full,ebbtide/poison,ebbtide-global/full,ebbtide-global/poison \
    --features ebbtide-bumpalo/allocator-api2,ebbtide-bumpalo/boxed,ebbtide-bumpalo/collections \
    --features ebbtide-bumpalo/serde,ebbtide-bumpalo/std -- -D warnings
cargo clippy --package ebbtide-bumpalo -- -D warnings
cargo clippy --package ebbtide --no-default-features -- -D warnings
cargo clippy --package ebbtide --no-default-features --features alloc -- -D warnings
cargo clippy --manifest-path nostd/Cargo.toml -- -D warnings
