#!/usr/bin/env bash
# Copies a published crate: fetch.sh NAME VERSION FOLDER. No part of it is committed.
set -euo pipefail
name=$1 version=$2 folder=$3

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
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
cp -r "$(dirname "$manifest")" "$folder"
chmod -R u+w "$folder"
printf '\n[workspace]\n' >>"$folder/Cargo.toml"
