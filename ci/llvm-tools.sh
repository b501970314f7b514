#!/usr/bin/env bash
# Prints the paths of llvm-profdata and llvm-cov, one per line: the compiler's own if they are
# installed, otherwise those of the same LLVM release. Fails if there are none. --install installs
# them first.
set -euo pipefail

own=$(rustc --print target-libdir)/../bin
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
if [ "${1:-}" = --install ]; then
    rustup component add llvm-tools || { apt-get update && apt-get install --yes "llvm-$major"; }
fi
if [ -e "$own/llvm-profdata" ] && [ -e "$own/llvm-cov" ]; then
    printf '%s\n' "$own/llvm-profdata" "$own/llvm-cov"
else
    command -v "llvm-profdata-$major"
    command -v "llvm-cov-$major"
fi
