//! The atomics of the modules that are modelled with loom: those of loom in its models, and those of
//! the language otherwise.
#![forbid(unsafe_code)]

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// Defines `new`, which is a `const fn` except in the models: an atomic of loom is no constant.
macro_rules! new_atomic {
    ($value:expr) => {
        #[cfg(not(loom))]
        pub(crate) const fn new() -> Self {
            $value
        }

        #[cfg(loom)]
        pub(crate) fn new() -> Self {
            $value
        }
    };
}
