#!/usr/bin/env bash
# Models of what threads share: every order of events, within the bounds that each model names. They are the tests
# called loom*.rs. Arguments go to `cargo test`. LOOM_MAX_PREEMPTIONS=N for more switches of threads.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Flags of its own make a folder of its own worth while: other builds keep theirs.
export RUSTFLAGS="--cfg loom ${RUSTFLAGS:-}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
for test in crates/*/tests/loom*.rs; do
    package=$(basename "$(dirname "$(dirname "$test")")")
    cargo test --release --package "$package" --test "$(basename "$test" .rs)" "$@"
done
