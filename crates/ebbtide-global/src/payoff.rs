//! Whether scopes pay off. If most blocks of an owner's scopes outlive them, or nearly all bytes,
//! the inner allocator serves the owner's next scopes.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// The number of scopes in a sample.
const SAMPLE_SCOPES: u32 = 256;

/// The number of scopes that are skipped after a sample that did not pay off: the inner allocator
/// serves them.
const SKIPPED_SCOPES: u32 = 4096;

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Payoff {
    /// Outermost scopes that ended since the sample began, without fast scopes.
    scopes: Cell<u32>,
    /// The owner's served blocks when the sample began.
    blocks: Cell<u64>,
    /// The owner's escaped blocks when the sample began.
    escaped: Cell<u64>,
    /// The bytes that the owner had served and not freed when the sample began.
    live_bytes: Cell<u64>,
    /// The bytes that the owner had served when the sample began.
    bytes: Cell<u64>,
    /// The number of scopes that are still to be skipped.
    scopes_to_skip: Cell<u32>,
}

/// The totals of an owner since its start, modulo 2^64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    /// Blocks served.
    pub(crate) blocks: u64,
    /// Blocks that outlived their scope.
    pub(crate) escaped: u64,
    /// Bytes served.
    pub(crate) bytes: u64,
    /// Bytes freed.
    pub(crate) freed_bytes: u64,
}

impl Payoff {
    pub(crate) const fn new() -> Self {
        Payoff {
            scopes: Cell::new(0),
            blocks: Cell::new(0),
            escaped: Cell::new(0),
            live_bytes: Cell::new(0),
            bytes: Cell::new(0),
            scopes_to_skip: Cell::new(0),
        }
    }

    /// Counts an outermost scope that ended. `totals`, which returns the owner's totals after it,
    /// is called only at the end of a sample.
    #[inline]
    pub(crate) fn scope_ended(&self, totals: impl FnOnce() -> Totals) {
        let scopes = self.scopes.get() + 1;
        self.scopes.set(scopes);
        if scopes < SAMPLE_SCOPES {
            return;
        }
        let Totals { blocks, escaped, bytes, freed_bytes } = totals();
        let served = blocks.wrapping_sub(self.blocks.replace(blocks));
        let kept = escaped.wrapping_sub(self.escaped.replace(escaped));
        let served_bytes = bytes.wrapping_sub(self.bytes.replace(bytes));
        let live_bytes = bytes.wrapping_sub(freed_bytes);
        // Negative if the owner frees more than it serves.
        let growth = live_bytes.wrapping_sub(self.live_bytes.replace(live_bytes));
        let kept_bytes = u64::try_from(growth as i64).unwrap_or(0);
        let keeps_most_blocks = kept.saturating_mul(4) > served.saturating_mul(3);
        let keeps_its_bytes = kept_bytes.saturating_mul(8) > served_bytes.saturating_mul(7);
        if keeps_most_blocks || keeps_its_bytes {
            self.scopes_to_skip.set(SKIPPED_SCOPES);
        }
        self.scopes.set(0);
    }

    /// The number of scopes that are still to be skipped. Unlike the figures of a program, it also
    /// changes with each poll of a future.
    pub(crate) fn left_to_skip(&self) -> u32 {
        self.scopes_to_skip.get()
    }

    /// Returns whether to skip the next outermost scope, and counts it as skipped.
    pub(crate) fn skips_next(&self) -> bool {
        let skip = self.scopes_to_skip.get();
        self.scopes_to_skip.set(skip.saturating_sub(1));
        skip > 0
    }
}
