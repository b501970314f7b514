//! One adapter a peer. A workload is written once over [`Peer`] and [`Handle`]; everything inlines.

use crate::harness::{LIMIT, OURS};
use std::{cell::Cell, marker::PhantomData, mem::MaybeUninit};

/// An arena that can be used again and again.
pub trait Peer: Sized {
    const NAME: &'static str;

    type Handle<'a>: Handle<'a>
    where
        Self: 'a;

    /// An arena with room for so many bytes in its first chunk.
    fn with_capacity(bytes: usize) -> Self;

    /// Makes all of the arena free again and returns what allocates from it.
    fn open(&mut self) -> Self::Handle<'_>;
}

/// What allocates.
pub trait Handle<'a> {
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T;
    fn alloc_str(&self, text: &str) -> &'a mut str;
}

/// A peer with scopes, or with the next best thing: a reset.
pub trait Scopes: Peer {
    /// `turns` times: open a scope, allocate a `u64`, close it.
    fn open_allocate_close(&mut self, turns: usize);
}

pub struct Ebbtide(ebbtide::Arena);

impl Peer for Ebbtide {
    const NAME: &'static str = OURS;
    type Handle<'a> = ebbtide::Scope<'a>;

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
pub struct EbbtideRoot(ebbtide::Arena);

impl Peer for EbbtideRoot {
    const NAME: &'static str = "ebbtide, root";
    type Handle<'a> = &'a ebbtide::Scope<'a>;

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
}

pub struct Stumpalo(stumpalo::Arena);

impl Peer for Stumpalo {
    const NAME: &'static str = "stumpalo";
    type Handle<'a> = &'a stumpalo::Arena;

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

/// A raw pointer that is bumped without any check.
pub struct Limit(Vec<MaybeUninit<u8>>);

pub struct Pointer<'a> {
    top: Cell<*mut u8>,
    memory: PhantomData<&'a mut ()>,
}

impl Peer for Limit {
    const NAME: &'static str = LIMIT;
    type Handle<'a> = Pointer<'a>;

    fn with_capacity(bytes: usize) -> Self {
        Limit(vec![MaybeUninit::uninit(); bytes + 64])
    }

    #[inline(always)]
    fn open(&mut self) -> Pointer<'_> {
        Pointer { top: Cell::new(self.0.as_mut_ptr_range().end.cast()), memory: PhantomData }
    }
}

impl<'a> Handle<'a> for Pointer<'a> {
    #[inline(always)]
    fn alloc<T: Copy + 'a>(&self, value: T) -> &'a mut T {
        let top = self.top.get();
        let block = top
            .with_addr(top.addr().wrapping_sub(size_of::<T>()) & !(align_of::<T>() - 1))
            .cast::<T>();
        self.top.set(block.cast());
        // SAFETY: the workloads ask for no more than the capacity.
        unsafe { block.write(value) };
        // SAFETY: written above, and handed out once.
        unsafe { &mut *block }
    }

    #[inline(always)]
    fn alloc_str(&self, text: &str) -> &'a mut str {
        let block = self.top.get().wrapping_sub(text.len());
        self.top.set(block);
        // SAFETY: the workloads ask for no more than the capacity.
        unsafe { block.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: copied above, and handed out once.
        let bytes = unsafe { std::slice::from_raw_parts_mut(block, text.len()) };
        // SAFETY: a copy of a string's bytes.
        unsafe { std::str::from_utf8_unchecked_mut(bytes) }
    }
}
