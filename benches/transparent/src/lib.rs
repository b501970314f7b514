//! Programs that know nothing of arenas, under several global allocators.
//!
//! A global allocator is a whole program's choice, so each contestant is a program: `src/bin` holds one of a
//! few lines each, all over the workloads of this library. The driver, `src/main.rs`, keeps one process a
//! contestant and lets them run batches in turn, so that what else the machine does falls on all alike.

pub mod child;
pub mod workloads;

/// How a contestant runs a piece of work.
pub trait Arena {
    /// Runs `work`; where the contestant has arenas, in one of its own.
    fn scope<R>(work: impl FnOnce() -> R) -> R;

    /// A value that is to live on, out of a scope: where there are arenas, a copy outside of them.
    fn take_out<T: Clone>(value: T) -> T {
        value
    }

    /// What the contestant knows of itself, after a run.
    fn report() -> String {
        String::new()
    }
}

/// No arena: work runs as it is.
#[derive(Debug)]
pub enum Plain {}

impl Arena for Plain {
    #[inline(always)]
    fn scope<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// The body of a contestant's program: its global allocator, and what runs in the place of arenas.
#[macro_export]
macro_rules! contestant {
    ($allocator:ty = $value:expr, $arena:ty) => {
        #[global_allocator]
        static ALLOCATOR: $allocator = $value;

        fn main() -> std::process::ExitCode {
            $crate::child::main::<$arena>()
        }
    };
}
