//! The status of the last call that failed: of each thread or, without `std`, of all threads.

#[cfg(feature = "std")]
mod cell {
    use core::cell::Cell;

    thread_local! {
        static LAST: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn set(status: usize) {
        // The variable has no destructor, so it exists as long as its thread.
        let _ = LAST.try_with(|last| last.set(status));
    }

    pub(crate) fn get() -> usize {
        LAST.try_with(Cell::get).unwrap_or(0)
    }
}

#[cfg(not(feature = "std"))]
mod cell {
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static LAST: AtomicUsize = AtomicUsize::new(0);

    pub(crate) fn set(status: usize) {
        LAST.store(status, Relaxed);
    }

    pub(crate) fn get() -> usize {
        LAST.load(Relaxed)
    }
}

pub(crate) use cell::{get, set};
