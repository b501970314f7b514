//! Claims about persistent scopes, each of which an attack found broken once
//! (docs/decisions/0016-persistent-scopes.md): a scope of another kind between two sessions, and
//! whatever is opened after it, overwrites none of their blocks; and the ticket of a session that
//! has ended does not end a later one.

use ebbtide_global::{Options, arena, arena_with, engine::Owner, release_pool};
use std::{alloc::Layout, thread};

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

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "without a range none is served")]
fn a_ticket_of_a_scope_that_has_ended() {
    alone!();
    let owner = Owner::new();
    assert!(owner.start());
    let layout = Layout::new::<[u64; 16]>();
    let mut last = None;
    let mut kept = Vec::new();
    for _ in 0..400 {
        let ticket = owner.enter(&Options::new()).unwrap();
        if let Some(last) = last {
            assert_ne!(last, ticket);
            owner.leave(last);
        }
        assert!(owner.is_open(), "another scope's ticket has ended this one");
        let blocks: Vec<_> = (0..400).map(|_| owner.alloc(layout)).collect();
        for (number, block) in blocks.into_iter().enumerate() {
            if number % 40 < 5 {
                kept.push(block);
            } else {
                // SAFETY: the block is alive, with this layout.
                assert!(unsafe { owner.dealloc(block, layout) });
            }
        }
        owner.leave(ticket);
        assert!(!owner.is_open());
        last = Some(ticket);
    }
    kept.sort_unstable();
    let parted = kept.windows(2).all(|pair| pair[1].addr() - pair[0].addr() >= layout.size());
    assert!(parted, "two blocks share bytes");
    for block in kept {
        // SAFETY: the block was kept, so it is alive, with this layout.
        assert!(unsafe { owner.dealloc(block, layout) });
    }
    owner.end();
}
