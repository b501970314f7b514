//! The libraries that `cargo ebbtide` preloads into a program, and what it tells them and learns
//! from them.
//!
//! `build.rs` compiles this crate twice as a shared library, whose functions are then named `malloc`,
//! `free` and so on: as the recorder, which writes a [record](record::Record), and as the trial,
//! which replaces the [entry](trial::entry::Entry) of a function.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![cfg_attr(not(ebbtide_preload), allow(dead_code, reason = "the shared libraries alone call it"))]

mod behind;
#[cfg(ebbtide_preload)]
mod loader;
#[cfg(not(ebbtide_preload = "trial"))]
pub mod record;
#[cfg(not(ebbtide_preload = "trial"))]
mod recorder;
mod sys;
#[cfg(not(ebbtide_preload = "recorder"))]
pub mod trial;

#[cfg(not(ebbtide_preload = "trial"))]
pub use recorder::{process::FOLDER, state::EVERY};
