//! Claim: every thread has a default scope that works wherever it is called, and no closure can
//! make two scopes share memory.

#![cfg(feature = "std")]

use crate::common::{assert_apart, assert_works, panic_of, watched};
use ebbtide::{AllocError, Arena, Scope, StackArena, local};
use std::{
    cell::{Cell, RefCell},
    mem::{self, MaybeUninit},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};

/// Runs `f` on a thread that has never used a default scope.
fn fresh<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|threads| threads.spawn(f).join()).unwrap()
}

/// The address at which a default scope allocates next.
fn place() -> usize {
    ebbtide::scope(|s| std::ptr::from_mut(s.alloc(0_u64)).addr())
}

fn successor_sum(xs: &[i64]) -> i64 {
    ebbtide::scope(|s| s.alloc_slice_fill_with(xs.len(), |i| xs[i] + 1).iter().sum())
}

#[test]
fn b01_the_sum_of_successors_is_nine() {
    fresh(|| assert_eq!((0..100).map(|_| successor_sum(&[1, 2, 3])).sum::<i64>(), 900));
}

#[test]
fn b02_after_a_block_the_default_is_back_where_it_was() {
    fresh(|| {
        let before = place();
        ebbtide::scope(|s| {
            s.alloc([1_u8; 1000]);
            s.alloc_fmt(format_args!("{:>1000}", 1));
            s.alloc([1_u64; 1000]);
        });
        assert_eq!((place(), local::stats().used), (before, 0));
    });
}

#[test]
fn b17_a_panic_in_a_default_scope_rewinds_it() {
    fresh(|| {
        let before = place();
        let mut held = None;
        for _ in 0..10 {
            let message = panic_of(|| {
                ebbtide::scope(|mut s| {
                    s.alloc([1_u8; 100]);
                    let inner = s.scope();
                    inner.alloc([1_u8; 10_000]);
                    ebbtide::scope(|t| {
                        t.alloc([1_u8; 10_000]);
                        panic!("in a scope");
                    })
                })
            });
            assert_eq!(message.as_deref(), Some("in a scope"));
            assert_eq!(place(), before);
            let now = local::stats().held;
            assert_eq!(*held.get_or_insert(now), now, "each turn uses the same memory");
        }
        ebbtide::scope(|s| assert_works(&s));
    });
}

#[test]
fn b26_return_question_mark_and_break_leave_a_default_scope() {
    fn parse(text: &str) -> Result<usize, std::num::ParseIntError> {
        let n: usize = ebbtide::scope(|s| s.alloc_str(text).parse())?;
        loop {
            if ebbtide::scope(|s| s.alloc_slice_fill_copy(n, 1_u8).len() == n) {
                break Ok(n);
            }
        }
    }
    fresh(|| {
        assert_eq!(parse("12"), Ok(12));
        assert!(parse("twelve").is_err());
        assert_eq!(local::stats().used, 0);
    });
}

#[test]
fn b31_the_default_is_created_on_first_use() {
    fresh(|| {
        assert_eq!(local::stats(), ebbtide::Stats::default());
        ebbtide::scope(|s| assert_eq!((s.stats().used, s.stats().chunks), (0, 1)));
        assert_eq!(local::stats().chunks, 1);
    });
}

#[test]
fn b32_the_default_is_the_same_one_every_time() {
    fresh(|| {
        let first = place();
        assert!((0..1000).all(|_| place() == first));
        assert_eq!(local::stats().chunks, 1);
    });
}

#[test]
fn b33_every_thread_has_its_own_default() {
    fresh(|| {
        ebbtide::scope(|ours| {
            let ours = ours.alloc([1_u8; 100]);
            fresh(|| {
                assert_eq!(local::stats().held, 0);
                ebbtide::scope(|theirs| {
                    let theirs = theirs.alloc([2_u8; 100]);
                    assert_apart(ours, theirs);
                });
            });
            assert_eq!(*ours, [1; 100]);
        });
    });
}

#[test]
fn b34_threads_side_by_side_do_not_disturb_each_other() {
    let total = AtomicUsize::new(0);
    let work = &|thread: usize| {
        for turn in 0..200_usize {
            ebbtide::scope(|s| {
                let kept = s.alloc_slice_fill_copy(turn, thread);
                ebbtide::scope(|t| t.alloc_slice_fill_copy(turn, usize::MAX).len());
                total.fetch_add(kept.iter().sum(), SeqCst);
            });
        }
    };
    thread::scope(|threads| {
        let workers: Vec<_> = (0..8).map(|thread| threads.spawn(move || work(thread))).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    assert_eq!(total.into_inner(), (0..8).sum::<usize>() * (0..200).sum::<usize>());
}

#[test]
fn b35_with_replaces_the_default_during_a_call() {
    fresh(|| {
        let (backing, log) = watched();
        let mut arena = Arena::new_in(backing);
        let mut mine = arena.scope();
        let kept = mine.alloc_slice_fill_copy(3, 7_u8);
        let calls = log.calls();
        let sum = local::with(&mut mine, || {
            assert_eq!(local::stats().held, 0, "it is not one of the thread's");
            successor_sum(&vec![1; 10_000])
        });
        assert_eq!(sum, 20_000);
        assert!(log.calls() > calls, "the caller's backing served it");
        assert_eq!(local::stats().held, 0, "the thread's own default was not made");
        assert_eq!(kept, [7; 3]);
        assert_works(&mine);
        assert_eq!(successor_sum(&[1, 2, 3]), 9);
        assert!(local::stats().held > 0);
    });
}

#[test]
fn b36_nested_replacements_are_restored() {
    fresh(|| {
        let own = place();
        let mut arenas = [Arena::new(), Arena::new(), Arena::new()];
        let [one, two, three] = &mut arenas;
        let (mut one, mut two, mut three) = (one.scope(), two.scope(), three.scope());
        local::with(&mut one, || {
            let first = place();
            local::with(&mut two, || {
                let second = place();
                local::with(&mut three, || {
                    let third = place();
                    assert_eq!(place(), third);
                    assert!(![own, first, second].contains(&third));
                });
                assert_eq!(place(), second);
                assert!(![own, first].contains(&second));
            });
            assert_eq!(place(), first);
            assert_ne!(own, first);
        });
        assert_eq!(place(), own);
    });
}

#[test]
fn b37_a_panic_ends_a_replacement() {
    fresh(|| {
        let own = place();
        let mut arena = Arena::new();
        let mut mine = arena.scope();
        let message = panic_of(|| {
            local::with(&mut mine, || {
                ebbtide::scope(|s| {
                    s.alloc([1_u8; 10_000]);
                    local::with(&mut Arena::new().scope(), || {
                        ebbtide::scope(|_| panic!("in two swaps"));
                    });
                });
            });
        });
        assert_eq!(message.as_deref(), Some("in two swaps"));
        assert_eq!(place(), own);
        assert_works(&mine);
    });
}

#[test]
fn b38_other_threads_do_not_see_a_replacement() {
    fresh(|| {
        let mut buffer = StackArena::<1000>::new();
        local::with(&mut buffer.scope(), || {
            fresh(|| {
                ebbtide::scope(|s| assert!(s.stats().capacity > 1000));
                assert_eq!(successor_sum(&[5; 10_000]), 60_000);
            });
            ebbtide::scope(|s| assert_eq!(s.stats().capacity, 1000));
        });
    });
}

#[test]
fn o01_the_capacity_of_the_default_can_be_set() {
    fresh(|| {
        ebbtide::scope(|s| assert_eq!(s.stats().capacity, 65_024));
        local::set_default_capacity(1 << 20).unwrap();
        assert_eq!(local::stats().held, 0);
        ebbtide::scope(|s| assert_eq!(s.stats().capacity, 1 << 20));
        local::set_default_capacity(1 << 10).unwrap();
        assert_eq!(local::stats().held, 0, "the idle one was given back");
        ebbtide::scope(|s| assert_eq!(s.stats().capacity, 1 << 10));
        // The sanitizer reports such a request as an error.
        let huge = if cfg!(ebbtide_asan) { 16 } else { usize::MAX };
        for bytes in [0, 1, 15, huge - 15, huge] {
            local::set_default_capacity(bytes).unwrap();
            let sum = ebbtide::try_scope(|s| s.alloc_slice_fill_copy(1000, 1_u16).iter().sum());
            assert!(matches!(sum, Ok(1000) | Err(AllocError)), "{bytes}: {sum:?}");
        }
    });
}

#[test]
fn o02_with_works_over_a_buffer() {
    fresh(|| {
        let mut buffer = StackArena::<64>::new();
        let mut s = buffer.scope();
        local::with(&mut s, || {
            assert_eq!(successor_sum(&[1, 2, 3]), 9);
            ebbtide::scope(|s| assert!(s.try_alloc([0_u8; 65]).is_err()));
        });
        assert!(s.try_alloc([0_u8; 64]).is_ok());
    });
}

#[test]
fn o05_the_capacity_cannot_be_changed_while_a_default_scope_is_open() {
    fresh(|| {
        local::set_default_capacity(1 << 12).unwrap();
        ebbtide::scope(|s| {
            let kept = s.alloc([3_u8; 100]);
            assert_eq!(local::set_default_capacity(1 << 20), Err(local::InUse));
            ebbtide::scope(|_| {
                assert_eq!(local::set_default_capacity(1 << 20), Err(local::InUse));
            });
            assert_eq!(local::set_default_capacity(1 << 20), Err(local::InUse));
            assert_eq!(*kept, [3; 100]);
        });
        ebbtide::scope(|s| assert_eq!(s.stats().capacity, 1 << 12));
        local::with(&mut Arena::new().scope(), || {
            ebbtide::scope(|_| assert_eq!(local::set_default_capacity(1), Err(local::InUse)));
            assert_eq!(local::set_default_capacity(1 << 13), Ok(()));
        });
        ebbtide::scope(|s| assert_eq!(s.stats().capacity, 1 << 13));
        let _ = panic_of(|| ebbtide::scope(|_| panic!("out of a scope")));
        assert_eq!(local::set_default_capacity(1 << 14), Ok(()));
        assert!(local::InUse.to_string().contains("open"));
    });
}

#[test]
fn nested_scopes_do_not_overlap_whatever_is_captured() {
    fresh(|| {
        ebbtide::scope(|a| {
            let one = a.alloc([1_u8; 100]);
            ebbtide::scope(|b| {
                let two = b.alloc([2_u8; 100]);
                let three = a.alloc([3_u8; 100]);
                ebbtide::scope(|c| {
                    let four = c.alloc([4_u8; 100]);
                    let five = a.alloc([5_u8; 5000]);
                    let six = b.alloc([6_u8; 100]);
                    assert_apart(four, five);
                    assert_apart(four, six);
                    assert_eq!((four[0], five[0], six[0]), (4, 5, 6));
                });
                let seven = b.alloc([7_u8; 100]);
                assert_apart(two, three);
                assert_apart(two, seven);
                assert_eq!((two[0], three[0], seven[0]), (2, 3, 7));
            });
            let eight = a.alloc([8_u8; 100]);
            assert_apart(one, eight);
            assert_eq!((one[0], eight[0]), (1, 8));
        });
        assert_eq!(local::stats().used, 0);
    });
}

/// Each bit of `plan` selects what a level opens: a default scope, or a replacement by a child of
/// the current scope.
fn nest(outer: &mut Scope<'_>, plan: u32, depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let mark = plan + depth;
    let kept = outer.alloc_slice_fill_copy(50, mark);
    let below = if plan >> depth & 1 == 0 {
        ebbtide::scope(|mut inner| nest(&mut inner, plan, depth - 1))
    } else {
        local::with(outer, || {
            ebbtide::scope(|mut inner| {
                let first = inner.alloc_slice_fill_copy(50, mark);
                let below = nest(&mut inner, plan, depth - 1);
                assert!(first.iter().all(|n| *n == mark));
                below
            })
        })
    };
    let after = outer.alloc_slice_fill_copy(50, mark);
    assert_apart(kept, after);
    assert!(kept.iter().chain(&*after).all(|n| *n == mark));
    below + 1
}

#[test]
fn every_nesting_of_scopes_and_replacements_is_sound() {
    fresh(|| {
        for plan in 0..1 << 6 {
            assert_eq!(ebbtide::scope(|mut s| nest(&mut s, plan, 5)), 6);
            let mut arena = Arena::new();
            assert_eq!(nest(&mut arena.scope(), plan, 5), 6);
        }
        assert!(local::stats().chunks <= 6, "{}", local::stats());
    });
}

#[test]
fn a_scope_inside_a_scope_of_a_replacement_has_its_own_memory() {
    fresh(|| {
        let mut buffer = StackArena::<256>::new();
        local::with(&mut buffer.scope(), || {
            ebbtide::scope(|mut s| {
                let one = s.alloc([1_u8; 100]);
                ebbtide::scope(|t| {
                    let two = t.alloc([2_u8; 1000]);
                    assert_apart(one, two);
                });
                assert_eq!(*one, [1; 100]);
                local::with(&mut s, || {
                    ebbtide::scope(|t| assert!(t.try_alloc([0_u8; 1000]).is_err()));
                });
            });
            ebbtide::scope(|s| assert_eq!(s.stats().capacity, 256));
        });
    });
}

#[test]
fn forgetting_anything_leaves_the_default_intact() {
    fresh(|| {
        let before = place();
        for _ in 0..10 {
            ebbtide::scope(|mut s| {
                mem::forget(s.boxed([1_u8; 1000]));
                let inner = s.scope();
                mem::forget((inner.boxed(1), inner));
                mem::forget(s.claim());
                mem::forget((s.boxed_str("forgotten"), ebbtide::scope(|_| 1)));
            });
            ebbtide::scope(|mut s| {
                ebbtide::scope(|mut t| {
                    local::with(&mut s, || {
                        local::with(&mut t, || {
                            ebbtide::scope(|u| mem::forget(u.boxed([1_u8; 1000])))
                        });
                    });
                });
                assert_works(&s);
            });
        }
        assert_eq!(place(), before);
        local::trim();
        assert_eq!(local::stats().held, 0);
        assert_eq!(successor_sum(&[1, 2, 3]), 9);
    });
}

#[test]
fn scopes_can_be_swapped() {
    fresh(|| {
        ebbtide::scope(|a| {
            let mut a = a;
            let mut arena = Arena::new();
            let mut other = arena.scope();
            {
                let (mut one, mut two) = (a.scope(), other.scope());
                mem::swap(&mut one, &mut two);
                let kept = one.alloc([1_u8; 5000]);
                local::with(&mut one, || assert_ne!(place(), 0));
                assert_apart(kept, two.alloc([2_u8; 5000]));
                assert_eq!(kept[4999], 1);
            }
            let (one, two) = (a.alloc([1_u8; 5000]), other.alloc([2_u8; 5000]));
            assert_apart(one, two);
        });
        ebbtide::scope(|s| assert_works(&s));
    });
}

#[test]
fn a_default_scope_can_be_sent_to_another_thread() {
    fresh(|| {
        let sum = ebbtide::scope(|s| {
            thread::scope(|threads| {
                let other = threads.spawn(place);
                let worker = threads
                    .spawn(move || s.alloc_slice_fill_with(10_000, |i| i).iter().sum::<usize>());
                assert_ne!((place(), other.join().unwrap()), (0, 0));
                worker.join().unwrap()
            })
        });
        assert_eq!(sum, 9999 * 10_000 / 2);
        assert_eq!(local::stats().used, 0);
    });
}

#[test]
fn trim_releases_idle_arenas_and_keeps_open_ones() {
    fresh(|| {
        ebbtide::scope(|s| {
            let kept = s.alloc_slice_fill_copy(100_000, 1_u8);
            ebbtide::scope(|t| t.alloc_slice_fill_copy(100_000, 2_u8).len());
            assert!(local::stats().held >= 100_000);
            local::trim();
            assert_eq!(local::stats().held, 0);
            assert!(kept.iter().all(|n| *n == 1));
            ebbtide::scope(|t| assert_works(&t));
            local::with(&mut Arena::new().scope(), || {
                local::trim();
                assert_eq!(successor_sum(&[1, 2, 3]), 9);
            });
            assert_works(&s);
        });
        assert!(local::stats().held >= 100_000);
        local::trim();
        assert_eq!(local::stats(), ebbtide::Stats::default());
        ebbtide::scope(|s| assert_works(&s));
    });
}

#[test]
fn stats_sum_over_idle_arenas() {
    fresh(|| {
        ebbtide::scope(|_| ebbtide::scope(|_| ebbtide::scope(|_| ())));
        let stats = local::stats();
        assert_eq!((stats.chunks, stats.used, stats.oversize), (3, 0, 0));
        ebbtide::scope(|_| assert_eq!(local::stats().chunks, 2));
        ebbtide::scope(|_| ebbtide::scope(|_| assert_eq!(local::stats().chunks, 1)));
        assert_eq!(local::stats(), stats);
    });
}

thread_local! {
    static EARLY: AtExit = const { AtExit(Cell::new(false)) };
    static LATE: AtExit = const { AtExit(Cell::new(false)) };
}
static AT_EXIT: AtomicUsize = AtomicUsize::new(0);

/// Uses default scopes when it is dropped, before or after those of the thread have been dropped.
struct AtExit(Cell<bool>);

impl Drop for AtExit {
    fn drop(&mut self) {
        for _ in 0..3 {
            ebbtide::scope(|mut s| {
                assert_works(&s);
                assert_ne!(place(), 0);
                local::with(&mut s, || assert_eq!(successor_sum(&[1, 2, 3]), 9));
                assert!(local::set_default_capacity(100).is_err());
            });
        }
        local::trim();
        AT_EXIT.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_default_scope_opens_in_a_destructor_when_the_thread_ends() {
    // Destructors of thread-local variables run in the order of first use or in reverse.
    fresh(|| {
        EARLY.with(|early| early.0.set(true));
        assert_ne!(place(), 0);
        LATE.with(|late| late.0.set(true));
    });
    // On a thread that has not used a default scope before.
    fresh(|| EARLY.with(|early| early.0.set(true)));
    assert_eq!(AT_EXIT.load(SeqCst), 3);
}

#[test]
fn try_scope_returns_what_the_closure_does() {
    fresh(|| {
        assert_eq!(ebbtide::try_scope(|s| *s.alloc(5)), Ok(5));
        let nested = ebbtide::try_scope(|_| ebbtide::try_scope(|s| *s.alloc(6)));
        assert_eq!(nested, Ok(Ok(6)));
    });
}

#[test]
fn a_closure_can_move_values_in_and_out() {
    fresh(|| {
        let text = String::from("moved");
        let log = RefCell::new(Vec::new());
        let mut count = 0;
        let moved = ebbtide::scope(|s| {
            log.borrow_mut().push(s.alloc_str(&text).len());
            count += 1;
            text
        });
        assert_eq!((moved.as_str(), count, log.into_inner()), ("moved", 1, vec![5]));
    });
}

#[test]
fn a_claim_or_raw_memory_can_replace_the_default() {
    fresh(|| {
        let mut memory = [MaybeUninit::uninit(); 300];
        let mut fixed = ebbtide::Fixed::new(&mut memory[..]).or_spill(ebbtide::Heap);
        let mut s = fixed.scope();
        let kept = s.alloc([9_u8; 10]);
        local::with(&mut s, || {
            assert_eq!(successor_sum(&[1; 100]), 200);
            assert_eq!(successor_sum(&[1; 100]), 200);
        });
        assert_works(&s);
        assert_eq!(*kept, [9; 10]);
    });
}
