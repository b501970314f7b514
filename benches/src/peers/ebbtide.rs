use super::{handle, peer, scopes};
use crate::harness::{OURS, observe};
use ebbtide::{Arena, Scope};

peer! {
    Ebbtide(Arena) = OURS, Scope<'a>;
    new: Arena::new(), |bytes| Arena::with_capacity(bytes);
    open: |this| this.0.scope();
}
// The accumulating scope, by reference.
peer! {
    EbbtideRoot(Arena) = "ebbtide, root", &'a Scope<'a>;
    new: Arena::new(), |bytes| Arena::with_capacity(bytes);
    open: |this| { this.0.reset(); this.0.root() };
}
handle! {
    Scope<'a>: |s, value| s.alloc(value), Scope::alloc_str(s, value), Scope::alloc_slice_copy(s, value)
}
handle! {
    &'a Scope<'a>:
    |s, value| Scope::alloc(s, value), Scope::alloc_str(s, value), Scope::alloc_slice_copy(s, value)
}
scopes!(Ebbtide: |arena, value| {
    let s = arena.scope();
    observe(s.alloc(value))
});
