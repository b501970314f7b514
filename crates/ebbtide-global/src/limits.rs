//! How much memory the engine may hold, where it keeps it, and for how long.
//!
//! `memory/held` says how the bound is made from these, and what is promised to users.
#![forbid(unsafe_code)]

/// The constant part of the bound that is enforced, unless [`retain`](crate::retain) set more.
pub(crate) const RETAINED: usize = 6 << 20;

/// The part of the bound for each owner.
pub(crate) const PER_OWNER: usize = 1 << 20;

/// The most bytes of the bound that are reserved for scopes that keep nothing: as many as such scopes
/// have in a new process.
pub(crate) const RESERVE: usize = RETAINED;

/// The constant part of the promise, unless [`retain`](crate::retain) set more.
pub(crate) const PROMISED: usize = 16 << 20;

/// The part of the promise for each thread.
pub(crate) const PROMISED_PER_THREAD: usize = 4 << 20;

/// The number of diverted bytes, and of those of the reserve, that do not lower the bound, because
/// the promise leaves room for them.
pub(crate) const UNCOUNTED: usize = PROMISED - RETAINED;

/// Pools keep no more than this unless the helper thread will give it back. It runs while more is
/// held.
pub(crate) const UNWATCHED: usize = 12 << 20;

/// The most bytes that the runs in one owner's cache hold.
pub(crate) const MAX_CACHED: usize = 1 << 20;

/// The most bytes that blocks leave behind their ends when they shrink. So a program that shrinks its
/// temporary buffers does not fault the same pages in again and again.
pub(crate) const MAX_SLACK: usize = 1 << 20;

/// The most bytes that go back to the system in one call. During the call, other threads cannot
/// reserve addresses.
pub(crate) const MAX_JOINED: usize = 16 << 20;

/// The most memory beyond its needs that a large block takes where memory is short.
pub(crate) const MAX_SURPLUS: usize = 16 << 10;

/// The bytes that an owner serves between two observations of the whole program's live bytes.
pub(crate) const OBSERVE_EVERY: u64 = 256 << 10;

/// The length of a window in milliseconds. The recent past is the current window and the one
/// before. What was not needed in a window goes back to the system.
pub(crate) const WINDOW_MS: u64 = 1000;

/// Each window forgets one in this many of the diverted bytes.
pub(crate) const FORGOTTEN: usize = 16;

/// How much later than announced the helper thread may look, in milliseconds.
pub(crate) const GRACE_MS: u64 = 300;
