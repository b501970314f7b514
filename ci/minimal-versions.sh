#!/usr/bin/env bash
# Compiles the libraries with the oldest versions of their direct dependencies that their manifests
# allow. Works in a copy, because that changes the lock file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
copy=${CARGO_TARGET_DIR:-target}/minimal-versions
rm -rf "$copy/crates"
mkdir -p "$copy/crates"
cp -rL crates/ebbtide{,-derive,-global,-bumpalo,-typed-arena} "$copy/crates/"
sed 's/^members.*/members = ["crates\/*"]/; /^default-members/d' Cargo.toml >"$copy/Cargo.toml"
cd "$copy"
# Users do not see the dependencies of tests and examples.
perl -0pi -e 's/^\[(target\.[^\n]*\.)?dev-dependencies\]\n.*?(?=^\[|\z)//gms' crates/*/Cargo.toml
rm -f Cargo.lock
cargo +nightly update --quiet -Z direct-minimal-versions
cargo +nightly check --quiet --target-dir target --package ebbtide --features full
cargo +nightly check --quiet --target-dir target --package ebbtide-global --features full
cargo +nightly check --quiet --target-dir target --package ebbtide-bumpalo --package ebbtide-typed-arena \
    --all-features
