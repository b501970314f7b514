//! Claim about persistent scopes, which an attack found broken once
//! (docs/decisions/0016-persistent-scopes.md): a scope of another kind between two sessions, and
//! whatever is opened after it, overwrites none of their blocks.

use ebbtide_global::{Options, arena, arena_with, release_pool};
use std::thread;

fn word(scope: usize, number: usize) -> String {
    format!("{scope:8}{number:8}").repeat(1 + (scope + number) % 5)
}

/// An eighth of the words of each scope, in runs.
fn keep() -> Vec<Vec<String>> {
    let scope = |scope| {
        let words: Vec<String> = (0..400).map(|number| word(scope, number)).collect();
        let numbered = words.into_iter().enumerate();
        numbered.filter(|(number, _)| number % 40 < 5).map(|(_, word)| word).collect()
    };
    (0..200).map(|number| arena(|| scope(number))).collect()
}

fn check(kept: &[Vec<String>]) {
    for (scope, words) in kept.iter().enumerate() {
        for (number, kept) in (0..400).filter(|number| number % 40 < 5).zip(words) {
            assert_eq!(*kept, word(scope, number));
        }
    }
}

/// Opens a scope with a limit, calls the function, and opens a scope that fills memory.
fn disturb(between: impl FnOnce()) -> Vec<Vec<u8>> {
    arena_with(&Options::new().byte_limit(1 << 20), || drop(Box::new(1)));
    between();
    arena(|| (0..5000).map(|number| vec![0xAA; 40 + number % 7]).collect())
}

#[test]
fn a_scope_with_a_limit_between_others() {
    alone!();
    let kept = keep();
    let _one = disturb(|| arena_with(&Options::new(), || drop(Box::new(1))));
    check(&kept);
    let _other = disturb(release_pool);
    check(&kept);
    let kept = thread::spawn(|| {
        let kept = keep();
        drop(disturb(|| ()));
        kept
    });
    let kept = kept.join().unwrap();
    let _third = disturb(|| ());
    check(&kept);
}
