//! Claim: the report keeps the figures of threads that have ended, even if later threads take over
//! their counters.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use ebbtide_global::{arena, report};
use std::thread;

#[test]
fn figures_of_ended_threads_stay_in_the_report() {
    alone!();
    for threads in 1..=10 {
        let work = || arena(|| (0..100).map(|n| n.to_string()).collect::<Vec<_>>().len());
        assert_eq!(thread::spawn(work).join().ok(), Some(100));
        let report = report();
        assert!(report.blocks >= threads * 100, "{report}");
        assert!(report.scopes >= threads, "{report}");
        assert!(report.bytes >= threads * 100, "{report}");
    }
}
