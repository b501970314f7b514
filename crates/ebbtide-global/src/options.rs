//! The options of a scope.
#![forbid(unsafe_code)]

/// Options of a scope, for [`arena_with`](crate::arena_with): which requests it serves. All other
/// requests go to the inner allocator, and the [report](crate::report) counts them by reason.
///
/// ```
/// use ebbtide_global::{Options, arena_with};
///
/// let options = Options::new().byte_limit(64 << 20).label("import");
/// let count = || "a\nb\nc".lines().map(String::from).collect::<Vec<_>>().len();
/// assert_eq!(arena_with(&options, count), 3);
/// ```
///
/// # Memory
///
/// All scopes together hold no more than [`arena`](crate::arena) promises, whatever their options.
/// But a scope with a limit for sizes or bytes cannot use the free memory between blocks that
/// earlier scopes of its thread kept. It uses only the free ends of their chunks. So if blocks
/// outlive it, it costs more memory than a scope without these options. A label does not change how
/// a scope is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Options {
    pub(crate) min_size: usize,
    pub(crate) max_size: usize,
    pub(crate) byte_limit: usize,
    pub(crate) label: Option<&'static str>,
    pub(crate) site: Option<u32>,
}

impl Options {
    /// The options of [`arena`](crate::arena): all sizes up to 1 GiB, no byte limit and no label.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    /// assert_eq!(arena_with(&Options::new(), || vec![1, 2, 3].len()), 3);
    /// ```
    #[inline]
    pub const fn new() -> Self {
        Options {
            min_size: 0,
            max_size: usize::MAX,
            byte_limit: usize::MAX,
            label: None,
            site: None,
        }
    }

    /// Sets the smallest size that the scope serves; smaller blocks come from the inner allocator.
    /// The default is 0, because small blocks gain most from an arena.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    ///
    /// // Blocks below 64 bytes come from the inner allocator.
    /// let text = arena_with(&Options::new().min_size(64), || "ebb".repeat(100));
    /// assert_eq!(text.len(), 300);
    /// ```
    #[inline]
    pub const fn min_size(mut self, bytes: usize) -> Self {
        self.min_size = bytes;
        self
    }

    /// Sets the largest size that the scope serves; larger blocks come from the inner allocator.
    /// Blocks above 1 GiB always do.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    ///
    /// // Blocks above 4 KiB come from the inner allocator.
    /// let text = arena_with(&Options::new().max_size(4096), || "ebb".repeat(100));
    /// assert_eq!(text.len(), 300);
    /// ```
    #[inline]
    pub const fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// Sets the most bytes that the scope takes from its arena. Nested scopes have limits of their
    /// own. Requests beyond it go to the inner allocator. Freeing a block makes room only if its
    /// memory is reusable at once: if it is the last block of its chunk or larger than 8 KiB.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    ///
    /// // Once the scope has served a megabyte, the inner allocator serves the rest.
    /// let text = arena_with(&Options::new().byte_limit(1 << 20), || "ebb".repeat(100));
    /// assert_eq!(text.len(), 300);
    /// ```
    #[inline]
    pub const fn byte_limit(mut self, bytes: usize) -> Self {
        self.byte_limit = bytes;
        self
    }

    /// Sets the site that the scope belongs to. Scopes of one site are measured together, and
    /// [skipped](crate::arena#scopes-that-do-not-pay) while they are slower than the inner allocator.
    /// By default, the type of the closure or of the future is the site, together with the label. Set
    /// a number for scopes that share both but do different work. With 0, the scope is never skipped.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    ///
    /// let run = |command: u32, f: &dyn Fn() -> usize| arena_with(&Options::new().site(command), f);
    /// assert_eq!(run(1, &|| vec![1, 2, 3].len()), 3);
    /// ```
    #[inline]
    pub const fn site(mut self, number: u32) -> Self {
        self.site = Some(number);
        self
    }

    /// The scope's site, if none is set that of its type and label; 0 if it has neither.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "labels are told apart by their low bits")]
    pub(crate) fn site_or(&self, of_type: u32) -> u32 {
        let label = self.label.map_or(0, |text| text.as_ptr().addr() as u32);
        self.site.unwrap_or(if of_type == 0 { 0 } else { of_type ^ label | 1 })
    }

    /// Sets a name under which the [report](crate::report) has separate figures for these scopes.
    /// Each name takes 72 bytes, which are never freed, and the names are searched one after the
    /// other when a scope is opened. So use a small number of fixed names.
    ///
    /// ```
    /// use ebbtide_global::{Options, arena_with};
    ///
    /// // The report counts the scopes of each label.
    /// let text = arena_with(&Options::new().label("parse"), || "ebb".repeat(100));
    /// assert_eq!(text.len(), 300);
    /// ```
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
