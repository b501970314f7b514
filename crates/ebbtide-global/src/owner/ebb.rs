//! Long scopes that have *ebbed*: nearly all of their blocks are free.
//!
//! A long scope lists the blocks that it frees, and serves the block that was freed last. If a
//! program builds one large value after another, the lists are soon in random order. Each request is
//! then served somewhere in the memory that the scope has ever used, and the processor waits for the
//! link of the next free block (docs/decisions/0043-ebb.md).
//!
//! So when few of its blocks are alive, the scope counts its chunks. If it has ebbed, it gives back
//! the empty ones, forgets the listed blocks in the others, and bumps again like a new scope. If the
//! blocks have one size, this leaves at most a quarter of its memory unused until its chunks are empty.
//! Persistent scopes only do so when they need another chunk, and go on listing (P3).
//!
//! `owner/free` calls it when few blocks are alive, `owner/chunks` and `owner/listing` before a scope
//! takes another chunk. It writes the list of the scope's chunks and its free lists.

use super::Owner;
use crate::{
    memory::{
        lists::FreeLists,
        run::{self, ChunkRef, Flushed, ScopeRecord},
    },
    scope::mode::Mode,
};
use core::cell::Cell;

/// The chunks of a scope, and the blocks in those that are in use.
pub(super) struct Tally {
    chunks: u32,
    /// The chunks with live blocks.
    used: u32,
    /// The live blocks, and the blocks that were bumped, in these chunks.
    live: i64,
    bumped: i64,
}

impl Tally {
    /// Counts the chunks of a list.
    fn of(newest: ChunkRef, flushed: Flushed) -> Tally {
        let mut tally = Tally { chunks: 0, used: 0, live: 0, bumped: 0 };
        for chunk in ChunkRef::list(Some(newest)) {
            let entry = chunk.entry();
            tally.chunks += 1;
            if !entry.is_empty(flushed) {
                let bumped = i64::from(entry.bumped.get());
                tally.used += 1;
                tally.live += entry.live().min(bumped);
                tally.bumped += bumped;
            }
        }
        tally
    }

    /// Whether a quarter of the chunks is empty, and the free blocks in the others take at most a
    /// quarter of the memory of all.
    fn has_ebbed(&self) -> bool {
        let (chunks, used) = (i64::from(self.chunks), i64::from(self.used));
        used * 4 <= chunks * 3 && used * (self.bumped - self.live) * 4 <= chunks * self.bumped
    }
}

/// Whether a scope with these lists, which needs another chunk, has ebbed. If the sizes of its blocks
/// change over time, its lists serve few requests, and it would take one fresh chunk after another.
/// Its chunks are counted again only after their number has grown by a quarter.
pub(super) fn has_ebbed(
    lists: &FreeLists,
    record: &ScopeRecord,
    newest: ChunkRef,
    flushed: Flushed,
) -> bool {
    let added = record.added_chunks.get();
    if added < lists.count_at.get() {
        return false;
    }
    let tally = Tally::of(newest, flushed);
    let left = if tally.has_ebbed() { tally.used } else { added };
    lists.count_at.set(left + (left / 4).max(4));
    tally.has_ebbed()
}

impl Owner {
    /// Called when the innermost scope begins to list small blocks: counts its live blocks.
    pub(super) fn count_live_blocks(&self) {
        let Some(lists) = self.innermost.lists() else { return };
        let live: i64 = ChunkRef::list(self.bump.chunk()).map(|chunk| chunk.entry().live()).sum();
        lists.count_live(live - lists.live());
        self.set_low_water();
    }

    /// Lets the innermost scope count its chunks when a quarter of its present blocks is free, but only
    /// after so many blocks were freed that counting costs little for each: adopted chunks are counted,
    /// but their older blocks are not.
    pub(super) fn set_low_water(&self) {
        if let Some((scope, lists)) = self.scope().zip(self.innermost.lists()) {
            let chunks = i64::from(scope.record().added_chunks.get());
            let live = lists.live();
            lists.set_low_water(live - (live / 4).max(chunks / 16 + FEWEST_FREED));
        }
    }

    /// Called when [`count_live`](FreeLists::count_live) has counted a block as freed that is not
    /// free yet, and returned true. If the innermost scope has ebbed, it gives back its empty chunks
    /// and stops listing small blocks. Otherwise it counts its chunks again when another quarter of
    /// the blocks is free.
    #[cold]
    pub(super) fn at_low_water(&self) {
        let Some(lists) = self.innermost.lists() else { return };
        lists.count_live(1);
        // Blocks that were bumped since the last flush were not counted.
        let flushed = self.flush();
        if lists.live() > lists.low_water() + 1 {
            return;
        }
        self.set_low_water();
        if self.is_persistent() {
            return;
        }
        // The rest of a parked chunk stays unused until that chunk is empty.
        self.bump.park(0);
        if self.sweep_at_ebb(flushed) {
            self.set_mode(Mode { lists_all: false, ..self.innermost.mode() });
            self.check();
        }
    }

    /// Gives back the empty chunks of the innermost scope, which has lists and is not persistent, if it
    /// has ebbed. No chunk may be parked. A scope with a byte limit
    /// never ebbs, because bumping uses up the limit and serving listed blocks does not.
    pub(super) fn sweep_at_ebb(&self, flushed: Flushed) -> bool {
        let Some((scope, newest)) = self.scope().zip(self.bump.chunk()) else { return false };
        let Some(lists) = self.innermost.lists() else { return false };
        if scope.record().has_limit() {
            return false;
        }
        // Forgets all blocks instead of removing some, which would examine every listed block.
        let has_ebbed = Tally::of(newest, flushed).has_ebbed()
            && self.give_up_empty(None, flushed, FreeLists::clear);
        if has_ebbed {
            ChunkRef::list(Some(newest)).for_each(|chunk| chunk.entry().has_listed.set(false));
            lists.left_chunks.set(scope.record().added_chunks.get());
        }
        has_ebbed
    }

    /// Gives back the empty chunks of the innermost scope, `adopted` among them, and removes their
    /// blocks from its free lists, of which at most [`MOST_RETAINED`] are examined. Returns false,
    /// and changes nothing, if no chunk is empty. No chunk may be parked, since it could be one of
    /// them (G5): a chunk that is full continues in the parked one first, and a persistent scope
    /// parks none, because it lists small blocks from its beginning.
    pub(super) fn sweep(&self, adopted: Option<ChunkRef>, flushed: Flushed) -> bool {
        let id = self.bump.scope_id();
        // SAFETY: listed blocks lie in the range. Those of the chunks that are given back are free as
        // well, because these chunks are in no pool yet.
        let is_left = |block| unsafe { run::place_of(block) }.entry().scope_id() == id;
        self.give_up_empty(adopted, flushed, |lists| {
            // SAFETY: the listed blocks are free (G6).
            unsafe { lists.retain(MOST_RETAINED, is_left) };
        })
    }

    /// Like [`sweep`](Owner::sweep), but `remove` removes the blocks of the empty chunks from the free
    /// lists, or all blocks. The chunks are in no pool yet, and no longer have the scope's ID.
    #[cold]
    fn give_up_empty(
        &self,
        adopted: Option<ChunkRef>,
        flushed: Flushed,
        remove: impl FnOnce(&FreeLists),
    ) -> bool {
        invariant!(self.bump.parked() == 0, "G5, a parked chunk is not given back");
        let Some((scope, current)) = self.scope().zip(self.bump.chunk()) else { return false };
        let is_persistent = self.is_persistent();
        let is_swept =
            |chunk: ChunkRef| chunk != scope.first_chunk() && chunk.entry().is_empty(flushed);
        if !current.following().any(is_swept) && !ChunkRef::list(adopted).any(is_swept) {
            return false;
        }
        // It may be a chunk that is given back.
        self.innermost.search_position.set(None);
        // Given back together, because neighbours then take fewer calls of the system.
        let given_up = Cell::new(None);
        let give_up = |chunk: ChunkRef| {
            if is_persistent {
                chunk.entry().count_unpinned();
                Owner::refuse_returns(chunk);
            }
            Owner::disown_empty(chunk, flushed);
            chunk.set_next(given_up.replace(Some(chunk)));
        };
        let added_chunks = &scope.record().added_chunks;
        let mut before = current;
        while let Some(chunk) = before.next() {
            if is_swept(chunk) {
                before.set_next(chunk.next());
                added_chunks.set(added_chunks.get().saturating_sub(1));
                give_up(chunk);
            } else {
                before = chunk;
            }
        }
        if adopted.is_some() {
            scope.record().adopted.set(None);
            for chunk in ChunkRef::list(adopted) {
                if is_swept(chunk) {
                    give_up(chunk);
                } else {
                    chunk.set_next(scope.record().adopted.replace(Some(chunk)));
                }
            }
        }
        if let Some(lists) = self.innermost.lists() {
            remove(lists);
        }
        self.cache.give_all(given_up.get().map(ChunkRef::run));
        if is_persistent {
            // Other threads have freed blocks of the empty chunks.
            self.recount();
        }
        true
    }
}

/// The most listed blocks that a scope examines when it gives back its empty chunks, which bounds the
/// time of a request to some tens of milliseconds. It forgets the others.
const MOST_RETAINED: usize = 1 << 18;

/// The number of blocks that a scope frees at least before it counts its chunks again.
const FEWEST_FREED: i64 = 8;

#[cfg(all(test, target_pointer_width = "64", not(miri)))]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use crate::size::CHUNK;
    use core::alloc::Layout;
    use std::vec::Vec;

    const BLOCK: Layout = Layout::new::<[u64; 16]>();

    /// Enough blocks for so many chunks.
    fn fill(owner: &Owner, chunks: usize) -> Vec<*mut u8> {
        (0..chunks * CHUNK / BLOCK.size()).map(|_| owner.alloc(BLOCK)).collect()
    }

    /// Frees blocks in an order unlike that in which they were allocated.
    fn free_scattered(owner: &Owner, mut blocks: Vec<*mut u8>) {
        let mut place = 0;
        while !blocks.is_empty() {
            place = (place + 7919) % blocks.len();
            // SAFETY: the tests allocate their blocks with this layout, and free each one once.
            assert!(unsafe { owner.dealloc(blocks.swap_remove(place), BLOCK) });
        }
    }

    fn chunks(owner: &Owner) -> usize {
        ChunkRef::list(owner.bump.chunk()).count()
    }

    fn with_owner(test: impl FnOnce(&Owner)) {
        let owner = Owner::new();
        if owner.start() {
            let _ = owner.enter_default();
            test(&owner);
        }
    }

    #[test]
    fn a_scope_of_which_few_blocks_are_alive_bumps_again() {
        with_owner(|owner| {
            for _ in 0..3 {
                let mut blocks = fill(owner, 40);
                assert!(owner.begin_listing());
                let kept = blocks.split_off(blocks.len() - 3);
                free_scattered(owner, blocks);
                assert!(!owner.bump.lists_small(), "it has ebbed");
                let blocks = fill(owner, 20);
                let steps = blocks.windows(2).filter(|pair| pair[0].addr() + 128 == pair[1].addr());
                assert!(steps.count() > blocks.len() * 9 / 10, "neighbours are served in order");
                free_scattered(owner, blocks);
                free_scattered(owner, kept);
                assert!(chunks(owner) <= 45, "{} chunks, of which 40 were in use", chunks(owner));
            }
        });
    }

    /// The scope may have millions of them, and a single call would read one after the other.
    #[test]
    fn a_scope_ebbs_without_reading_its_listed_blocks() {
        with_owner(|owner| {
            let mut blocks = fill(owner, 40);
            assert!(owner.begin_listing());
            let kept = blocks.split_off(blocks.len() - 3);
            while owner.bump.lists_small() {
                let block = blocks.pop().expect("it ebbs before all blocks are free");
                free_scattered(owner, Vec::from([block]));
                // If the link were read that is there now, the program would fail.
                // SAFETY: nobody uses the block. Its chunk was in use a moment ago, so the scope has
                // not given it up.
                unsafe { block.cast::<usize>().write(1) };
            }
            free_scattered(owner, blocks);
            free_scattered(owner, kept);
        });
    }

    #[test]
    fn a_scope_ebbs_beside_full_chunks_that_it_keeps() {
        with_owner(|owner| {
            let kept = fill(owner, 20);
            let blocks = fill(owner, 20);
            assert!(owner.begin_listing());
            // Values of about two chunks each.
            blocks.chunks(1000).for_each(|value| free_scattered(owner, value.to_vec()));
            assert!(!owner.bump.lists_small(), "it has ebbed");
            assert!(chunks(owner) <= 35, "{} chunks, of which 20 are in use", chunks(owner));
            free_scattered(owner, kept);
        });
    }

    #[test]
    fn a_scope_that_keeps_a_block_in_each_chunk_goes_on_listing() {
        with_owner(|owner| {
            let blocks = fill(owner, 40);
            let per_chunk = CHUNK / BLOCK.size();
            let (kept, freed): (Vec<_>, Vec<_>) =
                blocks.into_iter().enumerate().partition(|(number, _)| number % per_chunk == 0);
            let [kept, freed] =
                [kept, freed].map(|blocks| blocks.into_iter().map(|(_, block)| block).collect());
            assert!(owner.begin_listing());
            free_scattered(owner, freed);
            assert!(owner.bump.lists_small(), "else the free memory of all chunks were lost");
            let (chunks_before, again) = (chunks(owner), fill(owner, 30));
            assert_eq!(chunks(owner), chunks_before);
            free_scattered(owner, kept);
            free_scattered(owner, again);
        });
    }

    #[test]
    fn a_scope_that_keeps_a_block_of_each_value_does_not_grow_by_the_rest() {
        with_owner(|owner| {
            let mut kept = Vec::new();
            for _ in 0..200 {
                let mut blocks = fill(owner, 20);
                kept.push(blocks.swap_remove(blocks.len() / 2));
                free_scattered(owner, blocks);
            }
            assert!(chunks(owner) <= 60, "{} chunks for 20 and 200 blocks", chunks(owner));
            free_scattered(owner, kept);
        });
    }

    #[test]
    fn a_block_freed_at_low_water_is_counted_once() {
        with_owner(|owner| {
            let blocks = fill(owner, 40);
            assert!(owner.begin_listing());
            let lists = owner.innermost.lists().expect("it lists");
            let (plain, headed) = (owner.alloc(BLOCK), owner.alloc_headed(100, 16));
            owner.flush();
            let live = lists.live();
            lists.set_low_water(live);
            // SAFETY: the block is alive, and not used again.
            assert!(unsafe { owner.dealloc(plain, BLOCK) });
            assert_eq!(lists.live(), live - 1);
            lists.set_low_water(live - 1);
            // SAFETY: the block is alive, and not used again.
            assert!(unsafe { owner.free_headed(headed) });
            assert_eq!(lists.live(), live - 2);
            free_scattered(owner, blocks);
        });
    }

    #[test]
    fn chunks_are_counted_again_only_after_many_frees() {
        with_owner(|owner| {
            let kept = fill(owner, 40);
            assert!(owner.begin_listing());
            let lists = owner.innermost.lists().expect("it lists");
            // As if the chunks were adopted: their blocks are not in the count.
            lists.count_live(-lists.live());
            let mut low_waters = 0;
            for _ in 0..2000 {
                let before = lists.low_water();
                let block = owner.alloc(BLOCK);
                // SAFETY: the block is alive, and not used again.
                assert!(unsafe { owner.dealloc(block, BLOCK) });
                low_waters += u32::from(lists.low_water() != before);
            }
            assert!(low_waters < 35, "its chunks were counted {low_waters} times");
            free_scattered(owner, kept);
        });
    }

    #[test]
    fn blocks_of_chunks_that_stay_are_still_listed_after_a_sweep() {
        with_owner(|owner| {
            assert!(owner.begin_listing());
            let blocks = fill(owner, 8);
            let emptied = ChunkRef::containing(blocks[blocks.len() / 2]);
            let is_freed = |&(number, block): &(usize, *mut u8)| {
                ChunkRef::containing(block) == emptied || number % 2 == 0
            };
            let (freed, kept): (Vec<_>, Vec<_>) =
                blocks.into_iter().enumerate().partition(is_freed);
            free_scattered(owner, freed.into_iter().map(|(_, block)| block).collect());
            let before = chunks(owner);
            owner.sweep(owner.adopted(), owner.flush());
            assert_eq!(chunks(owner), before - 1, "one was empty");
            let again = kept.iter().map(|_| owner.alloc(BLOCK)).collect();
            assert_eq!(chunks(owner), before - 1, "half of each other chunk was free");
            free_scattered(owner, again);
            free_scattered(owner, kept.into_iter().map(|(_, block)| block).collect());
        });
    }
}
