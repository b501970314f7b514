//! Claim: values that are created lazily inside a scope (globals, thread-locals, interned strings,
//! caches of `std`) stay valid after it.

use ebbtide_global::{arena, map, warm};
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    sync::{LazyLock, Mutex, OnceLock, RwLock},
    thread,
};

static ONCE: OnceLock<Vec<String>> = OnceLock::new();
static LAZY: LazyLock<HashMap<String, usize>> =
    LazyLock::new(|| (0..100).map(|n| (n.to_string(), n)).collect());
static INTERNER: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
static CACHE: RwLock<Vec<String>> = RwLock::new(Vec::new());

thread_local! {
    static LOCAL: RefCell<Vec<String>> = RefCell::new(vec!["made inside".into()]);
}

fn intern(text: &str) -> &'static str {
    let mut known = INTERNER.lock().unwrap();
    if let Some(found) = known.get(text) {
        return found;
    }
    let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(leaked);
    leaked
}

fn noise() {
    arena(|| {
        let noise: Vec<Vec<u8>> = (0..100_u8).map(|n| vec![n; 1000]).collect();
        assert!(noise.iter().zip(0..).all(|(list, n)| list.iter().all(|x| *x == n)));
    });
}

#[test]
fn globals_made_in_a_scope_stay() {
    alone!();
    warm();
    for n in 0..50_usize {
        arena(|| {
            let once = ONCE.get_or_init(|| (0..100).map(|n| n.to_string()).collect());
            assert_eq!(once[7], "7");
            assert_eq!(LAZY["42"], 42);
            LOCAL.with(|local| local.borrow_mut().push(n.to_string()));
            CACHE.write().unwrap().push(format!("cached {n}"));
            assert_eq!(intern(&(n % 7).to_string()), (n % 7).to_string());
        });
        noise();
    }
    assert_eq!(ONCE.get().unwrap().len(), 100);
    assert_eq!(INTERNER.lock().unwrap().iter().copied().collect::<String>(), "0123456");
    assert_eq!(CACHE.read().unwrap()[49], "cached 49");
    LOCAL.with(|local| assert_eq!(local.borrow()[50], "49"));
}

#[test]
fn names_of_threads_environment_and_panics_in_a_scope() {
    alone!();
    let names = arena(|| {
        let worker = thread::Builder::new().name("made in a scope".into());
        let worker = worker.spawn(|| thread::current().name().map(str::to_owned)).unwrap();
        (worker.join().unwrap(), std::env::args().count(), std::env::vars().count())
    });
    noise();
    assert_eq!(names.0.as_deref(), Some("made in a scope"));
    assert_eq!(thread::spawn(|| map(0..10, |n| n.to_string())).join().unwrap().len(), 10);
}
