#!/usr/bin/env bash
# The lines of the core that its tests reach, file by file. Arguments go to `cargo llvm-cov`, `--html` say.
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
# The documentation's examples count for nothing here: only a nightly compiler instruments them.
exec cargo llvm-cov --package ebbtide --features full --lib --tests "$@"
