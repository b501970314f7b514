#!/usr/bin/env bash
# Runs the test suites of bumpalo and typed-arena, unchanged, on our libraries of the same names.
#
# bumpalo's packages have no tests, so cargo fetches its repository at a tag; BUMPALO_GIT names a
# copy of it. What depends on private fields or on the layout of bumpalo's chunks is left out, and
# counted here:
#
# - typed-arena: ten assertions on the number of its vectors.
# - alloc_slice_fill_zero: that a value without a size gets an address in the chunk.
# - allocated_bytes_including_metadata: that a chunk has at most 100 bytes of metadata; ours has 192.
# - alloc_try_with_large_…: that a value of 60 MB needs no stack. It needs some with ours, and gets it.
# - panic_in_drain_filter: that a panic of the filter leaks an element; with ours, none leaks.
# - test_uninitialized_array: that the second chunk of an arena for two values has room for four.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
others=${CARGO_TARGET_DIR:-$root/target}/others
mkdir -p "$others"
others=$(cd "$others" && pwd)
export CARGO_TARGET_DIR=$others/same-target RUSTFLAGS=--cap-lints=allow
tag=v3.20.3
git=${BUMPALO_GIT:-https://github.com/fitzgen/bumpalo}

# Makes a package in folder $1 that tests our crate $2 with the features $3.
suite() {
    rm -rf "$1"
    mkdir -p "$1/src"
    touch "$1/src/lib.rs"
    cat >"$1/Cargo.toml" <<END
[package]
name = "suite"
version = "0.0.0"
edition = "2021"
autotests = false
[features]
default = [$3]
boxed = []
collections = []
serde = []
std = []
[dependencies]
$2 = { package = "ebbtide-$2", path = "$root/crates/ebbtide-$2", features = [$3] }
[dev-dependencies]
quickcheck = "=1.0.3"
rand = "0.8.5"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
[workspace]
END
}

asker=$(mktemp -d)
trap 'rm -rf "$asker"' EXIT
mkdir "$asker/src"
touch "$asker/src/lib.rs"
printf '[package]\nname = "asker"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nbumpalo = { git = "%s", tag = "%s" }\n[workspace]\n' \
    "$git" "$tag" >"$asker/Cargo.toml"
manifest=$(cargo metadata --quiet --format-version 1 --manifest-path "$asker/Cargo.toml" |
    perl -ne 'print $1 if /"name":"bumpalo","version".*?"manifest_path":"([^"]*)"/')

bumpalo=$others/bumpalo-suite
suite "$bumpalo" bumpalo '"boxed", "collections", "serde", "std"'
cp -r "$(dirname "$manifest")/tests" "$bumpalo/tests"
cat >>"$bumpalo/Cargo.toml" <<'END'
[[test]]
name = "all"
[[test]]
name = "reproduce_issue_261"
[[test]]
name = "try_alloc"
harness = false
END
left_out=()
for test in alloc_fill::alloc_slice_fill_zero quickchecks::allocated_bytes_including_metadata \
    vec::panic_in_drain_filter; do
    left_out+=(--skip "$test")
done
(
    cd "$bumpalo"
    # In debug builds, the tests of large values are ignored.
    RUST_MIN_STACK=$((1 << 30)) cargo test --release --test all -- "${left_out[@]}"
    cargo test --release --test reproduce_issue_261 --test try_alloc
)

bash "$here/fetch.sh" typed-arena "$others/typed-arena-original"
typed=$others/typed-arena-suite
suite "$typed" typed-arena ''
mkdir "$typed/tests"
printf 'use typed_arena::*;\nmod test;\n' >"$typed/tests/all.rs"
private=$(perl -0ne 'print scalar(() = /assert(?:_eq)?!\([^;]*\.chunks\b[^;]*;/g)' "$others/typed-arena-original/src/test.rs")
if [[ $private != 10 ]]; then
    echo "typed-arena has $private assertions on private fields, and not 10" >&2
    exit 1
fi
perl -0pe 's/assert(?:_eq)?!\([^;]*\.chunks\b[^;]*;//g' "$others/typed-arena-original/src/test.rs" >"$typed/tests/test.rs"
printf '[[test]]\nname = "all"\n' >>"$typed/Cargo.toml"
cd "$typed"
exec cargo test --release --test all -- --skip test_uninitialized_array
