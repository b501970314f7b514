# The printer of dprint's formatters. What it is to print is a graph in an arena; a pool keeps
# arenas for later files.
replaces=bumpalo
features='"allocator-api2-02"'

edit() {
    sed -i 's/^    "bumpalo",/    "ebbtide",/' Cargo.toml
    sed -i 's/bump: bumpalo::Bump/bump: ebbtide::Arena/; s/Vec<bumpalo::Bump>/Vec<ebbtide::Arena>/
        s/bumpalo::Bump::new()/ebbtide::Arena::new()/; s/&bumpalo::Bump {/\&ebbtide::Scope<'"'_> {/"'
        s/^    &self\.bump$/    self.bump.root()/; s/self\.bump\.alloc/self.bump.root().alloc/
        s/arena\.bump()\.allocated_bytes()/arena.bump.stats().capacity/' src/formatting/arena.rs
    sed -i "s/bumpalo::collections::Vec<'a,/ebbtide::collections::Vec<'a, 'a,/
        s/bumpalo::collections::Vec::new_in(arena\.bump())/arena.bump().vec()/" src/formatting/ir_helpers/*.rs
    sed -i "s/&'a bumpalo::Bump>/\&'a ebbtide::Scope<'a>>/" src/formatting/printer.rs
    sed -i 's/pub use bumpalo;/pub use ebbtide;/' src/formatting/mod.rs
}

check() {
    cargo test --quiet --lib --tests --features formatting
}
