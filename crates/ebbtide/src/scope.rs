//! The scope: a cursor held by value. Claims and checkpoints.
//!
//! The methods that allocate are in files of their own, one for each kind of result: `value`,
//! `slice`, `string`, `boxed`.

use crate::{
    arith::CHUNK_ALIGN,
    chunk::{self, ControlRef},
    error::{AllocError, Failure},
    raw::{self, Cursor, Mark},
    stats::Stats,
    threads::{SentToThreads, SharedByThreads},
};
use core::{
    convert::Infallible,
    fmt,
    marker::PhantomData,
    panic::{RefUnwindSafe, UnwindSafe},
};

/// A region of memory whose allocations end together.
///
/// A scope is three words by value. It owns nothing and has no destructor, so `return`, `?`,
/// `break`, a panic, `mem::forget` and `mem::swap` are all free and correct. Memory allocated in a
/// `Scope<'a>` lives for `'a`: until the borrow of the arena or of the parent (the *loan*) ends,
/// not until the variable is dropped.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let mut outer = arena.scope();
/// let kept = outer.alloc(1);
/// {
///     let inner = outer.scope(); // `outer` is frozen while `inner` lives
///     inner.alloc_str("gone after this block");
/// }
/// *kept += 1;
/// assert_eq!(*kept, 2);
/// ```
///
/// # What to call
///
/// | for | call |
/// |---|---|
/// | a value | [`alloc`](Scope::alloc), [`alloc_with`](Scope::alloc_with) |
/// | a slice | [`alloc_slice_copy`](Scope::alloc_slice_copy), [`alloc_slice_fill_with`](Scope::alloc_slice_fill_with), [`alloc_slice_from_iter`](Scope::alloc_slice_from_iter) |
/// | text | [`alloc_str`](Scope::alloc_str), [`alloc_fmt`](Scope::alloc_fmt) |
/// | a value whose destructor runs | [`boxed`](Scope::boxed), [`boxed_slice_from_iter`](Scope::boxed_slice_from_iter) |
/// | vectors and strings that grow, any number at a time | [`vec`](Scope::vec), [`string`](Scope::string) |
/// | one at a time, faster | [`grow_vec`](Scope::grow_vec), [`grow_string`](Scope::grow_string) |
/// | maps and sets (feature `hashbrown-017`) | `map`, `set` |
/// | arrays of numbers (feature `ndarray-017`) | `zeros`, `array_from_shape_fn` |
/// | memory without a type | [`alloc_uninit`](Scope::alloc_uninit), [`alloc_layout`](Scope::alloc_layout) |
/// | a scope within this one | [`scope`](Scope::scope); [`claim`](Scope::claim) while collections borrow this one |
///
/// Each call that may end the program has a `try_` version, which returns
/// [`AllocError`](crate::AllocError) instead.
///
/// # Destructors
///
/// A scope runs no destructors, so what would leak is rejected at compile time:
/// [`alloc`](Scope::alloc) of a type that needs `Drop`, and a [`vec`](Scope::vec) of such elements.
/// The error appears when code is generated, in `cargo build` and `cargo test`; **`cargo check`
/// does not see it.** It begins in this crate, and its last note names your line.
///
/// - [`boxed`](Scope::boxed) runs the destructor when the box is dropped, a
///   [`DropArena`](crate::DropArena) when the arena is dropped, [`owned_vec`](Scope::owned_vec)
///   when the vector is dropped.
/// - [`alloc_leaked`](Scope::alloc_leaked) runs none.
/// - References, slices and this crate's collections need none: `&'a str` and
///   [`NodeVec`](crate::collections::NodeVec) suit the nodes of a tree.
///
/// # Speed
///
/// A scope that is a local variable keeps its cursor in registers, unless the function passes its
/// address to a call that is not inlined. One such call that takes `&Scope` puts the cursor in
/// memory, which costs a load and a store for each allocation.
///
/// # Threads and futures
///
/// A scope is `Send` and not `Sync`. A future may own a scope and hold it across `.await`. A future
/// that holds `&Scope` across it is not `Send`: take `&mut Scope` there, and bind an awaited value
/// before allocating it (`let v = f().await; s.alloc(v)`, not `s.alloc(f().await)`).
#[must_use]
#[repr(transparent)]
pub struct Scope<'a> {
    cursor: Cursor,
    loan: PhantomData<&'a ()>,
}

// SAFETY: only this scope uses its list of chunks (I4), the arena it borrows cannot be touched
// meanwhile, and the backing that the slow path calls is `Send`. A scope writes values but never
// reads or drops them: the reference to a value stays with the code that allocated it, on the
// thread it belongs to.
unsafe impl Send for Scope<'_> {}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl Sync for Scope<'_> where Self: SharedByThreads {}

// Only the user's code and the backing can panic, and the cursor is consistent while they run.
impl UnwindSafe for Scope<'_> {}
impl RefUnwindSafe for Scope<'_> {}

impl<'a> Scope<'a> {
    #[inline(always)]
    pub(crate) const fn new(cursor: Cursor) -> Self {
        Scope { cursor, loan: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Opens a child scope. This scope is frozen until the child's loan ends; then everything that
    /// the child allocated is free again. Costs three loads, or nothing where the words are in
    /// registers.
    ///
    /// The child begins at a multiple of 16, so it cannot use up to 15 of the last free bytes.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let mut s = arena.scope();
    /// let kept = s.alloc(1);
    /// for n in 0..3 {
    ///     let child = s.scope();
    ///     *kept += child.alloc_slice_fill_copy(1000, n).len(); // free again after each turn
    /// }
    /// assert_eq!(*kept, 3001);
    /// ```
    #[inline(always)]
    pub fn scope(&mut self) -> Scope<'_> {
        // SAFETY: the child borrows this scope exclusively, and so do its allocations (I4).
        Scope::new(unsafe { self.cursor.fork_with_room() })
    }

    /// Opens a child scope through a shared reference, for use while a vector or a map borrows this
    /// scope. Both can allocate, because the child has chunks of its own. Its allocations live
    /// as long as the [`Claim`] is borrowed. If you have a `&mut`, [`scope`](Scope::scope) costs
    /// less.
    ///
    /// At first, a claim takes a spare chunk of the arena, or a new one of 448 bytes. Later it
    /// holds about twice the bytes that are allocated in it. The chunks behind this scope's chunk
    /// become spare.
    ///
    /// Claims of any sizes, in any order, hold at most four times the most bytes that were ever allocated
    /// at once, counting 512 for each open claim, and two chunks: spare chunks beyond that go back to the
    /// backing when another chunk is requested. Sizes that repeat, or rise slowly, take a chunk of the
    /// backing now and then, not in each turn. With a limit, spare chunks go back before a request
    /// is refused.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let kept = s.alloc(1);
    /// for turn in 0..10 {
    ///     let claim = s.claim();
    ///     let scratch = claim.scope().alloc([turn; 100]);
    ///     *kept += scratch[99];
    /// } // the same chunk serves every turn
    /// assert_eq!(*kept, 46);
    /// ```
    #[inline]
    pub fn claim(&self) -> Claim<'_> {
        let Ok(claim) = self.claim_in::<Infallible>();
        claim
    }

    /// Fallible version of [`claim`](Scope::claim).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no spare chunk and the backing refuses one, as it always does in
    /// a [`Fixed`](crate::Fixed) without a spill. The chunks behind this scope's are spare then.
    ///
    /// ```
    /// # let mut small = ebbtide::StackArena::<16>::new();
    /// # let s = small.scope();
    /// assert!(s.try_claim().is_err()); // a claim needs a chunk of its own
    /// ```
    #[inline]
    pub fn try_claim(&self) -> Result<Claim<'_>, AllocError> {
        self.claim_in()
    }

    fn claim_in<F: Failure>(&self) -> Result<Claim<'_>, F> {
        let Ok(first) = chunk::claim(self.cursor.chunk()) else {
            if F::DIVERGES {
                raw::out_of_memory(chunk::overhead(0), CHUNK_ALIGN);
            }
            return Err(F::refused());
        };
        // SAFETY: the list was made for this claim, so nobody else is in it (I1, I4). The claim
        // borrows this scope, and so the arena (I0).
        let cursor = unsafe { Cursor::over(first) };
        Ok(Claim {
            scope: Scope::new(cursor),
            #[cfg(doc)]
            stays: PhantomData,
        })
    }

    /// Makes sure that the current chunk or the next one has room for `bytes` bytes. Blocks of that
    /// total size, padding included, are then allocated without a call of the backing. A vector counts
    /// one byte more than its elements.
    ///
    /// # Panics
    ///
    /// If `bytes` exceeds what an allocation can have. A backing without memory is reported to
    /// `handle_alloc_error`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// s.reserve(100_000);
    /// let held = s.stats().held;
    /// s.alloc_slice_fill_copy(100_000, 0u8);
    /// assert_eq!(s.stats().held, held);
    /// ```
    #[inline]
    pub fn reserve(&self, bytes: usize) {
        let Ok(()) = self.reserve_in::<Infallible>(bytes);
    }

    /// Fallible version of [`reserve`](Scope::reserve).
    ///
    /// # Errors
    ///
    /// [`AllocError`]; nothing has changed.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// assert!(s.try_reserve(usize::MAX).is_err());
    /// ```
    #[inline]
    pub fn try_reserve(&self, bytes: usize) -> Result<(), AllocError> {
        self.reserve_in(bytes)
    }

    fn reserve_in<F: Failure>(&self, bytes: usize) -> Result<(), F> {
        if bytes <= self.cursor.free() {
            return Ok(());
        }
        if bytes > isize::MAX as usize {
            return Err(F::too_large());
        }
        if self.cursor.reserve_behind(bytes).is_err() {
            if F::DIVERGES {
                raw::out_of_memory(bytes, 1);
            }
            return Err(F::refused());
        }
        Ok(())
    }

    /// Whether `value` begins in memory of the arena that this scope belongs to, in use or not.
    /// Walks the chunks.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let inside = s.alloc(1);
    /// assert!(s.contains(inside) && !s.contains(&2));
    /// ```
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: *const T) -> bool {
        self.cursor.control().contains(value.addr())
    }

    /// Statistics of the arena, and the bytes in use up to this scope: the allocations of its
    /// ancestors and its own; in a [`Claim`] and its descendants, those since the claim. Walks the
    /// chunks.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// s.alloc([0u8; 100]);
    /// assert_eq!(s.stats().used, 100);
    /// ```
    #[inline]
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats_of(self.cursor.control())
    }

    #[inline]
    pub(crate) fn stats_of(&self, control: ControlRef<'_>) -> Stats {
        Stats::of(control, self.cursor.used())
    }

    /// Records the position of this scope, for [`rewind`](Scope::rewind). For other languages and
    /// frameworks: in Rust a child scope does the same and is checked by the compiler.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let start = s.checkpoint();
    /// s.alloc([0u64; 10]);
    /// // SAFETY: taken from this scope, and the array is not used again.
    /// unsafe { s.rewind(start) };
    /// assert_eq!(s.stats().used, 0);
    /// ```
    #[inline]
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { mark: self.cursor.mark() }
    }

    /// Frees everything that was allocated since `checkpoint` was taken.
    ///
    /// # Safety
    ///
    /// - `checkpoint` was taken from this very scope, and checkpoints are rewound last in, first
    ///   out.
    /// - Nothing that was allocated, grown or moved since then is used again.
    /// - This is not called from a closure or iterator that a method of this scope is running, and
    ///   no builder and no claim of it is open.
    /// - No memory that was allocated at the time of the checkpoint has been given back since: by a
    ///   failed initialiser or builder around it, by [`reset`](crate::Arena::reset) or by
    ///   [`trim`](crate::Arena::trim).
    ///
    /// Debug builds assert part of this.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let before = s.checkpoint();
    /// s.alloc([0u8; 100]);
    /// // SAFETY: the checkpoint is the latest of this scope, and nothing allocated since is used.
    /// unsafe { s.rewind(before) };
    /// assert_eq!(s.stats().used, 0);
    /// ```
    #[inline]
    pub unsafe fn rewind(&self, checkpoint: Checkpoint) {
        // SAFETY: by this function's contract, the mark is this scope's and nothing allocated since
        // is used again. As no earlier mark was rewound, its chunk is not behind this scope's, so
        // it was never spare, and a request did not release it (L1). The contract excludes a reset
        // and `trim`.
        unsafe { self.cursor.rewind(checkpoint.mark) };
    }
}

impl fmt::Debug for Scope<'_> {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// A child scope that was opened through a shared reference; see [`Scope::claim`].
///
/// Claims may be dropped in any order. A forgotten claim keeps its chunks, of 448 bytes or about
/// two to four times what was allocated in it, until the arena opens another scope, is reset or dropped.
/// [`Arena::root`](crate::Arena::root) opens none.
///
/// ```
/// let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// let mut longest = s.string(); // borrows `s`, so no child can be opened
/// for word in ["ebb", "flow"] {
///     let claim = s.claim();
///     let upper = claim.scope().alloc_str(word); // free again with the claim
///     upper.make_ascii_uppercase();
///     if upper.len() > longest.len() {
///         longest.clear();
///         longest.push_str(upper);
///     }
/// }
/// assert_eq!(longest, "FLOW");
/// ```
///
/// A claim lends its scope by `&`, not by `&mut`: that could be sent to another thread, and a claim
/// shares chunks with its parent. For a function that takes `&mut Scope`, open an arena over a
/// block of the parent:
///
/// ```
/// use ebbtide::{Arena, Fixed, Heap, Scope};
///
/// fn digits<'a>(s: &mut Scope<'a>, n: u32) -> &'a str {
///     s.keep_str(|s| s.alloc_fmt(format_args!("{n}")))
/// }
///
/// let mut arena = Arena::new();
/// let s = arena.scope();
/// let mut lengths = s.vec(); // borrows `s`
/// let mut inner = Fixed::new(s.alloc_uninit_slice::<u8>(1024)).or_spill(Heap);
/// for n in [1, 22, 333] {
///     lengths.push(digits(&mut inner.scope(), n).len());
/// }
/// assert_eq!(lengths, [1, 2, 3]);
/// ```
#[derive(Debug)]
#[must_use]
pub struct Claim<'s> {
    scope: Scope<'s>,
    /// So that the documentation, which has no `impl Send` below, shows that a claim is not `Send`.
    #[cfg(doc)]
    stays: PhantomData<*mut ()>,
}

// SAFETY: never applies, because nothing implements the bound. The end of a claim changes lists that the
// parent uses, on the parent's thread.
#[cfg(not(doc))]
unsafe impl Send for Claim<'_> where Self: SentToThreads {}

impl Claim<'_> {
    /// The scope. Lent by shared reference only: a scope by value could outlive the claim.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let claim = s.claim();
    /// let inside = claim.scope().alloc(1); // lives as long as `claim`
    /// let beside = s.alloc(2); // lives as long as `arena` is borrowed
    /// assert_eq!(*inside + *beside, 3);
    /// ```
    #[inline(always)]
    pub fn scope(&self) -> &Scope<'_> {
        &self.scope
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // SAFETY: the list was made for this claim, and nothing else uses it: the scope is lent by
        // shared reference only. Its allocations borrow the claim, which ends here.
        unsafe { chunk::end_claim(self.scope.cursor.chunk()) };
    }
}

/// A position in a scope to rewind to; see [`Scope::checkpoint`].
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let before = s.checkpoint(); // taking one is safe
/// s.alloc([0u8; 100]);
/// // SAFETY: the checkpoint is the latest of this scope, and nothing allocated since is used.
/// unsafe { s.rewind(before) };
/// assert_eq!(s.stats().used, 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    mark: Mark,
}

// SAFETY: a checkpoint is three addresses that are not followed without `rewind`, which is unsafe
// and takes the scope.
unsafe impl Send for Checkpoint {}
// SAFETY: threads that share a checkpoint can only copy its addresses.
unsafe impl Sync for Checkpoint {}
