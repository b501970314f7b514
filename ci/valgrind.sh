#!/usr/bin/env bash
# The core's tests under Valgrind's memcheck: no invalid access, no use of undefined values, nothing lost.
# Arguments go to `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

leaks="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
export VALGRIND_OPTS="--quiet --error-exitcode=1 $leaks"
# Optimized, because Valgrind makes everything some thirty times slower.
exec cargo test --release --config "target.'cfg(all())'.runner = 'valgrind'" --package ebbtide --lib --tests "$@"
