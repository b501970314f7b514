//! What runs when a thread ends.
//!
//! The thread-locals of this crate have no destructors, so accessing them needs no test. Whoever
//! keeps memory in one names a function that gives it back.

use core::cell::Cell;
use std::thread_local;

/// Who has something to do at the end of a thread, in the order in which it is done.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// The blocks that it keeps. From then on it keeps none.
    Blocks,
    /// The default arenas of the thread.
    Arenas,
    /// What an interface to another language keeps for it.
    Interface,
}

struct Ends([Hook; 3]);
/// Such a function does not unwind, so the C library needs no code for that.
type Hook = Cell<Option<extern "C" fn()>>;

thread_local! {
    static ENDS: Ends = const { Ends([const { Cell::new(None) }; 3]) };
    /// Its destructor runs when the thread ends.
    static REAPER: Reaper = const { Reaper };
}

/// Calls `f` once when this thread ends. Returns false if that is too late: the thread is ending and
/// has called such functions before.
pub(crate) fn call(end: End, f: extern "C" fn()) -> bool {
    REAPER.try_with(|_| ()).is_ok()
        && ENDS
            .try_with(|ends| {
                ends.0[end as usize].set(Some(f));
                // SAFETY: this is the variable of this thread: there are no others of its type.
                unsafe { late::register(ends) };
            })
            .is_ok()
}

fn call_all(ends: &Ends) {
    for end in &ends.0 {
        if let Some(end) = end.take() {
            end();
        }
    }
}

struct Reaper;

impl Drop for Reaper {
    fn drop(&mut self) {
        // Where thread-local variables are emulated, this one may be gone already.
        let _ = ENDS.try_with(call_all);
        late::forget();
    }
}

/// Calls the functions of a thread that first names one in the destructor of a POSIX key. At that
/// time it is too late to register [`Reaper`]. The key alone would not be enough, because the
/// library with its function may have been unloaded by then. A registered destructor of a
/// thread-local variable keeps the library loaded.
#[cfg(target_os = "linux")]
mod late {
    use super::{Ends, call_all};
    use crate::thread_key::ThreadKey;
    use core::{ffi::c_void, ptr};

    unsafe extern "C" fn end(ends: *mut c_void) {
        // SAFETY: the values of the key are the variables of threads, set by `register`. Each has
        // no destructor, and on Linux its memory outlives the destructors of the thread's keys.
        call_all(unsafe { &*ends.cast::<Ends>() });
    }

    // SAFETY: its values are the variables of threads that end.
    static KEY: ThreadKey = unsafe { ThreadKey::new(end) };

    /// Makes the end of this thread call the functions in `ends`, its variable, unless [`forget`] is
    /// called before. If the process has no keys left, only the reaper does that.
    ///
    /// # Safety
    ///
    /// `ends` is the variable of this thread.
    pub(super) unsafe fn register(ends: &Ends) {
        // SAFETY: the variable lives until destructors of keys have run in this thread.
        unsafe { KEY.set(ptr::from_ref(ends).cast_mut().cast()) };
    }

    /// Clears the key, because the reaper has run in this thread.
    pub(super) fn forget() {
        // SAFETY: null is always allowed.
        unsafe { KEY.set(ptr::null_mut()) };
    }

    /// A library may be unloaded and loaded again, and a process has few keys, so the key is
    /// deleted.
    extern "C" fn unload() {
        KEY.delete();
    }

    // The section has pointers to functions without arguments, which run when the library is
    // unloaded or the process ends.
    #[used]
    #[unsafe(link_section = ".fini_array")]
    static UNLOAD: extern "C" fn() = unload;
}

#[cfg(not(target_os = "linux"))]
mod late {
    use super::Ends;

    /// # Safety
    ///
    /// None. Does nothing.
    pub(super) unsafe fn register(_: &Ends) {}

    pub(super) fn forget() {}
}
