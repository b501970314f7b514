use super::{Handle, Peer};
use crate::harness::LIMIT;
use std::{cell::Cell, marker::PhantomData, mem::MaybeUninit};

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
