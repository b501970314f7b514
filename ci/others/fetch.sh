#!/usr/bin/env bash
# Copies a published crate, of the version in ci/fetched, and compares the registry's checksum with the
# one there: fetch.sh NAME FOLDER. No part of it is committed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$1 folder=$2
read -r _ _ version checksum < <(grep -E "^(crate|tool) $name " "$here/../fetched")

asker=$(mktemp -d)
trap 'rm -rf "$asker"' EXIT
mkdir "$asker/src"
touch "$asker/src/lib.rs"
cat >"$asker/Cargo.toml" <<END
[package]
name = "asker"
version = "0.0.0"
edition = "2021"
[dependencies]
$name = "=$version"
[workspace]
END
# Unlike cargo metadata, this also unpacks a package without a library.
cargo fetch --quiet --manifest-path "$asker/Cargo.toml"
if ! grep -qF "checksum = \"$checksum\"" "$asker/Cargo.lock"; then
    echo "$name $version: the registry's checksum is not the one in ci/fetched" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
sources=("${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$name-$version")
cp -r "${sources[0]}" "$folder"
chmod -R u+w "$folder"
printf '\n[workspace]\n' >>"$folder/Cargo.toml"
