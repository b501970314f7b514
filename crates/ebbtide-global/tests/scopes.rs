//! Claims: blocks allocated in a scope come from an arena; blocks that outlive it stay valid, and
//! any thread may free them; the innermost scope serves requests; and a forgotten scope costs only
//! memory.

#![allow(clippy::cast_possible_truncation)]

use ebbtide_global::{Entered, arena, engine, enter, map, outside, report, take_out};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    mem, thread,
};

fn is_ours<T: ?Sized>(value: &T) -> bool {
    engine::is_ours((&raw const *value).cast::<u8>())
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn blocks_of_every_size_come_from_the_arena_and_only_inside() {
    alone!();
    for size in [1, 8, 9, 100, 1024, 1025, 8192, 8193, 65_536, 1 << 20, 1 << 24] {
        let (inside, outside) = (arena(|| vec![1_u8; size]), vec![1_u8; size]);
        assert!(is_ours(&inside[0]), "{size}");
        assert!(!is_ours(&outside[0]), "{size}");
        assert_eq!(inside, outside);
    }
}

#[test]
fn a_guard_is_a_scope_that_leaves_with_any_return() {
    alone!();
    let word = |text: &str| -> Option<Vec<String>> {
        let _scope = enter();
        let first = text.split(' ').next().filter(|word| !word.is_empty())?.to_owned();
        assert!(!cfg!(target_pointer_width = "64") || is_ours(first.as_str()), "in its scope");
        Some(vec![first])
    };
    assert_eq!((word("one two"), word("")), (Some(vec!["one".to_owned()]), None));
    assert!(!is_ours(&*Box::new(1_u64)), "no scope is open");
}

#[test]
fn guards_may_be_dropped_in_any_order_or_never() {
    alone!();
    let (mut guards, mut kept, mut number) = (Vec::new(), Vec::new(), 7_usize);
    for round in 0..5_000_usize {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
        match number >> 33 & 7 {
            0..=2 if guards.len() < 40 => guards.push(enter()),
            3 if round % 100 == 0 => mem::forget(guards.pop()),
            3 | 4 if !guards.is_empty() => drop(guards.swap_remove((number >> 40) % guards.len())),
            5 if kept.len() > 50 => drop(kept.swap_remove(number >> 40 & 31)),
            _ => kept.push((round, vec![round; number >> 50 & 63])),
        }
    }
    guards.clear();
    for (round, numbers) in kept {
        assert!(numbers.iter().all(|number| *number == round));
    }
}

/// It is dropped while the thread ends, before or after the values around it.
#[test]
fn a_thread_may_keep_a_guard_until_its_end() {
    alone!();
    thread_local! {
        static KEPT: RefCell<(Vec<String>, Option<Entered>, Vec<String>)> = const { RefCell::new((Vec::new(), None, Vec::new())) };
    }
    let ends = || {
        let thread = thread::spawn(|| {
            KEPT.with_borrow_mut(|(before, guard, after)| {
                before.push("before".repeat(20));
                *guard = Some(enter());
                after.extend((0..3_000).map(|n| n.to_string()));
            });
            (0..3_000).map(|n| n.to_string()).collect::<Vec<_>>()
        });
        thread.join().unwrap()
    };
    for _ in 0..20 {
        assert!(ends().iter().enumerate().all(|(n, text)| *text == n.to_string()));
    }
    assert_eq!(report().escapes.pinned_chunks, 0);
}

#[test]
fn results_are_equal_with_and_without() {
    alone!();
    let work = || {
        let mut counts = BTreeMap::<String, Vec<usize>>::new();
        for n in 0..2_000_usize {
            counts.entry((n * n % 97).to_string()).or_default().push(n);
        }
        let longest = counts.iter().max_by_key(|(_, list)| list.len()).unwrap();
        format!("{longest:?} {}", counts.len())
    };
    assert_eq!(work(), arena(work));
    assert_eq!(work(), arena(|| arena(work)));
}

#[test]
fn escaped_blocks_are_unchanged_while_later_scopes_allocate() {
    alone!();
    let mut kept: Vec<Vec<String>> = Vec::new();
    for round in 0..300 {
        let strings = arena(|| {
            let all: Vec<String> = (0..200).map(|n| format!("{round}/{n}")).collect();
            all.into_iter().filter(|s| s.ends_with('7')).collect::<Vec<_>>()
        });
        kept.push(strings);
        if round % 3 == 0 {
            kept.swap_remove(round / 7 % kept.len());
        }
    }
    for strings in kept {
        let round = strings[0].split('/').next().unwrap().to_owned();
        let expected: Vec<String> =
            (0..200).filter(|n| n % 10 == 7).map(|n| format!("{round}/{n}")).collect();
        assert_eq!(strings, expected);
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn the_innermost_scope_decides() {
    alone!();
    arena(|| {
        let mut long = vec![String::from("outer")];
        assert!(is_ours(&long[0][..]));
        outside(|| {
            assert!(!is_ours(&*Box::new(1)));
            arena(|| assert!(is_ours(&*Box::new(1))));
            assert!(!is_ours(&*Box::new(1)));
        });
        assert!(is_ours(&*Box::new(1)));
        // A child frees what its parent allocated, and leaves something of its own.
        let escaped = arena(|| {
            long.clear();
            String::from("inner")
        });
        let next = arena(|| vec![0xAA_u8; 60_000]);
        assert_eq!(escaped, "inner");
        assert!(next.iter().all(|byte| *byte == 0xAA));
    });
}

#[test]
fn a_vector_of_the_heap_that_grows_inside_stays_with_the_heap() {
    alone!();
    let mut results = Vec::with_capacity(1);
    for n in 0..100 {
        arena(|| results.push(n));
        assert!(!is_ours(&results[0]));
    }
    assert_eq!(results.iter().sum::<i32>(), 4950);
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a_vector_of_a_scope_that_grows_elsewhere_leaves_the_arena() {
    alone!();
    let mut escaped = arena(|| (0..100).collect::<Vec<i32>>());
    assert!(is_ours(&escaped[0]));
    escaped.extend(100..1000);
    assert!(!is_ours(&escaped[0]));
    assert!(escaped.iter().copied().eq(0..1000));

    arena(|| {
        let mut outer: Vec<i32> = (0..100).collect();
        arena(|| outer.extend(100..1000));
        assert!(!is_ours(&outer[0]), "not moved into the child's arena");
        assert!(outer.iter().copied().eq(0..1000));
    });
}

#[test]
fn a_child_that_frees_its_parents_blocks_gives_none_of_them_away() {
    alone!();
    arena(|| {
        let mut parents: Vec<Box<u64>> = (0..1000).map(Box::new).collect();
        let children = arena(|| {
            let mut children = Vec::new();
            for n in 0..500_u64 {
                drop(parents.pop());
                children.push(Box::new(n + 1_000_000));
            }
            children
        });
        let later: Vec<Box<u64>> = (0..1000).map(|n| Box::new(n + 2_000_000)).collect();
        assert!(parents.iter().zip(0..).all(|(block, n)| **block == n));
        assert!(children.iter().zip(1_000_000..).all(|(block, n)| **block == n));
        assert!(later.iter().zip(2_000_000..).all(|(block, n)| **block == n));
    });
}

#[test]
fn take_out_copies_out_of_the_arena() {
    alone!();
    let kept = arena(|| {
        let list: Vec<String> = vec!["a".repeat(100)];
        take_out(|| list.clone())
    });
    assert!(!is_ours(&kept[0]) && !is_ours(&kept[0][..]));
}

#[test]
fn map_keeps_the_order() {
    alone!();
    let lengths = map(0..1000_usize, |n| vec![n.to_string(); n].concat().len());
    assert!(lengths.iter().enumerate().all(|(n, length)| *length == n * n.to_string().len()));
}

#[test]
fn hash_maps_that_outlive_scopes_grow_in_them() {
    alone!();
    let mut interner: HashMap<String, usize> = HashMap::new();
    for round in 0..200 {
        arena(|| {
            for n in 0..20 {
                let next = interner.len();
                interner.entry(format!("{}", round * 7 + n)).or_insert(next);
            }
        });
    }
    let mut numbers: Vec<usize> = interner.values().copied().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..interner.len()));
}

#[test]
fn leaked_and_forgotten_blocks_stay() {
    alone!();
    let leaked: Vec<&'static str> =
        (0..100).map(|n| &*arena(|| Box::leak(n.to_string().into_boxed_str()))).collect();
    arena(|| mem::forget(vec![1_u8; 100_000]));
    arena(|| {
        let waste: Vec<Vec<u8>> = (0..1000).map(|n| vec![n as u8; 100]).collect();
        assert!(waste.iter().enumerate().all(|(n, list)| list.iter().all(|x| *x == n as u8)));
    });
    assert!(leaked.iter().enumerate().all(|(n, text)| **text == n.to_string()));
}

struct OpensAScope(Vec<String>);

impl Drop for OpensAScope {
    fn drop(&mut self) {
        let sum = arena(|| self.0.iter().map(|s| s.to_uppercase()).collect::<String>());
        assert_eq!(sum.len(), self.0.iter().map(String::len).sum::<usize>());
    }
}

#[test]
fn a_scope_in_a_destructor() {
    alone!();
    let kept = arena(|| {
        let first = OpensAScope(vec!["a".into(), "bc".into()]);
        let second = OpensAScope(vec!["def".into()]);
        drop(first);
        second
    });
    arena(|| drop(kept));
}

#[test]
fn long_scopes_use_freed_blocks_again() {
    alone!();
    let before = report().claimed;
    arena(|| {
        let mut ring: Vec<Vec<u8>> = Vec::new();
        for n in 0..400_000_usize {
            ring.push(vec![n as u8; 40 + n % 1500]);
            if ring.len() > 64 {
                let old = ring.swap_remove(n % 64);
                assert!(old.iter().all(|byte| *byte == old[0]));
            }
        }
    });
    // About 300 MB were served.
    let claimed = report().claimed - before;
    assert!(claimed < 64 << 20, "{claimed}");
}

#[test]
fn deep_nesting() {
    alone!();
    fn nest(depth: usize) -> Vec<String> {
        arena(|| {
            let mut mine = vec![depth.to_string(); 3];
            if depth > 0 {
                mine.extend(nest(depth - 1));
            }
            mine.remove(0);
            mine
        })
    }
    let all = thread::Builder::new().stack_size(64 << 20).spawn(|| nest(500)).unwrap();
    assert_eq!(all.join().unwrap().len(), 2 * 501);
}
