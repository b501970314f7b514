//! Blocks of a persistent scope that other threads free.
//!
//! Only the owner of a scope may put blocks into the scope's free lists. So a thread that frees a
//! block of another owner's persistent scope pushes the block onto a stack, which is in the entry
//! of the scope's first chunk. The owner takes the blocks from there when it suspends the scope,
//! and before the scope takes another chunk.
//!
//! `owner/free` and `owner/persistent` push blocks, on any thread; `owner/sessions` takes them, and
//! `owner/retire` when the scope ends. It writes the stack, and what the owner counts of its scope.
//!
//! # Invariants
//!
//! - **R1** A block on a stack was freed, is still counted (G3), and is in no list. So its chunk is
//!   in no pool, and none of its bytes is served again, whoever owns the chunk. Its first word is
//!   the link to the next block.
//! - **R2** The stack of a chunk is open only while a scope with this first chunk persists. Whoever
//!   ends the scope closes the stack before it gives up the chunks, and then counts the blocks as
//!   freed. The owner may close it earlier.
//! - **R3** The entry's `returned_to` is a hint: a block may reach the stack of a scope to which
//!   its chunk no longer belongs. So a block that is taken from a stack is listed only if its chunk
//!   has the ID of the persistent scope (G8). Otherwise it is counted as freed.

use super::Owner;
use crate::{
    memory::{
        held,
        lists::FreeLists,
        range,
        run::{self, ChunkRef, Entry, Place},
    },
    shared::return_stack::{self, BLOCK_BITS, FIRST_WORD},
    size::{self, GRANULE, LISTS},
};
use core::sync::atomic::Ordering;

/// The bits of a block's word that name its list. The bits above are the block's offset from the
/// origin of the range, in granules.
const LIST_BITS: u32 = 8;

// No block lies in the first chunk of the range, so the word of a block is large enough.
const _: () = assert!(LISTS <= 1 << LIST_BITS && FIRST_WORD < 1 << LIST_BITS);
const _: () = assert!((range::MAX_RANGE as u64 / GRANULE as u64) << LIST_BITS <= 1 << BLOCK_BITS);
// Each block has room for a link.
const _: () = assert!(size_of::<u64>() <= GRANULE && align_of::<u64>() <= GRANULE);

impl Owner {
    /// Lets other threads return the blocks of a chunk to the persistent scope, which has just
    /// taken it.
    pub(super) fn accept_returns(&self, chunk: ChunkRef) {
        let Some(scope) = self.persistence.scope.get() else { return };
        // Release: pairs with `return_block`, which reads the entry of the first chunk. So the
        // memory of the entry must be committed before.
        chunk.entry().returned_to.store(scope.first_chunk().number(), Ordering::Release);
    }

    /// Reverses [`accept_returns`](Owner::accept_returns), before the scope gives up the chunk.
    pub(super) fn refuse_returns(chunk: ChunkRef) {
        // Relaxed: nothing is read through 0, and it is only a hint (R3).
        chunk.entry().returned_to.store(0, Ordering::Relaxed);
    }

    /// Pushes a block onto the stack of the persistent scope that it belongs to. Returns false if
    /// it belongs to none, or if the stack is full; the block is then still the caller's.
    ///
    /// # Safety
    ///
    /// The block was freed, is counted, has this size, and lies in a chunk with this entry.
    #[inline]
    pub(super) unsafe fn return_block(&self, entry: &Entry, block: *mut u8, size: usize) -> bool {
        // Acquire: pairs with the release in `accept_returns`.
        let first_chunk = ChunkRef::from_number(entry.returned_to.load(Ordering::Acquire));
        let Some(first_chunk) = first_chunk else { return false };
        let block = range::widen_provenance(block);
        let granules = (block.addr() - range::origin().addr()) / GRANULE;
        let word = ((granules as u64) << LIST_BITS) | size::list(size::round(size)) as u64;
        // SAFETY: the block was freed, so nobody else accesses it until it is taken from the stack.
        // It has at least one granule, which is as large and as aligned as a link.
        let set_next = |next| unsafe { block.cast::<u64>().write(next) };
        first_chunk.entry().returned.push(word, set_next)
    }

    /// Lists the blocks that other threads returned to the persistent scope. Returns whether there
    /// were any. Other threads must not be able to end the scope.
    pub(super) fn take_returned(&self) -> bool {
        let Some(scope) = self.persistence.scope.get() else { return false };
        let returned = &scope.first_chunk().entry().returned;
        if !returned.has_blocks() {
            return false;
        }
        let first = returned.take();
        self.list_returned(first);
        if return_stack::was_full(first) && self.has_lost_many() {
            self.persistence.is_ending.set(true);
            self.list_returned(returned.close());
        }
        true
    }

    /// Lists the blocks that were taken from the stack of the persistent scope. `first` is the word
    /// of the first one.
    fn list_returned(&self, first: u64) {
        let id = self.persistence.scope_id();
        for_each(first, |place, block, list| {
            let entry = place.entry();
            // R3. Relaxed: see `Entry`.
            if entry.scope_id() == id {
                entry.local.set(entry.local.get().wrapping_sub(1));
                // SAFETY: the block was freed with a size of this list, was counted until now, and
                // is in no list (R1). Its chunk is the persistent scope's.
                unsafe { self.list_persistent(block, list) };
                // The block is nearly always one of an earlier session.
                let before = &self.persistence.live_before;
                before.set(before.get() - 1);
            } else {
                // SAFETY: the block was freed, was counted until now, and has a size of this list.
                unsafe { self.free_shared(place.chunk(), block, size::list_bytes(list)) };
            }
        });
    }

    /// Called after the stack was full. Returns whether memory is short and a quarter of the
    /// scope's blocks are *lost*: they were freed while the stack was full. Their memory is unused
    /// until their chunks are empty. If the scope listed other blocks of these chunks, it would
    /// serve those again and again, and few of the chunks would ever be empty.
    fn has_lost_many(&self) -> bool {
        let Some(lists) = self.innermost.lists() else { return false };
        // Recounting examines every chunk of the scope. So at least as many blocks must have been
        // returned since the last time.
        lists.until_recount.set(lists.until_recount.get() - return_stack::CAPACITY as i64);
        if lists.until_recount.get() > 0 {
            return false;
        }
        let lost = lists.lost.get() + self.recount();
        lists.lost.set(lost);
        lost * 4 > lists.live() + lost && held::is_tight()
    }

    /// Recounts the live blocks of the persistent scope, which is the innermost. Threads that found
    /// the stack full have counted blocks as freed without informing the owner. Returns the number
    /// of these blocks.
    pub(super) fn recount(&self) -> i64 {
        let Some(lists) = self.innermost.lists() else { return 0 };
        let bumped_in = ChunkRef::list(self.bump.chunk());
        let chunks = bumped_in.chain(ChunkRef::list(self.adopted()));
        let (mut examined, mut live) = (0, 0);
        for chunk in chunks {
            // Blocks that were bumped since the last flush are in neither sum.
            live += chunk.entry().live();
            examined += 1;
        }
        lists.until_recount.set(examined);
        let surplus = lists.live() - live;
        lists.count_live(-surplus);
        let before = &self.persistence.live_before;
        before.set(before.get() - surplus);
        surplus
    }

    /// Counts the blocks as freed that were on the stack of a persistent scope when it was closed.
    /// `first` is the word of the first one. The chunks of the scope were given up.
    pub(super) fn free_returned(&self, first: u64) {
        for_each(first, |place, block, list| {
            // SAFETY: the block was freed, was counted until now, and has a size of this list.
            unsafe { self.free_shared(place.chunk(), block, size::list_bytes(list)) };
        });
    }

    /// The lists of the persistent scope, if there is one.
    pub(super) fn persistent_lists(&self) -> Option<&FreeLists> {
        let scope = self.persistence.scope.get()?;
        if self.scope() == Some(scope) {
            return self.innermost.lists();
        }
        let lists = scope.record().saved.get().lists?;
        // SAFETY: the scope's lists were initialised when it began to persist (P3), and no other
        // scope uses their memory until it ends (P1).
        Some(unsafe { lists.as_ref() })
    }

    /// Lists a block of the persistent scope.
    ///
    /// # Safety
    ///
    /// The block has a size of this list, was freed, is counted, and lies in a chunk of the
    /// persistent scope. The pointer is valid for writes to it.
    pub(super) unsafe fn list_persistent(&self, block: *mut u8, list: usize) {
        let Some(lists) = self.persistent_lists() else { return };
        lists.count_live(-1);
        // SAFETY: the block was alive until now, so it is in no list. The caller says that it is
        // free now and lies in a chunk of the scope that owns these lists.
        unsafe { lists.push(block, list) };
    }

    /// Counts the live blocks of a chunk that the persistent scope has adopted. No-op for another
    /// scope.
    pub(super) fn persistent_adopted(&self, scope: u64, live: u32) {
        if scope != self.persistence.scope_id() {
            return;
        }
        let Some(lists) = self.persistent_lists() else { return };
        lists.count_live(i64::from(live));
        let before = &self.persistence.live_before;
        before.set(before.get() + i64::from(live));
    }
}

/// Calls `f` for each block of a list that was taken from a stack. `first` is the word of the first
/// block. The arguments of `f` are the block's place, its address and its free list.
fn for_each(first: u64, f: impl Fn(Place, *mut u8, usize)) {
    let mut word = first;
    while word >= FIRST_WORD {
        #[allow(clippy::cast_possible_truncation, reason = "it was made from two `usize`")]
        let (granules, list) = {
            let block = return_stack::block_of(word);
            ((block >> LIST_BITS) as usize, (block & ((1 << LIST_BITS) - 1)) as usize)
        };
        let block = range::origin().wrapping_add(granules * GRANULE);
        // SAFETY: the block is counted, and nobody else accesses it (R1). So its chunk is committed
        // memory, and its first word is the link that `return_block` wrote.
        word = unsafe { block.cast::<u64>().read() };
        // SAFETY: the block is counted, so its chunk is in use, and in the range.
        if let Some(place) = unsafe { run::find(block) } {
            f(place, block, list);
        }
    }
}

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn as_many_blocks_come_back_before_each_recount_as_the_scope_has_chunks() {
        let owner = Owner::new();
        if !owner.start() {
            return;
        }
        let _ = owner.enter_default();
        let scope = owner.scope().expect("a scope is open");
        assert!(owner.persist(scope).is_some());
        let lists = owner.innermost.lists().expect("a persistent scope has lists");
        // Simulates a scope with this number of chunks, of which threads that found the stack full
        // have freed seven blocks.
        lists.until_recount.set(2 * return_stack::CAPACITY as i64 + 1);
        lists.count_live(7 - lists.live());
        for lost in [0, 0, 7] {
            assert!(!owner.has_lost_many() || lost > 0);
            assert_eq!((lists.lost.get(), lists.live()), (lost, 7 - lost));
        }
        assert_eq!(lists.until_recount.get(), 1, "the scope has one chunk");
    }
}
