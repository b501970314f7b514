#!/usr/bin/env bash
# Runs the loom models, the tests in loom.rs: every interleaving of threads within the bounds of each
# model. Arguments are passed to `cargo test`. LOOM_MAX_PREEMPTIONS=N allows more thread
# switches.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A separate target folder, because the flags would rebuild everything in the usual one.
export RUSTFLAGS="--cfg loom ${RUSTFLAGS:-}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
for package in ebbtide ebbtide-global; do
    cargo test --package "$package" --test loom "$@"
done
