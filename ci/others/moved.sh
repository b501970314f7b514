#!/usr/bin/env bash
# Moves published crates from bumpalo or typed-arena over to ebbtide, and runs their own tests.
#
#   moved.sh           the crates that build in seconds
#   moved.sh --all     all of them
#   moved.sh NAME ...  those named
#   moved.sh --patched NAME ...
#                      the same crates, unchanged, with our libraries of the names of bumpalo and
#                      typed-arena instead, by a patch of the registry; without names, the quick ones
#
# Each file of moved/ describes one crate, whose version is in ci/fetched. It sets `replaces`, the
# dependency that goes; `features` of ebbtide; and two functions: `edit` rewrites the crate's files, `check` runs its
# tests. The lines that `edit` changed, Cargo.toml aside, are counted and compared with the table of
# docs/MIGRATING.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
others=${CARGO_TARGET_DIR:-$root/target}/others
mkdir -p "$others"
others=$(cd "$others" && pwd)
export CARGO_TARGET_DIR=$others/moved-target
export CARGO_PROFILE_DEV_DEBUG=line-tables-only
# Warnings are those of other people's code.
export RUSTFLAGS=-Awarnings

quick=(wast regalloc2 pretty jaq-core datalogic-rs dprint-core)
all=("${quick[@]}" pulldown-latex sonic-rs mago-syntax comrak)

# Copies a published crate to $others/NAME-moved, and keeps the original beside it.
copy() {
    bash "$here/fetch.sh" "$1" "$others/$1-original"
    rm -rf "$others/$1-moved"
    cp -r "$others/$1-original" "$others/$1-moved"
}

# Replaces the dependency $2 of the crate in folder $1 by ebbtide, with the features $3.
depend() {
    local optional
    optional=$(perl -0ne "print \$1 if /\\[dependencies\\.$2\\](?:(?!\\n\\[).)*(optional = true)/s" "$1/Cargo.toml")
    perl -0pi -e "s/\\[dependencies\\.$2\\]\\n(?:(?!\\n\\[).)*\\n//s" "$1/Cargo.toml"
    printf '\n[dependencies.ebbtide]\npath = "%s"\nfeatures = [%s]\n%s\n' \
        "$root/crates/ebbtide" "$3" "$optional" >>"$1/Cargo.toml"
}

# Prints the lines of Rust that were added to and removed from the crates named, as a row of the
# table in MIGRATING.md.
lines() {
    local title=$1 added=0 removed=0 plus minus
    shift
    for name in "$@"; do
        while read -r plus minus _; do
            added=$((added + plus)) removed=$((removed + minus))
        done < <(git diff --no-index --numstat "$others/$name-original" "$others/$name-moved" | grep '\.rs$')
    done
    echo "| $title | $added | $removed |"
}

moved() {
    local name=$1 row version
    read -r _ _ version _ < <(grep "^crate $name " "$here/../fetched")
    echo "=== $name ==="
    # shellcheck source=/dev/null
    source "$here/moved/$name.sh"
    copy "$name"
    depend "$others/$name-moved" "$replaces" "$features"
    parts=("$name")
    cd "$others/$name-moved"
    edit
    row=$(lines "$name $version" "${parts[@]}")
    echo "$row"
    if ! grep -qF "$row" "$root/docs/MIGRATING.md"; then
        echo "docs/MIGRATING.md has another row for $name" >&2
        exit 1
    fi
    check
}

# Runs the tests of a crate with the package that it depends on replaced by ours.
patched() {
    local name=$1
    echo "=== $name, patched ==="
    # shellcheck source=/dev/null
    source "$here/moved/$name.sh"
    rm -rf "$others/renamed/$replaces"
    (cd "$root" && cargo xtask vendor "$replaces" "$others/renamed/$replaces")
    copy "$name"
    cd "$others/$name-moved"
    # Some crates have such a file.
    mkdir -p .cargo
    printf '\n[patch.crates-io]\n%s = { path = "%s" }\n' "$replaces" "$others/renamed/$replaces" >>.cargo/config.toml
    cargo update --quiet --package "$replaces"
    cargo tree --prefix none --package "$replaces" --depth 0 | grep -F "$others/renamed"
    check
}

run=moved
if [[ ${1-} == --patched ]]; then
    run=patched
    shift
fi
case ${1-} in
'') names=("${quick[@]}") ;;
--all) names=("${all[@]}") ;;
*) names=("$@") ;;
esac
for name in "${names[@]}"; do
    ("$run" "$name")
done
