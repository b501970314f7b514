//! A program that brings an allocator under the names of the C library's, as crates that bind one do.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicUsize, Ordering},
};

static USED: AtomicUsize = AtomicUsize::new(0);
static mut MEMORY: [u64; 1 << 17] = [0; 1 << 17];

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn mi_malloc(bytes: usize) -> *mut c_void {
    let start = USED.fetch_add(bytes.next_multiple_of(16), Ordering::Relaxed);
    (&raw mut MEMORY).cast::<u8>().wrapping_add(start).cast()
}

fn main() {
    println!("{}", mi_malloc(10).is_null());
}
