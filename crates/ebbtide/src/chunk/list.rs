//! Lists of chunks: their start, linking and unlinking chunks, and which chunks a reset keeps.

use super::{
    blocks::{
        FIRST_CHUNK, LARGEST_CHUNK, least_size, new_chunk, new_ordinary_chunk, release_chain,
    },
    control::{ControlRef, CurrentChunk},
    header::{ChunkRef, Header, Link},
};
use crate::error::AllocError;
use core::ptr::NonNull;

impl<'c> ControlRef<'c> {
    /// Sets the head's region to `low..top`, a caller's buffer.
    pub(crate) fn set_buffer(self, low: NonNull<u8>, top: NonNull<u8>) {
        debug_assert!(self.head_block.get().is_none(), "an arena over a buffer has no first block");
        self.head.set_buffer(low, top);
        self.note_entered(&self.head);
    }

    /// Requests the arena's first block, with room for `region` bytes, and gives its region to the
    /// head.
    ///
    /// # Errors
    ///
    /// Those of [`new_chunk`].
    pub(crate) fn make_first_block(self, region: usize) -> Result<(), AllocError> {
        debug_assert!(self.head.next.get().is_none(), "there is no chunk before");
        let chunk = new_ordinary_chunk(self, region)?;
        self.head.next.set(Some(chunk));
        self.give_head_a_block();
        Ok(())
    }

    /// Gives the region of the list's first chunk, if there is one, to the head.
    fn give_head_a_block(self) {
        let (control, head) = (self.get(), &self.get().head);
        debug_assert!(control.head_block.get().is_none(), "the head has a block already");
        if let Some(block) = head.next.get() {
            head.next.set(block.next.take());
            head.take_region(&block);
            control.head_block.set(Some(block));
            self.register_list();
            control.note_entered(head);
        }
        self.check();
    }

    /// Turns the head's block, if it has one, into the list's first chunk, and leaves the head
    /// without a region.
    fn take_block_of_head(self) {
        let (control, head) = (self.get(), &self.get().head);
        if let Some(block) = control.head_block.take() {
            block.take_region(head);
            head.take_region(&Header::vacant());
            block.next.set(head.next.get());
            head.next.set(Some(block));
            self.register_list();
        }
    }

    /// Puts every chunk into the arena's own list, including spare chunks and those of forgotten
    /// claims.
    ///
    /// # Safety
    ///
    /// No claim is alive.
    #[inline]
    pub(crate) unsafe fn gather(self) {
        if self.scattered.get() {
            self.gather_all();
        }
    }

    #[cold]
    fn gather_all(self) {
        let control = self.get();
        control.scattered.set(false);
        control.spare.set(None);
        control.open_claims.set(0);
        // Marks every chunk as the start of a list, removes the mark from those in the arena's
        // list, and appends those that still have it. Small chunks of claims come last, because a
        // scope would fill them quickly.
        for chunk in control.chunks() {
            chunk.list_start.set(Some(chunk));
        }
        let mut last = self.head().chunk();
        for chunk in last.onwards().skip(1) {
            chunk.list_start.set(None);
            last = chunk;
        }
        for small in [false, true] {
            for chunk in control.chunks() {
                let is_small = chunk.block_size() < self.head.capacity().min(FIRST_CHUNK);
                if is_small == small && chunk.list_start.take().is_some() {
                    chunk.next.set(None);
                    last.next.set(Some(chunk));
                    last = chunk;
                }
            }
        }
        self.check();
    }

    /// Releases the chunks behind `kept`, which is in the arena's own list.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again
    /// points to one.
    pub(crate) unsafe fn release_behind(self, kept: ChunkRef<'c>) {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.gather() };
        let behind = kept.header().next.take();
        self.grow_again_from(behind);
        self.register_list();
        // SAFETY: after `gather` all chunks were in the arena's list, so these are now in none. The
        // caller says that no allocation lives in them and that no cursor points to them.
        unsafe { release_chain(self, behind) };
        self.check();
    }

    /// Releases all chunks, including the head's block.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again
    /// points to one.
    pub(crate) unsafe fn release_all(self) {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.gather() };
        self.take_block_of_head();
        // SAFETY: the caller says that no allocation lives in any chunk, no claim is alive, and no
        // cursor that will be used again points to one.
        unsafe { self.release_behind(self.head().chunk()) };
    }

    /// Keeps chunks, in the order of the list, as long as their sizes add up to at most `most`
    /// bytes, and releases the others.
    ///
    /// # Safety
    ///
    /// No allocation lives in any chunk, no claim is alive, and no cursor that will be used again
    /// points to one.
    pub(crate) unsafe fn release_above(self, most: usize) {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.gather() };
        self.take_block_of_head();
        let mut kept = 0;
        let mut last = self.head().chunk();
        let mut released = None;
        let mut next = last.next();
        last.next.set(None);
        while let Some(chunk) = next {
            next = chunk.next();
            if chunk.block_size() > most - kept {
                if released.is_none() {
                    self.grow_again_from(Some(chunk));
                }
                chunk.next.set(released);
                released = Some(chunk);
                continue;
            }
            kept += chunk.block_size();
            chunk.next.set(None);
            last.next.set(Some(chunk));
            last = chunk;
        }
        self.register_list();
        // SAFETY: after `gather` all chunks were in the arena's list, and these were removed from
        // it above. The caller says that no allocation lives in a chunk and that no cursor points
        // to one.
        unsafe { release_chain(self, released) };
        self.give_head_a_block();
    }

    /// Lowers the ordinary size to the size of `released`, the first of the chunks that are about
    /// to be released, but to no less than [`FIRST_CHUNK`]. Otherwise a program that trims its
    /// arena again and again would get a larger chunk each time. If the first chunk serves an
    /// oversize request, it may be larger than the ordinary size, which then does not change.
    fn grow_again_from(self, released: Option<ChunkRef<'c>>) {
        if let Some(chunk) = released {
            let size = chunk.block_size().max(FIRST_CHUNK);
            self.next_size.set(self.next_size.get().min(size));
        }
    }

    /// Sets `newest` and `older` to link the chunks of the arena's own list and no others (L3).
    fn register_list(self) {
        let control = self.get();
        control.newest.set(None);
        for chunk in self.head().onwards().skip(1) {
            chunk.older.set(control.newest.get());
            control.newest.set(Some(chunk));
        }
        control.has_chunks.set(control.newest.get().is_some());
    }

    /// Asserts L2, L3, L4 and L6, in debug builds. The lists of claims are not known here.
    pub(super) fn check(self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let control = self.get();
        let (mut count, mut held) = (0, 0);
        for chunk in control.chunks() {
            debug_assert!(!chunk.is_head(), "L4: a chunk has a control block noted");
            count += 1;
            held += chunk.block_size();
        }
        held += control.head_block.get().map_or(0, |block| block.block_size());
        debug_assert_eq!(held, control.held(), "L6: the sum of all blocks");
        debug_assert_eq!(count > 0, control.has_chunks.get(), "L3");

        // A list with a cycle has more chunks than there are. Two lists that share a chunk have the
        // same last one.
        let walk = |start: Option<ChunkRef<'c>>| {
            let chunks = start.into_iter().flat_map(ChunkRef::onwards).take(count + 1);
            chunks.fold((0, None), |(length, _), chunk| (length + 1, Some(chunk)))
        };
        let (own, own_last) = walk(self.head().next());
        let (spare, spare_last) = walk(control.spare.get());
        debug_assert!(own + spare <= count, "L2, L3: every chunk is registered, and in one list");
        debug_assert!(own_last.is_none() || own_last != spare_last, "L2: the lists are disjoint");
        debug_assert!(control.scattered.get() || own == count, "L2: no other list");
    }
}

/// Returns a chunk that `fits` accepts, and links it directly behind `after`: one from further on
/// in the list, a spare one, or a new one with room for `region` bytes. In the list it picks the
/// first fit, or the largest chunk if `largest` is set.
///
/// # Errors
///
/// Those of [`new_chunk`]; the list is then as it was.
pub(crate) fn chunk_behind<'c>(
    after: CurrentChunk<'c>,
    region: usize,
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    let (control, current) = (after.control(), after);
    let after = after.chunk().header();
    let chunk = match unlink(&after.next, largest, &fits) {
        Some(chunk) => chunk,
        None if after.list_start.get().is_some() => chunk_for_claim(current, region, &fits)?,
        None => match unlink(&control.get().spare, true, &fits) {
            Some(chunk) => chunk,
            None => new_ordinary_chunk(control, region)?,
        },
    };
    chunk.next.set(after.next.get());
    after.next.set(Some(chunk));
    control.check();
    Ok(chunk)
}

/// A chunk, spare or new, for the list of a claim whose cursor is at `current`. It is about as
/// large as the whole list, so that the claim holds at most about twice what it needs, and large
/// chunks stay spare for scopes that fill them.
fn chunk_for_claim<'c>(
    current: CurrentChunk<'c>,
    region: usize,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    let blocks = current.list_start().onwards().map(|chunk| chunk.block_size());
    let wanted = blocks.sum::<usize>().min(LARGEST_CHUNK);
    claim_chunk(current.control(), region, wanted, fits)
}

/// A chunk for a claim, in no list: a spare one that `fits` accepts and that is at most twice as
/// large as needed, or a new one of about `wanted` bytes. If the backing refuses, any spare one.
///
/// # Errors
///
/// Those of [`new_chunk`], if no spare chunk fits.
pub(super) fn claim_chunk<'c>(
    control: ControlRef<'c>,
    region: usize,
    wanted: usize,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    let spare = &control.get().spare;
    let least = least_size(region).ok_or(AllocError)?;
    let most = wanted.max(least).saturating_mul(2);
    let small = unlink(spare, true, |chunk| chunk.block_size() <= most && fits(chunk));
    small.map_or_else(|| new_chunk(control, region, wanted), Ok).or_else(|error| {
        let any = unlink(spare, false, &fits);
        any.ok_or(error)
    })
}

/// Removes a chunk that `fits` accepts from the list that begins at `link`: the first, or the
/// largest if `largest` is set.
pub(super) fn unlink<'c>(
    mut link: &'c Link,
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Option<ChunkRef<'c>> {
    let mut found: Option<(&Link, ChunkRef<'c>)> = None;
    while let Some(chunk) = link.get() {
        let is_better = found.is_none_or(|(_, best)| chunk.capacity() > best.capacity());
        if is_better && fits(&chunk) {
            found = Some((link, chunk));
            if !largest {
                break;
            }
        }
        link = &chunk.header().next;
    }
    let (link, chunk) = found?;
    link.set(chunk.next());
    Some(chunk)
}
