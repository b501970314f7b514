//! Roots lent by a pool. Their allocations live as long as the pool is borrowed.

use crate::{
    backing::{Backing, Heap},
    error::AllocError,
    pool::{Pool, RootLoan},
    scope::Scope,
    stats::Stats,
};
use core::{convert::Infallible, fmt, ptr};

impl<B: Backing + Clone> Pool<B> {
    /// Lends the root of an arena. Its allocations outlive the loan: they live as long as the pool
    /// is borrowed, until [`reset`](Pool::reset). The next loan of a root continues behind it.
    ///
    /// # Panics
    ///
    /// Never. A heap without memory for a new arena is reported to `handle_alloc_error`.
    ///
    /// ```
    /// use ebbtide::Pool;
    /// use std::thread;
    ///
    /// let pool = Pool::new();
    /// let words: Vec<&mut str> = thread::scope(|threads| {
    ///     let workers = [1, 2, 3].map(|n| {
    ///         let pool = &pool;
    ///         threads.spawn(move || pool.root().scope().alloc_fmt(format_args!("word {n}")))
    ///     });
    ///     workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    /// });
    /// assert_eq!(words, ["word 1", "word 2", "word 3"]);
    /// ```
    #[must_use]
    pub fn root(&self) -> PooledRoot<'_, B> {
        let Ok(loan) = self.lend_root::<Infallible>();
        PooledRoot { loan }
    }

    /// Fallible version of [`root`](Pool::root).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if no arena is idle and the heap has no memory for a new one.
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// assert_eq!(*pool.try_root()?.try_scope()?.alloc(1), 1);
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_root(&self) -> Result<PooledRoot<'_, B>, AllocError> {
        Ok(PooledRoot { loan: self.lend_root()? })
    }
}

/// The root of an arena, lent by a [`Pool`]; see [`Pool::root`]. Dropping it gives the arena back,
/// with what it holds.
///
/// ```
/// let pool = ebbtide::Pool::new();
/// let one = pool.root().scope().alloc(1);
/// let two = pool.root().scope().alloc(2); // the same arena
/// assert_eq!(*one + *two, 3);
/// ```
pub struct PooledRoot<'p, B: Backing = Heap> {
    loan: RootLoan<'p, B>,
}

impl<'p, B: Backing> PooledRoot<'p, B> {
    /// The scope. Its allocations live as long as the pool is borrowed. A collection also borrows the
    /// scope, so first bind the root to a variable: `pool.root().scope().vec()` is error E0716.
    ///
    /// # Panics
    ///
    /// Never. A backing without memory for the first chunk is reported to `handle_alloc_error`.
    ///
    /// ```
    /// fn greet<'p>(pool: &'p ebbtide::Pool, name: &str) -> &'p str {
    ///     let root = pool.root();
    ///     let s = root.scope();
    ///     s.alloc_fmt(format_args!("hello {name}"))
    /// }
    /// let pool = ebbtide::Pool::new();
    /// assert_eq!(greet(&pool, "sea"), "hello sea");
    /// ```
    #[must_use]
    pub fn scope(&self) -> &Scope<'p> {
        self.outliving(self.loan.arena().root())
    }

    /// Fallible version of [`scope`](PooledRoot::scope).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no first chunk and the backing refuses one.
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// let root = pool.root();
    /// assert_eq!(root.try_scope()?.try_alloc_str("ebb")?, "ebb");
    /// # Ok::<(), ebbtide::AllocError>(())
    /// ```
    pub fn try_scope(&self) -> Result<&Scope<'p>, AllocError> {
        Ok(self.outliving(self.loan.arena().try_root()?))
    }

    /// The root with the lifetime of what it allocates.
    fn outliving<'s>(&'s self, root: &'s Scope<'_>) -> &'s Scope<'p> {
        let root = ptr::from_ref(root).cast::<Scope<'p>>();
        // SAFETY: only the lifetime of the allocations differs. Their memory is the arena's. As
        // long as the pool is borrowed for `'p`, the arena is this root's, in the stack of rooted
        // arenas or another root's, and none of them frees, resets or scopes it: `Pool::reset` and
        // dropping the pool borrow it exclusively. A forgotten root leaks its arena. Blocks of a
        // backing stay where they are when the arena moves to another thread.
        unsafe { &*root }
    }

    /// Limits the number of bytes that the arena may hold of its backing until the loan ends;
    /// `None` for no limit. Those of earlier loans of this arena count as well. Chunks that it
    /// holds already stay.
    ///
    /// ```
    /// # let pool = ebbtide::Pool::new();
    /// let root = pool.root();
    /// root.set_limit(Some(100_000));
    /// let s = root.scope();
    /// assert!(s.try_alloc_slice_fill_copy(200_000, 0u8).is_err());
    /// assert!(s.try_alloc_slice_fill_copy(50_000, 0u8).is_ok());
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.loan.arena().set_limit(bytes);
    }

    /// Statistics of the arena; see [`Arena::stats`](crate::Arena::stats).
    ///
    /// ```
    /// let pool = ebbtide::Pool::new();
    /// let root = pool.root();
    /// root.scope().alloc([0u8; 100]);
    /// assert_eq!(root.stats().used, 100);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.loan.arena().stats()
    }
}

impl<B: Backing> fmt::Debug for PooledRoot<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledRoot").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
