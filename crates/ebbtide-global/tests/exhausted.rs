//! Claims: when the range is used up, the inner allocator serves requests and scopes that get no
//! chunk, and the report counts them; earlier blocks stay valid; and the range serves again after
//! they are freed.

#![allow(clippy::vec_box)]
// Where addresses are short there is no range. Other systems have no limit to set on addresses.
#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

use ebbtide_global::{arena, engine, report};
use std::fs;

fn fill(count: usize) -> Vec<Box<[usize; 500]>> {
    arena(|| (0..count).map(|n| Box::new([n; 500])).collect())
}

#[test]
fn the_range_is_used_up() {
    alone!();
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = pages.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    // SAFETY: `sysconf` takes a number.
    let page_bytes = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a size");
    // The range takes a quarter of the addresses that are left: 64 MiB.
    let limit =
        libc::rlimit { rlim_cur: pages * page_bytes + (400 << 20), rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structure is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    arena(|| ());
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structure is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    let reserved = report().reserved;
    assert!((32 << 20..=128 << 20).contains(&reserved), "{reserved}");

    let all = fill(reserved / 4000 + 5000);
    let last = all.last().expect("there are many");
    assert!(engine::is_ours(&raw const *all[0]) && !engine::is_ours(&raw const **last));
    assert!(report().fallbacks.exhausted >= 4000);
    // No chunk is left for a scope.
    let more = fill(100);
    assert!(more.iter().all(|block| !engine::is_ours(&raw const **block)));
    for list in [&all, &more] {
        assert!(list.iter().enumerate().all(|(n, block)| **block == [n; 500]));
    }
    drop(all);
    let again = fill(100);
    assert!(again.iter().all(|block| engine::is_ours(&raw const **block)));
}
