# A parser of WebAssembly text. It keeps the strings of a parse buffer in an arena.
replaces=bumpalo
features=

edit() {
    sed -i 's/^use bumpalo::Bump;/use ebbtide::Arena;/; s/strings: Bump,/strings: Arena,/
        s/self\.strings\.alloc/self.strings.root().alloc/' src/parser.rs
}

# The published package does not name what its tests use: `wat`, which depends on `wast`, and
# `wasmparser`.
check() {
    printf '[dev-dependencies]\nwat = "=1.263.0"\nwasmparser = "0.263"\n[patch.crates-io]\nwast = { path = "." }\n' \
        >>Cargo.toml
    cargo test --quiet --lib --tests
}
