//! A web server that knows nothing of arenas, over several global allocators, under load.
//!
//! ```text
//! cargo xtask bench server [--seconds N] [--rate N] [--csv FOLDER]
//! ```
//!
//! A global allocator is a whole program's choice, so each contestant is a program: `src/bin` holds
//! one of a few lines each, all over the server of this library. The driver, `src/main.rs`, starts
//! one process a contestant, checks that all give the same answers, and loads them in turn, a few
//! seconds each, so that what else the machine does falls on all alike.
//!
//! - [`shop`]: what the server keeps, and its three answers: JSON in and out, a page, a search
//! - [`explicit`]: two of the answers written for `ebbtide`'s explicit arenas
//! - [`service`]: the routes, and the contestant's process
//! - [`client`]: requests over loopback, at a fixed rate or as fast as the answers come

pub mod client;
pub mod explicit;
pub mod service;
pub mod shop;
