//! A layer for `tower` services, which axum, tonic and hyper use.
#![forbid(unsafe_code)]

use crate::{ArenaFuture, Options};
use core::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A [`Layer`] that answers each request in an [`ArenaFuture`] (feature `tower`).
///
/// Everything that handlers allocate while they are polled comes from an arena: for extracting,
/// computing and serializing. Only the service's `call`, which creates the future, and the
/// streaming of a response's body run outside of the arena.
///
/// Change state that outlives the request, such as a session, with [`outside`](crate::outside), so
/// that its memory comes from the inner allocator.
///
/// ```
/// use axum::{Router, routing::post};
/// use ebbtide_global::{ArenaLayer, Options, Scoped};
/// use std::alloc::System;
///
/// #[global_allocator]
/// static ALLOC: Scoped<System> = Scoped::new(System);
///
/// let router: Router = Router::new()
///     .route("/words", post(async |text: String| text.split(' ').count().to_string()))
///     .layer(ArenaLayer::with(Options::new().label("request")));
/// # let _ = router;
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub struct ArenaLayer {
    options: Options,
}

impl ArenaLayer {
    /// Answers requests in scopes like those of [`arena`](crate::arena).
    ///
    /// ```
    /// use axum::{Router, routing::get};
    /// use ebbtide_global::ArenaLayer;
    ///
    /// let router: Router = Router::new().route("/", get(async || "ebb")).layer(ArenaLayer::new());
    /// # let _ = router;
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        ArenaLayer::with(Options::new())
    }

    /// Answers requests in scopes like those of [`arena_with`](crate::arena_with).
    ///
    /// ```
    /// use ebbtide_global::{ArenaLayer, Options};
    ///
    /// let layer = ArenaLayer::with(Options::new().label("request").byte_limit(16 << 20));
    /// # let _ = layer;
    /// ```
    #[must_use]
    pub const fn with(options: Options) -> Self {
        ArenaLayer { options }
    }
}

impl<S> Layer<S> for ArenaLayer {
    type Service = ArenaService<S>;

    fn layer(&self, inner: S) -> ArenaService<S> {
        ArenaService { options: self.options, inner }
    }
}

/// A service wrapped by [`ArenaLayer`] (feature `tower`).
///
/// ```
/// use ebbtide_global::{ArenaLayer, ArenaService};
/// use tower_layer::Layer;
///
/// /// Any service, such as one that answers requests.
/// struct Answer;
///
/// let service: ArenaService<Answer> = ArenaLayer::new().layer(Answer);
/// # let _ = service;
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub struct ArenaService<S> {
    options: Options,
    inner: S,
}

impl<S: Service<Request>, Request> Service<Request> for ArenaService<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = ArenaFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        ArenaFuture::with(self.options, self.inner.call(request))
    }
}
