//! Iterators over the memory in use. They list it when they are made, because the chunks are linked
//! from the oldest to the newest one.

use core::{iter::FusedIterator, marker::PhantomData, mem::MaybeUninit};
use core_alloc::vec::{IntoIter, Vec};
use ebbtide::Arena;

/// Returned by [`Bump::iter_allocated_chunks`](crate::Bump::iter_allocated_chunks).
#[derive(Debug)]
pub struct ChunkIter<'a, const MIN_ALIGN: usize = 1> {
    parts: IntoIter<&'a [MaybeUninit<u8>]>,
}

/// Returned by [`Bump::iter_allocated_chunks_raw`](crate::Bump::iter_allocated_chunks_raw).
#[derive(Debug)]
pub struct ChunkRawIter<'a, const MIN_ALIGN: usize = 1> {
    parts: IntoIter<(*mut u8, usize)>,
    arena: PhantomData<&'a Arena>,
}

impl<'a, const MIN_ALIGN: usize> ChunkIter<'a, MIN_ALIGN> {
    pub(crate) fn new(arena: &'a mut Arena) -> Self {
        let mut parts: Vec<_> = arena.used_memory().collect();
        parts.reverse();
        ChunkIter { parts: parts.into_iter() }
    }
}

impl<'a, const MIN_ALIGN: usize> ChunkRawIter<'a, MIN_ALIGN> {
    pub(crate) fn new(arena: &'a Arena) -> Self {
        let parts = arena.used_parts().map(|part| (part.cast().as_ptr(), part.len()));
        let mut parts: Vec<_> = parts.collect();
        parts.reverse();
        ChunkRawIter { parts: parts.into_iter(), arena: PhantomData }
    }
}

impl<'a, const MIN_ALIGN: usize> Iterator for ChunkIter<'a, MIN_ALIGN> {
    type Item = &'a [MaybeUninit<u8>];

    fn next(&mut self) -> Option<Self::Item> {
        self.parts.next()
    }
}

impl<const MIN_ALIGN: usize> Iterator for ChunkRawIter<'_, MIN_ALIGN> {
    type Item = (*mut u8, usize);

    fn next(&mut self) -> Option<Self::Item> {
        self.parts.next()
    }
}

impl<const MIN_ALIGN: usize> FusedIterator for ChunkIter<'_, MIN_ALIGN> {}
impl<const MIN_ALIGN: usize> FusedIterator for ChunkRawIter<'_, MIN_ALIGN> {}
