//! The tests of transparent arenas in C++, in one program.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

#[path = "../../ebbtide-capi/tests/common/mod.rs"]
mod common;

mod counts;
mod cpp;
mod install;
mod layouts;
