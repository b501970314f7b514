#!/usr/bin/env bash
# Runs tests five times while the machine is busy: `ci/busy.sh -p ebbtide-global --test all NAME::`
# passes its arguments to `cargo test`. Eight processes do nothing but compute; BUSY and TIMES change
# the numbers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Compiling is not what is tested.
cargo test --quiet --no-run "$@"
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
for _ in $(seq "${BUSY:-8}"); do
    while :; do :; done &
done
for turn in $(seq "${TIMES:-5}"); do
    echo "=== $turn of ${TIMES:-5}, beside ${BUSY:-8} busy processes ==="
    cargo test --quiet "$@"
done
