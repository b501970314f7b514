//! Claim: memory that is not used goes back to the system even if all that a thread does is to poll
//! a future in scopes that are skipped. Polls after the first count as no scope.

// These systems tell what is behind an address. Without a range no scope opens.
#![cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]

use crate::skipping::{SKIPPED, assert_that_memory_goes_back};
use ebbtide_global::ArenaFuture;
use std::{
    future::poll_fn,
    pin::pin,
    task::{Context, Poll, Waker},
};

#[test]
fn memory_goes_back_while_a_future_is_polled_in_skipped_scopes() {
    alone!();
    let mut future = pin!(ArenaFuture::with(SKIPPED, poll_fn(|_| Poll::<()>::Pending)));
    let mut context = Context::from_waker(Waker::noop());
    assert_that_memory_goes_back(|| {
        assert!(future.as_mut().poll(&mut context).is_pending());
    });
}
