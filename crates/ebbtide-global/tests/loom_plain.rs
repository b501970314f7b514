//! What the models share: plain fields, threads, and the bound of a search.

use loom::{cell::UnsafeCell, sync::Arc, thread};

/// A plain field, or memory, that threads share without atomics. Loom reports two accesses that
/// nothing orders, unless both read.
#[derive(Default)]
pub(crate) struct Plain<T>(UnsafeCell<T>);

// SAFETY: loom reports accesses that would be a race.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T> Plain<T> {
    pub(crate) fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    /// Changes the value.
    pub(crate) fn change<R>(&self, by: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: loom reports an access that another thread makes at the same time.
        self.0.with_mut(|value| by(unsafe { &mut *value }))
    }

    pub(crate) fn set(&self, value: T) {
        self.change(|place| *place = value);
    }

    pub(crate) fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: loom reports a write that another thread makes at the same time.
        self.0.with(|value| unsafe { *value })
    }
}

/// Starts a thread that shares a value with the caller.
pub(crate) fn spawn<T: 'static, R: 'static>(
    shared: &Arc<T>,
    run: impl FnOnce(&T) -> R + 'static,
) -> thread::JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || run(&shared))
}

/// Every interleaving with at most this many preemptions; LOOM_MAX_PREEMPTIONS sets another number.
/// Without a bound, these models take minutes.
pub(crate) fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.or(Some(preemptions));
    model.check(run);
}
