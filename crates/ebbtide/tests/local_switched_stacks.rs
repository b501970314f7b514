//! Claim: default scopes are sound when a program switches stacks by hand. If a replacement ends
//! while a scope is open in it, the process aborts.

#![cfg(all(feature = "std", target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#![cfg(not(any(miri, ebbtide_asan)))]

use crate::common::{role, start, this_test};
use ebbtide::{Arena, local};
use std::{cell::Cell, mem::MaybeUninit, os::unix::process::ExitStatusExt};

thread_local! {
    static STACKS: Cell<Option<*const Stacks>> = const { Cell::new(None) };
}

/// The stack of the test, and another one that runs `body`.
struct Stacks {
    main: MaybeUninit<libc::ucontext_t>,
    other: MaybeUninit<libc::ucontext_t>,
    memory: Vec<u8>,
    body: fn(&Stacks),
}

impl Stacks {
    fn new(body: fn(&Stacks)) -> Box<Self> {
        let mut stacks = Box::new(Stacks {
            main: MaybeUninit::zeroed(),
            other: MaybeUninit::zeroed(),
            memory: vec![0; 1 << 20],
            body,
        });
        let other = stacks.other.as_mut_ptr();
        // SAFETY: the memory is large enough for a context.
        assert_eq!(unsafe { libc::getcontext(other) }, 0);
        // SAFETY: initialised by the call.
        let context = unsafe { &mut *other };
        context.uc_stack.ss_sp = stacks.memory.as_mut_ptr().cast();
        context.uc_stack.ss_size = stacks.memory.len();
        context.uc_link = stacks.main.as_mut_ptr();
        // SAFETY: the context has a stack and a successor.
        unsafe { libc::makecontext(other, enter, 0) };
        stacks
    }

    /// Runs the other stack until it suspends.
    fn resume(&self) {
        STACKS.set(Some(self));
        // SAFETY: both contexts do not move, and the other one was created or suspended before.
        unsafe { libc::swapcontext(self.main.as_ptr().cast_mut(), self.other.as_ptr()) };
    }

    /// Switches back to the test.
    fn suspend(&self) {
        // SAFETY: both contexts do not move, and the test's was saved by `resume`.
        unsafe { libc::swapcontext(self.other.as_ptr().cast_mut(), self.main.as_ptr()) };
    }
}

extern "C" fn enter() {
    let stacks = STACKS.get().unwrap();
    // SAFETY: `resume` set it, and borrows the stacks until this one suspends.
    let stacks = unsafe { &*stacks };
    (stacks.body)(stacks);
}

fn fill(n: u8) -> [u8; 1000] {
    [n; 1000]
}

#[test]
fn scopes_that_end_in_any_order_do_not_overlap() {
    let stacks = Stacks::new(|stacks| {
        for turn in 0..10 {
            ebbtide::scope(|s| {
                let kept = s.alloc(fill(turn));
                ebbtide::scope(|t| {
                    let inner = t.alloc(fill(100 + turn));
                    stacks.suspend();
                    assert_eq!(*inner, fill(100 + turn));
                });
                stacks.suspend();
                assert_eq!(*kept, fill(turn));
            });
            stacks.suspend();
        }
    });
    // The other stack has two scopes open, then one, then none, and so on.
    for turn in 0..3 {
        ebbtide::scope(|s| {
            let kept = s.alloc(fill(200 + turn));
            stacks.resume();
            ebbtide::scope(|t| {
                stacks.resume();
                assert_eq!(*t.alloc(fill(2)), fill(2));
            });
            stacks.resume();
            let mut arena = Arena::new();
            local::with(&mut arena.scope(), || {
                stacks.resume();
                stacks.resume();
                stacks.resume();
                ebbtide::scope(|t| assert_eq!(*t.alloc(fill(1)), fill(1)));
            });
            assert_eq!(*kept, fill(200 + turn));
        });
        stacks.resume();
        let mut arena = Arena::new();
        local::with(&mut arena.scope(), || {
            stacks.resume();
            ebbtide::scope(|t| assert_eq!(*t.alloc(fill(1)), fill(1)));
            stacks.resume();
        });
    }
    assert!(local::stats().chunks <= 8, "{}", local::stats());
}

#[test]
fn ending_a_replacement_with_an_open_scope_aborts() {
    if role().is_some() {
        let stacks = Stacks::new(|stacks| {
            ebbtide::scope(|s| {
                let kept = s.alloc(fill(1));
                stacks.suspend();
                assert_eq!(*kept, fill(1));
            });
        });
        let mut arena = Arena::new();
        local::with(&mut arena.scope(), || stacks.resume());
        drop(arena);
        stacks.resume();
        return;
    }
    let outcome = start(this_test!(), "abandon");
    assert_eq!(outcome.status.signal(), Some(libc::SIGABRT), "{outcome:?}");
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("local::with"), "{outcome:?}");
}
