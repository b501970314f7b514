//! Scopes, and the warm blocks of arenas, that can be switched off.

use ebbtide::warm;
use ebbtide_global::{ArenaFuture, Options, arena, arena_with};
use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
};

static ARE_ON: AtomicBool = AtomicBool::new(true);

/// Sets whether [`scope`] and the functions below open scopes, or only call the closure, and whether
/// blocks of dropped arenas stay warm.
pub fn switch(on: bool) {
    ARE_ON.store(on, Ordering::Relaxed);
    warm::set_limit(if on { usize::MAX } else { 0 });
}

/// Whether scopes are opened.
#[inline]
pub fn are_on() -> bool {
    ARE_ON.load(Ordering::Relaxed)
}

/// [`arena`], unless scopes are off.
#[inline]
#[track_caller]
pub fn scope<R>(f: impl FnOnce() -> R) -> R {
    if are_on() { arena(f) } else { f() }
}

/// [`arena_with`], unless scopes are off.
#[inline]
pub fn scope_with<R>(options: &Options, f: impl FnOnce() -> R) -> R {
    if are_on() { arena_with(options, f) } else { f() }
}

/// [`outside`](ebbtide_global::outside), unless scopes are off.
#[inline]
pub fn unscoped<R>(f: impl FnOnce() -> R) -> R {
    if are_on() { ebbtide_global::outside(f) } else { f() }
}

/// A future that is polled in scopes, unless scopes are off.
pub fn polled<F>(future: F) -> Pin<Box<dyn Future<Output = F::Output> + Send>>
where
    F: Future + Send + 'static,
{
    if are_on() { Box::pin(ArenaFuture::new(future)) } else { Box::pin(future) }
}
