//! Claim: memory that is not used goes back to the system even if all that a thread does is to poll
//! a future in scopes that are skipped. Polls after the first count as no scope.

// Without a range no scope opens.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{ArenaFuture, Scoped};
use std::{
    alloc::System,
    future::poll_fn,
    pin::pin,
    task::{Context, Poll, Waker},
};

mod skipping;

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

#[test]
fn memory_goes_back_while_a_future_is_polled_in_skipped_scopes() {
    let mut future = pin!(ArenaFuture::new(poll_fn(|_| Poll::<()>::Pending)));
    let mut context = Context::from_waker(Waker::noop());
    skipping::assert_that_memory_goes_back(|| {
        assert!(future.as_mut().poll(&mut context).is_pending());
    });
}
