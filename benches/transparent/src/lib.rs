//! Programs unaware of arenas, under several global allocators.
//!
//! A program has one global allocator, so each contestant is a program of its own: `src/bin` has a
//! few lines for each, over the workloads of this library. The driver, `src/main.rs`, keeps one
//! process per contestant and lets them run batches in turn, so that other load on the machine
//! affects all of them equally.

pub mod child;
pub mod litter;
pub mod workloads;

/// The stages of the tour, which name each other from the root.
#[allow(dead_code)]
#[path = "../../../dev/ebbtide-tour/src"]
mod tour {
    pub(crate) mod hash;
    pub(crate) mod input;
    pub(crate) mod modes;
    pub(crate) mod stages;
    pub(crate) mod units;
}
use tour::{hash, input, modes, stages, units};

/// How a contestant runs work.
pub trait Arena: 'static {
    /// Whether programs with explicit arenas use them.
    const EXPLICIT: bool = false;

    /// Runs `work`, in an arena if the contestant has them.
    fn scope<R>(work: impl FnOnce() -> R) -> R;

    /// A value that outlives its scope. With arenas, a copy outside of them.
    fn take_out<T: Clone>(value: T) -> T {
        value
    }

    /// Statistics of the contestant after a run.
    fn report() -> String {
        String::new()
    }
}

/// Without arenas.
#[derive(Debug)]
pub enum Plain {}

impl Arena for Plain {
    #[inline(always)]
    fn scope<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// Explicit arenas, in the programs that have them.
#[derive(Debug)]
pub enum Explicit {}

impl Arena for Explicit {
    const EXPLICIT: bool = true;

    fn scope<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// With `ebbtide-global`'s scopes, over whatever allocator a contestant's program names.
#[derive(Debug)]
pub enum Scopes {}

impl Arena for Scopes {
    #[inline]
    fn scope<R>(work: impl FnOnce() -> R) -> R {
        ebbtide_global::arena(work)
    }

    fn take_out<T: Clone>(value: T) -> T {
        ebbtide_global::take_out(|| value.clone())
    }

    fn report() -> String {
        ebbtide_global::report().to_string()
    }
}

/// The main function of a contestant, with its global allocator and its arenas.
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
