//! A future that is polled in scopes.

use crate::{
    Options,
    calls::{Guard, site_of},
};
use core::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

/// A future that is polled in scopes: each poll opens a scope and ends it.
///
/// The future may move between threads. What it keeps from one poll to the next stays valid, like
/// everything that outlives its scope. The [report](crate::report) counts the future as one scope,
/// at the end of its first poll.
///
/// ```
/// use ebbtide_global::{ArenaFuture, Scoped};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// async fn answer(question: &str) -> usize {
///     question.split(' ').map(String::from).collect::<Vec<_>>().len()
/// }
///
/// # use std::{pin::pin, task::{Context, Poll, Waker}};
/// let mut future = pin!(ArenaFuture::new(answer("how many words are these")));
/// # let mut context = Context::from_waker(Waker::noop());
/// let polled = future.as_mut().poll(&mut context);
/// # use std::future::Future;
/// assert_eq!(polled, Poll::Ready(5));
/// ```
#[must_use = "futures do nothing unless they are polled"]
pub struct ArenaFuture<F> {
    options: Options,
    is_polled: bool,
    future: F,
}

impl<F> ArenaFuture<F> {
    /// Polls `future` in scopes like those of [`arena`](crate::arena).
    ///
    /// ```
    /// use ebbtide_global::{ArenaFuture, Scoped};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// async fn words(text: &str) -> usize {
    ///     text.split(' ').map(String::from).collect::<Vec<_>>().len()
    /// }
    ///
    /// let future = ArenaFuture::new(words("ebb and flow"));
    /// # drop(future);
    /// ```
    pub const fn new(future: F) -> Self {
        ArenaFuture::with(Options::new(), future)
    }

    /// Polls `future` in scopes like those of [`arena_with`](crate::arena_with).
    ///
    /// ```
    /// use ebbtide_global::{ArenaFuture, Options, Scoped};
    /// use std::alloc::System;
    ///
    /// #[global_allocator]
    /// static ALLOC: Scoped<System> = Scoped::new(System);
    ///
    /// let options = Options::new().label("import").byte_limit(64 << 20);
    /// let future = ArenaFuture::with(options, async { vec![0; 1 << 20].len() });
    /// # drop(future);
    /// ```
    pub const fn with(options: Options, future: F) -> Self {
        ArenaFuture { options, is_polled: false, future }
    }
}

impl<F> fmt::Debug for ArenaFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaFuture").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<F: Future> Future for ArenaFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` is never moved: it is only accessed through the pin made below,
        // `ArenaFuture` has no `Drop`, and it is `Unpin` only if `F` is.
        let this = unsafe { self.get_unchecked_mut() };
        let _guard = Guard::open(
            &this.options,
            site_of(&this.future),
            mem::replace(&mut this.is_polled, true),
        );
        // SAFETY: `this` is pinned, and so is its future, as argued above.
        unsafe { Pin::new_unchecked(&mut this.future) }.poll(context)
    }
}
