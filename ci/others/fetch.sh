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
manifest=$(cd "$asker" && cargo metadata --quiet --format-version 1 \
    | grep -o "\"manifest_path\":\"[^\"]*/$name-$version/Cargo.toml\"" | cut -d '"' -f 4)
if ! grep -qF "checksum = \"$checksum\"" "$asker/Cargo.lock"; then
    echo "$name $version: the registry's checksum is not the one in ci/fetched" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
cp -r "$(dirname "$manifest")" "$folder"
chmod -R u+w "$folder"
printf '\n[workspace]\n' >>"$folder/Cargo.toml"
