#!/usr/bin/env bash
# Tests the core and bumpalo's interface with the beta compiler, which has the standard library's
# `Allocator` before the stable one does, and runs the examples of pages that need it (`rust,ignore`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/beta
bumpalo=allocator-api2,boxed,collections

cargo +beta test --package ebbtide --features full,poison --tests --examples
cargo +beta test --package ebbtide-bumpalo --features "$bumpalo" --tests
cargo +beta test --doc --package ebbtide --package ebbtide-bumpalo --package ebbtide-ui \
    --features "ebbtide/full,ebbtide-bumpalo/${bumpalo//,/,ebbtide-bumpalo/}" -- --include-ignored
# With one trait instead of two.
cargo +beta test --package ebbtide --features full,allocator-api2-02-nightly --test all allocator
cargo +beta test --package ebbtide-bumpalo --features "$bumpalo,ebbtide/allocator-api2-02-nightly" \
    --test all allocator
cargo +beta check --package ebbtide --no-default-features
