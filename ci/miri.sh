#!/usr/bin/env bash
# Runs tests under Miri, with both aliasing models: undefined behaviour, provenance, leaks.
# Usage: ci/miri.sh [ARGUMENT...]
# By default, the modules of the core's tests that Miri finishes in minutes, and one of the C
# interface. Arguments are passed to `cargo test` for the core instead: `--test all scopes::` runs
# another module, `--tests` all of them, which takes hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "Miri is missing; install it with: rustup toolchain install nightly --profile minimal --component miri" >&2
    exit 1
fi
modules=(typed_arena drop_arena owned keep pool front_end unsize)
# Both aliasing models, because neither is final.
for model in "" -Zmiri-tree-borrows; do
    export MIRIFLAGS="-Zmiri-strict-provenance $model"
    echo "MIRIFLAGS=$MIRIFLAGS"
    if [ $# -gt 0 ]; then
        cargo +nightly miri test --package ebbtide --features full,nightly,poison "$@"
    else
        cargo +nightly miri test --package ebbtide --features full,nightly,poison --test all -- "${modules[@]/%/::}"
        cargo +nightly miri test --package ebbtide-capi --test all -- boundary::
    fi
done
