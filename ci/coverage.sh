#!/usr/bin/env bash
# Line coverage of the core's tests, file by file. Arguments are passed to `cargo llvm-cov`, for
# example `--html`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo llvm-cov --version >/dev/null 2>&1; then
    echo "cargo-llvm-cov is missing; install it with: cargo install --locked cargo-llvm-cov" >&2
    exit 1
fi
tools=$(bash ci/llvm-tools.sh) || {
    echo "LLVM's tools are missing; install them with: bash ci/llvm-tools.sh --install" >&2
    exit 1
}
export LLVM_PROFDATA=${tools%$'\n'*} LLVM_COV=${tools#*$'\n'}
# Documentation tests are not included: only a nightly compiler instruments them.
exec cargo llvm-cov --package ebbtide --features full,poison --tests "$@"
