#!/usr/bin/env bash
# Builds the documentation as docs.rs does: with a nightly compiler and the features that the
# packages name. Warnings are errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export RUSTDOCFLAGS="--cfg docsrs -Dwarnings" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/docsrs
# With the interface of bumpalo, which must not need the feature that another crate asks for.
cargo +nightly doc --no-deps --package ebbtide --package ebbtide-bumpalo \
    --features ebbtide/full,ebbtide/nightly,ebbtide/poison
cargo +nightly doc --no-deps --package ebbtide-global --package ebbtide-bumpalo \
    --package ebbtide-typed-arena --all-features
