//! Keeping the result of a child scope: by moving it to the parent, or together with all that it
//! refers to.
//!
//! Each method borrows the parent exclusively and takes a closure that works for every lifetime of
//! the child. So when the closure has returned, its result is the only value that can refer to the
//! child's memory.

use crate::{scope::Scope, value::lend};
use core::{alloc::Layout, ptr::NonNull};

/// Names a type for every lifetime: the result of [`Scope::transaction`].
///
/// Implement it for a marker type, of which no values are needed.
///
/// ```
/// use ebbtide::ForLifetime;
///
/// struct Tree<'a>(&'a [Tree<'a>]);
///
/// struct AnyTree;
/// impl ForLifetime for AnyTree {
///     type Of<'a> = Tree<'a>;
/// }
/// ```
pub trait ForLifetime {
    /// The type for the lifetime `'a`.
    type Of<'a>;
}

impl<T: ?Sized + 'static> ForLifetime for &'static T {
    type Of<'a> = &'a T;
}

impl<T: ?Sized + 'static> ForLifetime for &'static mut T {
    type Of<'a> = &'a mut T;
}

impl<'a> Scope<'a> {
    /// Runs `make` in a child scope and keeps the value that it returns. Everything else that
    /// `make` allocated, such as scratch memory, is free again. The value moves within the arena,
    /// without a temporary copy on the heap.
    ///
    /// The value cannot refer to other values in the child, because these do not move with it; use
    /// [`transaction`](Scope::transaction) to keep a tree. If the child entered more than one
    /// chunk, the scratch memory in all but the last one is free only when this scope ends.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let mut s = arena.scope();
    /// let mean = s.keep(|s| {
    ///     let squares = s.alloc_slice_fill_with(1000, |i| i * i); // scratch
    ///     s.alloc(squares.iter().sum::<usize>() / 1000)
    /// });
    /// assert_eq!(*mean, 332_833);
    /// assert_eq!(s.stats().used, size_of::<usize>());
    /// ```
    pub fn keep<T>(&mut self, make: impl for<'c> FnOnce(&mut Scope<'c>) -> &'c mut T) -> &'a mut T {
        let mut child = self.child_to_keep();
        let value = NonNull::from(make(&mut child));
        let kept = self.keep_block(&child, value.cast(), Layout::new::<T>()).cast();
        // SAFETY: the value was moved here, or is where it was, alive as long as the arena is lent:
        // this scope has taken it over. Nobody else has it.
        unsafe { lend(kept) }
    }

    /// Like [`keep`](Scope::keep), but keeps a slice.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let mut s = arena.scope();
    /// let distinct = s.keep_slice(|s| {
    ///     let mut sorted = s.vec();
    ///     sorted.extend([3, 1, 3, 2, 1]);
    ///     sorted.sort();
    ///     sorted.dedup();
    ///     sorted.into_slice()
    /// });
    /// assert_eq!(distinct, [1, 2, 3]);
    /// assert_eq!(s.stats().used, 3 * size_of::<i32>());
    /// ```
    pub fn keep_slice<T>(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> &'c mut [T],
    ) -> &'a mut [T] {
        let mut child = self.child_to_keep();
        let slice = NonNull::from(make(&mut child));
        // SAFETY: the slice is there, so it has a layout.
        let layout = unsafe { Layout::for_value(slice.as_ref()) };
        let kept = self.keep_block(&child, slice.cast(), layout).cast();
        // SAFETY: the elements were moved here, or are where they were, alive as long as the arena
        // is lent: this scope has taken them over. Nobody else has them.
        unsafe { lend(NonNull::slice_from_raw_parts(kept, slice.len())) }
    }

    /// Like [`keep`](Scope::keep), but keeps a string.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let mut s = arena.scope();
    /// let text = s.keep_str(|s| {
    ///     let words = s.alloc_slice_from_iter("and flow ebb".split(' '));
    ///     words.rotate_right(1);
    ///     let mut text = s.string();
    ///     for word in words {
    ///         text.push_str(word);
    ///     }
    ///     text.into_str()
    /// });
    /// assert_eq!(text, "ebbandflow");
    /// assert_eq!(s.stats().used, 10);
    /// ```
    pub fn keep_str(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> &'c mut str,
    ) -> &'a mut str {
        // SAFETY: the bytes are not written to before they are a string again.
        let bytes = self.keep_slice(|s| unsafe { make(s).as_bytes_mut() });
        // SAFETY: the bytes of a string.
        unsafe { core::str::from_utf8_unchecked_mut(bytes) }
    }

    /// Runs `make` in a child scope. If it returns `Ok`, everything that it allocated becomes this
    /// scope's; if it returns an error, all of it is free again at once. Costs as much as a child
    /// scope; nothing is copied.
    ///
    /// What `make` returns may refer to the child's memory: `F` is its type for every lifetime (see
    /// [`ForLifetime`]).
    ///
    /// # Errors
    ///
    /// What `make` returns.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// use ebbtide::{Arena, ForLifetime, Scope};
    ///
    /// struct Call<'a> { name: &'a str, arguments: &'a [u32] }
    ///
    /// struct AnyCall;
    /// impl ForLifetime for AnyCall {
    ///     type Of<'a> = Call<'a>;
    /// }
    ///
    /// fn parse<'a>(s: &Scope<'a>, text: &str) -> Result<Call<'a>, std::num::ParseIntError> {
    ///     let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    ///     let name = s.alloc_str(name);
    ///     let arguments = rest.split_whitespace().map(str::parse);
    ///     Ok(Call { name, arguments: s.alloc_slice_try_fill_iter(arguments)? })
    /// }
    ///
    /// let mut arena = Arena::new();
    /// let mut s = arena.scope();
    /// let mut calls = Vec::new();
    /// for line in ["add 1 2", "add 1 x", "stop"] {
    ///     calls.extend(s.transaction::<AnyCall, _>(|s| parse(s, line)));
    /// }
    /// assert_eq!(calls[0].arguments, [1, 2]);
    /// assert_eq!((calls[1].name, calls.len()), ("stop", 2));
    /// ```
    pub fn transaction<F: ForLifetime, E>(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> Result<F::Of<'c>, E>,
    ) -> Result<F::Of<'a>, E> {
        let mut child = self.child_to_keep();
        let value = make(&mut child)?;
        self.assert_child(&child);
        // SAFETY: the words of a child of this scope, which is not used again.
        unsafe { self.cursor().move_to(child.cursor()) };
        Ok(value)
    }

    /// A child whose memory becomes this scope's if it is kept.
    fn child_to_keep(&mut self) -> Scope<'a> {
        // SAFETY: this scope is not used until the child's end (I4): its callers borrow it
        // exclusively. They take over the values that escape from the child; with a closure that
        // works for every lifetime, that is only its result.
        Scope::new(unsafe { self.cursor().fork_with_room() })
    }

    /// Asserts that this is still the child that was lent: code with a `&mut` to it can put
    /// another scope there.
    fn assert_child(&self, child: &Scope<'a>) {
        let is_child = child.cursor().is_in_list_of(self.cursor());
        assert!(is_child, "another scope was put in the place of the one that was lent");
    }

    /// Takes over a block of a child, moves it if need be, and returns where it is.
    fn keep_block(&self, child: &Scope<'a>, block: NonNull<u8>, layout: Layout) -> NonNull<u8> {
        self.assert_child(child);
        // SAFETY: the child was forked from this cursor, and is this arena's: there is no other
        // scope of its list that could have been put there. Its closure has returned the block, and
        // nothing else that refers to the child's memory, because it works for every lifetime.
        unsafe { self.cursor().keep(child.cursor(), block, layout) }
    }
}
