//! Claims: scopes work on the threads of rayon's pool, even if a thread that waits in a scope
//! steals jobs that open others; and a pool that was first started inside a scope outlives it.

use ebbtide_global::arena;
use rayon::prelude::*;

fn sum(n: usize, depth: usize) -> usize {
    if depth == 0 {
        let texts: Vec<String> = (0..20).map(|k| (n * k).to_string()).collect();
        return texts.iter().map(String::len).sum();
    }
    // While a thread waits for the other half, it runs other jobs inside this scope.
    let (left, right) = arena(|| {
        let held: Vec<String> = (0..50).map(|k| format!("{n} {depth} {k}")).collect();
        let halves = rayon::join(|| sum(2 * n, depth - 1), || arena(|| sum(2 * n + 1, depth - 1)));
        assert!(held.iter().enumerate().all(|(k, s)| *s == format!("{n} {depth} {k}")));
        halves
    });
    left + right
}

#[test]
fn jobs_are_stolen_while_waiting() {
    alone!();
    // The first use creates rayon's pool, in a scope.
    let inside = arena(|| sum(1, 8));
    assert_eq!(inside, sum(1, 8));
}

#[test]
fn results_of_jobs_go_anywhere() {
    alone!();
    let lists: Vec<Vec<String>> = arena(|| {
        (0..2000_usize)
            .into_par_iter()
            .map(|n| arena(|| (0..n % 40).map(|k| format!("{n} {k}")).collect()))
            .collect()
    });
    let right = |(n, list): (usize, &Vec<String>)| {
        list.len() == n % 40 && list.iter().enumerate().all(|(k, s)| *s == format!("{n} {k}"))
    };
    assert!(lists.par_iter().enumerate().all(right));
    lists.into_par_iter().for_each(|list| arena(|| drop(list)));
}

#[test]
fn sorting_and_folding_inside_of_scopes() {
    alone!();
    let mut words: Vec<String> = arena(|| {
        (0..20_000_usize).into_par_iter().map(|n| (n * 7919 % 20_000).to_string()).collect()
    });
    arena(|| words.par_sort_unstable());
    let expected = {
        let mut expected: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
        expected.sort_unstable();
        expected
    };
    assert_eq!(words, expected);
}

#[cfg(feature = "rayon")]
#[test]
fn par_map_keeps_the_order_and_passes_panics_on() {
    alone!();
    use std::panic::{catch_unwind, resume_unwind};
    let lengths = ebbtide_global::par_map(0..1000_usize, |n| vec![n.to_string(); n].concat().len());
    assert!(lengths.iter().enumerate().all(|(n, length)| *length == n * n.to_string().len()));
    let caught = catch_unwind(|| {
        ebbtide_global::par_map(0..100, |n| if n == 50 { resume_unwind(Box::new(n)) } else { n })
    });
    assert!(caught.is_err());
}
