//! Claims: memory that the pools give back no longer belongs to the process; runs whose memory was
//! given back serve requests again, and their zeroed blocks are zero.

// These systems tell what is behind an address. On 32 bits there is nothing to give back.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use ebbtide_global::{arena, engine, release_pool, report, retain};

#[cfg(target_os = "linux")]
pub(crate) fn has_memory(address: usize) -> bool {
    // A multiple of the largest page size, and so of every smaller one.
    let page = std::ptr::without_provenance_mut(address >> 16 << 16);
    let mut resident = 0_u8;
    // SAFETY: the first byte of a page takes one byte.
    assert_eq!(unsafe { libc::mincore(page, 1, &raw mut resident) }, 0);
    resident & 1 == 1
}

#[cfg(windows)]
pub(crate) fn has_memory(address: usize) -> bool {
    use std::ffi::c_void;

    /// `MEMORY_BASIC_INFORMATION`.
    #[repr(C)]
    struct Pages {
        base: *mut c_void,
        allocation_base: *mut c_void,
        allocation_access: u32,
        partition: u16,
        size: usize,
        state: u32,
        access: u32,
        kind: u32,
    }

    // Declared as in kernel32, which the standard library links.
    unsafe extern "system" {
        fn VirtualQuery(at: *const c_void, pages: *mut Pages, size: usize) -> usize;
    }
    const MEM_COMMIT: u32 = 0x1000;
    const MEM_RESERVE: u32 = 0x2000;

    let mut pages = std::mem::MaybeUninit::<Pages>::zeroed();
    let at = std::ptr::without_provenance(address);
    // SAFETY: the structure has this size.
    let size = unsafe { VirtualQuery(at, pages.as_mut_ptr(), size_of::<Pages>()) };
    assert_eq!(size, size_of::<Pages>());
    // SAFETY: all bits 0 is a valid structure, and the system has written another one.
    let state = unsafe { pages.assume_init() }.state;
    assert!(state == MEM_COMMIT || state == MEM_RESERVE, "the addresses stay ours: {state:#x}");
    state == MEM_COMMIT
}

/// The blocks that a scope uses: some share a chunk, some have chunks of their own.
const SIZES: [usize; 6] = [1_000, 8_000, 20_000, 100_000, 3 << 20, 8 << 20];

/// Requests zeroed blocks in a scope, fills them, and returns their addresses.
fn use_blocks(byte: u8) -> [usize; SIZES.len()] {
    arena(|| {
        let blocks = SIZES.map(|size| {
            let mut block = vec![0; size];
            assert!(engine::is_ours(block.as_ptr()));
            assert!(block.iter().all(|old| *old == 0));
            block.fill(byte);
            block
        });
        blocks.map(|block| block.as_ptr().addr() + block.len() / 2)
    })
}

#[test]
fn memory_that_is_given_back_is_the_systems_until_it_is_used_again() {
    alone!();
    // Otherwise memory goes back by itself while nothing happens, as on a slow machine.
    retain(16 << 20);
    for byte in 1..5 {
        let places = use_blocks(byte);
        assert!(places.iter().all(|place| has_memory(*place)));
        let kept = use_blocks(byte + 1);
        assert!(kept.iter().all(|place| has_memory(*place)));
        release_pool();
        assert_eq!(report().kept, 0);
        for place in [places, kept].concat() {
            assert!(!has_memory(place), "{}", report());
        }
    }
    // Runs of many chunks, each of which is given back as soon as it reaches the pool.
    retain(0);
    for byte in 5..10 {
        for place in &use_blocks(byte)[3..] {
            assert!(!has_memory(*place), "{}", report());
        }
    }
    assert_eq!(report().fallbacks.total(), 0);
}
