#!/usr/bin/env bash
# Compiles the libraries with the oldest versions of their direct dependencies that their manifests
# allow. Works in a copy, because that changes the lock file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
copy=${CARGO_TARGET_DIR:-target}/minimal-versions
rm -rf "$copy/crates"
mkdir -p "$copy/crates"
cp -rL crates/ebbtide{,-derive,-global,-bumpalo,-typed-arena} "$copy/crates/"
cp Cargo.toml "$copy/all.toml"
cd "$copy"
# Users do not see the dependencies of tests and examples.
perl -0pi -e 's/^\[(target\.[^\n]*\.)?dev-dependencies\]\n.*?(?=^\[|\z)//gms' crates/*/Cargo.toml

# Makes a workspace of some crates, whose direct dependencies have their oldest versions.
workspace() {
    sed "s|^members.*|members = [$1]|; /^default-members/d" all.toml >Cargo.toml
    rm -f Cargo.lock
    cargo +nightly update --quiet -Z direct-minimal-versions
}

workspace '"crates/ebbtide", "crates/ebbtide-derive", "crates/ebbtide-global"'
cargo +nightly check --quiet --target-dir target --package ebbtide --features full
cargo +nightly check --quiet --target-dir target --package ebbtide-global --features full
# bumpalo's interface allows the serde that bumpalo does, and enables no feature of the core that needs a
# newer one.
serde=$(sed -n 's/^serde = .*version = "\([^"]*\)".*/\1/p' crates/ebbtide-bumpalo/Cargo.toml)
sed -i "s/^\(serde = { version = \)\"[^\"]*\"/\1\"$serde\"/; s|, \"hashbrown-017?/serde\"||" crates/ebbtide/Cargo.toml
workspace '"crates/*"'
cargo +nightly check --quiet --target-dir target --package ebbtide-bumpalo --package ebbtide-typed-arena \
    --all-features
