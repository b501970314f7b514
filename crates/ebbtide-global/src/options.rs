//! What a scope serves.
#![forbid(unsafe_code)]

/// What a scope serves; for [`arena_with`](crate::arena_with). What it does not serve comes from
/// the inner allocator and is counted in the [report](crate::report), by the reason.
///
/// ```
/// use ebbtide_global::{Options, arena_with};
///
/// let options = Options::new().byte_limit(64 << 20).label("import");
/// let lines = arena_with(&options, || "a\nb\nc".lines().map(String::from).collect::<Vec<_>>().len());
/// assert_eq!(lines, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Options {
    pub(crate) min_size: usize,
    pub(crate) max_size: usize,
    pub(crate) byte_limit: usize,
    pub(crate) label: Option<&'static str>,
}

impl Options {
    /// Every size up to 1 GiB, as many bytes as there are, no label: what [`arena`](crate::arena)
    /// does.
    #[inline]
    pub const fn new() -> Self {
        Options { min_size: 0, max_size: usize::MAX, byte_limit: usize::MAX, label: None }
    }

    /// Blocks of fewer bytes come from the inner allocator. 0 unless it is set: small blocks gain
    /// most.
    #[inline]
    pub const fn min_size(mut self, bytes: usize) -> Self {
        self.min_size = bytes;
        self
    }

    /// Blocks of more bytes come from the inner allocator, as do those above 1 GiB whatever is set.
    #[inline]
    pub const fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// The scope takes no more bytes than this from its arena; scopes inside of it have limits of
    /// their own. Where a request does not fit any more it comes from the inner allocator. A freed
    /// block makes room only where its memory is used again at once: the last one of a chunk, and
    /// those above 8 KiB.
    #[inline]
    pub const fn byte_limit(mut self, bytes: usize) -> Self {
        self.byte_limit = bytes;
        self
    }

    /// Whether every size is served, without a limit.
    #[inline]
    pub(crate) fn serves_all(&self) -> bool {
        (Options { label: None, ..*self }) == Options::new()
    }

    /// A name under which the [report](crate::report) keeps figures of their own. Meant for a few
    /// fixed names.
    #[inline]
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}
