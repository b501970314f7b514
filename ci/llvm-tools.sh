#!/usr/bin/env bash
# Prints the paths of llvm-profdata and llvm-cov, a line each: the compiler's own where they are installed, else
# those of the same release of LLVM. Fails where neither are. With --install it installs them first.
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
