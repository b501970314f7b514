//! The tests of the C interface, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

#[cfg(unix)]
mod common;

mod boundary;
mod c;
mod counts;
mod cpp;
mod examples;
mod gdb;
mod guide;
mod hooks;
mod install;
