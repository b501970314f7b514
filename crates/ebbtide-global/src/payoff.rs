//! Whether scopes pay off. If most blocks of an owner's scopes outlive them, the inner allocator
//! serves the owner's next scopes.
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
    /// The number of scopes that are still to be skipped.
    scopes_to_skip: Cell<u32>,
}

impl Payoff {
    pub(crate) const fn new() -> Self {
        Payoff {
            scopes: Cell::new(0),
            blocks: Cell::new(0),
            escaped: Cell::new(0),
            scopes_to_skip: Cell::new(0),
        }
    }

    /// Counts an outermost scope that ended. `blocks` and `escaped` are the owner's figures after
    /// it.
    pub(crate) fn scope_ended(&self, blocks: u64, escaped: u64) {
        let scopes = self.scopes.get() + 1;
        self.scopes.set(scopes);
        if scopes < SAMPLE_SCOPES {
            return;
        }
        let served = blocks.wrapping_sub(self.blocks.replace(blocks));
        let kept = escaped.wrapping_sub(self.escaped.replace(escaped));
        // More than three quarters escaped.
        if kept.saturating_mul(4) > served.saturating_mul(3) {
            self.scopes_to_skip.set(SKIPPED_SCOPES);
        }
        self.scopes.set(0);
    }

    /// Returns whether to skip the next outermost scope, and counts it as skipped.
    pub(crate) fn skips_next(&self) -> bool {
        let skip = self.scopes_to_skip.get();
        self.scopes_to_skip.set(skip.saturating_sub(1));
        skip > 0
    }
}
