//! Reusing the free memory between the live blocks of pinned chunks.
//!
//! A block of a retired chunk that is freed, by any thread, becomes a [hole]: it is
//! pushed onto a stack in the chunk's [`Count`](crate::shared::count::Count). So are the listed blocks of a
//! scope that ends, merged with their neighbours, in the chunks that it leaves pinned. A pinned chunk
//! of which an eighth is free is put into the shared pool of chunks with holes.
//!
//! When memory is tight and no empty chunk has memory behind it, a scope adopts such a chunk. It
//! takes some holes at a time, merges neighbours, and bumps in one after another. From then on it
//! lists the blocks that it frees, because a block that it frees without listing it would leave no
//! hole when the scope ends.
//!
//! `owner/retire` and `owner/scopes` leave holes, `owner/supply` and `owner/chunks` take them. It
//! writes the links in free memory, and of a chunk the count with its holes, `local`, `next_hole` and
//! `tail_start`.
//!
//! # Invariants
//!
//! - **H1** A hole in the count of a chunk with live blocks is free: it lies in no other hole, in no
//!   list, not in a bump region, and not at or above the `tail_start` of a pinned chunk. Its first
//!   eight bytes are its link. Only the thread that takes it from the count accesses it.
//! - **H2** The holes in `next_hole` of a chunk were taken from the count by the chunk's present
//!   owner, and have not been served. They lie above the bump region, in the order of their
//!   addresses, and do not touch one another. While `next_hole` is not 0, `top..limit` lies in a
//!   hole or is the end of the chunk, and no further stage begins in the chunk. Only the current
//!   chunk of a scope has such holes.
//! - **H3** In an adopted chunk with holes, blocks from before and after the adoption interleave, so
//!   `tail_start` is 0, and the figures do not distinguish them: a block of the first kind that is
//!   freed makes up for one of the second kind that is kept.

use super::Owner;
use crate::{
    memory::{
        lists::FreeLists,
        run::{self, ChunkRef, Flushed, Position, offset_in_chunk},
    },
    scope::bump::LEAD,
    shared::hole::{self, Hole, Map},
    size::{self, CHUNK, GRANULE, SMALL},
};

/// The value of `next_hole` if the chunk was adopted with its holes and has none left.
pub(super) const NO_HOLE: u16 = 1;

const _: () = assert!((NO_HOLE as usize) < LEAD / GRANULE);

/// A pinned chunk is put into the pool of chunks with holes if as many bytes of it are free. With a
/// quarter, the program “expired, and filled again” of the soak takes 151 MiB instead of 128.
pub(super) const ENOUGH: usize = CHUNK / 8;

/// The number of chunks, and of batches of one chunk, that are examined for a hole that is large
/// enough.
pub(super) const SEARCH_LIMIT: usize = 4;

/// A scope that ends and leaves at least as many chunks pinned leaves its listed blocks there as
/// holes, even if most of its chunks are empty.
const MANY_PINNED: usize = 16;

/// The number of holes that a scope takes and merges at once, which bounds the time of a request.
const BATCH: u32 = 96;

/// Writes the link of a hole.
///
/// # Safety
///
/// The hole lies in the chunk and is free, and nobody else accesses it.
pub(super) unsafe fn set_link(chunk: ChunkRef, hole: Hole, next: u16) {
    let link = chunk.start().wrapping_add(hole.offset()).cast::<u64>();
    // SAFETY: the caller says that the bytes are free, so the chunk is committed. A hole has at
    // least one granule, which is as large and as aligned as a link.
    unsafe { link.write(hole.link(next)) };
}

/// Reads the link of a hole: the hole, and where the next one begins.
///
/// # Safety
///
/// A hole of the chunk begins at this granule, its link was written, and nobody else accesses it.
unsafe fn read_link(chunk: ChunkRef, start: u16) -> (Hole, u16) {
    let link = chunk.start().wrapping_add(usize::from(start) * GRANULE).cast::<u64>();
    // SAFETY: the caller says that the link was written.
    let link = unsafe { link.read() };
    (Hole::from_link(start, link), hole::next(link))
}

impl Owner {
    /// Leaves free bytes of a chunk to its next owner.
    ///
    /// # Safety
    ///
    /// The chunk is this owner's, or one of a scope of which it has the lease. The hole is free, and
    /// is in no list and no bump region from now on.
    unsafe fn leave_hole(chunk: ChunkRef, hole: Hole) {
        // SAFETY: the caller says that the hole is free, and nobody else knows it (H1).
        chunk.entry().count.leave(hole, |next| unsafe { set_link(chunk, hole, next) });
    }

    /// Leaves the listed blocks of a scope that ends in those of its `chunks` that stay pinned. If an
    /// ordinary scope pins few chunks, and less than a quarter of all, it drops its lists instead:
    /// more than four blocks would be examined for each that is of use.
    ///
    /// The caller owns the chunks and the lists.
    pub(super) fn leave_listed(
        lists: &FreeLists,
        chunks: impl Iterator<Item = ChunkRef>,
        is_persistent: bool,
        flushed: Flushed,
    ) {
        let (mut all, mut pinned) = (0, 0);
        for chunk in chunks {
            all += 1;
            pinned += usize::from(!chunk.entry().is_empty(flushed));
        }
        if pinned == 0 || !is_persistent && pinned < MANY_PINNED && pinned * 4 < all {
            return;
        }
        // Neighbours are merged as long as they lie in the same chunk as the block before.
        let (mut map, mut current) = (Map::new(), None::<ChunkRef>);
        let leave = |block: *mut u8, rounded| {
            // SAFETY: a listed block lies in a chunk of the scope, in the range.
            let Some(place) = (unsafe { run::find(block) }) else { return };
            let chunk = place.chunk();
            if current != Some(chunk) {
                // SAFETY: the map has blocks of the chunk before, which is the caller's. They are free
                // (G6), and `drain` has read their links and removed them from their lists.
                unsafe { Owner::leave_merged(&mut map, current.replace(chunk), flushed) };
            }
            map.add(Hole::new(offset_in_chunk(block) as usize, rounded));
        };
        // SAFETY: the listed blocks are free (G6).
        unsafe { lists.drain(leave) };
        // SAFETY: the map has the last blocks of the lists: free, no longer listed, and all of this
        // chunk of the caller's.
        unsafe { Owner::leave_merged(&mut map, current, flushed) };
    }

    /// Empties a map. Leaves its holes to the chunk's next owner, unless the whole chunk is free.
    ///
    /// # Safety
    ///
    /// The holes lie in the chunk, which the caller owns, are free, and are in no list and no bump
    /// region.
    unsafe fn leave_merged(map: &mut Map, chunk: Option<ChunkRef>, flushed: Flushed) {
        let Some(chunk) = chunk else { return };
        if chunk.entry().is_empty(flushed) {
            return map.drain_from_last(|_| {});
        }
        // If all blocks since the adoption have been freed, the tail would otherwise begin where
        // it did before, and include the holes (H1).
        chunk.entry().tail_start.set(0);
        // SAFETY: the caller says that the chunk is its own and the bytes of the holes are free and
        // known to nobody else. A merged hole consists of such holes and of nothing else.
        map.drain_from_last(|hole| unsafe { Owner::leave_hole(chunk, hole) });
    }

    /// If the current chunk was adopted for its holes: puts the rest of the bump region aside, and
    /// finds the next hole with room for `needed` bytes. Smaller holes on the way are put aside as
    /// well. Returns where the scope bumps from now on: if there is no such hole, at the end of the
    /// chunk.
    pub(super) fn next_region(
        &self,
        needed: usize,
        flushed: Flushed,
    ) -> Option<(ChunkRef, *mut u8, usize)> {
        let (scope, chunk) = (self.scope()?, self.bump.chunk()?);
        let entry = chunk.entry();
        if entry.next_hole.get() == 0 {
            return None;
        }
        let allowance = &scope.record().allowance;
        // Stays `UNLIMITED`, if it is.
        allowance.set(allowance.get().saturating_add(self.bump.left()));
        // SAFETY: the bytes are free (G5), and the bump pointer leaves them below.
        unsafe { self.put_aside(chunk, region(&self.bump.position(flushed))) };
        let mut batches = 0;
        loop {
            let start = entry.next_hole.get();
            if start == NO_HOLE {
                batches += 1;
                if batches <= SEARCH_LIMIT && take_holes(chunk, flushed) > 0 {
                    continue;
                }
                let end = chunk.start().wrapping_add(CHUNK);
                return Some((chunk, end, end.addr()));
            }
            // SAFETY: the hole is this owner's (H2).
            let (hole, next) = unsafe { read_link(chunk, start) };
            entry.next_hole.set(if next == 0 { NO_HOLE } else { next });
            if hole.bytes() >= needed {
                let top = chunk.start().wrapping_add(hole.offset());
                return Some((chunk, top, top.addr() + hole.bytes()));
            }
            // SAFETY: the hole is free, and is no longer in `next_hole` (H2).
            unsafe { self.put_aside(chunk, hole) };
        }
    }

    /// Lists free bytes of a chunk of the innermost scope, or leaves them to the next owner if the
    /// scope does not list blocks of this size.
    ///
    /// # Safety
    ///
    /// The hole is free, in no list and in no bump region, and not accessed from now on.
    unsafe fn put_aside(&self, chunk: ChunkRef, hole: Hole) {
        if hole.bytes() == 0 {
            return;
        }
        match self.innermost.lists() {
            Some(lists) if hole.bytes() <= SMALL => {
                let block = chunk.start().wrapping_add(hole.offset());
                chunk.entry().has_listed.set(true);
                // SAFETY: the hole is free, has this size, is a multiple of the granule, and lies in
                // a chunk of the innermost scope, whose lists these are.
                unsafe { lists.push(block, size::small_list(hole.bytes())) };
            }
            // SAFETY: the chunk is this owner's, and the hole is free.
            _ => unsafe { Owner::leave_hole(chunk, hole) },
        }
    }

    /// Asserts H2 and H3 for the current chunk of the innermost scope.
    pub(super) fn check_holes(&self, chunk: ChunkRef) {
        let (entry, mut end) = (chunk.entry(), self.bump.limit() - chunk.start().addr());
        let mut start = entry.next_hole.get();
        invariant!(start == 0 || entry.tail_start.get() == 0, "H3");
        invariant!(start == 0 || self.bump.parked() == 0, "H2, no further stage begins");
        // Checks only the next holes: each is checked before the scope bumps in it.
        for _ in 0..8 {
            if start <= NO_HOLE {
                break;
            }
            // SAFETY: the hole is this owner's (H2), as far as the assertion does not fail.
            let (hole, next) = unsafe { read_link(chunk, start) };
            invariant!(hole.offset() > end && hole.bytes() > 0, "H2, the order of the holes");
            end = hole.offset() + hole.bytes();
            invariant!(end <= CHUNK, "H2, the size of a hole");
            start = next;
        }
    }

    /// Before a scope gives up its current chunk, in which it bumped up to this position: leaves the
    /// holes that were not bumped in to the next owner. Returns where the free tail begins.
    pub(super) fn end_region(position: &Position) -> usize {
        let Some(chunk) = position.chunk else { return CHUNK };
        if chunk.entry().next_hole.get() == 0 {
            return position.offset();
        }
        let rest = region(position);
        if rest.bytes() > 0 {
            // SAFETY: the bytes are free (G5), and the scope ends.
            unsafe { Owner::leave_hole(chunk, rest) };
        }
        Owner::leave_next_holes(chunk);
        CHUNK
    }

    /// Leaves the holes in `next_hole` of a chunk to its next owner.
    pub(super) fn leave_next_holes(chunk: ChunkRef) {
        let mut start = chunk.entry().next_hole.replace(NO_HOLE);
        while start > NO_HOLE {
            // SAFETY: the hole is this owner's (H2).
            let (hole, next) = unsafe { read_link(chunk, start) };
            // SAFETY: the owner gives it up.
            unsafe { Owner::leave_hole(chunk, hole) };
            start = next;
        }
    }
}

/// The bump region at a position.
fn region(position: &Position) -> Hole {
    Hole::new(position.offset(), position.limit.wrapping_sub(position.top.addr()))
}

/// Takes the newest holes of a chunk, and its free tail, and stores them in `next_hole`: merged, and
/// in the order of their addresses. Returns the size of the largest, or 0. The caller owns the chunk,
/// which has no other holes in `next_hole`.
pub(super) fn take_holes(chunk: ChunkRef, _: Flushed) -> usize {
    let entry = chunk.entry();
    let mut map = Map::new();
    // Of a chunk that was just adopted. The value is read after the adoption: before it, the value
    // may be an earlier owner's.
    let tail_start = entry.tail_start.replace(0) as usize;
    if (1..CHUNK).contains(&tail_start) {
        map.add(Hole::new(tail_start, CHUNK - tail_start));
    }
    entry.local.set(entry.count.absorb(entry.local.get()));
    // SAFETY: the hole is on the chunk's stack, so its link was written, and only the owner, which
    // is the caller, takes it from there (H1).
    let read = |start| unsafe { read_link(chunk, start) };
    let (mut start, taken) = entry.count.take(BATCH, read);
    for _ in 0..taken {
        let (hole, next) = read(start);
        map.add(hole);
        start = next;
    }
    let (mut next, mut largest) = (0, 0);
    map.drain_from_last(|hole| {
        // SAFETY: the bytes are free, and the caller owns them (H1).
        unsafe { set_link(chunk, hole, next) };
        next = hole.start();
        largest = largest.max(hole.bytes());
    });
    entry.next_hole.set(if next == 0 { NO_HOLE } else { next });
    largest
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::shared::count::BIAS;
    use core::alloc::Layout;

    #[test]
    fn neighbours_that_a_scope_has_listed_become_one_hole() {
        const BLOCK: Layout = Layout::new::<[u64; 4]>();
        const LARGER: Layout = Layout::new::<[u64; 128]>();
        let owner = Owner::new();
        if !owner.start() {
            return;
        }
        for kept in [0, 70, 199] {
            let scope = owner.enter_default().expect("a started owner opens scopes");
            assert!(owner.begin_listing());
            // So little of the chunk becomes free that no other test adopts it.
            let mut alive: Vec<_> = (0..57).map(|_| (owner.alloc(LARGER), LARGER)).collect();
            let mut blocks: Vec<_> = (0..200).map(|_| owner.alloc(BLOCK)).collect();
            let chunk = owner.bump.chunk().expect("a scope has a current chunk");
            alive.push((blocks.remove(kept), BLOCK));
            while !blocks.is_empty() {
                let block = blocks.swap_remove(7919 % blocks.len());
                // SAFETY: the block is alive, has this layout, and is not used again.
                assert!(unsafe { owner.dealloc(block, BLOCK) });
            }
            owner.leave(scope);
            assert_eq!(owner.adopt(chunk, owner.ids.fresh()), Some(58), "it is pinned");
            // SAFETY: the hole is on the stack of a chunk that this owner has adopted.
            let read = |start| unsafe { read_link(chunk, start) };
            let (_, holes) = chunk.entry().count.take(u32::MAX, read);
            assert!(holes <= 2, "{holes} holes, of which one is below and one above a block");
            owner.settle(chunk, CHUNK, Flushed::nothing_bumped());
            for (block, layout) in alive {
                // SAFETY: the block is alive, has this layout, and is not used again.
                assert!(unsafe { owner.dealloc(block, layout) });
            }
        }
    }

    #[test]
    fn other_threads_may_free_more_blocks_of_one_chunk_than_the_bias() {
        const BLOCK: Layout = Layout::new::<[u64; 8]>();
        let (owner, other) = (Owner::new(), Owner::new());
        if !owner.start() {
            return;
        }
        let scope = owner.enter_default().expect("a started owner opens scopes");
        let chunk = owner.bump.chunk().expect("a scope has a current chunk");
        let (entry, kept) = (chunk.entry(), owner.alloc(BLOCK));
        assert!(owner.begin_listing());
        // As if the scope had adopted the chunk with holes.
        entry.next_hole.set(NO_HOLE);
        for _ in 0..16 {
            let blocks: Vec<_> = (0..700).map(|_| owner.alloc(BLOCK)).collect();
            assert_eq!(owner.bump.chunk(), Some(chunk), "the scope serves the same bytes again");
            for block in blocks {
                // SAFETY: the block is alive, has this layout, and is not used again.
                assert!(unsafe { other.dealloc(block, BLOCK) });
            }
            // As if it had done so many times.
            owner.flush();
            entry.local.set(entry.local.get() + (BIAS / 8) as i32);
            entry.count.free_again(BIAS / 8);
            assert!(entry.count.peek() > BIAS / 2, "the chunk has an owner");
        }
        let flushed = owner.flush();
        // SAFETY: the block is alive, has this layout, and is not used again.
        assert!(unsafe { owner.dealloc(kept, BLOCK) });
        assert!(entry.is_empty(flushed));
        owner.leave(scope);
    }
}
