#!/usr/bin/env bash
# Runs the core's tests under Miri: undefined behaviour, provenance, leaks. Arguments are passed to
# `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "Miri is missing; install it with: rustup toolchain install nightly --profile minimal --component miri" >&2
    exit 1
fi
# Both aliasing models, because neither is final.
for model in "" -Zmiri-tree-borrows; do
    export MIRIFLAGS="-Zmiri-strict-provenance $model"
    echo "MIRIFLAGS=$MIRIFLAGS"
    cargo +nightly miri test --package ebbtide --all-features --lib --tests "$@"
done
