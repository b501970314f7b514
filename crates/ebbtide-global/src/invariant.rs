//! Assertions of debug builds. They abort instead of panicking, because an allocator must not
//! unwind.
#![forbid(unsafe_code)]

use core::panic::Location;
use std::{io::Write, process};

/// Aborts a debug build unless the condition holds. The string names the invariant. A release build
/// does not evaluate the condition; it would keep an atomic load before the macro.
macro_rules! invariant {
    ($holds:expr, $name:literal) => {
        if cfg!(debug_assertions) && !$holds {
            $crate::invariant::broken($name)
        }
    };
}

#[cold]
#[track_caller]
pub(crate) fn broken(name: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "{}: {name} is broken", Location::caller());
    process::abort()
}
