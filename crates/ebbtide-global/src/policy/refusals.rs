//! What an owner's scopes did when the memory bound refused them chunks.
//!
//! `owner/chunks` and `owner/alloc` call it. It tells `memory/held` what was refused.
#![forbid(unsafe_code)]

use crate::{memory::held, scope::bump::add};
use core::cell::Cell;

/// The chunks that are searched for each refusal.
const PER_PAUSE: usize = 64;

/// What was refused and served since a scope was paused last. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Refusals {
    /// The window in which a scope last gave back empty chunks because it was refused one.
    swept_in: Cell<u64>,
    /// The bytes of the requests larger than `SMALL` that paused scopes left to the inner allocator
    /// since a scope was paused last.
    bytes: Cell<u64>,
    /// The bytes that the owner had served when a scope was paused last.
    served_before: Cell<u64>,
}

impl Refusals {
    /// Counts a request that a paused scope leaves to the inner allocator.
    pub(crate) fn count(&self, bytes: usize) {
        add(&self.bytes, bytes as u64);
    }

    /// Tells the memory bound what was refused and what was served since a scope was paused last.
    /// The owner has served `served` bytes in all.
    pub(crate) fn pause(&self, served: u64) {
        let refused = self.bytes.take();
        let served = served.wrapping_sub(self.served_before.replace(served));
        let bytes = |count| usize::try_from(count).unwrap_or(usize::MAX);
        held::refused(bytes(refused), bytes(served));
    }

    /// Whether a scope that was refused a large block looks for empty chunks. `pauses` is how often it
    /// may still be refused one before the next time, unless the next window begins; `window` is the
    /// present one.
    pub(crate) fn is_sweep_due(&self, pauses: &Cell<u16>, window: u64) -> bool {
        if pauses.get() > 0 && self.swept_in.get() == window {
            pauses.set(pauses.get() - 1);
            return false;
        }
        self.swept_in.set(window);
        true
    }

    /// The refusals before the next search of a scope with this many chunks besides its first.
    pub(crate) fn pauses_for(chunks: usize) -> u16 {
        u16::try_from(chunks / PER_PAUSE).unwrap_or(u16::MAX)
    }
}
