//! The arenas of a thread, lent to one scope each.
//!
//! Opening a scope takes an idle arena of the thread, or a new one; closing it gives the arena
//! back. So nested scopes of one thread have an arena each, even if two independent libraries open
//! them.
//!
//! The end of a thread frees its idle arenas.

use crate::{
    arena::{self, ebb_arena, ebb_arena_free, new_for_thread},
    scope::{self, ebb_scope},
    status::{ebb_status, fail},
};
use core::{cell::Cell, ptr::NonNull};
use ebbtide::front_end;

/// The idle arenas of a thread, linked by `next`.
struct Idle {
    first: Cell<Option<NonNull<ebb_arena>>>,
    count: Cell<usize>,
    /// The maximum number: 0 until the end of the thread is known to free them, and again from then
    /// on; else [`MOST_IDLE`].
    most: Cell<usize>,
    /// The thread's end has freed the idle arenas.
    has_ended: Cell<bool>,
}

/// The maximum number of idle arenas of a thread. Without it, a thread that closes the scopes of
/// other threads would keep an arena for each.
const MOST_IDLE: usize = 32;

thread_local! {
    static IDLE: Idle = const { Idle {
        first: Cell::new(None),
        count: Cell::new(0),
        most: Cell::new(0),
        has_ended: Cell::new(false),
    } };
}

/// The standard library registers what runs at the end of a thread by this function of glibc, if there
/// is one. By referring to it, this library leaves out what the standard library does without it: that
/// can panic, and a panic's backtrace would be nine tenths of the library.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[used]
static AT_THREAD_END: unsafe extern "C" fn() = {
    unsafe extern "C" {
        fn __cxa_thread_atexit_impl();
    }
    __cxa_thread_atexit_impl
};

impl Idle {
    fn pop(&self) -> Option<NonNull<ebb_arena>> {
        let first = self.first.get()?;
        // SAFETY: an idle arena is alive, and only its list uses it; the field is initialised, and
        // no reference to it exists.
        self.first.set(unsafe { (*first.as_ptr()).next });
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    /// Keeps an arena. Returns false if the thread has enough; the caller then still owns it.
    ///
    /// # Safety
    ///
    /// `arena` is an arena of `new_for_thread` without an open scope, in no list.
    unsafe fn push(&self, arena: NonNull<ebb_arena>) -> bool {
        if self.count.get() == self.most.get() && !self.may_keep() {
            return false;
        }
        // SAFETY: `arena` is an arena in no list, by this function's contract, so only this thread
        // uses it. No reference to this field exists.
        unsafe { (*arena.as_ptr()).next = self.first.get() };
        self.first.set(Some(arena));
        self.count.set(self.count.get() + 1);
        true
    }

    /// Whether a full list may take one more: only the first of a thread that is not ending.
    #[cold]
    fn may_keep(&self) -> bool {
        if self.most.get() > 0 || self.has_ended.get() || !front_end::at_thread_end(end) {
            return false;
        }
        self.most.set(MOST_IDLE);
        true
    }

    fn free_all(&self) {
        while let Some(arena) = self.pop() {
            // SAFETY: an arena of `new_for_thread` without an open scope, in no list any more, so
            // nobody uses it again.
            unsafe { ebb_arena_free(arena.as_ptr()) };
        }
    }
}

/// Frees the idle arenas of this thread, which is ending. Those that become idle later are freed at
/// once.
extern "C" fn end() {
    let _ = IDLE.try_with(|idle| {
        idle.has_ended.set(true);
        idle.most.set(0);
        idle.free_all();
    });
}

fn open() -> Result<ebb_scope, ebb_status> {
    // A thread that is ending no longer has a list. The arena is then freed as soon as it is idle.
    let arena = match IDLE.try_with(Idle::pop).ok().flatten() {
        Some(arena) => arena,
        None => new_for_thread()?,
    };
    // SAFETY: `new_for_thread` made it, or it was idle, with no open scope. It is in no list, so
    // only this call uses it.
    match unsafe { arena::open(arena.as_ptr()) } {
        Ok(words) => Ok(scope::of_thread(arena, words)),
        Err(status) => {
            // SAFETY: `open` has just taken it, and no scope was opened in it.
            unsafe { give_back(arena) };
            Err(status)
        }
    }
}

/// Ends the scope of a thread's arena. The arena becomes idle or, if the thread has enough idle
/// ones, is freed.
///
/// # Safety
///
/// `open` took `arena`, and it has not been given back since. Its scope is not used again.
pub(crate) unsafe fn give_back(arena: NonNull<ebb_arena>) {
    // SAFETY: `open` took this arena, by this function's contract, and nobody ended it since.
    unsafe { arena::close(arena) };
    let pushed = IDLE.try_with(|idle| {
        // SAFETY: its scope was closed above, so it is an arena of `new_for_thread` without one,
        // and it is in no list.
        unsafe { idle.push(arena) }
    });
    if pushed != Ok(true) {
        // SAFETY: its scope was closed above, it is in no list, and nobody uses it again.
        unsafe { ebb_arena_free(arena.as_ptr()) };
    }
}

/// Opens a scope of an arena of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_thread_open_(opened: *mut ebb_scope) {
    let scope = open().unwrap_or_else(|status| scope::closed(fail(status)));
    // SAFETY: the header passes a variable of its own, which is valid for the write of a scope.
    unsafe { opened.write(scope) };
}

/// Frees the idle arenas of this thread, as the end of the thread does, and the memory of freed arenas
/// that is kept for the next ones.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_thread_trim() {
    let _ = IDLE.try_with(Idle::free_all);
    ebbtide::warm::trim();
}

/// Limits the memory of freed arenas that is kept for the next ones of any thread, besides up to 64 KiB
/// for each thread. 0 turns keeping off. Unless set, what is kept and what arenas use are together at
/// most what arenas used in the last two seconds, and an idle program keeps nothing of it.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_warm_set_limit(bytes: usize) {
    ebbtide::warm::set_limit(bytes);
}

/// Ends the scope of an arena of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_thread_close_(arena: *mut ebb_arena) {
    if let Some(arena) = NonNull::new(arena) {
        // SAFETY: `open` took it for the scope that the header closes.
        unsafe { give_back(arena) };
    }
}
