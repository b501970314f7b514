use super::{handle, peer, scopes};
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
scopes!(BumpScope: |bump, value| bump.scoped(|s| observe(&mut *s.alloc(value))));
