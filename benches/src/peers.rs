//! An adapter for each peer. A workload is written once, over [`Peer`] and [`Handle`]; all of it is
//! inlined.

use crate::harness::{LIMIT, OURS};
use std::{cell::Cell, marker::PhantomData, mem::MaybeUninit};

/// One contestant per peer: calls a function with the peer as the first type argument, and the
/// other arguments.
macro_rules! contestants {
    ([$($peer:ident)*] $function:ident $generics:tt $arguments:tt) => {
        vec![$($crate::peers::contestants!(@ $peer $function $generics $arguments)),*]
    };
    (@ $peer:ident $function:ident [$($generic:tt)*] ($($argument:expr),*)) => {
        $function::<$peer, $($generic)*>($($argument),*)
    };
}
pub(crate) use contestants;

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

/// A peer that fills slices from functions and iterators.
pub trait Fills<'a>: Handle<'a> {
    fn fill_with(&self, len: usize, make: impl FnMut(usize) -> u32) -> &'a mut [u32];
    fn fill_iter(&self, values: impl ExactSizeIterator<Item = u32>) -> &'a mut [u32];
    fn take_vec(&self, values: Vec<u32>) -> &'a mut [u32];
    fn take_boxed(&self, values: Box<[u32]>) -> &'a mut [u32];
}

/// A peer with scopes; one without scopes is reset instead.
pub trait Scopes: Peer {
    /// `turns` times: open a scope, allocate a `u64`, close it.
    fn open_allocate_close(&mut self, turns: usize);
}

pub struct Ebbtide(ebbtide::Arena);

impl Peer for Ebbtide {
    const NAME: &'static str = OURS;
    type Handle<'a> = ebbtide::Scope<'a>;

    #[inline(always)]
    fn fresh() -> Self {
        Ebbtide(ebbtide::Arena::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        Ebbtide(ebbtide::Arena::with_capacity(bytes))
    }

    #[inline(always)]
    fn open(&mut self) -> ebbtide::Scope<'_> {
        self.0.scope()
    }
}

impl<'a> Handle<'a> for ebbtide::Scope<'a> {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        self.alloc(value)
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        ebbtide::Scope::alloc_str(self, text)
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        ebbtide::Scope::alloc_slice_copy(self, values)
    }
}

impl Scopes for Ebbtide {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            let s = self.0.scope();
            crate::harness::observe(s.alloc(turn as u64));
        }
    }
}

/// The accumulating scope, by reference.
pub struct EbbtideRoot(pub ebbtide::Arena);

impl Peer for EbbtideRoot {
    const NAME: &'static str = "ebbtide, root";
    type Handle<'a> = &'a ebbtide::Scope<'a>;

    #[inline(always)]
    fn fresh() -> Self {
        EbbtideRoot(ebbtide::Arena::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        EbbtideRoot(ebbtide::Arena::with_capacity(bytes))
    }

    #[inline(always)]
    fn open(&mut self) -> &ebbtide::Scope<'_> {
        self.0.reset();
        self.0.root()
    }
}

impl<'a> Handle<'a> for &'a ebbtide::Scope<'a> {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        ebbtide::Scope::alloc(self, value)
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        ebbtide::Scope::alloc_str(self, text)
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        ebbtide::Scope::alloc_slice_copy(self, values)
    }
}

pub struct Stumpalo(pub stumpalo::Arena);

impl Peer for Stumpalo {
    const NAME: &'static str = "stumpalo";
    type Handle<'a> = &'a stumpalo::Arena;

    #[inline(always)]
    fn fresh() -> Self {
        Stumpalo(stumpalo::Arena::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        Stumpalo(stumpalo::Arena::with_capacity(bytes))
    }

    #[inline(always)]
    fn open(&mut self) -> &stumpalo::Arena {
        self.0.clear();
        &self.0
    }
}

impl<'a> Handle<'a> for &'a stumpalo::Arena {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        stumpalo::Arena::alloc(self, value)
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        stumpalo::Arena::alloc_str(self, text)
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        stumpalo::Arena::alloc_slice_copy(self, values)
    }

    #[inline(always)]
    fn alloc_array<T: Copy + 'a, const N: usize>(&self, values: &[T; N]) -> &'a mut [T] {
        self.alloc_sized_slice_copy(values)
    }
}

impl Scopes for Stumpalo {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            self.0.with_scope(|s| crate::harness::observe(s.alloc(turn as u64)));
        }
    }
}

pub struct Bumpalo(bumpalo::Bump);

impl Peer for Bumpalo {
    const NAME: &'static str = "bumpalo";
    type Handle<'a> = &'a bumpalo::Bump;

    #[inline(always)]
    fn fresh() -> Self {
        Bumpalo(bumpalo::Bump::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        Bumpalo(bumpalo::Bump::with_capacity(bytes))
    }

    #[inline(always)]
    fn open(&mut self) -> &bumpalo::Bump {
        self.0.reset();
        &self.0
    }
}

impl<'a> Handle<'a> for &'a bumpalo::Bump {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        bumpalo::Bump::alloc(self, value)
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        bumpalo::Bump::alloc_str(self, text)
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        bumpalo::Bump::alloc_slice_copy(self, values)
    }
}

impl Scopes for Bumpalo {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            crate::harness::observe(self.0.alloc(turn as u64));
            self.0.reset();
        }
    }
}

pub struct BumpScope(bump_scope::Bump);

impl Peer for BumpScope {
    const NAME: &'static str = "bump-scope";
    type Handle<'a> = &'a bump_scope::BumpScope<'a>;

    #[inline(always)]
    fn fresh() -> Self {
        BumpScope(bump_scope::Bump::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        BumpScope(bump_scope::Bump::with_size(bytes * 2))
    }

    #[inline(always)]
    fn open(&mut self) -> &bump_scope::BumpScope<'_> {
        self.0.reset_to_start();
        self.0.as_scope()
    }
}

impl<'a> Handle<'a> for &'a bump_scope::BumpScope<'a> {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        bump_scope::BumpBox::leak(bump_scope::BumpScope::alloc(self, value))
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        bump_scope::BumpBox::leak(bump_scope::BumpScope::alloc_str(self, text))
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        bump_scope::BumpBox::leak(bump_scope::BumpScope::alloc_slice_copy(self, values))
    }
}

impl Scopes for BumpScope {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            self.0.scoped(|s| crate::harness::observe(&mut *s.alloc(turn as u64)));
        }
    }
}

pub struct BlinkAlloc(blink_alloc::Blink);

impl Peer for BlinkAlloc {
    const NAME: &'static str = "blink-alloc";
    type Handle<'a> = &'a blink_alloc::Blink;

    #[inline(always)]
    fn fresh() -> Self {
        BlinkAlloc(blink_alloc::Blink::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        BlinkAlloc(blink_alloc::Blink::with_chunk_size(bytes * 2))
    }

    #[inline(always)]
    fn open(&mut self) -> &blink_alloc::Blink {
        self.0.reset();
        &self.0
    }
}

impl<'a> Handle<'a> for &'a blink_alloc::Blink {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        self.put_no_drop(value)
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        self.copy_str(text)
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        self.copy_slice(values)
    }
}

impl Scopes for BlinkAlloc {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            crate::harness::observe(self.0.put_no_drop(turn as u64));
            self.0.reset();
        }
    }
}

pub struct Multitude(multitude::Arena);

impl Peer for Multitude {
    const NAME: &'static str = "multitude";
    type Handle<'a> = &'a multitude::Arena;

    #[inline(always)]
    fn fresh() -> Self {
        Multitude(multitude::Arena::new())
    }

    fn with_capacity(bytes: usize) -> Self {
        Multitude(multitude::Arena::builder().with_capacity(bytes).build())
    }

    #[inline(always)]
    fn open(&mut self) -> &multitude::Arena {
        self.0.reset();
        &self.0
    }
}

impl<'a> Handle<'a> for &'a multitude::Arena {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        multitude::Alloc::leak(multitude::Arena::alloc(self, value))
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        multitude::Alloc::leak(multitude::Arena::alloc_str(self, text))
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        multitude::Alloc::leak(multitude::Arena::alloc_slice_copy(self, values))
    }
}

impl Scopes for Multitude {
    #[inline(always)]
    fn open_allocate_close(&mut self, turns: usize) {
        for turn in 0..turns {
            crate::harness::observe(&mut *self.0.alloc(turn as u64));
            self.0.reset();
        }
    }
}

/// A raw pointer that is bumped without any check; unless `MIXED`, not even of alignment: for rows
/// of one type.
pub struct Bumped<const MIXED: bool>(Vec<MaybeUninit<u128>>);

pub type Limit = Bumped<false>;
pub type MixedLimit = Bumped<true>;

pub struct Pointer<'a, const MIXED: bool> {
    top: Cell<*mut u8>,
    memory: PhantomData<&'a mut ()>,
}

impl<const MIXED: bool> Pointer<'_, MIXED> {
    #[inline(always)]
    fn take<T>(&self, bytes: usize) -> *mut T {
        let mut block = self.top.get().wrapping_sub(bytes);
        if MIXED {
            block = block.map_addr(|address| address & !(align_of::<T>() - 1));
        }
        self.top.set(block);
        block.cast()
    }
}

impl<const MIXED: bool> Peer for Bumped<MIXED> {
    const NAME: &'static str = LIMIT;
    type Handle<'a> = Pointer<'a, MIXED>;

    fn fresh() -> Self {
        Self::with_capacity(0)
    }

    fn with_capacity(bytes: usize) -> Self {
        Bumped(vec![MaybeUninit::uninit(); bytes / size_of::<u128>() + 4])
    }

    #[inline(always)]
    fn open(&mut self) -> Pointer<'_, MIXED> {
        Pointer { top: Cell::new(self.0.as_mut_ptr_range().end.cast()), memory: PhantomData }
    }
}

impl<'a, const MIXED: bool> Handle<'a> for Pointer<'a, MIXED> {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        let block = self.take::<T>(size_of::<T>());
        // SAFETY: the workloads ask for no more than the capacity. Unless rounded, for one type, of
        // an alignment of at most 16, which is that of the end.
        unsafe { block.write(value) };
        // SAFETY: written above, and handed out once.
        unsafe { &mut *block }
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        let bytes = self.alloc_slice_copy(text.as_bytes());
        // SAFETY: a copy of a string's bytes.
        unsafe { std::str::from_utf8_unchecked_mut(bytes) }
    }

    #[inline(always)]
    fn alloc_slice_copy<T: Copy + 'a>(&self, values: &[T]) -> &'a mut [T] {
        let block = self.take::<T>(size_of_val(values));
        // SAFETY: as above; the vector and the slice do not overlap.
        unsafe { block.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        // SAFETY: copied above, and handed out once.
        unsafe { std::slice::from_raw_parts_mut(block, values.len()) }
    }
}

/// For peers whose methods that fill slices have our names.
macro_rules! fills {
    ($handle:ty, $take_vec:ident, $take_boxed:ident) => {
        impl<'a> Fills<'a> for $handle {
            #[inline(always)]
            fn fill_with(&self, len: usize, make: impl FnMut(usize) -> u32) -> &'a mut [u32] {
                self.alloc_slice_fill_with(len, make)
            }

            #[inline(always)]
            fn fill_iter(&self, values: impl ExactSizeIterator<Item = u32>) -> &'a mut [u32] {
                self.alloc_slice_fill_iter(values)
            }

            #[inline(always)]
            fn take_vec(&self, values: Vec<u32>) -> &'a mut [u32] {
                self.$take_vec(values)
            }

            #[inline(always)]
            fn take_boxed(&self, values: Box<[u32]>) -> &'a mut [u32] {
                self.$take_boxed(values)
            }
        }
    };
}
fills!(ebbtide::Scope<'a>, alloc_vec, alloc_boxed_slice);
fills!(&'a stumpalo::Arena, alloc_vec, alloc_boxed_slice);
fills!(&'a bumpalo::Bump, alloc_slice_fill_iter, alloc_slice_fill_iter);

impl<'a> Fills<'a> for &'a bump_scope::BumpScope<'a> {
    #[inline(always)]
    fn fill_with(&self, len: usize, mut make: impl FnMut(usize) -> u32) -> &'a mut [u32] {
        let mut index = 0;
        let next = || {
            let value = make(index);
            index += 1;
            value
        };
        bump_scope::BumpBox::leak(self.alloc_slice_fill_with(len, next))
    }

    #[inline(always)]
    fn fill_iter(&self, values: impl ExactSizeIterator<Item = u32>) -> &'a mut [u32] {
        bump_scope::BumpBox::leak(self.alloc_iter_exact(values))
    }

    #[inline(always)]
    fn take_vec(&self, values: Vec<u32>) -> &'a mut [u32] {
        bump_scope::BumpBox::leak(self.alloc_slice_move(values))
    }

    #[inline(always)]
    fn take_boxed(&self, values: Box<[u32]>) -> &'a mut [u32] {
        bump_scope::BumpBox::leak(self.alloc_slice_move(values))
    }
}

impl<'a> Fills<'a> for &'a multitude::Arena {
    #[inline(always)]
    fn fill_with(&self, len: usize, make: impl FnMut(usize) -> u32) -> &'a mut [u32] {
        multitude::Alloc::leak(self.alloc_slice_fill_with(len, make))
    }

    #[inline(always)]
    fn fill_iter(&self, values: impl ExactSizeIterator<Item = u32>) -> &'a mut [u32] {
        multitude::Alloc::leak(self.alloc_slice_fill_iter(values))
    }

    #[inline(always)]
    fn take_vec(&self, values: Vec<u32>) -> &'a mut [u32] {
        self.fill_iter(values.into_iter())
    }

    #[inline(always)]
    fn take_boxed(&self, values: Box<[u32]>) -> &'a mut [u32] {
        self.fill_iter(values.into_iter())
    }
}
