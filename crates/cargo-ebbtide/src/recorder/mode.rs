//! Whether blocks are recorded in this process.

use crate::sys;
use core::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU8, Ordering},
};

pub(crate) const NOT_YET: u8 = 0;
pub(crate) const ON: u8 = 1;
pub(crate) const OFF: u8 = 2;
/// This is a child of `fork`, which opens a record of its own before its first recorded block.
pub(crate) const COPIED: u8 = 3;

/// Whether blocks are recorded. Relaxed: the lock orders everything else.
static MODE: AtomicU8 = AtomicU8::new(NOT_YET);

pub(crate) fn set_mode(mode: u8) {
    MODE.store(mode, Ordering::Relaxed);
}

/// Whether this process was made by a call of the system that ran none of the C library's functions around
/// `fork`. The kernel clears the page in every child.
fn is_copy() -> bool {
    let page = OWNER.load(Ordering::Relaxed);
    // SAFETY: the page stays mapped, and is written once before it is here.
    !page.is_null() && unsafe { page.read_volatile() } == 0
}

/// What is recorded in this process (S3).
pub(crate) fn mode() -> u8 {
    if is_copy() { OFF } else { MODE.load(Ordering::Relaxed) }
}

/// A page with 1 in the process that records; null where the kernel has no such pages.
static OWNER: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Makes the page, which is all-zero in every child.
pub(crate) fn make_owner() {
    const BYTES: usize = 4096;
    let Some(page) = sys::reserve(BYTES, sys::PROT_READ_WRITE) else { return };
    // SAFETY: the mapping is new.
    if unsafe { sys::madvise(page, BYTES, sys::MADV_WIPEONFORK) } == 0 {
        OWNER.store(page.cast(), Ordering::Relaxed);
        mark_owner();
    }
}

/// Makes this process one that records.
pub(crate) fn mark_owner() {
    let page = OWNER.load(Ordering::Relaxed);
    if !page.is_null() {
        // SAFETY: `make_owner` mapped the page, writable, and it stays mapped. Writing 1 twice is no race: a
        // child has one thread.
        unsafe { page.write_volatile(1) };
    }
}
