use super::{handle, peer, scopes};
use crate::harness::observe;
use multitude::{Alloc, Arena};

peer! {
    Multitude(Arena) = "multitude", &'a Arena;
    new: Arena::new(), |bytes| Arena::builder().with_capacity(bytes).build();
    open: |this| { this.0.reset(); &this.0 };
}
handle! {
    &'a Arena:
    |a, value|
    Alloc::leak(Arena::alloc(a, value)),
    Alloc::leak(Arena::alloc_str(a, value)),
    Alloc::leak(Arena::alloc_slice_copy(a, value))
}
scopes!(Multitude: |arena, value| {
    observe(&mut *arena.alloc(value));
    arena.reset()
});
