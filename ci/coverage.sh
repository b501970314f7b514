#!/usr/bin/env bash
# Line coverage of the core's tests, file by file. Arguments are passed to `cargo llvm-cov`, for
# example `--html`. Not reached, or not seen:
# - code that ends the process, which tests run in child processes: `handle_alloc_error`, its callers
# - code that exists only without `poison` or only in optimised builds
# - code that runs only if an invariant is broken: panics of the checks, `release` of a backing that
#   never allocates
# - rare failures: no heap memory for an entry of `local`, a contended lock in `pool` (loom reaches
#   it), sizes that overflow in a block that has already grown, unusual page sizes in `huge`
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
