//! Claim: a failed allocation is reported, changes nothing, and the next one succeeds.

#![cfg(feature = "std")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{
    Log, Watched, assert_apart, assert_works, end, role, start, this_test, watched,
};
use ebbtide::{AllocError, Arena, Fixed, Heap, Retain, Scope, Stats};
use std::mem::MaybeUninit;

/// The bytes that a step allocated.
type Outcome<'a> = Result<&'a [u8], ()>;

/// A step of the workload: allocates by one method and fills the block with 0x5A.
type Step = for<'a> fn(&Scope<'a>) -> Outcome<'a>;

fn ok<'a>(made: Result<&'a mut [u8], AllocError>) -> Outcome<'a> {
    made.map(|bytes| &*bytes).map_err(|_| ())
}

/// Every way to allocate, sometimes with sizes that need a chunk of their own.
const WORKLOAD: [Step; 16] = [
    |s| s.try_alloc([0x5A; 300]).map(|b| &b[..]).map_err(|_| ()),
    |s| ok(s.try_alloc_slice_fill_copy(700, 0x5A)),
    |s| ok(s.try_alloc_slice_from_iter((0..900).map(|_| 0x5A).filter(|_| true))),
    |s| {
        s.try_alloc_fmt(format_args!("{0}{0:Z>1$}", 'Z', 2_000))
            .map(|t| t.as_bytes())
            .map_err(|_| ())
    },
    |s| s.try_alloc_with(|| [0x5A; 5_000]).map(|b| &b[..]).map_err(|_| ()),
    |s| s.try_alloc_try_with(|| Ok::<_, ()>([0x5A; 400])).map(|b| &b[..]).map_err(|_| ()),
    |s| ok(s.try_alloc_slice_copy(&[0x5A; 20_000])),
    |s| ok(s.try_alloc_slice_clone(&[0x5A; 100])),
    |s| ok(s.try_alloc_slice_fill_iter([0x5A; 3_000])),
    |s| s.try_alloc_slice_try_fill_with(3_000, |_| Ok::<_, ()>(0x5A)).map(|b| &*b).map_err(|_| ()),
    |s| s.try_alloc_aligned([0x5A; 9], 4096).map(|b| &b[..]).map_err(|_| ()),
    |s| s.try_alloc_array::<u8, 6_000>(|_| 0x5A).map(|b| &b[..]).map_err(|_| ()),
    |s| ok(s.try_alloc_vec(vec![0x5A; 30_000])),
    |s| s.try_alloc_str(&"Z".repeat(8_000)).map(|t| t.as_bytes()).map_err(|_| ()),
    |s| s.try_boxed([0x5A; 10_000]).map(|b| &ebbtide::boxed::Box::leak(b)[..]).map_err(|_| ()),
    |s| {
        s.try_boxed_slice_from_iter(vec![0x5A; 60_000])
            .map(|b| &*ebbtide::boxed::Box::leak(b))
            .map_err(|_| ())
    },
];

/// All except the high-water mark, which is exact with `poison` and includes failed attempts.
fn present(stats: Stats) -> [usize; 5] {
    [stats.capacity, stats.used, stats.held, stats.chunks, stats.oversize]
}

/// Runs the workload. A failed step must not have changed anything, and is repeated once.
fn run(s: &mut Scope<'_>, log: &Log) -> usize {
    let mut failures = 0;
    let mut kept: Vec<&[u8]> = Vec::new();
    for (i, step) in WORKLOAD.iter().enumerate() {
        let before = s.stats();
        let held = log.held();
        let block = step(s).or_else(|()| {
            failures += 1;
            let after = s.stats();
            assert_eq!(
                (after.used, after.held),
                (before.used, before.held),
                "step {i} left traces"
            );
            assert_eq!(after, before, "step {i} left traces");
            assert_eq!(log.held(), held);
            s.alloc([0x5Au8; 3]);
            step(s)
        });
        let block = block.unwrap_or_else(|()| panic!("step {i} fails twice"));
        for other in &kept {
            assert_apart(*other, block);
        }
        kept.push(block);
        assert!(kept.iter().all(|block| block.iter().all(|byte| *byte == 0x5A)));
    }
    failures
}

#[test]
fn the_nth_allocation_of_the_backing_fails_for_every_n() {
    let mut n = 1;
    loop {
        let (backing, log) = watched();
        let mut arena = Arena::with_chunk_size_in(256, backing);
        log.refuse_nth(n);
        run(&mut arena.scope(), &log);
        let reached = log.calls() >= n;
        drop(arena);
        assert_eq!(log.live(), 0);
        if !reached {
            break;
        }
        n += 1;
    }
    assert!(n > 8, "the workload needs several chunks, and had {n}");
}

#[test]
fn every_request_that_needs_a_chunk_fails_once() {
    // The backing refuses everything until the step has failed, so smaller chunks do not help.
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(256, backing);
    let s = arena.scope();
    let mut failures = 0;
    let mut kept: Vec<&[u8]> = vec![s.alloc([0x5A; 100])];
    for (i, step) in WORKLOAD.iter().enumerate() {
        let before = s.stats();
        log.refuse_all();
        if step(&s).is_err() {
            failures += 1;
            assert_eq!(present(s.stats()), present(before), "step {i} left traces");
            log.allow();
            kept.push(step(&s).unwrap());
        }
        log.allow();
        assert!(kept.iter().all(|block| block.iter().all(|byte| *byte == 0x5A)));
    }
    assert!(failures >= 8, "{failures} of the steps needed a chunk");
    assert_works(&s);
}

#[test]
fn the_first_chunk_can_be_requested_again_after_a_failure() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    log.refuse_all();
    assert!(arena.try_scope().is_err());
    assert!(arena.try_root().is_err());
    assert_eq!((arena.stats().held, arena.stats().chunks), (0, 0));
    assert!(
        Arena::try_with_capacity_in(100, {
            let (backing, log) = watched();
            log.refuse_all();
            backing
        })
        .is_err()
    );
    log.allow();
    assert_works(&arena.try_scope().unwrap());
}

#[test]
fn a_refused_chunk_is_requested_again_at_half_the_size() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1 << 20, backing);
    log.refuse_above(100_000);
    {
        let s = arena.scope();
        let sizes = log.sizes();
        assert!(sizes.len() == 5 && sizes[0] > 1 << 20, "{sizes:?}");
        assert!(sizes.windows(2).all(|pair| pair[1] <= pair[0] / 2 && pair[1] + 16 > pair[0] / 2));
        assert!(*sizes.last().unwrap() <= 100_000);
        assert_works(&s);
    }
    // The last request is for the size that the allocation itself needs.
    let s = arena.scope();
    log.refuse_above(70_000);
    let before = log.sizes().len();
    assert!(s.try_alloc_slice_fill_copy(80_000, 0u8).is_err());
    let asked = log.sizes()[before..].to_vec();
    assert!(asked.iter().all(|size| *size > 80_000), "{asked:?}");
    assert!(*asked.last().unwrap() < 81_000, "{asked:?}");
    assert_works(&s);
}

#[test]
fn the_limit_is_exact_to_the_byte() {
    /// The memory that an arena holds after allocating `bytes`, each in a chunk of exactly that
    /// size.
    fn held_for(bytes: usize) -> usize {
        let (backing, log) = watched();
        let mut arena = Arena::with_chunk_size_in(64, backing);
        let s = arena.scope();
        s.alloc([0u8; 64]);
        log.refuse_above(0);
        let before = log.sizes().len();
        assert!(s.try_alloc_uninit_slice::<u8>(bytes).is_err());
        let least = *log.sizes()[before..].last().unwrap();
        s.stats().held + least
    }

    for bytes in [1, 16, 17, 1_000, 5_000, 100_000] {
        let needed = held_for(bytes);
        for (limit, works) in [(needed - 1, false), (needed, true), (needed + 1, true)] {
            let (backing, log) = watched();
            let mut arena = Arena::with_chunk_size_in(64, backing);
            arena.set_limit(Some(limit));
            assert_eq!(arena.limit(), Some(limit));
            {
                let s = arena.scope();
                s.alloc([0u8; 64]);
                let before = s.stats();
                assert_eq!(s.try_alloc_uninit_slice::<u8>(bytes).is_ok(), works, "{bytes} {limit}");
                if works {
                    assert!(s.stats().held <= limit);
                } else {
                    assert_eq!((s.stats(), log.calls()), (before, 1), "the backing is not asked");
                }
            }
            assert!(log.held() <= limit);
            arena.set_limit(None);
            assert_eq!(arena.limit(), None);
            assert_works(&arena.scope());
        }
    }
}

#[test]
fn a_limit_reads_back_as_it_was_set() {
    let arena = Arena::new();
    for limit in [None, Some(0), Some(usize::MAX), Some(usize::MAX - 1), None] {
        arena.set_limit(limit);
        assert_eq!(arena.limit(), limit);
    }
}

#[test]
fn a_limit_below_the_current_size_frees_nothing() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    arena.scope().alloc_slice_fill_copy(5_000, 0u8);
    let held = arena.stats().held;
    arena.set_limit(Some(0));
    assert_eq!((arena.stats().held, log.held()), (held, held));
    {
        let s = arena.scope();
        assert!(s.try_alloc_slice_fill_copy(5_000, 0u8).is_ok(), "it is there already");
        assert!(s.try_alloc_slice_fill_copy(5_000, 0u8).is_err());
    }
    arena.reset_with(Retain::Bytes(0));
    assert!(arena.try_scope().is_err());
    assert!(arena.try_root().is_err());
    arena.set_limit(Some(held));
    assert!(arena.try_scope().is_ok());
}

#[test]
fn a_full_buffer_spills_within_its_limit() {
    let (backing, log) = watched();
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(backing);
    fixed.set_limit(Some(1_000));
    {
        let s = fixed.scope();
        assert!(s.try_alloc([0u8; 64]).is_ok());
        assert!(s.try_alloc([0u8; 500]).is_ok());
        let stats = s.stats();
        assert!(s.try_alloc([0u8; 500]).is_err());
        assert_eq!(s.stats(), stats);
    }
    assert!(log.held() <= 1_000);
}

/// Out of memory in a method without `try_` ends the process, so this runs in another process.
fn run_out(role: &str) {
    let (backing, log) = Watched::over(Heap);
    let mut arena = Arena::with_chunk_size_in(64, backing);
    if role == "first chunk" {
        log.refuse_all();
    }
    let s = arena.scope();
    log.refuse_all();
    match role {
        "value" => end(s.alloc([0u8; 4321])),
        "slice" => end(s.alloc_slice_fill_copy(4321, 0u8)),
        "collected" => end(s.alloc_slice_from_iter((0..4321u32).filter(|_| true))),
        "formatted" => end(s.alloc_fmt(format_args!("{:>4321}", 1))),
        "boxed" => end(s.boxed([0u8; 4321])),
        _ => unreachable!(),
    }
}

#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn out_of_memory_in_an_infallible_method_goes_to_handle_alloc_error() {
    if let Some(role) = role() {
        return run_out(&role);
    }
    for (role, message) in [
        ("value", "memory allocation of 4321 bytes failed"),
        ("slice", "memory allocation of 4321 bytes failed"),
        ("collected", "memory allocation of "),
        ("formatted", "memory allocation of "),
        ("boxed", "memory allocation of 4321 bytes failed"),
        ("first chunk", "memory allocation of "),
    ] {
        let child = start(this_test!(), role);
        let output = String::from_utf8_lossy(&child.stderr);
        assert!(!child.status.success(), "{role}: it went on");
        assert!(output.contains(message), "{role}: {output}");
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            assert_eq!(child.status.signal(), Some(libc::SIGABRT), "{role}: {output}");
        }
    }
}
