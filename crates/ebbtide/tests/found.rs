//! Claim: inputs once found by fuzzing, and random inputs for every target, pass.
//!
//! `found/TARGET/` holds the inputs, named for what they show; `targets/` holds the code that runs
//! them.

#![cfg(feature = "std")]

use crate::{common::properties, targets};
use proptest::{collection::vec, prelude::*, test_runner::TestRunner};
use std::{fs, path::Path};

/// Replays the stored inputs, then random ones.
fn replay(target: &str, found: usize, run: fn(&[u8])) {
    // Miri reads no files, and is slow.
    if !cfg!(miri) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found").join(target);
        let mut inputs = 0;
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            run(&fs::read(&path).unwrap());
            inputs += 1;
        }
        assert_eq!(inputs, found, "inputs in {}", folder.display());
    }
    let (cases, most) = if cfg!(miri) { (2, 120) } else { (400, 800) };
    let cases = if cfg!(ebbtide_asan) { 100 } else { cases };
    let outcome = TestRunner::new(properties(cases)).run(&vec(any::<u8>(), 0..most), |bytes| {
        run(&bytes);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{target}: {failure}"));
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
