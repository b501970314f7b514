//! Errors that name the feature `hashbrown-017` where it is missing. Otherwise the compiler finds
//! `Iterator::map`, and says that a scope is not an iterator.

use crate::{arena::Arena, backing::Backing, scope::Scope};

/// ```compile_fail,E0277
/// let arena = ebbtide::Arena::new();
/// arena.root().map();
/// ```
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "maps and sets need the feature `hashbrown-017` of ebbtide",
    label = "`cargo add ebbtide --features hashbrown-017`"
)]
pub trait NeedsFeature {}

/// The bound is over any lifetime, because the compiler refuses other bounds that never hold.
macro_rules! without_map {
    ([$($generics:tt)*], $type:ty) => {
        impl<$($generics)*> $type {
            #[doc(hidden)]
            pub fn map(&self) -> !
            where
                for<'any> Self: NeedsFeature,
            {
                unreachable!()
            }

            #[doc(hidden)]
            pub fn set(&self) -> !
            where
                for<'any> Self: NeedsFeature,
            {
                unreachable!()
            }
        }
    };
}

without_map!([], Scope<'_>);
without_map!([B: Backing], Arena<B>);
