//! A program of its own, because its global allocator counts bytes.
//!
//! Claim: a thread keeps a bounded number of idle arenas, however many scopes it has closed.

mod counted;

use counted::in_use;
use ebbtide_capi::{
    ebb_scope, ebb_thread_close_, ebb_thread_open_, ebb_thread_trim, ebb_warm_set_limit,
};
use std::mem::MaybeUninit;

fn open() -> ebb_scope {
    let mut scope = MaybeUninit::uninit();
    // SAFETY: a variable.
    unsafe { ebb_thread_open_(scope.as_mut_ptr()) };
    // SAFETY: written by the call.
    unsafe { scope.assume_init() }
}

fn close(scope: ebb_scope) {
    let arena = scope.state.map_addr(|address| address & !15).cast();
    // SAFETY: the arena of an open scope, which is not used again.
    unsafe { ebb_thread_close_(arena) };
}

#[test]
fn a_thread_keeps_a_bounded_number_of_idle_arenas() {
    let before = in_use();
    let mut scopes = Vec::with_capacity(500);
    for _ in 0..500 {
        scopes.push(open());
    }
    let while_open = in_use() - before;
    assert!(while_open > 500 << 15, "{while_open}");
    scopes.into_iter().for_each(close);
    // What is freed may be kept for other arenas.
    assert!(in_use() - before <= while_open);
    ebb_warm_set_limit(0);
    let idle = in_use() - before;
    assert!(idle < 40 << 16, "{idle}");
    assert!(idle > 8 << 15, "some stay: {idle}");
    ebb_thread_trim();
    assert!(in_use().saturating_sub(before) < 1 << 15);
}
