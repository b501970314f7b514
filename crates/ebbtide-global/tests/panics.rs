//! Claims: a panic ends scopes properly at any depth; its payload, allocated in a scope, stays
//! valid; and destructors that run during unwinding may allocate and open scopes.

use ebbtide_global::{arena, engine, map, outside};
use std::{
    panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
};

struct Busy(usize);

impl Drop for Busy {
    fn drop(&mut self) {
        let made = arena(|| (0..self.0).map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(made.len(), self.0);
    }
}

fn nested(depth: usize) -> usize {
    let _busy = Busy(depth * 10);
    let strings = arena(|| {
        let strings: Vec<String> = (0..depth).map(|n| n.to_string()).collect();
        if depth == 0 {
            let payload = (0..1000).map(|n| n.to_string()).collect::<Vec<String>>();
            resume_unwind(Box::new(payload));
        }
        nested(depth - 1);
        strings
    });
    strings.len()
}

#[test]
fn through_many_scopes() {
    alone!();
    for depth in 0..30 {
        let payload = catch_unwind(|| arena(|| outside(|| arena(|| nested(depth))))).unwrap_err();
        // No scope is left open.
        assert!(!engine::is_ours(&raw const *Box::new(1)));
        let has_range = cfg!(target_pointer_width = "64");
        arena(|| assert_eq!(engine::is_ours(&raw const *Box::new(1)), has_range));
        let payload = payload.downcast::<Vec<String>>().unwrap();
        assert!(payload.iter().enumerate().all(|(n, s)| *s == n.to_string()));
    }
}

#[test]
fn caught_inside_a_scope() {
    alone!();
    let sum = arena(|| {
        let mut kept = vec![1];
        for n in 0..100 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                arena(|| {
                    kept.push(n);
                    if n % 3 == 0 { resume_unwind(Box::new(n.to_string())) } else { n }
                })
            }));
            match caught {
                Ok(value) => assert_eq!(value, n),
                Err(payload) => assert_eq!(*payload.downcast::<String>().unwrap(), n.to_string()),
            }
        }
        kept.iter().sum::<i32>()
    });
    assert_eq!(sum, 4951);
}

#[test]
fn the_first_panic_of_map_is_passed_on() {
    alone!();
    let caught =
        catch_unwind(|| map(0..10, |n| if n >= 3 { resume_unwind(Box::new(n)) } else { n }));
    assert_eq!(*caught.unwrap_err().downcast::<i32>().unwrap(), 3);
}

#[test]
fn with_the_hook_and_across_threads() {
    alone!();
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let _ = arena(|| format!("{info}").len());
    }));
    let worker = thread::spawn(|| arena(|| panic!("{}", "made inside ".repeat(100))));
    let payload = worker.join().map(|(): ()| ()).unwrap_err();
    panic::set_hook(hook);
    arena(|| drop(vec![0_u8; 100_000]));
    assert_eq!(*payload.downcast::<String>().unwrap(), "made inside ".repeat(100));
}
