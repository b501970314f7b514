//! The blocks that a thread keeps for itself: one of each power of two.
#![forbid(unsafe_code)]

use super::{block::Block, helper, limit};
use crate::thread_end::{self, End};
use core::{cell::Cell, mem::ManuallyDrop};
use std::thread_local;

/// The size of the largest block, in bytes. All together then have less than 64 KiB.
pub(super) const LARGEST: usize = (32 << 10) - 1;

/// The logarithm of the size of the smallest block, in bytes. The heap serves smaller ones as fast.
const SMALLEST_LOG: u32 = 8;
const SLOTS: usize = (LARGEST.ilog2() - SMALLEST_LOG + 1) as usize;

thread_local! {
    // Without a destructor, accessing it needs no test. `end` empties it.
    static OWN: ManuallyDrop<Own> = const {
        ManuallyDrop::new(Own { state: Cell::new(State::New), slots: [const { Cell::new(None) }; SLOTS] })
    };
}

struct Own {
    state: Cell<State>,
    slots: [Cell<Option<Entry>>; SLOTS],
}

struct Entry {
    block: Block,
    /// What its contents serve again; 0 if they are dead.
    prepared_for: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was kept yet, so nothing is known about the end of the thread.
    New,
    /// The end of the thread empties the slots.
    Open,
    /// The thread is ending.
    Ended,
}

/// The block that is kept of this size.
#[inline]
pub(super) fn take(size: usize) -> Option<Block> {
    take_if(size, |kept| kept.block.size() == size)
}

/// The block that is kept with contents that were prepared for this. Looks among those of about as many
/// bytes.
#[inline]
pub(super) fn take_prepared(wanted: usize) -> Option<Block> {
    take_if(wanted, |kept| kept.prepared_for == wanted)
}

#[inline]
fn take_if(size: usize, is_wanted: impl FnOnce(&Entry) -> bool) -> Option<Block> {
    OWN.try_with(|own| {
        let slot = own.slot(size)?;
        let kept = slot.take()?;
        if is_wanted(&kept) {
            return Some(kept.block);
        }
        slot.set(Some(kept));
        None
    })
    .ok()
    .flatten()
}

/// Keeps a block in place of an older one, or gives it back.
#[inline]
pub(super) fn keep(block: Block, prepared_for: usize) {
    let _ = OWN.try_with(|own| {
        let Some(slot) = own.slot(block.size()) else { return };
        if !limit::is_on() {
            own.empty();
        } else if own.is_open() {
            if prepared_for == 0 {
                block.forbid();
            }
            drop(slot.replace(Some(Entry { block, prepared_for })));
        }
    });
}

/// Whether this thread may keep blocks: its end will be noticed, which also keeps the library loaded
/// until then.
pub(super) fn is_open() -> bool {
    OWN.try_with(|own| own.is_open()).unwrap_or(false)
}

/// Gives everything back.
pub(super) fn trim() {
    let _ = OWN.try_with(|own| own.empty());
}

/// The bytes that are kept.
pub(super) fn held() -> usize {
    OWN.try_with(|own| own.slots.iter().map(Own::held).sum()).unwrap_or(0)
}

/// At the end of the thread.
pub(super) extern "C" fn end() {
    let _ = OWN.try_with(|own| {
        own.state.set(State::Ended);
        own.empty();
    });
    helper::wait_for_start();
}

impl Own {
    /// The slot for blocks of this size.
    #[inline]
    fn slot(&self, size: usize) -> Option<&Cell<Option<Entry>>> {
        self.slots.get((size.max(1).ilog2() as usize).wrapping_sub(SMALLEST_LOG as usize))
    }

    #[inline]
    fn is_open(&self) -> bool {
        self.state.get() == State::Open || self.open()
    }

    #[cold]
    fn open(&self) -> bool {
        if self.state.get() == State::New && thread_end::call(End::Blocks, end) {
            self.state.set(State::Open);
        }
        self.state.get() == State::Open
    }

    fn empty(&self) {
        for slot in &self.slots {
            drop(slot.take());
        }
    }

    fn held(slot: &Cell<Option<Entry>>) -> usize {
        let kept = slot.take();
        let size = kept.as_ref().map_or(0, |kept| kept.block.size());
        slot.set(kept);
        size
    }
}
