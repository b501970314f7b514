//! The bodies of the fuzz targets: `run(&bytes)` in each module. `found.rs` replays their findings,
//! and `fuzz/` includes this file by its path.
#![allow(dead_code, unreachable_pub, reason = "each target uses one module")]
#![allow(clippy::cast_possible_truncation, reason = "bytes decoded")]

pub mod arenas;
pub mod arith;
pub mod collections;
pub mod fixed;
mod input;
pub mod maps;
#[path = "../common/model.rs"]
pub mod model;
pub mod strings;
pub mod text;
pub mod vectors;
