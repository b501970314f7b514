#!/usr/bin/env bash
# Fuzzes the targets one after the other, with coverage and AddressSanitizer.
# Usage: ci/fuzz.sh [SECONDS [TARGET...]]; by default every target, 1800 seconds each.
# The corpus is kept in fuzz/corpus/, failing inputs in fuzz/artifacts/. Copy a failing input to
# crates/ebbtide/tests/found/TARGET/, under a name that says what it shows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../fuzz"

seconds=${1:-1800}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(arenas arith collections fixed maps model nested strings text vectors)

# The flags of cargo-fuzz, which need not be installed. Naming a target keeps the flags away from
# build scripts. The usual code is fuzzed, not what a build for a sanitizer changes.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth"
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg=fuzzing --cfg=ebbtide_ignore_sanitizer -Zsanitizer=address -Ccodegen-units=1 ${coverage//$'\n'/ }"
cargo +nightly build --release --target "$host"
programs="${CARGO_TARGET_DIR:-target}/$host/release"

export ASAN_OPTIONS="allocator_may_return_null=1 ${ASAN_OPTIONS:-}"
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    echo "=== $target ==="
    # Inputs encode sequences of operations, so long ones are tried from the start.
    "$programs/$target" -max_total_time="$seconds" -max_len=1500 -len_control=0 -timeout=300 \
        -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="artifacts/$target/" "corpus/$target"
done
