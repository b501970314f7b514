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
pub mod nested;
pub mod strings;
pub mod text;
pub mod vectors;

use ebbtide::{Arena, Scope};
use input::Input;

/// Runs `operation` in scopes of an arena, a few times in each, as long as there is input. Half of
/// the arenas have a limit, a multiple of `unit` bytes; `operation` is told whether this one has.
fn in_scopes(
    bytes: &[u8],
    unit: usize,
    mut operation: impl FnMut(&mut Scope<'_>, bool, &mut Input<'_>),
) {
    let mut input = Input::new(bytes);
    let mut arena = Arena::with_chunk_size(input.size());
    let limit = input.byte();
    let scarce = limit % 2 == 1;
    if scarce {
        arena.set_limit(Some(usize::from(limit) * unit));
    }
    while !input.is_empty() {
        let Ok(mut s) = arena.try_scope() else { return };
        for _ in 0..input.below(4) {
            operation(&mut s, scarce, &mut input);
        }
        arena.reset();
    }
}
