//! The programs that must, or must not, compile, and the pages, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

mod accepted;
mod migrating;
mod pages;
mod refused;
