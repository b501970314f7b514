//! The tests of the repository itself, in one program.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

mod api;
mod book;
mod facts;
mod invariants;
mod layers;
mod lockfile;
mod method_table;
mod msrv;
mod names;
mod packages;
mod programs;
