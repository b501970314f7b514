//! The arenas of a thread, lent to one scope each.
//!
//! Opening a scope takes an idle arena of the thread, or a new one; closing it gives the arena
//! back. So nested scopes of one thread have an arena each, even if two libraries that are unaware
//! of each other open them.

use crate::{
    arena::{self, ebb_arena, ebb_arena_free, new_for_thread},
    scope::{self, ebb_scope},
    status::{ebb_status, fail},
};
use core::{cell::Cell, ptr::NonNull};

/// The idle arenas of a thread, linked by `next`.
struct Idle {
    first: Cell<Option<NonNull<ebb_arena>>>,
    count: Cell<usize>,
}

/// The maximum number of idle arenas of a thread. Without it, a thread that closes the scopes of
/// other threads would keep an arena for each.
const MOST_IDLE: usize = 32;

thread_local! {
    static IDLE: Idle = const { Idle { first: Cell::new(None), count: Cell::new(0) } };
}

impl Idle {
    fn pop(&self) -> Option<NonNull<ebb_arena>> {
        let first = self.first.get()?;
        // SAFETY: an idle arena; no reference to this field exists.
        self.first.set(unsafe { (*first.as_ptr()).next });
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    /// Keeps an arena. Returns false if there are enough; the caller then still owns it.
    ///
    /// # Safety
    ///
    /// `arena` is an arena of `new_for_thread` without an open scope, in no list.
    unsafe fn push(&self, arena: NonNull<ebb_arena>) -> bool {
        if self.count.get() == MOST_IDLE {
            return false;
        }
        // SAFETY: an arena, as the caller says; no reference to this field exists.
        unsafe { (*arena.as_ptr()).next = self.first.get() };
        self.first.set(Some(arena));
        self.count.set(self.count.get() + 1);
        true
    }

    fn free_all(&self) {
        while let Some(arena) = self.pop() {
            // SAFETY: an idle arena, in no list any more.
            unsafe { ebb_arena_free(arena.as_ptr()) };
        }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        self.free_all();
    }
}

fn open() -> Result<ebb_scope, ebb_status> {
    // A thread that is ending has no list any more. The arena is then freed as soon as it is idle.
    let arena = match IDLE.try_with(Idle::pop).ok().flatten() {
        Some(arena) => arena,
        None => new_for_thread()?,
    };
    // SAFETY: an idle arena, in no list.
    match unsafe { arena::open(arena.as_ptr()) } {
        Ok(words) => Ok(scope::of_thread(arena, words)),
        Err(status) => {
            // SAFETY: the arena that was just taken.
            unsafe { give_back(arena) };
            Err(status)
        }
    }
}

/// Ends the scope of a thread's arena, which becomes idle or, if the thread has enough, is freed.
///
/// # Safety
///
/// `arena` is one that `open` took and that was not given back since. Nobody uses its scope again.
pub(crate) unsafe fn give_back(arena: NonNull<ebb_arena>) {
    // SAFETY: an arena.
    unsafe { arena::close(arena) };
    let pushed = IDLE.try_with(|idle| {
        // SAFETY: its scope was closed above, and it is in no list.
        unsafe { idle.push(arena) }
    });
    if pushed != Ok(true) {
        // SAFETY: its scope was closed above, and it is in no list.
        unsafe { ebb_arena_free(arena.as_ptr()) };
    }
}

/// Opens a scope of an arena of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_thread_open_(opened: *mut ebb_scope) {
    let scope = open().unwrap_or_else(|status| scope::closed(fail(status)));
    // SAFETY: the header passes a variable of its own.
    unsafe { opened.write(scope) };
}

/// Frees the idle arenas of this thread. The end of the thread does so too.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_thread_trim() {
    let _ = IDLE.try_with(Idle::free_all);
}

/// Ends the scope of an arena of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_thread_close_(arena: *mut ebb_arena) {
    if let Some(arena) = NonNull::new(arena) {
        // SAFETY: `open` took it for the scope that the header closes.
        unsafe { give_back(arena) };
    }
}
