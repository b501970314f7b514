#!/usr/bin/env bash
# The core's tests of threads under ThreadSanitizer. Arguments go to `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A target that is named, even if it is the host, keeps the flags from build scripts and procedural macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
tests=(--test local --test local_thread_exit)
# The sanitizer does not see into a standard library that was built without it: what its locks protect would
# look like a race. Threads that are joined by their handles it understands all the same.
source=$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library
if [ ! -d "$source" ] && [ "${CI:-}" = true ]; then
    rustup component add --toolchain nightly rust-src || true
fi
if [ -d "$source" ]; then
    tests+=(-Zbuild-std --test pool --features rayon)
else
    echo "left out: --test pool; for it, run: rustup component add --toolchain nightly rust-src" >&2
fi
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export TSAN_OPTIONS="allocator_may_return_null=1 suppressions=$PWD/ci/tsan.supp ${TSAN_OPTIONS:-}"
exec cargo +nightly test --target "$host" --package ebbtide "${tests[@]}" "$@"
