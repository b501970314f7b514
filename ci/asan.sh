#!/usr/bin/env bash
# Runs tests under AddressSanitizer, including leaks.
# Usage: ci/asan.sh [ARGUMENT...]   the core's; arguments are passed to `cargo test`. `--features nightly` adds
#                                   those of the standard library's collections, whose interface may change
#                                   from one nightly compiler to the next
#        ci/asan.sh transparent     that every request passes through the transparent allocator in such a build
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Naming a target, even the host, keeps the flags away from build scripts and procedural macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address"
# A request that exceeds what the sanitizer allows is refused, as a heap does, instead of reported.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:allocator_may_return_null=1"
export LSAN_OPTIONS="suppressions=$PWD/ci/asan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
test=(cargo +nightly test --target "$host")
[ "${1:-}" != transparent ] || exec "${test[@]}" --package ebbtide-global --test all no_range::
exec "${test[@]}" --package ebbtide --features full,poison --tests "$@"
