# A parser and renderer of CommonMark. The nodes of a document, which own strings, are in a typed
# arena.
replaces=typed-arena
features=

edit() {
    sed -i 's/\btyped_arena::Arena\b/ebbtide::TypedArena/' $(grep -rl typed_arena src)
}

check() {
    cargo test --quiet --lib --tests
}
