//! Claims: memory that is given back is counted once; and releasing the pools leaves the free lists
//! of an open scope intact.

// Without a range nothing is served, and there is nothing to be bounded.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use ebbtide_global::{Options, engine::Owner, release_pool, report};
use ebbtide_patience::{eventually, pause};
use std::alloc::Layout;

fn started() -> Owner {
    let owner = Owner::new();
    assert!(owner.start());
    owner
}

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

fn served(owner: &Owner, size: usize) -> *mut u8 {
    let block = owner.alloc(bytes(size));
    assert!(!block.is_null());
    block
}

fn free(owner: &Owner, block: *mut u8, size: usize) {
    // SAFETY: every test frees what it was served, once, with its size.
    assert!(unsafe { owner.dealloc(block, bytes(size)) });
}

#[test]
fn memory_that_is_trimmed_and_given_back_is_counted_once() {
    alone!();
    let owner = started();
    let ticket = owner.enter(&Options::new()).unwrap();
    let blocks: Vec<_> = (0..300).map(|_| served(&owner, 60_000)).collect();
    blocks.into_iter().for_each(|block| free(&owner, block, 60_000));
    // Wait until the recent past is over, so that all memory that may be held is in the pool.
    for _ in 0..3 {
        pause(1_100);
        let _ = report();
        (0..40).for_each(|_| free(&owner, served(&owner, 10_000), 10_000));
    }
    let small: Vec<_> = (0..100).map(|_| served(&owner, 10_000)).collect();
    let held = report().held;
    assert!(held < 40 << 20, "{held}");
    small.into_iter().for_each(|block| free(&owner, block, 10_000));
    owner.leave(ticket);
    owner.end();
    // The helper thread may have runs in hand that it is about to give back.
    let is_released = eventually(|| {
        release_pool();
        report().held == 0
    });
    assert!(is_released, "{}", report());
}

#[test]
fn the_lists_of_an_open_scope_stay_its_own_when_pools_are_released() {
    alone!();
    let (owner, other) = (started(), started());
    let ticket = owner.enter(&Options::new()).unwrap();
    let (listed, last) = (served(&owner, 4_000), served(&owner, 4_000));
    free(&owner, listed, 4_000);
    owner.release_pools();
    let foreign = other.enter(&Options::new()).unwrap();
    let theirs: Vec<_> = (0..500).map(|_| served(&other, 1_000)).collect();
    for block in &theirs {
        // SAFETY: the block is alive and as large as that.
        unsafe { block.write_bytes(0xFF, 1_000) };
    }
    let again = served(&owner, 4_000);
    assert_eq!(again, listed);
    theirs.into_iter().for_each(|block| free(&other, block, 1_000));
    other.leave(foreign);
    free(&owner, last, 4_000);
    free(&owner, again, 4_000);
    owner.leave(ticket);
}
