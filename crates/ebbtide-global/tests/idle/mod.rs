//! Owners, and scopes of theirs that keep an eighth of their blocks: for the tests of owners that
//! wait.

use ebbtide_global::{Options, engine::Owner};
use std::alloc::Layout;

pub(crate) const BLOCK: Layout = Layout::new::<[usize; 64]>();

/// Serves a block that is filled with its address. `None` where the bound does not allow one.
pub(crate) fn serve(owner: &Owner) -> Option<*mut u8> {
    let block = owner.alloc(BLOCK);
    if block.is_null() {
        return None;
    }
    // SAFETY: the block has this layout.
    unsafe { block.cast::<[usize; 64]>().write([block.addr(); 64]) };
    Some(block)
}

/// Frees a block, which must be as it was served.
pub(crate) fn free(owner: &Owner, block: *mut u8) {
    // SAFETY: the block is alive and was filled when it was served.
    assert_eq!(unsafe { block.cast::<[usize; 64]>().read() }, [block.addr(); 64]);
    // SAFETY: the block is alive, with this layout, and used no more.
    assert!(unsafe { owner.dealloc(block, BLOCK) });
}

/// A scope that serves 64 blocks and keeps eight. Keeps none if the bound allows no scope.
pub(crate) fn keep_some(owner: &Owner, kept: &mut Vec<*mut u8>) {
    let Some(scope) = owner.enter(&Options::new()) else { return };
    let blocks: Vec<_> = (0..64).filter_map(|_| serve(owner)).collect();
    for (number, block) in blocks.into_iter().enumerate() {
        if number % 8 == 0 {
            kept.push(block);
        } else {
            free(owner, block);
        }
    }
    owner.leave(scope);
}
