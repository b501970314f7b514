//! Whether scopes pay off. If most blocks of an owner's scopes outlive them, or nearly all bytes,
//! the inner allocator serves the owner's next scopes.
//!
//! `owner/scopes` and `owner/sessions` call it at the beginning and the end of outermost scopes.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// The number of scopes in a sample.
const SAMPLE_SCOPES: u32 = 256;

/// The number of scopes that are skipped after a sample that did not pay off: the inner allocator
/// serves them.
const SKIPPED_SCOPES: u32 = 4096;

/// The sample of an owner's scopes, and how many of the next ones are skipped. All-zero bytes are
/// valid.
#[derive(Debug)]
pub(crate) struct Payoff {
    /// Outermost scopes that ended since the sample began, without fast scopes.
    scopes: Cell<u32>,
    /// The owner's totals when the sample began.
    begun: Cell<Totals>,
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
    /// Bytes of large blocks that outlived their scope.
    pub(crate) escaped_large_bytes: u64,
}

impl Totals {
    fn live_bytes(self) -> u64 {
        self.bytes.wrapping_sub(self.freed_bytes)
    }
}

impl Payoff {
    /// Counts an outermost scope that ended. `totals`, which returns the owner's totals after it,
    /// is called only at the end of a sample. If the sample did not pay off, returns the bytes that
    /// it kept, and 0 otherwise.
    pub(crate) fn scope_ended(&self, totals: impl FnOnce() -> Totals) -> usize {
        let scopes = self.scopes.get() + 1;
        self.scopes.set(scopes);
        if scopes < SAMPLE_SCOPES {
            return 0;
        }
        self.scopes.set(0);
        let now = totals();
        let begun = self.begun.replace(now);
        let served = now.blocks.wrapping_sub(begun.blocks);
        let kept = now.escaped.wrapping_sub(begun.escaped);
        let served_bytes = now.bytes.wrapping_sub(begun.bytes);
        // Negative if the owner frees more than it serves.
        let growth = now.live_bytes().wrapping_sub(begun.live_bytes());
        // Negative if blocks of earlier samples shrank.
        let escaped_large = now.escaped_large_bytes.wrapping_sub(begun.escaped_large_bytes);
        let kept_bytes = u64::try_from((growth as i64).max(escaped_large as i64)).unwrap_or(0);
        let keeps_most_blocks = kept.saturating_mul(4) > served.saturating_mul(3);
        let keeps_its_bytes = kept_bytes.saturating_mul(8) > served_bytes.saturating_mul(7);
        if !keeps_most_blocks && !keeps_its_bytes {
            return 0;
        }
        self.scopes_to_skip.set(SKIPPED_SCOPES);
        usize::try_from(kept_bytes).unwrap_or(usize::MAX)
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

    /// Asserts that samples end and that skipping does.
    pub(crate) fn check(&self) {
        let (scopes, to_skip) = (self.scopes.get(), self.scopes_to_skip.get());
        invariant!(scopes < SAMPLE_SCOPES && to_skip <= SKIPPED_SCOPES, "the sample of scopes");
    }
}
