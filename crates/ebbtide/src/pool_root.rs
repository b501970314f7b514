//! Roots lent by a pool. Their allocations live as long as the pool is borrowed.

use crate::{
    backing::{Backing, Heap},
    error::AllocError,
    pool::{Pool, RootLoan},
    scope::Scope,
};
use core::{convert::Infallible, fmt, ops::Deref, ptr};

impl<B: Backing + Clone> Pool<B> {
    /// Lends the root of an arena. Its allocations outlive the loan: they live as long as the pool
    /// is borrowed, until [`reset`](Pool::reset). The next loan of a root continues behind it.
    ///
    /// # Panics
    ///
    /// Never. A heap without memory for a new arena or its first chunk is reported to
    /// `handle_alloc_error`.
    ///
    /// ```
    /// use ebbtide::Pool;
    /// use std::thread;
    ///
    /// let pool = Pool::new();
    /// let words: Vec<&mut str> = thread::scope(|threads| {
    ///     let workers = [1, 2, 3].map(|n| {
    ///         let pool = &pool;
    ///         threads.spawn(move || pool.root().alloc_fmt(format_args!("word {n}")))
    ///     });
    ///     workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    /// });
    /// assert_eq!(words, ["word 1", "word 2", "word 3"]);
    /// ```
    pub fn root(&self) -> PooledRoot<'_, B> {
        let Ok(loan) = self.lend_root::<Infallible>();
        let _ = loan.arena().root(); // makes the first chunk
        PooledRoot { loan }
    }

    /// Fallible version of [`root`](Pool::root).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if no arena is idle and the heap has no memory for a new one, or if there is no
    /// first chunk and the backing refuses one.
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// assert_eq!(*pool.try_root()?.try_alloc(1)?, 1);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_root(&self) -> Result<PooledRoot<'_, B>, AllocError> {
        let loan = self.lend_root::<AllocError>()?;
        let _ = loan.arena().try_root()?;
        Ok(PooledRoot { loan })
    }
}

/// The root of an arena, lent by a [`Pool`]; see [`Pool::root`]. Dropping it gives the arena back,
/// with what it holds.
///
/// It dereferences to a scope whose allocations live as long as the pool is borrowed. A collection also
/// borrows the root, so first bind the root to a variable: `pool.root().vec()` is error E0716.
///
/// ```
/// use ebbtide::{Pool, Scope};
///
/// fn greet<'a>(s: &Scope<'a>, name: &str) -> &'a str {
///     s.alloc_fmt(format_args!("hello {name}"))
/// }
///
/// let pool = Pool::new();
/// let hello = greet(&pool.root(), "sea");
/// let two = pool.root().alloc(2); // in the same arena
/// assert_eq!((hello, *two), ("hello sea", 2));
/// ```
#[must_use]
pub struct PooledRoot<'p, B: Backing = Heap> {
    loan: RootLoan<'p, B>,
}

impl<B: Backing> PooledRoot<'_, B> {
    /// Limits the number of bytes that the arena may hold of its backing until the loan ends;
    /// `None` for no limit. Those of earlier loans of this arena count as well. Chunks that it
    /// holds already stay.
    ///
    /// ```
    /// # let pool = ebbtide::Pool::new();
    /// let root = pool.root();
    /// root.set_limit(Some(100_000));
    /// assert!(root.try_alloc_slice_fill_copy(200_000, 0u8).is_err());
    /// assert!(root.try_alloc_slice_fill_copy(50_000, 0u8).is_ok());
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.loan.arena().set_limit(bytes);
    }
}

impl<'p, B: Backing> Deref for PooledRoot<'p, B> {
    type Target = Scope<'p>;

    fn deref(&self) -> &Scope<'p> {
        let root = ptr::from_ref(self.loan.arena().root()).cast::<Scope<'p>>();
        // SAFETY: only the lifetime of the allocations differs. Their memory is the arena's. As
        // long as the pool is borrowed for `'p`, the arena is this root's, in the stack of rooted
        // arenas or another root's, and none of them frees, resets or scopes it: `Pool::reset` and
        // dropping the pool borrow it exclusively. A forgotten root leaks its arena. Blocks of a
        // backing stay where they are when the arena moves to another thread.
        unsafe { &*root }
    }
}

impl<B: Backing> fmt::Debug for PooledRoot<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledRoot").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
