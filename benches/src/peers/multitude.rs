use super::{fills, handle, peer, scopes};
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
fills! {
    &'a Arena:
    |a, len, make| Alloc::leak(a.alloc_slice_fill_with(len, make));
    |values|
    Alloc::leak(a.alloc_slice_fill_iter(values)),
    Alloc::leak(a.alloc_slice_fill_iter(values.into_iter())),
    Alloc::leak(a.alloc_slice_fill_iter(values.into_iter()))
}
scopes!(Multitude: |arena, value| {
    observe(&mut *arena.alloc(value));
    arena.reset()
});
