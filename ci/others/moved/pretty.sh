# Wadler's pretty printer. Documents, which own strings and closures, are in typed arenas.
replaces=typed-arena
features=

edit() {
    sed -i 's/typed_arena::Arena\b/ebbtide::TypedArena/' src/lib.rs src/render.rs
}

check() {
    cargo test --quiet --lib --tests
    # Nothing leaks.
    if valgrind --version >/dev/null 2>&1; then
        local valgrind='valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite'
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="$valgrind --error-exitcode=1" cargo test --quiet --lib
    fi
}
