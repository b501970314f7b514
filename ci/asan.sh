#!/usr/bin/env bash
# Runs the core's tests under AddressSanitizer, including leaks, and the test of the transparent
# allocator that in such a build every request passes through. Arguments are passed to `cargo test` of
# the core; `--features nightly` adds those of the standard library's collections, whose
# interface may change from one nightly compiler to the next.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Naming a target, even the host, keeps the flags away from build scripts and procedural macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address"
# A request that exceeds what the sanitizer allows is refused, as a heap does, instead of reported.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:allocator_may_return_null=1"
export LSAN_OPTIONS="suppressions=$PWD/ci/asan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
test=(cargo +nightly test --target "$host")
"${test[@]}" --package ebbtide-global --test all no_range::
exec "${test[@]}" --package ebbtide --features full,poison --tests "$@"
