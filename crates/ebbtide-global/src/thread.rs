//! The owner of each thread, in a thread-local variable, and what happens when the thread ends.
//!
//! `scoped` and `calls` call it for the owner of their thread. The end of a thread calls
//! [`Owner::end`].

use crate::{
    figures::Counted,
    memory::{
        range::{self, Readiness},
        run,
    },
    owner::Owner,
};
use core::{
    alloc::Layout,
    mem::ManuallyDrop,
    ptr,
    sync::atomic::{AtomicU8, Ordering},
};
use std::{alloc, hint, process, thread_local};

thread_local! {
    /// Initialised at compile time and without a destructor, so an allocator may use it at any time
    /// in a thread's life.
    static OWNER: ManuallyDrop<Owner> = const { ManuallyDrop::new(Owner::new()) };

    /// Ends the owner when the thread ends. Registered by `start`.
    static EXIT: Exit = const { Exit };
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // Destructors of other variables may still allocate and free, outside of scopes.
        with(Owner::end);
        #[cfg(target_os = "linux")]
        late::forget();
    }
}

/// Ends the owner of a thread that opens its first scope in the destructor of a POSIX key. At that
/// time it is too late to register [`Exit`]. The key alone would not be enough, because the library
/// with its function may have been unloaded by then. A registered destructor of a thread-local
/// keeps the library loaded. A library that is unloaded leaves its key behind, and its range of
/// addresses.
#[cfg(target_os = "linux")]
mod late {
    use super::with;
    use crate::owner::Owner;
    use core::{
        ffi::c_void,
        ptr::{self, NonNull},
        sync::atomic::{AtomicUsize, Ordering},
    };

    /// The system's key plus one; 0 before the key exists. Relaxed, because threads share nothing
    /// but the number.
    static KEY: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn end(_: *mut c_void) {
        with(Owner::end);
    }

    /// Makes the end of this thread end its owner, unless [`forget`] is called before. If the
    /// process has no keys left, only the destructor of the thread-local does.
    pub(super) fn register() {
        if let Some(key) = known(KEY.load(Ordering::Relaxed)).or_else(create) {
            // SAFETY: the key exists for ever. Its function ignores the value.
            unsafe { libc::pthread_setspecific(key, NonNull::<u8>::dangling().as_ptr().cast()) };
        }
    }

    /// Clears the key, because the destructor of the thread-local has run in this thread.
    pub(super) fn forget() {
        if let Some(key) = known(KEY.load(Ordering::Relaxed)) {
            // SAFETY: the key exists for ever, and null is no value.
            unsafe { libc::pthread_setspecific(key, ptr::null()) };
        }
    }

    fn known(number: usize) -> Option<libc::pthread_key_t> {
        libc::pthread_key_t::try_from(number.checked_sub(1)?).ok()
    }

    #[cold]
    fn create() -> Option<libc::pthread_key_t> {
        let mut key = 0;
        // SAFETY: a variable for the result. The function may be called at the end of any thread:
        // the thread's owner has no destructor, and on Linux the memory of thread-locals outlives
        // the destructors of keys.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(end)) } != 0 {
            return None;
        }
        // Keys are small: there is no overflow.
        let number = usize::try_from(key).ok()?.checked_add(1)?;
        match KEY.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Some(key),
            Err(other) => {
                // SAFETY: the key was created just now, and nobody else knows it.
                unsafe { libc::pthread_key_delete(key) };
                known(other)
            }
        }
    }
}

/// Whether scopes can be served: there is a range, and the program's global allocator is a
/// `Scoped`. Relaxed: all threads that read `UNKNOWN` compute the same answer, and `range::prepare`
/// synchronises access to the range itself.
static INSTALLED: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Calls `f` with this thread's owner.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Owner) -> R) -> R {
    // Not `LocalKey::with`: std does not mark it `inline`, so most callers would pay for a call. A
    // variable without a destructor is always accessible.
    let Ok(owner) = OWNER.try_with(ptr::from_ref) else { process::abort() };
    // SAFETY: the variable has no destructor, so it lives until its thread ends, and `f` runs on
    // this thread.
    f(unsafe { &*owner })
}

/// Enables this thread to open scopes. Returns false if that is impossible, or pointless because
/// the global allocator is not a `Scoped`.
#[cold]
pub(crate) fn start() -> bool {
    if INSTALLED.load(Ordering::Relaxed) == NO {
        return false;
    }
    match range::prepare() {
        Readiness::Ready => {}
        Readiness::Busy => return false,
        Readiness::Unavailable => {
            INSTALLED.store(NO, Ordering::Relaxed);
            return false;
        }
    }
    // If `EXIT` is already destroyed, nothing would end the owner.
    if EXIT.try_with(|_| ()).is_err() || !with(Owner::start) {
        return false;
    }
    #[cfg(target_os = "linux")]
    late::register();
    is_installed()
}

/// Whether the global allocator is a `Scoped`. If that is not known, allocates one block inside a
/// scope, which is not counted, to see which allocator serves it.
fn is_installed() -> bool {
    if INSTALLED.load(Ordering::Relaxed) == UNKNOWN {
        let uncounted = Counted { continues: true, ..Counted::default() };
        let ticket = with(|owner| owner.enter_counted(&crate::Options::new(), uncounted));
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size.
        let block = hint::black_box(unsafe { alloc::alloc(layout) });
        // SAFETY: the block is alive, or null, which is outside of the range.
        let is_ours = unsafe { run::find(block) }.is_some();
        if !block.is_null() {
            // SAFETY: allocated above with this layout.
            unsafe { alloc::dealloc(block, layout) };
        }
        if let Some(ticket) = ticket {
            with(|owner| owner.leave(ticket));
            INSTALLED.store(if is_ours { YES } else { NO }, Ordering::Relaxed);
        }
    }
    INSTALLED.load(Ordering::Relaxed) == YES
}

/// See [`Report::is_active`](crate::Report::is_active).
pub(crate) fn is_active() -> Option<bool> {
    match INSTALLED.load(Ordering::Relaxed) {
        UNKNOWN => None,
        state => Some(state == YES),
    }
}
