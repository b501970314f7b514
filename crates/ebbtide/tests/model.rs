//! Claim: live blocks never overlap and keep every byte, for any sequence of operations.
//!
//! The operations and the model are in `common/model.rs`, as a fuzz target.

#![cfg(feature = "std")]

use crate::targets::model;
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, FileFailurePersistence},
};

fn config() -> Config {
    // `PROPTEST_CASES` takes precedence.
    let cases = if cfg!(miri) { 8 } else { 512 };
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let mut config = Config { cases, ..Config::default() };
    config.failure_persistence = if cfg!(miri) {
        None
    } else {
        Some(Box::new(FileFailurePersistence::WithSource("regressions")))
    };
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_operations_agree_with_the_model(
        start in any::<[u8; 2]>(),
        operations in vec(any::<[u8; 4]>(), 0..200),
    ) {
        let mut bytes = start.to_vec();
        bytes.extend(operations.as_flattened());
        model::run(&bytes);
    }
}

/// What failed once, kept here rather than in a file of seeds, which mean nothing to a later
/// version.
#[test]
fn sequences_that_failed_once_agree_with_the_model() {
    // A child of a buffer at an odd address begins at a multiple of 16: what that skips is in use.
    model::run(&[0, 3, 160, 0, 0, 0, 160, 0, 0, 0]);
}
