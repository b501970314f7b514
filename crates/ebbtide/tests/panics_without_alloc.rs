//! Claim: after a panic for lack of memory, the scope is as it was before the call.
//!
//! With the feature `alloc`, `handle_alloc_error` ends the process instead.

#![cfg(not(feature = "alloc"))]

use ebbtide::{Scope, StackArena};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn assert_refused(call: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "there is no room");
}

#[test]
fn a_failed_call_that_panics_leaves_the_room_that_there_was() {
    let calls: [fn(&Scope<'_>); 4] = [
        |s| _ = s.alloc([0_u8; 61]),
        |s| _ = s.alloc_slice_fill_copy(61, 0_u8),
        |s| _ = s.alloc_str(&"x".repeat(61)),
        |s| _ = s.alloc_slice_from_iter((0..61_u8).filter(|_| true)),
    ];
    for call in calls {
        let mut arena = StackArena::<100>::new();
        let s = arena.scope();
        let kept = s.alloc([7_u8; 40]);
        assert_refused(|| call(&s));
        assert!(s.try_alloc([1_u8; 60]).is_ok(), "all 60 bytes are free still");
        assert!(s.try_alloc(0_u8).is_err());
        assert_eq!(*kept, [7; 40]);
    }
}
