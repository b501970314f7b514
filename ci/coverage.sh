#!/usr/bin/env bash
# The lines of the core that its tests reach, file by file. Arguments go to `cargo llvm-cov`, `--html` say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo llvm-cov --version >/dev/null 2>&1; then
    echo "cargo-llvm-cov is missing; install it with: cargo install cargo-llvm-cov" >&2
    exit 1
fi
# The compiler's own tools where they are installed, else those of the same release of LLVM.
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
if [ ! -e "$(rustc --print target-libdir)/../bin/llvm-profdata" ]; then
    LLVM_PROFDATA=$(command -v "llvm-profdata-$major") && LLVM_COV=$(command -v "llvm-cov-$major") || {
        echo "LLVM's tools are missing; install them with: rustup component add llvm-tools" >&2
        exit 1
    }
    export LLVM_PROFDATA LLVM_COV
fi
# The documentation's examples count for nothing here: only a nightly compiler instruments them.
exec cargo llvm-cov --package ebbtide --features full --lib --tests "$@"
