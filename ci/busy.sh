#!/usr/bin/env bash
# Runs tests five times as on a busy machine: `ci/busy.sh -p ebbtide-global --test all NAME::` passes
# its arguments to `cargo test`. Eight processes do nothing but compute; BUSY and TIMES change the
# numbers. With SLOW=10, time passes ten times as fast for the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Compiling is not what is tested.
cargo test --quiet --no-run "$@"
if [ -n "${SLOW:-}" ]; then
    folder="${CARGO_TARGET_DIR:-target}/busy"
    mkdir -p "$folder"
    folder="$(realpath "$folder")"
    cc -O2 -Wall -Wextra -shared -fPIC ci/slow.c -o "$folder/slow.so"
    host="$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')"
    export "CARGO_TARGET_${host}_RUNNER=env FACTOR=$SLOW LD_PRELOAD=$folder/slow.so"
fi
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
for _ in $(seq "${BUSY:-8}"); do
    while :; do :; done &
done
for turn in $(seq "${TIMES:-5}"); do
    echo "=== $turn of ${TIMES:-5}, beside ${BUSY:-8} busy processes ==="
    cargo test --quiet "$@"
done
