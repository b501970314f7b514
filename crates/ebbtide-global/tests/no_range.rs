//! Claim: if the system reserves no range of addresses, scopes run with the inner allocator, and
//! the report says so.

// Linux can be made to give none. Where addresses are short, and in a build for a sanitizer, none is
// asked for.
#![cfg(any(target_os = "linux", not(target_pointer_width = "64")))]

use ebbtide_global::{
    ArenaFuture, Options, arena, arena_with, engine, map, outside, release_pool, report, retain,
    warm,
};
use std::{
    future::{Future, ready},
    pin::pin,
    task::{Context, Poll, Waker},
};

#[cfg(target_pointer_width = "64")]
fn use_addresses_up() {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = pages.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    // SAFETY: `sysconf` takes a number.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size");
    let limit =
        libc::rlimit { rlim_cur: pages * page_bytes + (40 << 20), rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structure is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

#[cfg(not(target_pointer_width = "64"))]
fn use_addresses_up() {}

#[test]
fn everything_passes_through() {
    alone!();
    // `ci/asan.sh` sets the variable.
    if std::env::var_os("ASAN_OPTIONS").is_none() {
        use_addresses_up();
    }
    warm();
    for round in 0..100 {
        let (list, text) = arena(|| {
            let text = outside(|| round.to_string());
            (vec![round; 1000], text)
        });
        assert!(!engine::is_ours(list.as_ptr()));
        assert!(list.iter().all(|n| n.to_string() == text));
    }
    let options = Options::new().label("none").byte_limit(10);
    let nested = arena_with(&options, || map(0..10, |n| arena(|| vec![n; 500])).concat());
    assert_eq!((nested.len(), nested[4999]), (5000, 9));
    let polled = pin!(ArenaFuture::new(ready(1))).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(1));

    let owner = engine::Owner::new();
    assert!(!owner.start() && owner.enter(&options).is_none());
    owner.end();
    retain(0);
    release_pool();
    let report = report();
    assert_eq!((report.blocks, report.reserved, report.kept), (0, 0, 0));
    assert!(report.to_string().contains("not served"), "{report}");
}
