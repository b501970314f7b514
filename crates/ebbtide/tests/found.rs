//! Claim: inputs once found by fuzzing, and random inputs for every target, pass.
//!
//! `found/TARGET/` holds the inputs, named for what they show; `targets/` holds the code that runs
//! them.

#![cfg(feature = "std")]

use crate::targets;
use std::{fs, path::Path};

/// Replays the stored inputs, then random ones with a fixed seed.
fn replay(target: &str, found: usize, run: fn(&[u8])) {
    if cfg!(miri) {
        // Miri reads no files, and is slow.
        return random([20, 60].into_iter(), run);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found").join(target);
    let mut inputs = 0;
    for entry in fs::read_dir(&folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        run(&fs::read(&path).unwrap());
        inputs += 1;
    }
    assert_eq!(inputs, found, "inputs in {}", folder.display());
    random(0..if cfg!(ebbtide_asan) { 100 } else { 400 }, run);
}

fn random(turns: impl Iterator<Item = u64>, run: fn(&[u8])) {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for turn in turns {
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()[0]
        };
        let bytes: Vec<u8> = (0..turn * 2).map(|_| byte()).collect();
        run(&bytes);
    }
}

#[test]
fn arenas() {
    replay("arenas", 0, targets::arenas::run);
}

#[test]
fn arith() {
    replay("arith", 1, targets::arith::run);
}

#[test]
#[cfg(feature = "hashbrown-017")]
fn collections() {
    replay("collections", 0, targets::collections::run);
}

#[test]
fn fixed() {
    replay("fixed", 2, targets::fixed::run);
}

#[test]
#[cfg(feature = "hashbrown-017")]
fn maps() {
    replay("maps", 0, targets::maps::run);
}

#[test]
fn model() {
    replay("model", 4, targets::model::run);
}

#[test]
fn nested() {
    replay("nested", 0, targets::nested::run);
}

#[test]
fn strings() {
    replay("strings", 0, targets::strings::run);
}

#[test]
fn text() {
    replay("text", 0, targets::text::run);
}

#[test]
fn vectors() {
    replay("vectors", 0, targets::vectors::run);
}
