//! Claim: memory that is not used goes back to the system even if all that a thread does is to poll
//! a future in scopes that are skipped. Polls after the first count as no scope.

// Without a range no scope opens.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{ArenaFuture, Scoped, arena, report};
use std::{
    alloc::System,
    future::poll_fn,
    pin::pin,
    task::{Context, Poll, Waker},
    thread,
    time::Duration,
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

const MIB: usize = 1 << 20;

fn blocks(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| vec![1; 512]).collect()
}

#[test]
fn memory_goes_back_while_a_future_is_polled_in_skipped_scopes() {
    drop(arena(|| blocks(96 * MIB / 512)));
    let mut kept = Vec::new();
    while report().fallbacks.skipped_scopes == 0 {
        arena(|| kept.extend(blocks(100)));
    }
    assert!(report().held > 96 * MIB, "the pools keep it");
    let mut future = pin!(ArenaFuture::new(poll_fn(|_| Poll::<()>::Pending)));
    let mut context = Context::from_waker(Waker::noop());
    // More than two windows. A report would end a window itself.
    for _ in 0..3_000 {
        assert!(future.as_mut().poll(&mut context).is_pending());
        thread::sleep(Duration::from_millis(1));
    }
    let held = report().held;
    assert!(held < 64 * MIB, "{held} bytes are held");
}
