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
        ManuallyDrop::new(Own { state: Cell::new(State::New), slots: [const { Slot::new() }; SLOTS] })
    };
}

struct Own {
    state: Cell<State>,
    slots: [Slot; SLOTS],
}

struct Slot {
    block: Cell<Option<Block>>,
    /// What the contents of the block serve again; 0 if they are dead.
    prepared_for: Cell<usize>,
    /// The slot of the last block that was prepared for what has about as many bytes as this one.
    prepared_at: Cell<usize>,
}

impl Slot {
    const fn new() -> Self {
        Slot { block: Cell::new(None), prepared_for: Cell::new(0), prepared_at: Cell::new(0) }
    }

    fn held(&self) -> usize {
        let kept = self.block.take();
        let size = kept.as_ref().map_or(0, Block::size);
        self.block.set(kept);
        size
    }
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
    OWN.try_with(|own| {
        let slot = own.slots.get(slot_of(size))?;
        let kept = slot.block.take()?;
        if kept.size() == size {
            return Some(kept);
        }
        slot.block.set(Some(kept));
        None
    })
    .ok()
    .flatten()
}

/// The block that was kept last with contents that were prepared for this, if it still is.
#[inline]
pub(super) fn take_prepared(wanted: usize) -> Option<Block> {
    OWN.try_with(|own| {
        let slot = own.slots.get(own.slots.get(slot_of(wanted))?.prepared_at.get())?;
        if slot.prepared_for.get() == wanted { slot.block.take() } else { None }
    })
    .ok()
    .flatten()
}

/// Keeps a block in place of an older one, or gives it back.
#[inline]
pub(super) fn keep(block: Block, prepared_for: usize) {
    let _ = OWN.try_with(|own| {
        let at = slot_of(block.size());
        let Some(slot) = own.slots.get(at) else { return };
        if !limit::is_on() {
            own.empty();
        } else if own.is_open() {
            slot.prepared_for.set(prepared_for);
            match own.slots.get(slot_of(prepared_for)) {
                Some(slot) => slot.prepared_at.set(at),
                None => block.forbid(),
            }
            drop(slot.block.replace(Some(block)));
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
    OWN.try_with(|own| own.slots.iter().map(Slot::held).sum()).unwrap_or(0)
}

/// At the end of the thread.
pub(super) extern "C" fn end() {
    let _ = OWN.try_with(|own| {
        own.state.set(State::Ended);
        own.empty();
    });
    helper::wait_for_start();
}

/// The slot for blocks of this size. Not every size has one.
#[inline]
fn slot_of(size: usize) -> usize {
    (size.max(1).ilog2() as usize).wrapping_sub(SMALLEST_LOG as usize)
}

impl Own {
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
            drop(slot.block.take());
        }
    }
}
