//! The recorder of `cargo ebbtide advise`, and the format of what it writes.
//!
//! `build.rs` compiles this library as a shared one, in which the recorder's functions are named
//! `malloc`, `free` and so on. The adviser preloads it into the program, and reads the
//! [record](record::Record) that it leaves.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![cfg_attr(not(ebbtide_preload), allow(dead_code, reason = "the shared library alone calls it"))]

pub mod record;
mod recorder;

pub use recorder::state::{EVERY, FOLDER};
