# A JSON parser that uses vector instructions. The nodes and strings of a document are in an arena.
replaces=bumpalo
features=

edit() {
    sed -i 's/^use bumpalo::Bump;/use ebbtide::{Arena, Scope};/; s/alloc: Bump,/alloc: Arena,/
        s/&mut Bump {/\&Scope<'"'_> {/; s/^        &mut self"'\.alloc$/        self.alloc.root()/' src/value/shared.rs
    # The document drops its nodes itself.
    sed -i 's/get_alloc() }\.alloc(/get_alloc() }.alloc_leaked(/' src/value/node.rs
}

# Two tests read files that the package does not contain.
check() {
    perl -0pi -e 's/    #\[cfg\(not\(miri\)\)\]\n    #\[test\]\n    #\[cfg\(not\(target_arch = "wasm32"\)\)\]\n    fn test_struct.*?\n    \}\n//s' \
        src/serde/mod.rs
    cargo test --quiet --lib --tests -- --skip test_node_from_files3
}
