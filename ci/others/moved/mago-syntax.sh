# The PHP parser of mago. Its syntax tree is in an arena; the types of sequences come from a second
# package.
replaces=bumpalo
features='"serde"'

edit() {
    local core=$others/mago-syntax-core-moved
    copy mago-syntax-core
    depend "$core" "$replaces" "$features"
    parts+=(mago-syntax-core)
    printf '\n[patch.crates-io]\nmago-syntax-core = { path = "%s" }\n' "$core" >>Cargo.toml

    # bumpalo's `Vec<'bump, T>` implies `T: 'bump`, which one struct relies on.
    sed -i "s/&'arena Bump\b/\&'arena Scope<'arena>/; s/&'src Bump\b/\&'src Scope<'src>/
        s/^\( *\)use bumpalo::Bump;/\1use ebbtide::Scope;/
        s/^use bumpalo::collections::Vec\b/use ebbtide::collections::Vec/
        s/^use bumpalo::vec;/use ebbtide::vec;/; s/\bIntoIter<'arena, Self::Item>/IntoIter<T, \&'arena Scope<'arena>>/
        s/^use bumpalo::collections::CollectIn;/use ebbtide::collections::CollectIn;/
        s/^use bumpalo::collections::vec::IntoIter;/use ebbtide::collections::IntoIter;/
        s/\b\(B\?Vec\)<'arena, /\1<'arena, 'arena, /g; s/vec!\[in self\.arena; value\]/vec![in *self.arena; value]/
        s/into_bump_slice/into_slice/
        s/^pub struct TokenStream<'input, 'arena>/pub struct TokenStream<'input: 'arena, 'arena>/" $(grep -rlE 'bumpalo|Vec<.arena' src "$core/src")
    # Errors own boxed slices, which leak with bumpalo as well: the program that holds them is never
    # dropped.
    sed -i "s/errors: Vec<'arena, 'arena, ParseError>/errors: OwnedVec<'arena, 'arena, ParseError>/
        s/^use ebbtide::collections::Vec;/use ebbtide::collections::{OwnedVec, Vec};/
        s/errors: Vec::new_in(arena)/errors: arena.owned_vec()/
        s/self\.arena\.alloc(Program/self.arena.alloc_leaked(Program/" src/parser/mod.rs src/ast/mod.rs
    sed -i 's/^\( *\)use ebbtide::Scope;/\1use ebbtide::Arena;/; s/^\( *\)use bumpalo::Bump;/\1use ebbtide::Arena;/
        s/Bump::new()/Arena::new()/; s/&arena\b/arena.root()/g' src/comments/docblock.rs tests/*.rs
}

check() {
    cargo test --quiet --lib --tests
}
