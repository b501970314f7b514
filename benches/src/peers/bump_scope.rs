use super::{fills, handle, peer, scopes};
use crate::harness::observe;
use bump_scope::{Bump, BumpBox, BumpScope as Scope};

peer! {
    BumpScope(Bump) = "bump-scope", &'a Scope<'a>;
    new: Bump::new(), |bytes| Bump::with_size(bytes * 2);
    open: |this| { this.0.reset_to_start(); this.0.as_scope() };
}
handle! {
    &'a Scope<'a>:
    |b, value|
    BumpBox::leak(Scope::alloc(b, value)),
    BumpBox::leak(Scope::alloc_str(b, value)),
    BumpBox::leak(Scope::alloc_slice_copy(b, value))
}
fills! {
    &'a Scope<'a>:
    |b, len, make| {
        let mut make = make;
        let mut index = 0;
        let next = || {
            let value = make(index);
            index += 1;
            value
        };
        BumpBox::leak(b.alloc_slice_fill_with(len, next))
    };
    |values|
    BumpBox::leak(b.alloc_iter_exact(values)),
    BumpBox::leak(b.alloc_slice_move(values)),
    BumpBox::leak(b.alloc_slice_move(values))
}
scopes!(BumpScope: |bump, value| bump.scoped(|s| observe(&mut *s.alloc(value))));
