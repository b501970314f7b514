//! Claims: threads that take memory at the same time do not exceed the bound together; and the peak
//! of the recent past is not forgotten when a window ends, while diverted bytes are.
//!
//! Models: `ci/loom.sh` runs them. The budget is the crate's own, with the atomics of loom. Each
//! model names the mutations for which it was seen to fail.

use crate::{limits::WINDOW_MS, loom_plain::spawn, shared::budget::Budget};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// Fails where `grow` compares before it counts, or keeps counting bytes that it refuses.
#[test]
fn no_more_than_the_bound_is_granted() {
    const BOUND: usize = 100;
    loom::model(|| {
        let budget = Arc::new(Budget::new());
        let granted = Arc::new(AtomicUsize::new(0));
        let take = |budget: &Budget, granted: &AtomicUsize, bytes: usize| {
            if budget.try_hold(bytes, BOUND) {
                assert!(granted.fetch_add(bytes, Relaxed) + bytes <= BOUND);
                return true;
            }
            false
        };
        let other = {
            let (budget, granted) = (Arc::clone(&budget), Arc::clone(&granted));
            thread::spawn(move || {
                if take(&budget, &granted, 60) {
                    granted.fetch_sub(20, Relaxed);
                    budget.shrink(20);
                }
            })
        };
        take(&budget, &granted, 50);
        take(&budget, &granted, 50);
        other.join().unwrap();
        assert_eq!(budget.held(), granted.load(Relaxed));
    });
}

/// Fails where the peak is removed from this window before it is stored in the previous one, and
/// where the exchange that removes it is not `Release`, or `peak` does not acquire it.
#[test]
fn a_peak_outlives_the_end_of_its_window_at_any_moment() {
    loom::model(|| {
        let budget = Arc::new(Budget::new());
        budget.observe(10, 0);
        let other = spawn(&budget, move |budget| assert!(budget.observe(5, WINDOW_MS)));
        assert!(budget.peak() >= 10);
        budget.observe(100, 0);
        assert!(budget.peak() >= 100);
        other.join().unwrap();
        assert!(budget.peak() >= 100);
    });
}

/// Fails where the length of a window wraps for a thread that read the clock earlier than the one
/// that began it.
#[test]
fn a_window_ends_once_though_threads_read_the_clock_at_different_times() {
    loom::model(|| {
        let budget = Arc::new(Budget::new());
        budget.observe(100, 0);
        let other = spawn(&budget, move |budget| budget.observe(5, WINDOW_MS + 1));
        let here = budget.observe(5, WINDOW_MS);
        assert!(here != other.join().unwrap(), "one of the two sees it end");
        assert_eq!(budget.peak(), 100);
    });
}

/// Fails where the end of a window stores the diverted bytes that it has read.
#[test]
fn diverted_bytes_are_counted_though_a_window_ends() {
    loom::model(|| {
        let budget = Arc::new(Budget::new());
        budget.observe(100, 0);
        budget.divert(160, 0);
        let other = spawn(&budget, move |budget| assert!(budget.observe(5, WINDOW_MS)));
        budget.divert(32, 0);
        other.join().unwrap();
        // One in 16 of all, or of those before.
        assert!([180, 182].contains(&budget.diverted()), "{}", budget.diverted());
    });
}

/// Fails where the bytes are not forgotten, the last ones stay for ever, or they are not capped.
#[test]
fn diverted_bytes_are_forgotten() {
    loom::model(|| {
        let budget = Budget::new();
        budget.observe(100, 0);
        budget.divert(usize::MAX, 0);
        budget.divert(1, 0);
        let left = |window: u64| {
            assert!(budget.observe(100, window * WINDOW_MS));
            budget.diverted()
        };
        assert_eq!([left(1), left(2), left(3)], [187, 175, 164]);
        // A quarter of what was served meanwhile, and the last byte.
        budget.divert(10, 173);
        assert_eq!([budget.diverted(), left(4)], [1, 0]);
    });
}
