# A parser of LaTeX formulas. It expands macros into strings in an arena.
replaces=bumpalo
features=

edit() {
    sed -i -E "s/pub\(super\) bumpalo::Bump/pub(super) ebbtide::Arena/; s/&('[a-z]+) bumpalo::Bump/\&\1 ebbtide::Scope<\1>/
        s/storage: &storage\.0/storage: storage.0.root()/; s/bumpalo::collections::String::/ebbtide::collections::String::/
        s/into_bump_str/into_str/g" src/parser.rs src/parser/macros.rs src/parser/storage.rs
}

# Without the tests that drive a browser.
check() {
    perl -0pi -e 's/\[\[test\]\]\nname = "cross-browser".*?\n\n//s; s/\[\[bench\]\]\n.*?\n\n//sg;
        s/\[dev-dependencies.fantoccini\]\n.*?\n\n//s' Cargo.toml
    rm tests/cross-browser.rs
    cargo test --quiet --lib --tests
}
