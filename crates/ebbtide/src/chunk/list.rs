//! Lists of chunks: their start, and linking chunks.

use super::{
    blocks::{
        FIRST_CHUNK, LARGEST_CHUNK, least_size, new_chunk, new_ordinary_chunk, release,
        release_chain,
    },
    control::{ControlRef, CurrentChunk},
    header::{ChunkRef, Header},
    spare::{SEARCHED, unlink},
};
use crate::{arith, error::AllocError};
use core::{iter, ptr::NonNull};

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
        control.open_claims.set(0);
        // Marks every chunk as the start of a list, removes the mark from those in the arena's own
        // list, and makes those spare that still have it.
        for chunk in control.chunks() {
            chunk.list_start.set(Some(chunk));
        }
        for chunk in self.head().onwards().skip(1) {
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
    pub(crate) unsafe fn release_behind(self, kept: ChunkRef<'c>) {
        // SAFETY: no claim is alive, as the caller says.
        unsafe { self.reclaim() };
        debug_assert!(!self.settings.is_busy(), "the backing is not running");
        let behind = kept.header().next.take();
        let first_released = behind.or(self.get().spare.get());
        self.lower_next_size(first_released.map(|chunk| chunk.block_size()));
        let spare = self.take_all_spare(|_| true);
        self.register_lists();
        for released in [behind, spare] {
            // SAFETY: as no claim is alive, all chunks were in the arena's own list or spare, and
            // these are in no list now (L2). The caller says that no allocation lives in them and
            // that no cursor points to them.
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
        control.open_claims.set(0);
        control.head.next.set(None);
        // In any list, or in that of a forgotten claim: `older` links all of them (L3).
        for chunk in iter::successors(newest, |chunk| chunk.header().older.get()) {
            // SAFETY: no record of the control block refers to a chunk any more, and the iterator
            // has read `older` already. The caller says that no allocation lives in any chunk, no
            // claim is alive, and no cursor that will be used again points to one.
            unsafe { release(self, chunk) };
        }
        self.check();
    }

    /// Releases the chunks for which `is_released` is true. It is asked in the order of the list,
    /// and then about the spare chunks.
    ///
    /// # Safety
    ///
    /// No allocation lives in any chunk, no claim is alive, and no cursor that will be used again
    /// points to one.
    pub(super) unsafe fn release_if(self, mut is_released: impl FnMut(ChunkRef<'c>) -> bool) {
        // SAFETY: no claim is alive, as the caller says.
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
            self.head().next.set(self.take_spare(usize::MAX, 0, |_| true));
        }
        self.register_lists();
        for released in [released, spare] {
            // SAFETY: as no claim is alive, all chunks were in the arena's own list or spare, and
            // these are in no list now (L2). The caller says that no allocation lives in a chunk
            // and that no cursor points to one.
            unsafe { release_chain(self, released) };
        }
        self.check();
    }

    /// Lowers the ordinary size to `released`, the size of the first chunk that is released, but to no
    /// less than [`FIRST_CHUNK`]. Otherwise a program that trims its
    /// arena again and again would get a larger chunk each time. If the first chunk serves an
    /// oversize request, it may be larger than the ordinary size, which then does not change.
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
        for chunk in self.head().onwards().skip(1).chain(self.spare_chunks()) {
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
        let own = self.head().onwards().skip(1).take(count + 1).count();
        let spare = self.spare_chunks().take(count + 1).count();
        debug_assert!(own + spare <= count, "L2, L3: every chunk is registered, and in one list");
        debug_assert!(control.open_claims() > 0 || own + spare == count, "L2: no other list");
        for chunk in self.head().onwards().skip(1).chain(self.spare_chunks()) {
            let bound = chunk.bound_behind().unwrap_or(usize::MAX);
            debug_assert!(chunk.onwards().all(|behind| behind.capacity() <= bound), "the bound");
        }
        self.check_spare();
    }
}

/// Links a chunk that `fits` accepts directly behind `after`, and returns it: one from further on
/// in the list, a spare one, or a new one with room for `size` bytes at `align`. In the list it
/// picks the first fit or, if `largest` is set, the largest of the first few chunks.
///
/// # Errors
///
/// Those of [`new_chunk`], and if no region is large enough for the request; the list is then as it
/// was.
#[inline]
pub(crate) fn link_next_chunk<'c>(
    after: CurrentChunk<'c>,
    (size, align): (usize, usize),
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    match after.chunk().next() {
        // A loop of scopes takes the chunk here that it took in its previous turn. If that was the
        // largest one, it has held a block at the low end.
        Some(next) if (!largest || next.held_low_block()) && fits(&next) => Ok(next),
        _ => {
            find_next_chunk(after, arith::region_for(size, align).ok_or(AllocError)?, largest, fits)
        }
    }
}

/// [`link_next_chunk`] by a search.
///
/// # Errors
///
/// Those of [`link_next_chunk`].
#[cold]
#[inline(never)]
fn find_next_chunk<'c>(
    after: CurrentChunk<'c>,
    region: usize,
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    let (control, current) = (after.control(), after);
    let after = after.chunk().header();
    let few = largest.then(|| unlink(&after.next, SEARCHED, true, region, &fits)).flatten();
    let chunk = match few.or_else(|| unlink(&after.next, usize::MAX, false, region, &fits)) {
        Some(chunk) => chunk,
        None if after.list_start.get().is_some() => chunk_for_claim(current, region, &fits)?,
        None => match control.take_spare(usize::MAX, region, &fits) {
            Some(chunk) => chunk,
            None => {
                let new = new_ordinary_chunk(control, region, twice_the_next(current, region));
                or_any_spare(control, new, region, &fits)?
            }
        },
    };
    debug_assert!(fits(&chunk), "it has room");
    debug_assert!(chunk.next().is_none(), "L2: it is in no list");
    chunk.next.set(after.next.get());
    after.next.set(Some(chunk));
    control.check();
    Ok(chunk)
}

/// Twice the size of the chunk behind the cursor's, which was too small for a request of `region`
/// bytes. Otherwise a loop whose requests grow would need another chunk in each turn.
fn twice_the_next(current: CurrentChunk<'_>, region: usize) -> usize {
    let twice = current.chunk().next().map_or(0, |next| next.block_size().saturating_mul(2));
    if region < LARGEST_CHUNK { twice.min(LARGEST_CHUNK) } else { twice }
}

/// A chunk, spare or new, for the list of a claim whose cursor is at `current`. It is about as
/// large as the list up to there, so that the claim holds at most about twice what it needs, and large
/// chunks stay spare for scopes that fill them.
fn chunk_for_claim<'c>(
    current: CurrentChunk<'c>,
    region: usize,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    let before = current.capacity_before.get() - current.list_start().capacity_before.get();
    let ordinary = (before + current.block_size()).min(LARGEST_CHUNK);
    claim_chunk(current.control(), region, ordinary.max(twice_the_next(current, region)), fits)
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
    let least = least_size(region).ok_or(AllocError)?;
    let most = wanted.max(least).saturating_mul(2);
    match control.take_spare(most, region, &fits) {
        Some(chunk) => Ok(chunk),
        None => or_any_spare(control, new_chunk(control, region, wanted), region, &fits),
    }
}

/// Returns `new` or, if the backing refused it, any spare chunk that `fits` accepts.
fn or_any_spare<'c>(
    control: ControlRef<'c>,
    new: Result<ChunkRef<'c>, AllocError>,
    region: usize,
    fits: impl Fn(&Header) -> bool,
) -> Result<ChunkRef<'c>, AllocError> {
    new.or_else(|refused| control.take_any_spare(region, fits).ok_or(refused))
}
