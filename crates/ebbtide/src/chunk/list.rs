//! Lists of chunks: their start, and linking chunks.

use super::{
    blocks::{
        FIRST_CHUNK, LARGEST_CHUNK, least_size, new_chunk, new_ordinary_chunk, release,
        release_chain,
    },
    control::{ControlRef, CurrentChunk, Older},
    header::{ChunkName, ChunkRef, Chunks, End, Room},
    spare::{SEARCHED, unlink},
};
use crate::error::AllocError;
use core::ptr::NonNull;

impl<'c> ControlRef<'c> {
    /// Sets the head's region to `low..top`, a caller's buffer.
    pub(crate) fn set_buffer(self, low: NonNull<u8>, top: NonNull<u8>) {
        debug_assert!(!self.has_block, "the region is that of a block");
        self.head.set_buffer(low, top);
        self.note_entered(&self.head);
    }

    /// Makes the chunks of forgotten claims spare.
    ///
    /// # Safety
    ///
    /// No claim is alive.
    #[inline]
    pub(crate) unsafe fn reclaim(self) {
        if self.open_claims() > 0 {
            self.reclaim_all();
        }
    }

    #[cold]
    fn reclaim_all(self) {
        let control = self.get();
        control.spare.set(None);
        control.spare_bytes.set(0);
        control.open_claims.set(0);
        // Marks every chunk as the start of a list, removes the mark from those in the arena's own
        // list, and makes those spare that still have it.
        for chunk in control.chunks() {
            chunk.list_start.set(Some(chunk));
        }
        for chunk in self.head().behind() {
            chunk.list_start.set(None);
        }
        for chunk in control.chunks() {
            if chunk.list_start.take().is_some() {
                self.make_spare(chunk);
            }
        }
        self.check();
    }

    /// Releases the chunks behind `kept`, which is in the arena's own list, and the spare ones.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again
    /// points to one.
    #[inline]
    pub(crate) unsafe fn release_behind(self, kept: ChunkRef<'c>) {
        // SAFETY: by this function's contract, no claim is alive.
        unsafe { self.reclaim() };
        debug_assert!(!self.settings.is_busy(), "the backing is not running");
        let behind = kept.header().next.take();
        let first_released = behind.or(self.get().spare.get());
        self.lower_next_size(first_released.map(|chunk| chunk.block_size()));
        let spare = self.take_all_spare(&mut |_| true);
        self.register_lists();
        for released in [behind, spare] {
            // SAFETY: as no claim is alive, all chunks were in the arena's own list or spare, and
            // these are in no list now (L2). By this function's contract, no allocation lives in
            // them and no cursor points to them.
            unsafe { release_chain(self, released) };
        }
        self.check();
    }

    /// Releases all chunks. The head keeps its region.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again
    /// points to one.
    pub(super) unsafe fn release_chunks(self) {
        let control = self.get();
        let newest = control.newest.take();
        control.has_chunks.set(false);
        control.spare.set(None);
        control.spare_bytes.set(0);
        control.open_claims.set(0);
        control.head.next.set(None);
        // In any list, or in that of a forgotten claim: `older` links all of them (L3).
        for chunk in Older(newest) {
            // SAFETY: no record of the control block refers to a chunk any more, and the iterator
            // has read `older` already. By this function's contract, no allocation lives in any
            // chunk, no claim is alive, and no cursor that will be used again points to one.
            unsafe { release(self, chunk) };
        }
        self.check();
    }

    /// Releases spare chunks, the smallest first, until at most `most` bytes are held. Takes a time in
    /// proportion to the number of all chunks. Does nothing while an iterator over chunks is alive.
    fn release_spare_above(self, most: usize) {
        if self.held() <= most || self.spare.get().is_none() || self.is_pinned() {
            return;
        }
        let mut kept = most.saturating_sub(self.in_use());
        let released =
            self.take_all_spare(&mut |chunk| match kept.checked_sub(chunk.block_size()) {
                Some(rest) => {
                    kept = rest;
                    false
                }
                None => true,
            });
        // Its own anchor marks a chunk to be released. No other chunk is its own anchor.
        let mut left = 0;
        for chunk in Chunks(released) {
            chunk.anchor.set(Some(ChunkName::of(chunk)));
            left += 1;
        }
        let control = self.get();
        let mut link = &control.newest;
        while let Some(chunk) = link.get().filter(|_| left > 0) {
            if chunk.anchor.get() == Some(ChunkName::of(chunk)) {
                link.set(chunk.older.get());
                left -= 1;
            } else {
                link = &chunk.header().older;
            }
        }
        control.has_chunks.set(control.newest.get().is_some());
        // SAFETY: the chunks were spare, so no allocation lives in them, and no cursor in use points to
        // one (I1). They are in no list now, and `newest` and `older` do not lead to them. No iterator
        // is alive that could return to one, and no other handle of a spare chunk is kept (L1).
        unsafe { release_chain(self, released) };
    }

    /// Releases the chunks for which `is_released` is true. It is asked in the order of the list,
    /// and then about the spare chunks.
    ///
    /// # Safety
    ///
    /// No allocation lives in any chunk, no claim is alive, and no cursor that will be used again
    /// points to one.
    #[inline]
    pub(super) unsafe fn release_if(self, is_released: &mut dyn FnMut(ChunkRef<'c>) -> bool) {
        // SAFETY: by this function's contract, no claim is alive.
        unsafe { self.reclaim() };
        let mut last = self.head().chunk();
        let mut released = None;
        let mut next = last.header().next.take();
        while let Some(chunk) = next {
            next = chunk.header().next.take();
            if is_released(chunk) {
                chunk.next.set(released);
                released = Some(chunk);
            } else {
                last.next.set(Some(chunk));
                last = chunk;
            }
        }
        let spare = self.take_all_spare(is_released);
        if self.head().next().is_none() {
            // Otherwise the next scope would request another one.
            self.head().next.set(self.take_spare(usize::MAX, 0, &Room::NOTHING));
        }
        self.register_lists();
        for released in [released, spare] {
            // SAFETY: as no claim is alive, all chunks were in the arena's own list or spare, and
            // these are in no list now (L2). By this function's contract, no allocation lives in a
            // chunk and no cursor points to one.
            unsafe { release_chain(self, released) };
        }
        self.check();
    }

    /// Lowers the ordinary size to `released`, the size of the first chunk that is released, but to no
    /// less than [`FIRST_CHUNK`]. Otherwise a program that trims its
    /// arena again and again would get a larger chunk each time. If the first chunk serves an
    /// oversize request, it may be larger than the ordinary size, which then does not change.
    #[inline]
    pub(super) fn lower_next_size(self, released: Option<usize>) {
        if let Some(size) = released {
            let next_size = &self.settings.next_size;
            next_size.set(next_size.get().min(size.max(FIRST_CHUNK)));
        }
    }

    /// Sets `newest` and `older` to link the chunks of the arena's own list and the spare ones, and
    /// no others (L3).
    pub(super) fn register_lists(self) {
        let control = self.get();
        control.newest.set(None);
        for chunk in self.head().behind().chain(self.spare_chunks()) {
            chunk.older.set(control.newest.get());
            control.newest.set(Some(chunk));
        }
        control.has_chunks.set(control.newest.get().is_some());
    }

    /// Asserts L2, L3, L4 and L6, in debug builds. The lists of claims are not known here. Does
    /// nothing if there are many chunks, so that n operations do not take quadratic time.
    pub(super) fn check(self) {
        const MOST: usize = 64;
        let control = self.get();
        if !cfg!(debug_assertions) || control.chunks().nth(MOST).is_some() {
            return;
        }
        let (mut count, mut held, mut capacity) = (0, 0, 0);
        for chunk in control.chunks() {
            debug_assert!(!chunk.is_head(), "L4: a chunk has a control block noted");
            count += 1;
            held += chunk.block_size();
            capacity += chunk.capacity();
        }
        if control.has_block {
            held += self.first_block_size();
            capacity += control.head.capacity();
        }
        debug_assert_eq!(held, control.held(), "L6: the sum of all blocks");
        debug_assert_eq!(capacity, control.capacity(), "L6: the sum of their regions");
        debug_assert_eq!(count > 0, control.has_chunks.get(), "L3");

        // Lists with a cycle, or with a chunk in common, have more chunks than there are.
        let own = self.head().behind().take(count + 1).count();
        let spare = self.spare_chunks().take(count + 1).count();
        debug_assert!(own + spare <= count, "L2, L3: every chunk is registered, and in one list");
        debug_assert!(control.open_claims() > 0 || own + spare == count, "L2: no other list");
        for chunk in self.head().behind().chain(self.spare_chunks()) {
            let bound = chunk.bound_behind().unwrap_or(usize::MAX);
            debug_assert!(chunk.onwards().all(|behind| behind.capacity() <= bound), "the bound");
        }
        self.check_spare();
    }
}

/// Links a chunk that has room directly behind `after`, and returns it: one from further on in the list, a
/// spare one, or a new one. In the list it picks the first that has or, for a block of the low end, the
/// largest of the first few chunks: such a block is likely to grow.
///
/// # Errors
///
/// Those of [`new_chunk`], and if no region is large enough for the request; the list is then as it
/// was.
#[inline]
pub(crate) fn link_next_chunk<'c>(
    after: CurrentChunk<'c>,
    room: &Room,
) -> Result<ChunkRef<'c>, AllocError> {
    match after.chunk().next() {
        // A loop of scopes takes the chunk here that it took in its previous turn. If that was the
        // largest one, it has held a block at the low end.
        Some(next)
            if (room.end == End::High || next.held_low_block())
                && room.start_in(&next).is_some() =>
        {
            Ok(next)
        }
        _ => find_next_chunk(after, room),
    }
}

/// [`link_next_chunk`] by a search, or at once if there is nothing to search.
///
/// # Errors
///
/// Those of [`link_next_chunk`].
#[cold]
#[inline(never)]
fn find_next_chunk<'c>(current: CurrentChunk<'c>, room: &Room) -> Result<ChunkRef<'c>, AllocError> {
    let (control, after) = (current.control(), current.chunk().header());
    let region = room.region().ok_or(AllocError)?;
    let is_claim = after.list_start.get().is_some();
    let nothing_else = after.next.get().is_none() && control.spare.get().is_none();
    let chunk = if nothing_else && !is_claim {
        new_ordinary_chunk(control, region, 0)?
    } else {
        search(current, region, room)?
    };
    debug_assert!(room.start_in(&chunk).is_some(), "it has room");
    debug_assert!(chunk.next().is_none(), "L2: it is in no list");
    chunk.next.set(after.next.get());
    after.next.set(Some(chunk));
    control.check();
    Ok(chunk)
}

/// A chunk in no list: one from further on in the cursor's list, or one of [`new_next_chunk`].
///
/// # Errors
///
/// Those of [`new_next_chunk`].
#[inline(never)]
fn search<'c>(
    current: CurrentChunk<'c>,
    region: usize,
    room: &Room,
) -> Result<ChunkRef<'c>, AllocError> {
    let next = &current.chunk().header().next;
    let few = match room.end {
        End::High => None,
        End::Low => unlink(next, SEARCHED, usize::MAX, true, region, room),
    };
    match few.or_else(|| unlink(next, usize::MAX, usize::MAX, false, region, room)) {
        Some(chunk) => Ok(chunk),
        None => new_next_chunk(current, region, room),
    }
}

/// A chunk in no list, spare or new, to be linked behind the cursor's: none of those behind it has room
/// for `region` bytes.
///
/// # Errors
///
/// Those of [`new_or_spare`].
fn new_next_chunk<'c>(
    current: CurrentChunk<'c>,
    region: usize,
    room: &Room,
) -> Result<ChunkRef<'c>, AllocError> {
    let (control, after) = (current.control(), current.chunk().header());
    let least = least_size(region).ok_or(AllocError)?;
    // Otherwise a loop whose requests grow would need another chunk in each turn.
    let twice = after.next.get().map_or(0, |next| next.block_size().saturating_mul(2));
    let twice = at_most_largest(twice, region);
    if control.spare.get().is_some() || least > control.allowed() {
        // As idle as the spare ones, and released like these to make room.
        control.make_all_spare(after.next.take());
    }
    if after.list_start.get().is_some() {
        let wanted = size_of_list(current).min(LARGEST_CHUNK);
        return claim_chunk(control, region, wanted.max(twice), room);
    }
    match control.take_spare(usize::MAX, region, room) {
        Some(chunk) => Ok(chunk),
        None => {
            let wanted = control.settings.next_size.get().max(twice);
            new_or_spare(control, region, wanted, room, new_ordinary_chunk)
        }
    }
}

/// `size`, the preferred size of a chunk, but not more than [`LARGEST_CHUNK`] if less is needed.
fn at_most_largest(size: usize, region: usize) -> usize {
    if region < LARGEST_CHUNK { size.min(LARGEST_CHUNK) } else { size }
}

/// About the size of a claim's list up to the cursor's chunk. The next chunk gets as much, so that the
/// claim holds at most about twice what it needs, and large chunks stay spare for scopes that fill them.
fn size_of_list(current: CurrentChunk<'_>) -> usize {
    let before = current.capacity_before.get() - current.list_start().capacity_before.get();
    before + current.block_size()
}

/// A chunk for a claim, in no list: a spare one that has room and that is at most twice as
/// large as needed, or one of [`new_or_spare`].
///
/// # Errors
///
/// Those of [`new_or_spare`].
pub(super) fn claim_chunk<'c>(
    control: ControlRef<'c>,
    region: usize,
    wanted: usize,
    room: &Room,
) -> Result<ChunkRef<'c>, AllocError> {
    let wanted = wanted.max(least_size(region).ok_or(AllocError)?);
    match control.take_spare(wanted.saturating_mul(2), region, room) {
        Some(chunk) => Ok(chunk),
        None => new_or_spare(control, region, wanted, room, new_chunk),
    }
}

/// A chunk in no list: one of about `wanted` bytes that `make` requests from the backing, or a spare
/// one that has room.
///
/// A third of the most bytes that were ever in use may be held in addition, in spare chunks. If more
/// would be, the request takes a spare chunk of up to four times its size, or else the smallest spare
/// chunks are released. So a loop of claims, each of which fits in a quarter of the one before, comes
/// to rest without a release: their chunks add up to that third.
///
/// # Errors
///
/// If the backing refuses and no spare chunk fits, or if the limit would be exceeded even without
/// spare chunks.
fn new_or_spare<'c>(
    control: ControlRef<'c>,
    region: usize,
    wanted: usize,
    room: &Room,
    make: fn(ControlRef<'c>, usize, usize) -> Result<ChunkRef<'c>, AllocError>,
) -> Result<ChunkRef<'c>, AllocError> {
    let least = least_size(region).ok_or(AllocError)?;
    // Half as much again as a spare chunk that is too small: that can be released, so this is enough for
    // a loop whose requests grow.
    let too_small = control.size_below(least);
    let larger = at_most_largest(too_small.saturating_add(too_small / 2), region);
    let wanted = wanted.max(least).max(larger);

    let in_use = control.in_use();
    let most_in_use = control.most_in_use(in_use.saturating_add(wanted));
    let with_smaller = wanted.saturating_add(wanted / 3);
    if control.held().saturating_add(with_smaller) > most_in_use.saturating_add(most_in_use / 3) {
        let most = wanted.saturating_mul(4);
        if let Some(chunk) = control.take_spare(most, region, room) {
            return Ok(chunk);
        }
    }
    if least > control.allowed() {
        if let Some(chunk) = control.take_any_spare(region, room) {
            return Ok(chunk);
        }
        let limit = control.settings.limit.get();
        let allowed = limit.saturating_sub(in_use);
        if least <= allowed {
            control.release_spare_above(limit - wanted.min(allowed));
        }
    }
    let chunk = match make(control, region, wanted) {
        Ok(chunk) => chunk,
        Err(refused) => return control.take_any_spare(region, room).ok_or(refused),
    };
    if control.spare.get().is_some() {
        let most = control.note_in_use();
        if control.held() > most.saturating_add(most / 3) {
            // To a little less, so that the next release is not due at once.
            control.release_spare_above(most.saturating_add(most / 4));
        }
    }
    Ok(chunk)
}
