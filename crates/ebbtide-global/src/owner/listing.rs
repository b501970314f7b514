//! When a scope lists what it frees, and where its lists lie.
//!
//! Medium blocks are listed in every scope. Small ones are listed only in scopes that are long and
//! churn, and in the persistent one: for others bumping is faster than looking for a freed block.

use super::{Owner, Run, bump};
use crate::{
    lists::FreeLists,
    run,
    size::{self, BUMPED, CHUNK, SMALL},
};
use core::{alloc::Layout, ptr::NonNull};

/// From this chunk on a scope of which a quarter of the blocks is gone lists the small ones too.
/// Before, what it uses fits into a second-level cache, and bumping is faster than looking for a
/// freed block: docs/decisions/0015-when-to-list.md. Sooner in debug builds, so that tests come
/// there.
const LONG: u32 = if cfg!(debug_assertions) { 2 } else { 32 };

/// `list_floor` where every block is listed, and requests of any size are served from lists.
pub(super) const ALL: usize = 0;

/// `list_floor` where every block is listed, and the fast paths serve none from lists.
pub(super) const ALL_SLOWLY: usize = 1;

/// `list_floor` where medium blocks are listed.
pub(super) const MEDIUM_ONLY: usize = SMALL + 1;

/// The scopes of an owner that can have lists at a time. The lists lie in the upper half of one
/// chunk, out of reach of a block that is overrun.
const LISTED_DEPTH: usize = CHUNK / 2 / size_of::<FreeLists>();

impl Owner {
    /// Sets what the fast paths serve and list in the innermost scope, which begins in this chunk.
    #[inline]
    pub(super) fn set_paths(&self, first: Run) {
        let record = &first.entry().record;
        // Options that exclude small blocks are looked at on the slow path alone.
        let serves_small = record.min_size.get() <= 1 && record.max_size.get() >= SMALL;
        let lists_all = record.lists_all.get();
        let is_fast = serves_small && self.outside.get() == 0;
        self.small_max.set(if is_fast && !lists_all { SMALL } else { 0 });
        self.list_floor.set(match (lists_all, is_fast) {
            (false, _) => MEDIUM_ONLY,
            (true, true) => ALL,
            (true, false) => ALL_SLOWLY,
        });
    }

    /// The innermost scope's lists, if it has any.
    #[inline(always)]
    pub(super) fn listed(&self) -> Option<&FreeLists> {
        // SAFETY: `make_lists` initialised the place, which is another scope's only after this
        // one's end.
        self.lists.get().map(|lists| unsafe { lists.as_ref() })
    }

    /// The innermost scope's lists, made if there are none yet. `None` where it is nested too
    /// deeply, or there is no memory.
    #[inline]
    pub(super) fn lists(&self) -> Option<&FreeLists> {
        if self.lists.get().is_none() {
            self.make_lists();
        }
        self.listed()
    }

    #[cold]
    fn make_lists(&self) {
        let Some(first) = self.innermost() else { return };
        let mut place = 0;
        let mut next = first.entry().record.outer.get();
        while let Some(outer) = next {
            next = outer.entry().record.outer.get();
            place += 1;
            if place == LISTED_DEPTH {
                return;
            }
        }
        self.promote();
        if self.lists_run.get().is_none() {
            self.lists_run.set(self.take_run(BUMPED, CHUNK, 0).ok());
        }
        let Some(run) = self.lists_run.get() else { return };
        run.entry().touched.set(CHUNK);
        let offset = CHUNK / 2 + place * size_of::<FreeLists>();
        let lists = NonNull::new(run.start().wrapping_add(offset).cast::<FreeLists>());
        if let Some(lists) = lists {
            // SAFETY: the place lies in a chunk that holds nothing but lists, and no other scope
            // has the same place: there is one for each depth, and the persistent scope is the
            // outermost one (P1). Lists are valid with all bits 0.
            unsafe { lists.write_bytes(0, 1) };
        }
        self.lists.set(lists);
    }

    /// From now on the innermost scope lists what it frees, of any size. False where it cannot have
    /// lists.
    pub(super) fn begin_listing(&self) -> bool {
        let Some(first) = self.innermost() else { return false };
        if self.lists().is_none() {
            return false;
        }
        first.entry().record.lists_all.set(true);
        self.set_paths(first);
        true
    }

    /// Begins to list where a long scope that has taken so many chunks churns.
    pub(super) fn list_if_it_churns(&self, newest: Run, moves: u32) {
        let is_listing = self.list_floor.get() != MEDIUM_ONLY;
        if moves >= LONG && !is_listing && churns(newest, moves.is_power_of_two()) {
            self.begin_listing();
        }
    }

    /// Serves a small block from the innermost scope's lists; calls `slow`, which has to end like
    /// [`alloc_slow`](Owner::alloc_slow), where the scope lists none, or has none of this size.
    #[inline(always)]
    pub(crate) fn alloc_listed_or(
        &self,
        layout: Layout,
        slow: impl FnOnce() -> *mut u8,
    ) -> *mut u8 {
        if self.list_floor.get() == ALL && layout.size() <= SMALL {
            let (size, list) = (layout.size(), size::small_list(layout.size()));
            if let Some(block) = self.pop(size::round_small(size), list, layout.align()) {
                return block;
            }
        }
        slow()
    }

    /// A block that was freed lately, of exactly this size.
    #[inline(always)]
    pub(super) fn pop(&self, rounded: usize, list: usize, align: usize) -> Option<*mut u8> {
        let lists = self.listed()?;
        // SAFETY: listed blocks stay free until they are popped (G6).
        let block = unsafe { lists.pop(list, align) }?;
        // SAFETY: the block is the engine's own.
        let place = unsafe { run::find(block) }?;
        // The chunk is this scope's (G6), so its count is this owner's.
        let local = &place.entry().local;
        local.set(local.get().wrapping_add(1));
        lists.live.set(lists.live.get() + 1);
        bump(&self.others, 1);
        bump(&self.bytes, rounded as u64);
        Some(block)
    }
}

/// Whether a quarter of what a scope bumped is gone: in its newest chunk, or in all of them. In a
/// queue blocks go when their chunk was left long ago.
fn churns(newest: Run, all: bool) -> bool {
    let (mut live, mut bumped) = (0, 0);
    let mut next = Some(newest);
    while let Some(chunk) = next {
        live += i64::from(chunk.entry().local.get());
        bumped += i64::from(chunk.entry().bumped.get());
        next = if all { chunk.next() } else { None };
    }
    live * 4 < bumped * 3
}
