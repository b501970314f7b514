//! What a scope does with requests. Safe code over plain values; `Owner::set_mode` installs the mode of the innermost scope in the words of the fast paths.
#![forbid(unsafe_code)]

/// The least number of requests that a paused scope leaves to the inner allocator before it asks for
/// memory again.
pub(crate) const RETRY: u32 = 512;

/// The mode of a scope. Its parts are independent: `enter_outside` may close a scope that is paused. All-zero bytes are the mode in which a scope begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Whether the scope's options exclude some small blocks, so that only the slow path serves
    /// requests.
    pub(crate) is_selective: bool,
    /// The number of nested calls to `enter_outside` in the scope.
    pub(crate) outside_depth: u32,
    /// Whether the scope is long, and its requests are skipped because they do not pay.
    pub(crate) skips: bool,
    /// If the scope is paused, because the memory bound refused it a chunk: the number of requests
    /// that the inner allocator serves before the scope asks for memory again. Otherwise 0.
    pub(crate) retry_after: u32,
}

impl Mode {
    /// Bumps in every request.
    pub(crate) const PLAIN: Mode =
        Mode { is_selective: false, outside_depth: 0, skips: false, retry_after: 0 };

    /// Whether `enter_outside` closed the scope.
    pub(crate) fn is_outside(self) -> bool {
        self.outside_depth > 0
    }

    /// Whether the scope is closed to requests.
    pub(crate) fn is_closed(self) -> bool {
        self.is_outside() || self.skips || self.retry_after > 0
    }

    /// Whether the fast paths may serve small requests of a scope that is not closed.
    pub(crate) fn is_fast(self) -> bool {
        !self.is_selective && !self.is_outside() && !self.skips
    }
}
