//! A program that brings mimalloc's functions, as far as the crate that binds it calls them.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicUsize, Ordering},
};

static USED: AtomicUsize = AtomicUsize::new(0);
static mut MEMORY: [u64; 1 << 17] = [0; 1 << 17];

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn mi_malloc_aligned(bytes: usize, _align: usize) -> *mut c_void {
    let start = USED.fetch_add(bytes.next_multiple_of(16), Ordering::Relaxed);
    (&raw mut MEMORY).cast::<u8>().wrapping_add(start).cast()
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn mi_free(block: *mut c_void) {
    println!("{}", block.is_null());
}

fn main() {
    mi_free(mi_malloc_aligned(10, 8));
}
