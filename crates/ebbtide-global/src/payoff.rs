//! Whether scopes pay: an owner whose scopes keep most of what they allocate leaves it to the inner
//! allocator for a while.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// Scopes that are looked at together.
const SAMPLE_SCOPES: u32 = 256;

/// Scopes that the inner allocator serves after a sample that did not pay.
const SKIPPED_SCOPES: u32 = 4096;

/// See the module's head.
#[derive(Debug)]
pub(crate) struct Payoff {
    /// Scopes that ended since the sample began, without the fast ones that left nothing behind.
    scopes: Cell<u32>,
    /// The owner's figures when the sample began.
    blocks: Cell<u64>,
    escaped: Cell<u64>,
    /// Scopes that are still to be skipped.
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

    /// Takes note of an outermost scope that ended, with the owner's figures now.
    pub(crate) fn scope_ended(&self, blocks: u64, escaped: u64) {
        let scopes = self.scopes.get() + 1;
        self.scopes.set(scopes);
        if scopes < SAMPLE_SCOPES {
            return;
        }
        let served = blocks.wrapping_sub(self.blocks.replace(blocks));
        let kept = escaped.wrapping_sub(self.escaped.replace(escaped));
        // Three quarters.
        if kept.saturating_mul(4) > served.saturating_mul(3) {
            self.scopes_to_skip.set(SKIPPED_SCOPES);
        }
        self.scopes.set(0);
    }

    /// Whether the next outermost scope is one to be skipped.
    pub(crate) fn skips_next(&self) -> bool {
        let skip = self.scopes_to_skip.get();
        self.scopes_to_skip.set(skip.saturating_sub(1));
        skip > 0
    }
}
