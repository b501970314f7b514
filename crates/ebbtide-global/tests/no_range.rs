//! Claim: where the system gives no range of addresses, scopes run over the inner allocator and the report says so.

#![allow(clippy::expect_used)]
#![cfg(target_os = "linux")]

use ebbtide_global::{Scoped, arena, engine, outside, report};
use std::{alloc::System, fs};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

#[test]
fn everything_passes_through() {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = pages.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    let limit = libc::rlimit { rlim_cur: pages * 4096 + (40 << 20), rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structure is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    for round in 0..100 {
        let (list, text) = arena(|| {
            let text = outside(|| round.to_string());
            (vec![round; 1000], text)
        });
        assert!(!engine::is_ours(list.as_ptr()));
        assert!(list.iter().all(|n| n.to_string() == text));
    }
    let report = report();
    assert_eq!((report.blocks, report.reserved), (0, 0));
    assert!(report.to_string().contains("not served"), "{report}");
}
