//! The arenas of a thread, lent to one scope each.
//!
//! Opening a scope takes an idle arena of the thread, or a new one; closing it gives the arena
//! back. So nested scopes of one thread have an arena each, even if two independent libraries open
//! them.
//!
//! The destructor of a thread-local frees the idle arenas of a thread that ends. A thread may open
//! its first scope after such destructors have run, in the destructor of a POSIX key. So on Linux
//! the list is also the value of a key, whose destructor frees them in that case. The key alone
//! would not be enough: its destructor may lie in a library that has been unloaded by then. The
//! destructor of a thread-local keeps its library from being unloaded before. In such a late
//! destructor, glibc still registers the one of the thread-local, which never runs, and never frees
//! the 32 bytes that it takes for this.

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

/// The destructor of the thread-local. With glibc, it is registered here instead of by the standard
/// library, whose code for that can panic: the panic's backtrace would be nine tenths of a program's
/// share of the static library.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod destructor {
    use super::{Idle, late};
    use core::{
        ffi::{c_int, c_void},
        ptr,
    };

    unsafe extern "C" {
        /// Identifies the library or program to which this code is linked, which is not unloaded
        /// before the destructor has run.
        static __dso_handle: c_void;

        fn __cxa_thread_atexit_impl(
            end: unsafe extern "C" fn(*mut c_void),
            value: *mut c_void,
            library: *const c_void,
        ) -> c_int;
    }

    unsafe extern "C" fn end(idle: *mut c_void) {
        // SAFETY: registered for a list.
        unsafe { &*idle.cast::<Idle>() }.end();
        late::forget();
    }

    /// Makes the end of this thread end its list. If there is no memory for that, only the value of
    /// the POSIX key does.
    ///
    /// # Safety
    ///
    /// The list is the thread-local of this thread.
    pub(super) unsafe fn register(idle: &Idle) {
        let value = ptr::from_ref(idle).cast_mut().cast();
        // SAFETY: the list has no destructor, so it lives as long as its thread, and `end` takes it.
        unsafe { __cxa_thread_atexit_impl(end, value, &raw const __dso_handle) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
mod destructor {
    use super::{Idle, late};

    impl Drop for Idle {
        fn drop(&mut self) {
            self.end();
            late::forget();
        }
    }

    /// # Safety
    ///
    /// None. Does nothing: the standard library has registered the destructor.
    pub(super) unsafe fn register(_: &Idle) {}
}

/// Fallback for threads that open their first scope in the destructor of a POSIX key.
#[cfg(target_os = "linux")]
mod late {
    use super::Idle;
    use core::{ffi::c_void, ptr};
    use ebbtide::front_end::ThreadKey;

    unsafe extern "C" fn end(idle: *mut c_void) {
        // SAFETY: the values of the key are references to lists.
        unsafe { &*idle.cast::<Idle>() }.end();
    }

    // SAFETY: its values are references to lists, set by `register`.
    static KEY: ThreadKey = unsafe { ThreadKey::new(end) };

    /// Makes the end of this thread end its list. If there are no keys left, only the destructor of
    /// the thread-local does.
    ///
    /// # Safety
    ///
    /// The list is the thread-local of this thread.
    pub(super) unsafe fn register(idle: &Idle) {
        // SAFETY: the list lives until destructors of keys have run in this thread, or until
        // `forget`.
        unsafe { KEY.set(ptr::from_ref(idle).cast_mut().cast()) };
    }

    /// The list of this thread has ended.
    pub(super) fn forget() {
        // SAFETY: null is always allowed.
        unsafe { KEY.set(ptr::null_mut()) };
    }

    /// A library may be unloaded and loaded again, and a process has few keys, so the key is
    /// deleted.
    extern "C" fn unload() {
        KEY.delete();
    }

    #[used]
    #[unsafe(link_section = ".fini_array")]
    static UNLOAD: extern "C" fn() = unload;
}

#[cfg(not(target_os = "linux"))]
mod late {
    use super::Idle;

    /// # Safety
    ///
    /// None. Does nothing.
    pub(super) unsafe fn register(_: &Idle) {}

    pub(super) fn forget() {}
}

impl Idle {
    fn pop(&self) -> Option<NonNull<ebb_arena>> {
        let first = self.first.get()?;
        // SAFETY: an idle arena; no reference to this field exists.
        self.first.set(unsafe { (*first.as_ptr()).next });
        self.count.set(self.count.get() - 1);
        Some(first)
    }

    /// Keeps an arena. Returns false if the thread has enough; the caller then still owns it.
    ///
    /// # Safety
    ///
    /// `arena` is an arena of `new_for_thread` without an open scope, in no list. `self` is the
    /// thread-local of this thread.
    unsafe fn push(&self, arena: NonNull<ebb_arena>) -> bool {
        // SAFETY: the only list is the thread-local, as the caller says.
        if self.count.get() == self.most.get() && !unsafe { self.may_keep() } {
            return false;
        }
        // SAFETY: an arena, as the caller says; no reference to this field exists.
        unsafe { (*arena.as_ptr()).next = self.first.get() };
        self.first.set(Some(arena));
        self.count.set(self.count.get() + 1);
        true
    }

    /// Whether a full list may take one more: only the first of a thread that is not ending.
    ///
    /// # Safety
    ///
    /// `self` is the thread-local of this thread.
    #[cold]
    unsafe fn may_keep(&self) -> bool {
        if self.most.get() > 0 || self.has_ended.get() {
            return false;
        }
        // SAFETY: the thread-local of this thread, as the caller says.
        unsafe { destructor::register(self) };
        // SAFETY: this list is the thread-local of this thread, as the caller says.
        unsafe { late::register(self) };
        self.most.set(MOST_IDLE);
        true
    }

    /// Frees the idle arenas. Those that become idle later are freed at once.
    fn end(&self) {
        self.has_ended.set(true);
        self.most.set(0);
        ebbtide::warm::end_thread();
        self.free_all();
    }

    fn free_all(&self) {
        while let Some(arena) = self.pop() {
            // SAFETY: an idle arena, which is no longer in a list.
            unsafe { ebb_arena_free(arena.as_ptr()) };
        }
    }
}

fn open() -> Result<ebb_scope, ebb_status> {
    // A thread that is ending no longer has a list. The arena is then freed as soon as it is idle.
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

/// Ends the scope of a thread's arena. The arena becomes idle or, if the thread has enough idle
/// ones, is freed.
///
/// # Safety
///
/// `open` took `arena`, and it has not been given back since. Its scope is not used again.
pub(crate) unsafe fn give_back(arena: NonNull<ebb_arena>) {
    // SAFETY: an arena.
    unsafe { arena::close(arena) };
    let pushed = IDLE.try_with(|idle| {
        // SAFETY: its scope was closed above, and it is in no list. `idle` is the thread-local.
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
