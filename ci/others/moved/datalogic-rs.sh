# An evaluator of JSONLogic rules. Values, strings and vectors of one evaluation are in an arena.
replaces=bumpalo
features=

edit() {
    sed -i 's/^use bumpalo::collections::Vec as BumpVec;/use ebbtide::Arena;/
        s/^use bumpalo::Bump;/type BumpVec<'"'a, T> = ebbtide::collections::Vec<'a, 'a, T>;/"'
        s/^    bump: Bump,/    bump: Arena,/; s/Bump::new()/Arena::new()/
        s/bump\.set_allocation_limit(/bump.set_limit(/
        s/BumpVec::with_capacity_in(\(.*\), &self\.bump)/self.bump.root().vec_with_capacity(\1)/
        s/self\.bump\.alloc(value)/self.bump.root().alloc_leaked(value)/
        s/self\.bump\.alloc/self.bump.root().alloc/; s/(s, &self\.bump)/(s, self.bump.root())/
        s/self\.bump\.root()\.allocated_bytes()/self.bump.stats().used/' src/arena/bump.rs
    sed -i 's/^use bumpalo::Bump;/use ebbtide::Scope;/; s/&'"'a Bump/\&'a Scope<'a>/"'
        s/Bump::new()/ebbtide::Arena::new()/; s/, &bump)/, bump.root())/' src/arena/interner.rs
}

check() {
    cargo test --quiet --lib --tests
}
