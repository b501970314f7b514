#!/usr/bin/env bash
# Runs the tests of serde_json, regex, rayon and crossbeam-epoch, or of those named as arguments,
# each test inside a transparent scope, with poison. In a copy of the crate, `#[test]` becomes an
# attribute that wraps the function's body in `ebbtide_global::arena`, and the test programs get the
# global allocator.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
others=${CARGO_TARGET_DIR:-$here/../../target}/others
mkdir -p "$others/in_a_scope/attribute"
others=$(cd "$others" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$others/target}
# Without optimisation, some of rayon's tests take minutes. Debug assertions, and with them poison,
# stay on.
export CARGO_PROFILE_DEV_OPT_LEVEL=1

cat >"$others/in_a_scope/Cargo.toml" <<END
[package]
name = "in_a_scope"
version = "0.0.0"
edition = "2024"
[dependencies]
ebbtide-global = { path = "$here/../../crates/ebbtide-global", features = ["poison"] }
in_a_scope_attribute = { path = "attribute" }
[workspace]
END
mkdir -p "$others/in_a_scope/src"
cat >"$others/in_a_scope/src/lib.rs" <<'END'
//! `#[in_a_scope::test]`, and the allocator that it needs.

pub use in_a_scope_attribute::test;

#[global_allocator]
static ALLOCATOR: ebbtide_global::Scoped<std::alloc::System> =
    ebbtide_global::Scoped::new(std::alloc::System);

/// Runs a test's body in a scope, after checking that scopes work.
pub fn run<R>(body: impl FnOnce() -> R) -> R {
    let before = ebbtide_global::report().blocks;
    ebbtide_global::arena(|| drop(std::hint::black_box(Box::new(1))));
    assert!(ebbtide_global::report().blocks > before, "scopes do not serve");
    ebbtide_global::arena(body)
}
END
cat >"$others/in_a_scope/attribute/Cargo.toml" <<'END'
[package]
name = "in_a_scope_attribute"
version = "0.0.0"
edition = "2024"
[lib]
path = "lib.rs"
proc-macro = true
END
cat >"$others/in_a_scope/attribute/lib.rs" <<'END'
//! A test whose body runs in a scope.

use proc_macro::{Delimiter, TokenStream, TokenTree};

#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut item: Vec<TokenTree> = item.into_iter().collect();
    let body = item.pop().expect("a function has a body");
    let is_parameters =
        |token: &TokenTree| matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis);
    let parameters = item.iter().position(is_parameters).expect("a function has parameters");
    let result: TokenStream = item[parameters + 1..].iter().cloned().collect();
    let item: TokenStream = item.into_iter().collect();
    let text = "#[::core::prelude::v1::test]".to_owned();
    let mut test: TokenStream = text.parse().expect("it is an attribute");
    test.extend(item);
    // The body stays as it is, so that what macros put into it is still theirs.
    let closure = TokenStream::from_iter(
        "||".parse::<TokenStream>().expect("no parameters").into_iter().chain(result).chain([body]),
    );
    let argument = TokenTree::Group(proc_macro::Group::new(Delimiter::Parenthesis, closure));
    let mut run: TokenStream = "::in_a_scope::run".parse().expect("it is a path");
    run.extend([argument]);
    test.extend([TokenTree::Group(proc_macro::Group::new(Delimiter::Brace, run))]);
    test
}
END

# Arguments: NAME, then arguments for `cargo test`.
tests_of() {
    local name=$1
    shift
    echo "=== $name ==="
    bash "$here/fetch.sh" "$name" "$others/$name-in-scopes"
    (
        cd "$others/$name-in-scopes"
        printf '\n[dependencies.in_a_scope]\npath = "../in_a_scope"\n' >>Cargo.toml
        # Test data that the published crate does not contain.
        if [ "$name" = regex ]; then sed -i '/^mod fuzz;/d; /"fowler/d' tests/lib.rs; fi
        grep -rlF '#[test]' src tests | xargs sed -i 's/#\[test\]/#[::in_a_scope::test]/'
        cargo test --lib --tests "$@"
    )
}

run() {
    case $1 in
    serde_json) tests_of serde_json --features float_roundtrip,raw_value,unbounded_depth ;;
    regex) tests_of regex ;;
    rayon) tests_of rayon ;;
    crossbeam-epoch) tests_of crossbeam-epoch ;;
    *)
        echo "$1: not one of serde_json, regex, rayon, crossbeam-epoch" >&2
        exit 2
        ;;
    esac
}

if [ $# -eq 0 ]; then
    set -- serde_json regex rayon crossbeam-epoch
fi
for name in "$@"; do
    run "$name"
done
