use super::{handle, peer, scopes};
use crate::harness::observe;
use stumpalo::Arena;

peer! {
    Stumpalo(Arena) = "stumpalo", &'a Arena;
    new: Arena::new(), |bytes| Arena::with_capacity(bytes);
    open: |this| { this.0.clear(); &this.0 };
}
handle! {
    &'a Arena:
    |a, value| Arena::alloc(a, value), Arena::alloc_str(a, value), Arena::alloc_slice_copy(a, value),
    array: a.alloc_sized_slice_copy(value)
}
scopes!(Stumpalo: |arena, value| arena.with_scope(|s| observe(s.alloc(value))));
