//! The scope: a cursor held by value, and the checkpoint.
//!
//! The methods that allocate are beside what they make: `value`, `slice`, `string`, `boxed`.

use crate::{
    arith::CHUNK_ALIGN,
    chunk::{self, Control, Header},
    error::{AllocError, Failure},
    raw::{self, Cursor, Words},
    stats::Stats,
};
use core::{
    convert::Infallible,
    fmt,
    marker::PhantomData,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

/// A region of memory whose allocations end together.
///
/// A scope is three words by value. It owns nothing and has no destructor, so that `return`, `?`,
/// `break`, a panic, `mem::forget` and `mem::swap` all leave everything in order. What is allocated in a
/// `Scope<'a>` lives for `'a`: until the *loan* of the arena or of the parent ends, not until the
/// variable goes.
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
/// # Speed
///
/// A scope that is a local variable keeps its cursor in registers, as long as its address is used
/// nowhere out of line in that function. One call that is not inlined and takes `&Scope` puts the
/// cursor in memory, which costs a load and a store an allocation.
///
/// # Threads and futures
///
/// A scope is `Send` and not `Sync`. A future may own a scope and hold it across `.await`; one that
/// holds `&Scope` across it is not `Send`. Take `&mut Scope` there, and bind what is awaited before
/// allocating it: `let v = f().await; s.alloc(v)`, not `s.alloc(f().await)`.
#[repr(transparent)]
pub struct Scope<'a> {
    cursor: Cursor,
    loan: PhantomData<&'a ()>,
}

// SAFETY: a scope is the only one that uses its list of chunks (I4), the arena it borrows cannot be
// touched meanwhile, and the backing that the cold path calls is `Send`. Values are written to it but never
// read back or dropped by it: whoever put one there keeps the reference, on the thread it belongs to.
unsafe impl Send for Scope<'_> {}

// A panic can only pass while the user's own code or the backing runs, and the cursor is whole then.
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

    /// A scope over what is free here. The caller keeps this one from being used while it lives (I4).
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn fork<'child>(&self) -> Scope<'child> {
        Scope::new(self.cursor.fork())
    }

    /// Opens a child. This scope is frozen until the child's loan ends; then all that the child
    /// allocated is free again. Costs three loads, or nothing where the words are in registers.
    ///
    /// The child begins at a multiple of 16, so of the last 15 free bytes it may see none.
    #[inline(always)]
    pub fn scope(&mut self) -> Scope<'_> {
        Scope::new(self.cursor.fork_with_room())
    }

    /// Opens a child through a shared reference, for when something that grows, a vector or a map, borrows
    /// this scope. The child has chunks of its own, and both can be used side by side; what is allocated
    /// in the child lives as long as the [`Claim`] is borrowed. Where a `&mut` can be had,
    /// [`scope`](Scope::scope) costs less.
    ///
    /// Takes a spare chunk of the arena's, or a new one; the chunks behind this scope's become spare.
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

    /// As [`claim`](Scope::claim).
    ///
    /// # Errors
    ///
    /// [`AllocError`] if there is no spare chunk and the backing refuses one; a [`Fixed`](crate::Fixed)
    /// that spills nowhere always does. The chunks behind this scope's are spare then.
    #[inline]
    pub fn try_claim(&self) -> Result<Claim<'_>, AllocError> {
        self.claim_in()
    }

    fn claim_in<F: Failure>(&self) -> Result<Claim<'_>, F> {
        // SAFETY: this scope's cursor is in use.
        let Ok(first) = (unsafe { chunk::claim(self.cursor.chunk()) }) else {
            if F::DIVERGES {
                raw::out_of_memory(chunk::OVERHEAD, CHUNK_ALIGN);
            }
            return Err(F::refused());
        };
        let cursor = raw::cursor_at(first);
        cursor.poison_free();
        Ok(Claim { scope: Scope::new(cursor), first })
    }

    /// What the arena holds, and what is in use up to this scope: its ancestors' allocations and its
    /// own; in a [`Claim`] and its descendants, those since the claim. Walks the chunks.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats_of(self.cursor.control())
    }

    pub(crate) fn stats_of(&self, control: &Control) -> Stats {
        Stats::of(control, &self.cursor)
    }

    /// Notes where this scope stands, for [`rewind`](Scope::rewind). For other languages and for
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
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { mark: self.cursor.mark() }
    }

    /// Frees all that was allocated since `checkpoint` was taken.
    ///
    /// # Safety
    ///
    /// `checkpoint` was taken from this very scope; nothing allocated, grown or moved since is used again;
    /// checkpoints are rewound last in, first out; no method of this scope is running, in whose closure or
    /// iterator this would be; no builder and no claim of it is open; and since the checkpoint was taken
    /// nothing was given back that was there then, by a failed initialiser or builder around it, by
    /// [`reset`](crate::Arena::reset) or by [`trim`](crate::Arena::trim). Debug builds assert what they can
    /// of it.
    pub unsafe fn rewind(&self, checkpoint: Checkpoint) {
        // SAFETY: the caller's promise is the one asked for.
        unsafe { self.cursor.come_back(checkpoint.mark) };
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

/// A child scope that was opened through a shared reference; see [`Scope::claim`].
///
/// Claims may be dropped in any order. One that is forgotten keeps its chunks until the arena is reset
/// or dropped.
#[derive(Debug)]
pub struct Claim<'s> {
    scope: Scope<'s>,
    /// The chunk that the claim's list begins with. A raw pointer, so a claim is not `Send`: its end
    /// touches what the parent uses too.
    first: NonNull<Header>,
}

impl Claim<'_> {
    /// The scope. Only by shared reference: one by value could outlive the claim's own words.
    #[inline(always)]
    #[must_use]
    pub fn scope(&self) -> &Scope<'_> {
        &self.scope
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        // SAFETY: `claim` returned the chunk for this claim, and what was allocated borrows it.
        unsafe { chunk::end_claim(self.first) };
    }
}

/// A place in a scope to go back to; see [`Scope::checkpoint`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    mark: Words,
}

// SAFETY: a checkpoint is three addresses; using them takes the scope and a promise.
unsafe impl Send for Checkpoint {}
// SAFETY: as above.
unsafe impl Sync for Checkpoint {}
