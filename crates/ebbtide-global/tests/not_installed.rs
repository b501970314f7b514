//! A program of its own, because it has no `Scoped` as its global allocator.
//!
//! Claim: if the global allocator is not a `Scoped`, `arena` runs its closure and does nothing
//! else.

use ebbtide_global::{ArenaFuture, arena, engine, map, outside, release_pool, report, warm};
use std::{
    future::{Future, ready},
    pin::pin,
    task::{Context, Poll, Waker},
};

#[test]
fn scopes_change_nothing() {
    warm();
    for round in 0..10 {
        let text = arena(|| outside(|| arena(|| round.to_string())));
        assert!(!engine::is_ours(text.as_ptr()));
        assert_eq!(text, round.to_string());
    }
    assert_eq!(map(0..3, |n| n + 1), [1, 2, 3]);
    let polled = pin!(ArenaFuture::new(ready(1))).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(1));
    release_pool();
    let report = report();
    assert_eq!((report.is_active, report.blocks), (Some(false), 0));
}
