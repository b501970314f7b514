# The core of the jq interpreter jaq. The text of loaded modules is in a typed arena.
replaces=typed-arena
features=

edit() {
    sed -i 's/typed_arena::Arena<String>/ebbtide::TypedArena<String>/' src/load/mod.rs
}

# The published package does not name what its tests use: `jaq-json`, which depends on `jaq-core`.
check() {
    printf '[dev-dependencies.jaq-json]\nversion = "2"\nfeatures = ["serde"]\n[patch.crates-io]\njaq-core = { path = "." }\n' >>Cargo.toml
    cargo test --quiet --lib --tests
}
