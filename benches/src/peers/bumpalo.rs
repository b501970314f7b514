use super::{handle, peer, scopes};
use crate::harness::observe;
use bumpalo::Bump;

peer! {
    Bumpalo(Bump) = "bumpalo", &'a Bump;
    new: Bump::new(), |bytes| Bump::with_capacity(bytes);
    open: |this| { this.0.reset(); &this.0 };
}
handle! {
    &'a Bump:
    |b, value| Bump::alloc(b, value), Bump::alloc_str(b, value), Bump::alloc_slice_copy(b, value)
}
scopes!(Bumpalo: |bump, value| {
    observe(bump.alloc(value));
    bump.reset()
});
