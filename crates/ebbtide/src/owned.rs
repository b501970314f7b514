//! An arena and a value in it, as one value.
//!
//! # Invariants
//!
//! - **W1** The arena of a [`Home`] lies in a block of its own memory. It is neither moved nor reset
//!   while anything refers to its memory, and nobody else has it.
//! - **W2** The value of an [`Owned`] lies in a block of the arena. It is an `F::Of<'a>` for the
//!   arena's lifetime `'a`, which no closure knows. So the value can refer to memory of the arena, and
//!   nothing that lives longer than a borrow of the `Owned` can.
//! - **W3** Nobody but a running closure can use the arena: allocate, claim, or end a claim. A closure
//!   gets a `&Scope<'a>`, not the arena, and cannot keep the reference: it lives for a time that no
//!   closure knows to be as long as `'a`. If a value could hold the arena, hidden in a type that claims
//!   to be `Send`, two threads could allocate at once.
//!
//! The value is behind a pointer. In a field, moving the `Owned` would move it, and the compiler may
//! assume that what a moved reference refers to stays valid for the whole call.

use crate::{
    arena::Arena,
    backing::{Backing, DefaultBacking},
    error::{AllocError, Failure},
    keep::ForLifetime,
    raw::Need,
    scope::Scope,
};
use core::{
    alloc::Layout, convert::Infallible, fmt, mem::ManuallyDrop, panic::UnwindSafe, ptr::NonNull,
};

/// An arena together with a value in it: a tree that can be returned, stored in a map or sent to
/// another thread.
///
/// `F` names the type of the value for every lifetime (see [`ForLifetime`]). The closures get a scope
/// of the arena and return the value for the same lifetime; their helpers take `&Scope<'a>`. The value
/// can hold what the scope allocated, but not that scope. Collections that grow later hold none:
/// [`NodeVec`](crate::collections::NodeVec). Dropping an `Owned` drops the value and then the arena.
///
/// ```
/// use ebbtide::{ForLifetime, Owned, Scope};
/// use std::{collections::HashMap, num::ParseIntError, sync::Arc};
///
/// #[derive(Debug)]
/// enum Tree<'a> { Leaf(u32), Sum(&'a [Tree<'a>]) }
///
/// struct AnyTree;
/// impl ForLifetime for AnyTree {
///     type Of<'a> = Tree<'a>;
/// }
///
/// /// Numbers with a plus in between.
/// fn parse<'a>(s: &Scope<'a>, text: &str) -> Result<Tree<'a>, ParseIntError> {
///     let leaves = text.split('+').map(|leaf| leaf.parse().map(Tree::Leaf));
///     Ok(Tree::Sum(s.alloc_slice_try_from_iter(leaves)?))
/// }
///
/// fn sum(tree: &Tree) -> u32 {
///     match tree {
///         Tree::Leaf(number) => *number,
///         Tree::Sum(trees) => trees.iter().map(sum).sum(),
///     }
/// }
///
/// let mut cache = HashMap::new();
/// for text in ["1+2", "40+2"] {
///     let tree = Owned::<AnyTree>::try_new(|s| {
///         parse(s, text).map_err(Box::<dyn std::error::Error>::from)
///     })?;
///     cache.insert(text, Arc::new(tree));
/// }
/// let tree = Arc::clone(&cache["40+2"]);
/// let thread = std::thread::spawn(move || tree.with(sum));
/// assert_eq!(thread.join().unwrap(), 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// There is no `Clone`, because the compiler cannot copy references into another arena. A function
/// that copies a tree from one arena to another makes one:
///
/// ```
/// # use ebbtide::Owned;
/// let text = Owned::<&'static str>::new(|s| s.alloc_str("ebb"));
/// let copy = text.with(|text| Owned::<&'static str>::new(|s| s.alloc_str(text)));
/// drop(text);
/// assert_eq!(copy.with(|text| text.len()), 3);
/// ```
///
/// # Many small values
///
/// The first chunk has 16 KiB, as that of any arena, which suits values of a few kilobytes and more. A
/// cache of 10,000 short strings holds 163 MB that way (44 MB resident), and 4.5 MB with a chunk of 192
/// bytes, which includes the arena's own 104. The next chunks double. Building a value of 2 to 14 KB from
/// so small a chunk takes 1.4 to 1.8 times as long.
///
/// ```
/// use ebbtide::{Arena, Owned};
///
/// let small = |text| Owned::<&'static str>::over(Arena::with_chunk_size(192), |s| s.alloc_str(text));
/// let cache = ["ebb", "flow"].map(small);
/// assert!(cache.iter().all(|text| text.held() <= 512));
/// ```
///
/// It is `Send` if the value is, for every lifetime, and `Sync` likewise.
pub struct Owned<F: ForLifetime, B: Backing = DefaultBacking> {
    value: NonNull<F::Of<'static>>,
    /// Dropped after the value.
    home: Home<B>,
}

// SAFETY: the value is `Send`, for whatever lifetime it has, and so is the arena, in which nobody
// allocates meanwhile (W3).
unsafe impl<F: ForLifetime, B: Backing> Send for Owned<F, B> where for<'a> F::Of<'a>: Send {}

// SAFETY: a shared `Owned` lends the value, which is `Sync`, and reads a counter of the arena, which
// nobody changes meanwhile (W3): closures that get a scope have the `Owned` exclusively.
unsafe impl<F: ForLifetime, B: Backing> Sync for Owned<F, B> where for<'a> F::Of<'a>: Sync {}

/// Like a box of the value.
impl<F: ForLifetime, B: Backing> UnwindSafe for Owned<F, B> where for<'a> F::Of<'a>: UnwindSafe {}

/// An arena in its own memory, which it gives back at its end.
struct Home<B: Backing>(NonNull<Contents<B>>);

struct Contents<B: Backing> {
    arena: Arena<B>,
    /// The block of the values, one after the other: the largest that one of them needed.
    room: NonNull<[u8]>,
}

impl<B: Backing> Home<B> {
    /// Moves an arena in which nothing is used to the start of its own memory.
    fn of<R: Failure>(mut arena: Arena<B>) -> Result<Self, R> {
        arena.reset();
        let need = Need::of::<Contents<B>>(1);
        let place = arena.open_root_for::<R>(need)?.reserve_value::<Contents<B>, R>()?.into_raw();
        let place = place.cast::<Contents<B>>();
        let contents = Contents { arena, room: NonNull::<[u8; 0]>::dangling() };
        // SAFETY: the block is new, aligned and large enough for the contents, and nobody else
        // refers to it.
        unsafe { place.write(contents) };
        Ok(Home(place))
    }

    fn contents(&self) -> &Contents<B> {
        // SAFETY: W1: the contents are initialised and stay there as long as this is borrowed, and
        // nobody else has the arena.
        unsafe { self.0.as_ref() }
    }

    fn arena(&self) -> &Arena<B> {
        &self.contents().arena
    }

    /// The root of the arena. It is in use since it gave the arena its memory: no scope is opened.
    fn scope(&self) -> &Scope<'_> {
        self.arena().refresh_root();
        self.arena().root_as_is()
    }

    /// A block for a value: that of the last one, if it fits there. A new one is not smaller.
    fn room<F: ForLifetime, R: Failure>(&mut self) -> Result<NonNull<F::Of<'static>>, R> {
        let (last, layout) = (self.contents().room, Layout::new::<F::Of<'static>>());
        let is_aligned = last.cast::<u8>().addr().get() % layout.align() == 0;
        if is_aligned && layout.size() <= last.len() {
            return Ok(last.cast());
        }
        let size = layout.size().max(last.len());
        let Ok(layout) = Layout::from_size_align(size, layout.align()) else {
            return Err(R::too_large());
        };
        let block = self.scope().cursor().reserve_layout::<R>(layout)?;
        // SAFETY: W1: a field of the contents, which are there. The borrow is exclusive, and nothing else
        // refers to the field.
        unsafe { (*self.0.as_ptr()).room = NonNull::slice_from_raw_parts(block, size) };
        Ok(block.cast())
    }

    /// The arena, with nothing in it.
    fn into_arena(self) -> Arena<B> {
        let home = ManuallyDrop::new(self);
        // SAFETY: W1: the arena is there, and the home, which is not used again, was its only owner.
        let mut arena = unsafe { home.0.read() }.arena;
        arena.reset();
        arena
    }
}

impl<B: Backing> Drop for Home<B> {
    fn drop(&mut self) {
        // SAFETY: W1: the arena is there, and the home, which is not used again, was its only owner. It
        // is moved out of its memory before it frees that.
        drop(unsafe { self.0.read() });
    }
}

#[cfg(feature = "alloc")]
impl<F: ForLifetime> Owned<F> {
    /// Makes a value in a new arena over the heap.
    ///
    /// Costs little more than an arena with a first chunk: there is no block of the heap beside it. If
    /// there is no memory, it calls `handle_alloc_error`, as do [`over`](Owned::over) and
    /// [`map`](Owned::map).
    ///
    /// ```
    /// use ebbtide::Owned;
    ///
    /// let words = Owned::<&'static [usize]>::new(|s| {
    ///     s.alloc_slice_from_iter("ebb and flow".split(' ').map(str::len))
    /// });
    /// assert_eq!(words.with(|words| words.len()), 3);
    /// ```
    pub fn new(make: impl for<'a> FnOnce(&Scope<'a>) -> F::Of<'a>) -> Self {
        Owned::over(Arena::new(), make)
    }

    /// Like [`new`](Owned::new), for a closure that may fail.
    ///
    /// The error is the closure's, or made of an [`AllocError`] if there is no memory for the first
    /// chunk. For an error of another crate, use `Box<dyn Error>` or
    /// [`AllocOrInitError`](crate::AllocOrInitError).
    ///
    /// # Errors
    ///
    /// The error that `make` returned, or `AllocError`, converted.
    ///
    /// ```
    /// use ebbtide::{AllocOrInitError, Owned};
    ///
    /// let numbers = |text: &str| {
    ///     Owned::<&'static [u32]>::try_new(|s| {
    ///         let numbers = text.split(' ').map(str::parse);
    ///         let numbers = s.alloc_slice_try_from_iter(numbers);
    ///         Ok(&*numbers.map_err(AllocOrInitError::Init)?)
    ///     })
    /// };
    /// assert_eq!(numbers("5 8")?.with(|numbers| numbers[1]), 8);
    /// assert!(matches!(numbers("5 x"), Err(AllocOrInitError::Init(_))));
    /// # Ok::<(), AllocOrInitError<std::num::ParseIntError>>(())
    /// ```
    pub fn try_new<E: From<AllocError>>(
        make: impl for<'a> FnOnce(&Scope<'a>) -> Result<F::Of<'a>, E>,
    ) -> Result<Self, E> {
        Owned::try_over(Arena::new(), make)
    }
}

impl<F: ForLifetime, B: Backing> Owned<F, B> {
    /// Like [`new`](Owned::new), in an arena that the caller prepared, for example with a capacity, a
    /// limit or another backing. What it contains is freed.
    ///
    /// ```
    /// use ebbtide::{Arena, Owned};
    ///
    /// let text = Owned::<&'static str, _>::over(Arena::with_capacity(100), |s| s.alloc_str("ebb"));
    /// assert_eq!(text.with(|text| *text), "ebb");
    /// ```
    pub fn over(arena: Arena<B>, make: impl for<'a> FnOnce(&Scope<'a>) -> F::Of<'a>) -> Self {
        let Ok(owned) = Self::build::<Infallible, Infallible>(arena, |s| Ok(make(s)));
        owned
    }

    /// Like [`over`](Owned::over), for a closure that may fail.
    ///
    /// # Errors
    ///
    /// The error that `make` returned, or [`AllocError`], converted, if the arena has no memory for
    /// itself and the value. The arena is dropped in both cases.
    ///
    /// ```
    /// use ebbtide::{AllocError, Arena, Owned};
    ///
    /// let arena = Arena::new();
    /// arena.set_limit(Some(0));
    /// let text = Owned::<&'static str, _>::try_over(arena, |s| Ok(s.try_alloc_str("ebb")?));
    /// assert_eq!(text.err(), Some(AllocError));
    /// ```
    pub fn try_over<E: From<AllocError>>(
        arena: Arena<B>,
        make: impl for<'a> FnOnce(&Scope<'a>) -> Result<F::Of<'a>, E>,
    ) -> Result<Self, E> {
        Self::build::<AllocError, E>(arena, make)
    }

    fn build<R: Failure, E: From<R>>(
        arena: Arena<B>,
        make: impl for<'a> FnOnce(&Scope<'a>) -> Result<F::Of<'a>, E>,
    ) -> Result<Self, E> {
        let mut home = Home::of::<R>(arena)?;
        let room = home.room::<F, R>()?;
        let value = make(home.scope())?;
        // SAFETY: a block for the value, whose layout does not depend on the lifetime.
        unsafe { room.cast().write(value) };
        Ok(Owned { value: room, home })
    }

    /// Passes the value to `read` and returns the result, which may borrow this `Owned`.
    ///
    /// ```
    /// let text = ebbtide::Owned::<&'static str>::new(|s| s.alloc_str("ebb and flow"));
    /// let first: &str = text.with(|text| text.split(' ').next().unwrap());
    /// assert_eq!(first, "ebb");
    /// ```
    pub fn with<'s, R>(&'s self, read: impl for<'a> FnOnce(&'s F::Of<'a>) -> R) -> R {
        // SAFETY: W2: the closure works for every lifetime. The value is neither moved nor dropped while
        // this is borrowed.
        read(unsafe { self.value.cast().as_ref() })
    }

    /// Passes a scope and the value to `change`, which may allocate more for the value, and returns
    /// the result. What the value no longer refers to is free only at the end; for scratch memory, use a
    /// [`claim`](Scope::claim). If `change` panics, the
    /// value is as it left it.
    ///
    /// ```
    /// let mut text = ebbtide::Owned::<&'static str>::new(|s| s.alloc_str("ebb"));
    /// text.with_mut(|s, text| *text = s.alloc_fmt(format_args!("{text} and flow")));
    /// assert_eq!(text.with(|text| *text), "ebb and flow");
    /// ```
    pub fn with_mut<'s, R>(
        &'s mut self,
        change: impl for<'a> FnOnce(&Scope<'a>, &'s mut F::Of<'a>) -> R,
    ) -> R {
        // SAFETY: W2: the closure works for every lifetime. The value is neither moved nor dropped while
        // this is borrowed, exclusively.
        let value = unsafe { self.value.cast().as_mut() };
        change(self.home.scope(), value)
    }

    /// Replaces the value by another one, of another type, in the same arena. The new value takes the
    /// block of the old one, if it fits there; otherwise a new block, in which later values fit again.
    /// What the old value referred to stays until the end. If `change` panics, the arena is freed.
    ///
    /// ```
    /// let text = ebbtide::Owned::<&'static str>::new(|s| s.alloc_str("ebb and flow"));
    /// let lengths = text.map::<&'static [usize]>(|s, text| {
    ///     s.alloc_slice_from_iter(text.split(' ').map(str::len))
    /// });
    /// assert_eq!(lengths.with(|lengths| lengths[1]), 3);
    /// ```
    pub fn map<G: ForLifetime>(
        self,
        change: impl for<'a> FnOnce(&Scope<'a>, F::Of<'a>) -> G::Of<'a>,
    ) -> Owned<G, B> {
        let Ok(mapped) = self.rebuild::<G, Infallible, Infallible>(|s, value| Ok(change(s, value)));
        mapped
    }

    /// Like [`map`](Owned::map), for a closure that may fail.
    ///
    /// # Errors
    ///
    /// The error that `change` returned, or [`AllocError`], converted, if the arena has no memory for the
    /// new value. The old value and the arena are dropped in both cases.
    ///
    /// ```
    /// use ebbtide::{AllocError, Owned};
    ///
    /// let text = Owned::<&'static str>::new(|s| s.alloc_str("ebb"));
    /// let bytes = text.try_map::<&'static [u8], AllocError>(|_, text| Ok(text.as_bytes()))?;
    /// assert_eq!(bytes.with(|bytes| bytes[0]), b'e');
    /// # Ok::<(), AllocError>(())
    /// ```
    pub fn try_map<G: ForLifetime, E: From<AllocError>>(
        self,
        change: impl for<'a> FnOnce(&Scope<'a>, F::Of<'a>) -> Result<G::Of<'a>, E>,
    ) -> Result<Owned<G, B>, E> {
        self.rebuild::<G, AllocError, E>(change)
    }

    fn rebuild<G: ForLifetime, R: Failure, E: From<R>>(
        mut self,
        change: impl for<'a> FnOnce(&Scope<'a>, F::Of<'a>) -> Result<G::Of<'a>, E>,
    ) -> Result<Owned<G, B>, E> {
        // If it is the block of the old value, that moves out before the new one is written.
        let room = self.home.room::<G, R>()?;
        let (old, home) = self.into_parts();
        // SAFETY: W2: the closure works for every lifetime. The old value is not used again.
        let value = change(home.scope(), unsafe { old.cast().read() })?;
        // SAFETY: a block for the value, whose layout does not depend on the lifetime.
        unsafe { room.cast().write(value) };
        Ok(Owned { value: room, home })
    }

    /// Drops the value and returns the arena, empty and with its chunks, for the next one.
    ///
    /// ```
    /// use ebbtide::Owned;
    ///
    /// let text = Owned::<&'static str>::new(|s| s.alloc_str("ebb"));
    /// let arena = text.into_arena();
    /// assert_eq!(arena.stats().used, 0);
    /// let text = Owned::<&'static str>::over(arena, |s| s.alloc_str("flow"));
    /// assert_eq!(text.with(|text| text.len()), 4);
    /// ```
    pub fn into_arena(self) -> Arena<B> {
        let (value, home) = self.into_parts();
        // SAFETY: W2: the value is there, and not used again. A panic frees the arena.
        unsafe { value.drop_in_place() };
        home.into_arena()
    }

    /// The bytes that the arena holds of its backing; see [`Arena::held`].
    ///
    /// ```
    /// let text = ebbtide::Owned::<&'static str>::new(|s| s.alloc_str("ebb"));
    /// assert!(text.held() > 3);
    /// ```
    #[must_use]
    pub fn held(&self) -> usize {
        self.home.arena().held()
    }

    /// The value, which nobody drops any more, and the arena.
    fn into_parts(self) -> (NonNull<F::Of<'static>>, Home<B>) {
        let owned = ManuallyDrop::new(self);
        // SAFETY: moved out of a value that is not used again.
        (owned.value, unsafe { (&raw const owned.home).read() })
    }
}

impl<F: ForLifetime, B: Backing> Drop for Owned<F, B> {
    fn drop(&mut self) {
        // SAFETY: W2: the value is initialised and aligned in its block, which is alive as long as
        // the `Home`, and not used again.
        unsafe { self.value.drop_in_place() };
    }
}

impl<F: ForLifetime, B: Backing> fmt::Debug for Owned<F, B>
where
    for<'a> F::Of<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|value| f.debug_struct("Owned").field("value", value).finish_non_exhaustive())
    }
}
