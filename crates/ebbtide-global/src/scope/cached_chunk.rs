//! The empty chunk in which an owner's next fast scope begins.
//!
//! `owner/scopes` and `owner/switch` call it. It writes nothing of the chunk, which stays owned.

use crate::{
    memory::run::{ChunkRef, Entry},
    shared::count::BIAS,
};
use core::{cell::Cell, ptr};

/// The cached chunk, which stays owned between scopes, so that two stores open a fast scope. The
/// scope in the owner's `innermost` is then the one that would begin in it, and its `bump` has the values
/// that a fast scope begins with. There is one only while no scope is open or the only open one is
/// fast. All-zero bytes are valid.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct CachedChunk {
    // The owner's second cache line.
    entry: Cell<Option<&'static Entry>>,
    /// The scope ID in the entry; 0 if there is no cached chunk, or if the next scope must
    /// [ask](CachedChunk::set_gate) first. Successive fast scopes share it as long as they leave no
    /// block behind.
    scope: Cell<u64>,
    /// Where the chunk ends.
    end: Cell<usize>,
}

impl CachedChunk {
    #[inline(always)]
    pub(crate) fn entry(&self) -> Option<&'static Entry> {
        self.entry.get()
    }

    /// The ID of the next fast scope; 0 if there is no cached chunk, or if the scope must ask first.
    #[inline(always)]
    pub(crate) fn scope(&self) -> u64 {
        self.scope.get()
    }

    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.end.get()
    }

    /// Sets whether the next scope must ask whether it is skipped before it opens in the chunk.
    pub(crate) fn set_gate(&self, asks: bool) {
        let id = self.entry.get().filter(|_| !asks).map_or(0, Entry::scope_id);
        self.scope.set(id);
    }

    /// Keeps a chunk, which has no live block and is owned by the scope with this ID.
    pub(crate) fn keep(&self, chunk: ChunkRef, scope: u64) {
        self.entry.set(Some(chunk.entry()));
        self.scope.set(scope);
        self.end.set(chunk.end());
    }

    /// Takes the chunk out. Returns its entry.
    pub(crate) fn take(&self) -> Option<&'static Entry> {
        self.scope.set(0);
        self.entry.take()
    }

    /// Asserts what the fields say. `first_chunk` is that of the scope in the owner's `innermost`.
    pub(crate) fn check(&self, first_chunk: Option<ChunkRef>, has_scope: bool) {
        let (cached, scope) = (self.entry.get(), self.scope.get());
        invariant!(cached.is_some() || scope == 0, "the cached chunk and its scope");
        let Some(entry) = cached else { return };
        let end = first_chunk.filter(|first| ptr::eq(first.entry(), entry)).map(ChunkRef::end);
        invariant!(end == Some(self.end.get()), "the cached chunk is the first one");
        invariant!(scope == 0 || entry.scope_id() == scope, "G2, cached chunk");
        invariant!(entry.tail_start.get() == 0, "the cached chunk was not adopted");
        let is_clean = entry.count.peek() == BIAS && entry.local.get() == 0;
        invariant!(has_scope || is_clean, "G3, cached chunk");
    }
}
