//! The owner that every thread has, and its end.

use crate::{
    owner::Owner,
    range::{self, Readiness},
    run::{self, Place},
};
use core::{
    alloc::Layout,
    mem::ManuallyDrop,
    ptr,
    sync::atomic::{AtomicU8, Ordering},
};
use std::{alloc, hint, process, thread_local};

thread_local! {
    /// Made when the program is compiled and without a destructor, so that an allocator may use it
    /// at any moment of a thread's life.
    static OWNER: ManuallyDrop<Owner> = const { ManuallyDrop::new(Owner::new()) };

    /// Ends the owner when the thread ends. Touched only by `start`.
    static EXIT: Exit = const { Exit };
}

struct Exit;

impl Drop for Exit {
    fn drop(&mut self) {
        // Destructors of other variables may still allocate and free; outside of scopes.
        with(Owner::end);
    }
}

/// Whether scopes can be served: there is a range, and the program's global allocator is a
/// `Scoped`. Relaxed: every thread that finds it unknown finds out the same, and what the range is
/// comes by `range::prepare`.
static INSTALLED: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Lends this thread's owner.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Owner) -> R) -> R {
    // Not `LocalKey::with`: std does not mark it `inline`, so most callers would call it. The
    // variable is always there.
    let Ok(owner) = OWNER.try_with(ptr::from_ref) else { process::abort() };
    // SAFETY: the variable has no destructor, so it is there until its thread ends, and this thread
    // runs `f`.
    f(unsafe { &*owner })
}

/// Frees a block through this thread's owner. `A` is the program's allocator.
///
/// # Safety
///
/// The block is the engine's and alive, `place` is where it lies, and it has this size. It is not
/// used again.
#[inline(always)]
pub(crate) unsafe fn free<A>(block: *mut u8, size: usize, place: Place) {
    // SAFETY: `free_or` calls it for a block of the innermost scope that is to be listed.
    let listed = || unsafe { free_listed::<A>(block, size, place) };
    // SAFETY: `free_or` calls it for a block that is alive and used no more, as the caller says.
    let elsewhere = || unsafe { free_elsewhere(block, size, place) };
    // SAFETY: the caller's block, with its place and size.
    with(|owner| unsafe { owner.free_or(place, block, size, listed, elsewhere) });
}

/// Out-of-line [`Owner::free_listed`].
///
/// # Safety
///
/// As for [`Owner::free_listed`].
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "generic, it is compiled with the program, where the address of a thread-local is a constant"
)]
#[inline(never)]
unsafe fn free_listed<A>(block: *mut u8, size: usize, place: Place) {
    // SAFETY: `free_listed` calls it for a block that it was called for.
    let medium = || unsafe { free_medium(block, size, place) };
    // SAFETY: the caller's block: of the innermost scope, above its chunk's tail, of a size that is
    // listed.
    with(|owner| unsafe { owner.free_listed(place, block, size, medium) });
}

/// Out-of-line [`Owner::free_medium`].
///
/// # Safety
///
/// As for [`Owner::free_medium`].
#[inline(never)]
unsafe fn free_medium(block: *mut u8, size: usize, place: Place) {
    // SAFETY: the caller's block: of the innermost scope, above its chunk's tail, of a size that is
    // listed.
    with(|owner| unsafe { owner.free_medium(place, block, size) });
}

/// Out-of-line [`Owner::free_elsewhere`].
///
/// # Safety
///
/// As for [`Owner::free_elsewhere`].
#[cold]
#[inline(never)]
unsafe fn free_elsewhere(block: *mut u8, size: usize, place: Place) {
    // SAFETY: the caller's block, alive until now, with its place and size.
    with(|owner| unsafe { owner.free_elsewhere(place, block, size) });
}

/// Lets this thread open scopes. False where that cannot be, or would be to no purpose.
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
    // From the destructor of a thread-local that outlives `EXIT` there is no way to learn of the
    // thread's end.
    if EXIT.try_with(|_| ()).is_err() {
        return false;
    }
    with(Owner::start) && is_installed()
}

/// Whether the global allocator is a `Scoped`: one block inside a scope tells.
fn is_installed() -> bool {
    if INSTALLED.load(Ordering::Relaxed) == UNKNOWN {
        let ticket = with(|owner| owner.enter(&crate::Options::new()));
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size.
        let block = hint::black_box(unsafe { alloc::alloc(layout) });
        // SAFETY: the block is alive, or null, which lies in no range.
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

/// For the report.
pub(crate) fn is_active() -> Option<bool> {
    match INSTALLED.load(Ordering::Relaxed) {
        UNKNOWN => None,
        state => Some(state == YES),
    }
}
