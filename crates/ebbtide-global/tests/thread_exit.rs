//! Claims: a thread may end while other threads use blocks of its arenas; and after its exit
//! destructor has run, other destructors of the thread may still allocate, free and open scopes.

use ebbtide_global::{arena, engine, report};
use std::{
    cell::RefCell,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Allocates, frees and opens a scope when its thread ends.
struct Late(Vec<String>);

impl Drop for Late {
    fn drop(&mut self) {
        for n in 0..100 {
            self.0.push(format!("late {n}"));
        }
        let inner = arena(|| {
            let strings: Vec<String> = self.0.iter().map(|s| s.to_uppercase()).collect();
            let nested = arena(|| strings.concat());
            strings[0].clone() + &nested
        });
        assert!(inner.starts_with("LATE 0") || inner.starts_with("EARLY"));
        self.0.clear();
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

thread_local! {
    // Some are made before the thread's first scope, some inside of it: destructors run in either
    // order.
    static BEFORE: RefCell<Late> = const { RefCell::new(Late(Vec::new())) };
    static LAZY_BEFORE: RefCell<Late> = RefCell::new(Late(vec!["early".into()]));
    static INSIDE: RefCell<Late> = const { RefCell::new(Late(Vec::new())) };
    static LAZY_INSIDE: RefCell<Late> = RefCell::new(Late(vec!["early".into(); 10]));
    static AFTER: RefCell<Late> = const { RefCell::new(Late(Vec::new())) };
}

fn add(late: &RefCell<Late>, n: usize) {
    late.borrow_mut().0.push(format!("early {n}"));
}

#[test]
fn destructors_of_thread_locals_allocate_free_and_open_scopes() {
    alone!();
    for n in 0..50 {
        let kept = thread::spawn(move || {
            BEFORE.with(|late| add(late, n));
            LAZY_BEFORE.with(|late| add(late, n));
            let kept = arena(|| {
                INSIDE.with(|late| add(late, n));
                LAZY_INSIDE.with(|late| add(late, n));
                arena(|| LAZY_INSIDE.with(|late| add(late, n)));
                (0..1000).map(|n| n.to_string()).collect::<Vec<String>>()
            });
            AFTER.with(|late| add(late, n));
            kept
        });
        let kept = kept.join().unwrap();
        let has_range = cfg!(target_pointer_width = "64");
        assert_eq!(engine::is_ours(&raw const kept[0]), has_range);
        assert!(kept.iter().enumerate().all(|(n, s)| *s == n.to_string()));
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), 250);
    assert_eq!(report().escapes.pinned_chunks, 0, "all was freed by this thread");
}
