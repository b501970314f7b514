//! Waiting in tests whose verdict must not depend on the machine's load.
//!
//! On a busy machine a thread may stand still for seconds. A test therefore waits until its claim
//! holds, not for a time within which the claim should hold. Only this crate uses the clock; a test
//! of `xtask` checks that.
#![forbid(unsafe_code)]

use std::{
    thread,
    time::{Duration, Instant},
};

/// The time after which a test fails because it would wait for ever. Much longer than any step
/// takes, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Calls `holds` every few milliseconds until it returns true. Returns false if it has not done so
/// within [`PATIENCE`].
pub fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !holds() {
        if start.elapsed() > PATIENCE {
            return false;
        }
        pause(5);
    }
    true
}

/// Waits for at least this many milliseconds. A busy machine may make it any number of seconds.
pub fn pause(milliseconds: u64) {
    thread::sleep(Duration::from_millis(milliseconds));
}
