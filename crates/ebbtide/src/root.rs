//! The scope of an arena from which every other one is forked, and whether it is in use.
//!
//! `arena` calls it. It writes the root's cursor between uses, and `ready_top` of the control block.
//!
//! ```text
//! Nowhere ──start──► Lent ──withdraw──► Withdrawn     a scope opens where the root is
//!    ▲                │ ▲                   │
//!    └─────start──────┘ └───────lend────────┘         the root is used again
//! ```

use crate::{
    arith::LOWEST_ADDRESS,
    chunk::{ControlRef, CurrentChunk},
    raw::Cursor,
    scope::Scope,
};
use core::{cell::Cell, ptr::NonNull};

/// What a root is doing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no chunk, or none with memory.
    Nowhere,
    /// Scopes open where the root is, in the first chunk. Nothing fits in it.
    Withdrawn,
    /// It is in use.
    Lent,
}

/// The root of an arena.
#[repr(C)]
pub(crate) struct Root {
    scope: Scope<'static>,
    /// The low end of the next scope, if the root is withdrawn. Its top is the control block's
    /// `ready_top`.
    ready_low: Cell<NonNull<u8>>,
}

impl Root {
    /// A root without a chunk.
    #[inline(always)]
    pub(crate) const fn nowhere() -> Root {
        // SAFETY: the arena starts the root before it is used.
        let cursor = unsafe { Cursor::nowhere() };
        Root { scope: Scope::new(cursor), ready_low: Cell::new(NonNull::dangling()) }
    }

    /// The scope as it is, which may not be in use. Then it serves only what is
    /// [short](crate::raw::is_short) and [fits at once](Cursor::fits_at_once), or has no bytes.
    #[inline(always)]
    pub(crate) fn as_is(&self) -> &Scope<'_> {
        &self.scope
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        if !self.scope.cursor().is_withdrawn() {
            State::Lent
        } else if self.scope.cursor().is_nowhere() {
            State::Nowhere
        } else {
            State::Withdrawn
        }
    }

    /// Moves the root to the start of the list: it is lent then, or nowhere if the first chunk has no
    /// memory.
    ///
    /// # Safety
    ///
    /// The head is that of the root's arena, no other scope of the arena is open, and nothing
    /// allocated in the arena is used again.
    #[inline(always)]
    pub(crate) unsafe fn start(&self, head: CurrentChunk<'_>) {
        // SAFETY: by this function's contract, this is the root of the head's arena, whose other
        // scopes are closed, and nothing allocated in it is used again.
        unsafe { self.scope.cursor().start_at(head) };
    }

    /// Stores the ends of a scope that opens where the root is, which is lent, and returns the top. If
    /// the root is in the head and has room, it is withdrawn, so that the next scope finds the ends.
    pub(crate) fn withdraw(&self, control: ControlRef<'_>) -> usize {
        let cursor = self.scope.cursor();
        let (top, low) = cursor.rounded();
        self.ready_low.set(low);
        if cursor.chunk_address() == control.head().as_ptr() && top > LOWEST_ADDRESS {
            control.ready_top.set(top);
            cursor.withdraw();
        }
        top
    }

    /// The low end that the latest [`withdraw`](Root::withdraw) has stored.
    #[inline(always)]
    pub(crate) fn ready_low(&self) -> NonNull<u8> {
        self.ready_low.get()
    }

    /// Lends the root again, which is withdrawn.
    ///
    /// # Safety
    ///
    /// The control block is that of the root's arena.
    pub(crate) unsafe fn lend(&self, control: ControlRef<'_>) {
        // SAFETY: only `withdraw` withdraws the root, which is in the head then, and stores the low end.
        // Nobody writes that while the root is withdrawn.
        unsafe { self.scope.cursor().lend(control.head(), self.ready_low.get()) };
        control.ready_top.set(0);
    }
}
