# The register allocator of Cranelift. Its lists of live ranges are allocator-api2 vectors in an
# arena behind an `Rc`.
replaces=bumpalo
features='"allocator-api2-02"'

edit() {
    sed -i 's/Rc<bumpalo::Bump>/Rc<ebbtide::Arena>/; s/&mut bumpalo::Bump/\&mut ebbtide::Arena/
        s/self\.0\.deref()\./self.0.root()./; /^use core::ops::Deref as _;/d' src/lib.rs
    sed -i 's/bumpalo::Bump/ebbtide::Arena/' src/ion/data_structures.rs
}

check() {
    cargo test --quiet --lib --tests --features checker
}
