//! A web server that is unaware of arenas, over several global allocators, under load.
//!
//! ```text
//! cargo xtask bench server [--seconds N] [--rate N] [--csv FOLDER]
//! ```
//!
//! A program has one global allocator, so each contestant is a program of its own: `src/bin` has a
//! few lines for each, over the server in this library. The driver, `src/main.rs`, starts one
//! process per contestant, checks that all give the same answers, and loads them in turn, a few
//! seconds each, so that other load on the machine affects all of them equally.
//!
//! - [`shop`]: the server's state, and its three answers: JSON in and out, a page, a search
//! - [`explicit`]: two of the answers with `ebbtide`'s explicit arenas
//! - [`service`]: the routes, and the contestant's process
//! - [`client`]: requests over loopback, at a fixed rate or as fast as the answers come

pub mod client;
pub mod explicit;
pub mod service;
pub mod shop;
