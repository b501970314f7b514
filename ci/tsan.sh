#!/usr/bin/env bash
# Runs tests with threads under ThreadSanitizer: those of the core, and those of the engine in which threads
# free each other's blocks. Arguments are passed to the tests of the core.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Naming a target, even the host, keeps the flags away from build scripts and procedural macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
options=()
modules=(local)
# The sanitizer does not see the locks of a standard library that was built without it, and would
# report accesses that they protect as races. It does see when threads are joined.
source=$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library
if [ ! -d "$source" ] && [ "${CI:-}" = true ]; then
    rustup component add --toolchain nightly rust-src || true
fi
if [ -d "$source" ]; then
    options+=(-Zbuild-std --features rayon)
    modules+=(pool)
else
    echo "left out: the pool; to include it, run: rustup component add --toolchain nightly rust-src" >&2
fi
# Memory of dropped arenas is kept, as in the usual build.
export RUSTFLAGS="-Zsanitizer=thread --cfg=ebbtide_ignore_sanitizer -Cunsafe-allow-abi-mismatch=sanitizer"
export TSAN_OPTIONS="allocator_may_return_null=1 suppressions=$PWD/ci/tsan.supp ${TSAN_OPTIONS:-}"
test=(cargo +nightly test --target "$host" --package ebbtide "${options[@]}")
"${test[@]}" --test all -- "${modules[@]/%/::}" "$@"
"${test[@]}" --test local_late --test local_thread_exit -- "$@"
# The engine's tests need a standard library with the sanitizer, because they send blocks through channels.
if [ -d "$source" ]; then
    EBBTIDE_CROSSING_UNMAPPED=1 EBBTIDE_CROSSING_STEPS=3000 cargo +nightly test --target "$host" \
        --package ebbtide-global -Zbuild-std --test all -- crossing:: channels::
fi
