#!/usr/bin/env bash
# Runs the core's tests under Valgrind's memcheck: invalid accesses, uninitialised values, leaks.
# Arguments are passed to `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

leaks="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
export VALGRIND_OPTS="--quiet --error-exitcode=1 --suppressions=$PWD/ci/valgrind.supp $leaks"
# Optimised, because Valgrind slows programs down about thirty times.
exec cargo test --release --config "target.'cfg(all())'.runner = 'valgrind'" --package ebbtide --tests "$@"
