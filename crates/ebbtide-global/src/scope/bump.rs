//! The chunk in which the innermost scope bumps, in the words that the fast paths use.
//!
//! All of `owner` calls it. It writes only its own words, so it counts nothing in a chunk.

use crate::{
    memory::run::{ChunkRef, Flushed, NO_SCOPE, Position, offset_in_chunk},
    scope::mode::Mode,
    size::{self, GRANULE, SMALL},
};
use core::{cell::Cell, mem::offset_of, ptr};

/// The bytes at the start of a chunk that belong to no block (G5 in `owner`). The number is such
/// that the first block with a header can begin directly after them: see `owner/headed`.
pub(crate) const LEAD: usize = 24;

/// The distance in bytes from the bump pointer to the memory that is prefetched. A scope uses each
/// byte of a chunk once, so the next lines are rarely in the first-level cache. Prefetching saves
/// half a per cent on average over the programs measured, and two per cent in some.
const PREFETCH: usize = 384;

/// Where an owner bumps, and what it has bumped and freed. All-zero bytes are the state of an owner
/// that is not started.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Bump {
    // The first cache line of an owner: all that the fast paths access.
    /// `top..limit` is free and lies in `chunk` (G5). `top` is a multiple of the granule, and at
    /// least [`LEAD`] bytes above the start of the chunk.
    top: Cell<*mut u8>,
    /// `limit`, or 0 if the scope is closed to requests, so that the fast paths need only one
    /// comparison.
    open_limit: Cell<usize>,
    /// The largest size that the fast paths serve: `SMALL`, or 0 if they serve nothing.
    small_max: Cell<usize>,
    /// The innermost scope's ID; [`NO_SCOPE`], or 0 before the start.
    scope: Cell<u64>,
    /// The number of blocks that the owner has bumped since its start.
    blocks: Cell<u64>,
    /// The bytes that the owner has freed since its start, except by rewinding the bump pointer.
    freed: Cell<u64>,
    /// The address up to which the scope may bump: the end of the chunk, of a stage of it, or of
    /// the bytes that the scope's limit allows.
    limit: Cell<usize>,

    // The second cache line, which the beginning and the end of a fast scope access as well.
    /// `blocks` at the last [`flush`](Bump::flush).
    flushed_blocks: Cell<u64>,
    /// The address of `top` at the last [`flush`](Bump::flush).
    flushed_top: Cell<usize>,
    chunk: Cell<Option<ChunkRef>>,
    /// The offset of the free bytes in the chunk that takes turns with this one, the next in the
    /// scope's list; 0 if it is full or there is none.
    parked: Cell<u32>,
}

/// What was bumped in a chunk since the last flush.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bumped {
    pub(crate) chunk: ChunkRef,
    pub(crate) blocks: u64,
    /// Negative, modulo 2^64, if the bump pointer was rewound below the earlier blocks.
    pub(crate) bytes: u64,
}

/// Rounds `top` up to an address that is `PHASE` bytes above a multiple of `align`, a power of two
/// greater than `PHASE`. If the alignment is so large that no such address lies in the chunk, the
/// result lies beyond every chunk.
#[inline(always)]
fn align_up<const PHASE: usize>(top: *mut u8, align: usize) -> *mut u8 {
    let round_up = |address: usize| address.wrapping_add(align - 1) & !(align - 1);
    top.map_addr(|address| round_up(address.wrapping_sub(PHASE)).wrapping_add(PHASE))
}

/// Prefetches the line that a later block will be written to.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that reads nothing and allows any address.
        unsafe { _mm_prefetch::<{ _MM_HINT_T0 }>(at.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// The largest size that the fast paths bump in this mode.
fn small_max(mode: Mode) -> usize {
    if mode.is_fast() { SMALL } else { 0 }
}

/// Adds to a counter, wrapping on overflow.
#[inline(always)]
pub(crate) fn add(counter: &Cell<u64>, more: u64) {
    counter.set(counter.get().wrapping_add(more));
}

impl Bump {
    /// The size of the fields that the fast paths access.
    pub(crate) const FAST_BYTES: usize = offset_of!(Bump, flushed_blocks);

    /// Continues the counts of an owner that has ended.
    pub(crate) fn start(&self, blocks: u64, freed: u64) {
        self.blocks.set(blocks);
        self.flushed_blocks.set(blocks);
        self.freed.set(freed);
        self.scope.set(NO_SCOPE);
    }

    // The scope

    #[inline(always)]
    pub(crate) fn scope_id(&self) -> u64 {
        self.scope.get()
    }

    #[inline(always)]
    pub(crate) fn has_scope(&self) -> bool {
        self.scope.get() > NO_SCOPE
    }

    /// Opens a fast scope in the present chunk, which ends at `limit`.
    #[inline(always)]
    pub(crate) fn open(&self, scope: u64, limit: usize) {
        self.scope.set(scope);
        self.open_limit.set(limit);
    }

    /// Begins another scope. Its chunk follows.
    pub(crate) fn begin_scope(&self, scope: u64) {
        self.scope.set(scope);
        self.parked.set(0);
    }

    /// Ends a fast scope, whose blocks have all been freed. `blocks` is the number that the owner
    /// has bumped. Calls `count` with the bytes that the scope took, unless it took none, and
    /// returns them.
    #[inline(always)]
    pub(crate) fn end_fast(&self, blocks: u64, count: impl FnOnce(u64)) -> u64 {
        self.flushed_blocks.set(blocks);
        let from = self.flushed_top.get();
        let bytes = self.top.get().addr().wrapping_sub(from) as u64;
        if bytes != 0 {
            count(bytes);
            self.top.set(self.top.get().with_addr(from));
        }
        self.open_limit.set(0);
        self.scope.set(NO_SCOPE);
        bytes
    }

    /// Sets the state without a scope. If there is a cached chunk, which ends at `end`, this is the
    /// state in which a fast scope begins.
    pub(crate) fn rest(&self, cached: Option<ChunkRef>, end: usize, flushed: Flushed) {
        let top = cached.map_or(ptr::null_mut(), |chunk| chunk.start().wrapping_add(LEAD));
        self.resume(Position { chunk: cached, parked: 0, top, limit: end }, NO_SCOPE, flushed);
        self.install(Mode::PLAIN);
        self.open_limit.set(0);
    }

    /// Where the scope will continue.
    pub(crate) fn position(&self, _: Flushed) -> Position {
        Position {
            chunk: self.chunk.get(),
            parked: self.parked.get(),
            top: self.top.get(),
            limit: self.limit.get(),
        }
    }

    /// Makes a scope the innermost one, which continues where it stopped. It stays as open or
    /// closed as the scope before.
    pub(crate) fn resume(&self, position: Position, scope: u64, _: Flushed) {
        self.flushed_blocks.set(self.blocks.get());
        self.top.set(position.top);
        self.flushed_top.set(position.top.addr());
        self.chunk.set(position.chunk);
        self.parked.set(position.parked);
        self.limit.set(position.limit);
        self.scope.set(scope);
    }

    // The chunk

    /// The chunk in which the innermost scope bumps.
    pub(crate) fn chunk(&self) -> Option<ChunkRef> {
        self.chunk.get()
    }

    /// Makes a chunk the current one. Its free bytes begin at `top`, and the scope may bump up to
    /// `limit`.
    pub(crate) fn begin(&self, chunk: ChunkRef, top: *mut u8, limit: usize, flushed: Flushed) {
        let parked = self.parked.get();
        self.resume(Position { chunk: Some(chunk), parked, top, limit }, self.scope.get(), flushed);
        self.open_limit.set(limit);
    }

    /// The address up to which the scope may bump.
    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    /// Moves the limit, and opens the scope to requests.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.limit.set(limit);
        self.open_limit.set(limit);
    }

    /// The bytes up to the limit.
    pub(crate) fn left(&self) -> usize {
        self.limit.get() - self.top.get().addr()
    }

    /// The offset in the chunk at which the free bytes begin.
    pub(crate) fn offset(&self) -> u32 {
        offset_in_chunk(self.top.get())
    }

    /// The offset of the free bytes in the chunk that takes turns with the current one; 0 if there
    /// are none.
    pub(crate) fn parked(&self) -> u32 {
        self.parked.get()
    }

    pub(crate) fn park(&self, offset: u32) {
        self.parked.set(offset);
    }

    /// Whether the scope is open to requests.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.open_limit.get() != 0
    }

    // Which sizes are served

    /// Sets what the fast paths do in the mode of the innermost scope.
    pub(crate) fn install(&self, mode: Mode) {
        self.open_limit.set(if mode.is_closed() { 0 } else { self.limit.get() });
        self.small_max.set(small_max(mode));
    }

    // Blocks

    /// Serves a small block that needs no more alignment than the granule, on the fast path.
    #[inline(always)]
    pub(crate) fn alloc(&self, size: usize) -> Option<*mut u8> {
        let start = self.top.get();
        // `top` is a multiple of the granule (G5), so no rounding.
        if size <= self.small_max.get() { self.bump_small(start, size) } else { None }
    }

    /// Like [`alloc`](Bump::alloc), for any alignment.
    #[inline(always)]
    pub(crate) fn alloc_aligned(&self, size: usize, align: usize) -> Option<*mut u8> {
        if size > self.small_max.get() {
            return None;
        }
        let top = self.top.get();
        let start = self.bump_small(align_up::<0>(top, align), size)?;
        self.count_padding(top, start);
        Some(start)
    }

    /// Like [`alloc`](Bump::alloc), for a block that begins `PHASE` bytes above a multiple of 16.
    /// `needed` bytes are used, and `rounded` bytes are taken.
    #[inline(always)]
    pub(crate) fn alloc_at<const PHASE: usize>(
        &self,
        needed: usize,
        rounded: usize,
    ) -> Option<*mut u8> {
        const { assert!(PHASE == GRANULE) };
        let start = self.top.get();
        // `top` is a multiple of the granule (G5), so a single bit shows whether it is at `PHASE`.
        if needed <= self.small_max.get() && start.addr() & PHASE != 0 {
            self.bump_small(start, rounded)
        } else {
            None
        }
    }

    /// Serves the bytes from `start` to the end of a small block, which are free (G5). The block is
    /// counted in `blocks` (G3). `None` if it does not fit.
    #[inline(always)]
    fn bump_small(&self, start: *mut u8, size: usize) -> Option<*mut u8> {
        let end = start.wrapping_add(size::round(size));
        if end.addr() > self.open_limit.get() {
            return None;
        }
        self.top.set(end);
        add(&self.blocks, 1);
        prefetch(end.wrapping_add(PREFETCH));
        Some(start)
    }

    /// Serves a block of `rounded` bytes that begins `PHASE` bytes above a multiple of `align`, off
    /// the fast path.
    #[inline(always)]
    pub(crate) fn alloc_rounded<const PHASE: usize>(
        &self,
        rounded: usize,
        align: usize,
    ) -> Option<*mut u8> {
        let top = self.top.get();
        let start = align_up::<PHASE>(top, align);
        let end = start.wrapping_add(rounded);
        if end.addr() > self.open_limit.get() {
            return None;
        }
        self.count_padding(top, start);
        self.top.set(end);
        add(&self.blocks, 1);
        Some(start)
    }

    /// Counts the padding below an aligned block as freed, because freeing the block will not.
    #[inline(always)]
    fn count_padding(&self, top: *mut u8, start: *mut u8) {
        self.count_freed(start.addr().wrapping_sub(top.addr()));
    }

    #[inline(always)]
    pub(crate) fn count_freed(&self, bytes: usize) {
        add(&self.freed, bytes as u64);
    }

    /// Whether a block is the last one of the chunk, and so may be rewound or resized: no block of
    /// another run ends at `top` (G5).
    #[inline(always)]
    pub(crate) fn is_last(&self, block: *mut u8, rounded: usize) -> bool {
        block.addr().wrapping_add(rounded) == self.top.get().addr()
    }

    /// Makes the last block end at this address, or begin there if it was freed.
    #[inline(always)]
    pub(crate) fn set_end(&self, address: usize) {
        self.top.set(self.top.get().with_addr(address));
    }

    /// Frees a block of the chunk's scope: rewinds the bump pointer if it is the last block, and
    /// counts its bytes otherwise.
    #[inline(always)]
    pub(crate) fn free(&self, block: *mut u8, rounded: usize) {
        if self.is_last(block, rounded) {
            self.set_end(block.addr());
        } else {
            self.count_freed(rounded);
        }
    }

    /// Resizes the last block of the chunk, on the fast path: a small one, bumped since the chunk
    /// was adopted (G8). It stays counted (G3). Calls `resized` then, and `slow` for other blocks.
    #[inline(always)]
    pub(crate) fn resize_last_or(
        &self,
        block: *mut u8,
        size: usize,
        new: usize,
        resized: impl FnOnce(),
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        let (old, rounded) = (size::round(size), size::round(new));
        let top = self.top.get();
        let is_last = self.is_last(block, old) && block.addr() >= self.flushed_top.get();
        if is_last && new <= self.small_max.get() {
            let start = top.wrapping_sub(old);
            let end = start.wrapping_add(rounded);
            if end.addr() <= self.open_limit.get() {
                self.top.set(end);
                resized();
                return start;
            }
        }
        slow()
    }

    /// Whether the last block may end at this address: not beyond the limit.
    pub(crate) fn may_end_at(&self, end: usize) -> bool {
        end <= self.open_limit.get()
    }

    // Counts

    /// The blocks that the owner has bumped since its start.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.get()
    }

    /// The bytes that the owner has freed since its start.
    pub(crate) fn freed(&self) -> u64 {
        self.freed.get()
    }

    /// The blocks that were bumped before the last flush.
    pub(crate) fn flushed_blocks(&self) -> u64 {
        self.flushed_blocks.get()
    }

    /// The bytes that were bumped since the last flush, modulo 2^64.
    pub(crate) fn unflushed_bytes(&self) -> u64 {
        self.top.get().addr().wrapping_sub(self.flushed_top.get()) as u64
    }

    /// Returns what was bumped since the last flush, for the chunk's and the owner's counts.
    pub(crate) fn flush(&self) -> Option<Bumped> {
        let chunk = self.chunk.get()?;
        let blocks = self.blocks.get().wrapping_sub(self.flushed_blocks.get());
        let bytes = self.unflushed_bytes();
        self.flushed_blocks.set(self.blocks.get());
        self.flushed_top.set(self.top.get().addr());
        Some(Bumped { chunk, blocks, bytes })
    }

    /// Counts blocks as if they had been bumped and rewound.
    #[cfg(test)]
    pub(crate) fn count_rewound(&self, blocks: u64) {
        add(&self.blocks, blocks);
    }

    /// Asserts G5, and that nothing is unflushed while no scope is open. `mode` is the innermost
    /// scope's.
    pub(crate) fn check(&self, mode: Mode) {
        let (has_scope, top, limit) = (self.has_scope(), self.top.get().addr(), self.limit.get());
        let open_limit = if has_scope && !mode.is_closed() { limit } else { 0 };
        invariant!(self.open_limit.get() == open_limit, "G5, open_limit");
        let unflushed = (self.blocks.get() - self.flushed_blocks.get(), self.unflushed_bytes());
        invariant!(has_scope || unflushed == (0, 0), "G3, without a scope");
        let Some(chunk) = self.chunk.get() else {
            invariant!(!has_scope, "a scope without a chunk");
            return;
        };
        invariant!(self.small_max.get() == small_max(mode), "the mode, small_max");
        invariant!(top >= chunk.start().addr() + LEAD && top % GRANULE == 0, "G5, top");
        invariant!((top..=chunk.end()).contains(&limit), "G5, limit");
        invariant!(self.parked.get() == 0 || has_scope && chunk.next().is_some(), "G5, parked");
    }
}
