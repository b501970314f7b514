//! Whether an owner's scopes keep blocks. Those that do may not use the reserve of the memory bound:
//! see `memory/held`.
//!
//! `owner/scopes` and `owner/supply` call it.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// The number of outermost scopes in a row that keep nothing before this owner's scopes no longer count
/// as scopes that keep blocks. It doubles, up to the second value, each time that one of the next few
/// keeps a block after all: the block pins a chunk of the reserve. Lower in debug builds, so that tests
/// reach it.
const PATIENCE: (u32, u32) = (if cfg!(debug_assertions) { 2 } else { 8 }, 1024);

/// What an owner's last outermost scopes kept. All-zero bytes are valid.
#[derive(Debug)]
pub(crate) struct Keeping {
    /// The number of outermost scopes since the last one that kept a block. Fast scopes do not count.
    quiet: Cell<u32>,
    /// How many of them it takes beyond the first value of [`PATIENCE`].
    more_patience: Cell<u32>,
}

impl Keeping {
    /// Whether one of this owner's last scopes kept a block.
    pub(crate) fn keeps(&self) -> bool {
        self.quiet.get() < self.patience()
    }

    fn patience(&self) -> u32 {
        PATIENCE.0 + self.more_patience.get()
    }

    /// Records that an outermost scope ended, or that none could open, and how many of its blocks
    /// are alive.
    pub(crate) fn scope_ended(&self, kept: u64) {
        if kept == 0 {
            self.quiet.set(self.quiet.get().saturating_add(1));
            return;
        }
        let (quiet, patience) = (self.quiet.take(), self.patience());
        if quiet >= 4 * patience {
            self.more_patience.set(0);
        } else if quiet >= patience {
            self.more_patience.set((2 * patience).min(PATIENCE.1) - PATIENCE.0);
        }
    }
}
