//! An adapter for each peer, one file each. A workload is written once, over [`Peer`] and
//! [`Handle`]; all of it is inlined.

mod blink_alloc;
mod bump_scope;
mod bumpalo;
mod ebbtide;
mod limit;
mod multitude;
mod stumpalo;

pub use self::{
    blink_alloc::BlinkAlloc,
    bump_scope::BumpScope,
    bumpalo::Bumpalo,
    ebbtide::{Ebbtide, EbbtideRoot},
    limit::{Limit, MixedLimit},
    multitude::Multitude,
    stumpalo::Stumpalo,
};

/// A vector of contestants, one per peer: the expression of its group, with `$P` as its type. `+` in a
/// group are all arenas of others, in the order in which they are shown.
#[macro_export]
macro_rules! contestants {
    ([$($first:ident)* + $($last:ident)*] $($rest:tt)*) => {
        $crate::contestants!(
            [$($first)* Stumpalo Bumpalo BumpScope BlinkAlloc Multitude $($last)*] $($rest)*
        )
    };
    ($([$($peer:ident)*] |$P:ident| $contestant:expr),* $(,)?) => {
        vec![$($({
            type $P = $crate::peers::$peer;
            $contestant
        }),*),*]
    };
}

/// An arena that can be used again and again.
pub trait Peer: Sized + 'static {
    const NAME: &'static str;

    type Handle<'a>: Handle<'a>
    where
        Self: 'a;

    /// An arena with the default settings.
    fn fresh() -> Self;

    /// An arena whose first chunk has room for this many bytes.
    fn with_capacity(bytes: usize) -> Self;

    /// Empties the arena, and returns a handle that allocates in it.
    fn open(&mut self) -> Self::Handle<'_>;
}

/// A handle that allocates.
pub trait Handle<'a> {
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T;
    fn alloc_str(&self, text: &str) -> &'a mut str;
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T];

    /// Copies an array, whose length is known at compile time; by default, like any other slice.
    #[inline(always)]
    fn alloc_array<T: Copy + 'a, const N: usize>(&self, values: &[T; N]) -> &'a mut [T] {
        self.alloc_slice_copy(values)
    }
}

/// A peer with scopes; one without scopes is reset instead.
pub trait Scopes: Peer {
    /// `turns` times: open a scope, allocate a `u64`, close it.
    fn open_allocate_close(&mut self, turns: usize);
}

/// Implements [`Peer`] for a new type around an arena.
macro_rules! peer {
    (
        $peer:ident($arena:ty) = $name:expr, $handle:ty;
        new: $new:expr, |$bytes:ident| $with_capacity:expr;
        open: |$self:ident| $open:expr;
    ) => {
        pub struct $peer(pub $arena);

        impl $crate::peers::Peer for $peer {
            const NAME: &'static str = $name;
            type Handle<'a> = $handle;

            #[inline(always)]
            fn fresh() -> Self {
                $peer($new)
            }

            fn with_capacity($bytes: usize) -> Self {
                $peer($with_capacity)
            }

            #[inline(always)]
            fn open(&mut self) -> Self::Handle<'_> {
                let $self = self;
                $open
            }
        }
    };
}
use peer;

/// Implements [`Handle`] by the peer's functions for a value, a string and a slice.
macro_rules! handle {
    (
        $handle:ty: |$self:ident, $value:ident| $alloc:expr, $alloc_str:expr, $alloc_slice:expr
        $(, array: $alloc_array:expr)?
    ) => {
        impl<'a> $crate::peers::Handle<'a> for $handle {
            #[inline(always)]
            fn alloc<T: Copy + 'a>(&self, $value: T) -> &'a mut T {
                let $self = self;
                $alloc
            }

            #[inline(always)]
            fn alloc_str(&self, $value: &str) -> &'a mut str {
                let $self = self;
                $alloc_str
            }

            #[inline(always)]
            fn alloc_slice_copy<T: Copy + 'a>(&self, $value: &[T]) -> &'a mut [T] {
                let $self = self;
                $alloc_slice
            }

            $(
                #[inline(always)]
                fn alloc_array<T: Copy + 'a, const N: usize>(&self, $value: &[T; N]) -> &'a mut [T] {
                    let $self = self;
                    $alloc_array
                }
            )?
        }
    };
}
use handle;

/// Implements [`Scopes`] by the peer's code for one turn.
macro_rules! scopes {
    ($peer:ident: |$arena:ident, $value:ident| $turn:expr) => {
        impl $crate::peers::Scopes for $peer {
            #[inline(always)]
            fn open_allocate_close(&mut self, turns: usize) {
                let $arena = &mut self.0;
                for turn in 0..turns {
                    let $value = turn as u64;
                    $turn;
                }
            }
        }
    };
}
use scopes;
