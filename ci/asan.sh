#!/usr/bin/env bash
# The core's tests under AddressSanitizer, leaks included. Arguments go to `cargo test`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A target that is named, even if it is the host, keeps the flags from build scripts and procedural macros.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address --cfg=ebbtide_asan"
exec cargo +nightly test --target "$host" --package ebbtide --all-features --lib --tests "$@"
