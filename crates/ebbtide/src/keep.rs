//! Keeping the result of a child scope, either by moving it to the parent, or together with
//! everything that it refers to.
//!
//! Each method borrows the parent exclusively and takes a closure that works for every lifetime of
//! the child. So when the closure has returned, its result is the only value that can refer to the
//! child's memory.
//!
//! # One block, or all of them
//!
//! The child begins where the parent's free memory does, or lower, after a vector of the parent that
//! was moved to the closure shrank there. So a kept block may move to where another block of the
//! child lies. If the result is a single block, that is harmless: nothing else of the
//! child is read any more. If it is several blocks, moving the first could overwrite the second. A
//! trait with which users define how their type moves would have the same limit: its method would
//! get a value that refers to several blocks, and could still read one of them after moving another
//! over it. Moving the blocks in the order of their addresses would require a list of the blocks,
//! and a second step that stores the new addresses in the value.
//!
//! So there are three ways. Methods such as `keep` and `keep_slice_or` move a single block.
//! `transaction` leaves all blocks where they are, together with the scratch memory between them.
//! Or the child gets chunks of its own, and the user copies the result: [`Scope::keep_str_or`]
//! shows how.

use crate::{fresh::Fresh, scope::Scope};
use core::{alloc::Layout, ptr::NonNull};

/// Names a type for every lifetime: the result of [`Scope::transaction`].
///
/// Implement it for a marker type, of which no values are needed.
///
/// References to types without lifetimes need no marker: `&'static T` stands for `&'a T`. Only the
/// lifetime of the outer reference varies, so `&'static [&'static str]` stands for
/// `&'a [&'static str]`. For `&'a [&'a str]`, use a marker.
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
    /// The value cannot refer to other values in the child, because these do not move with it. Use
    /// [`transaction`](Scope::transaction) to keep a tree, and [`keep_str_or`](Scope::keep_str_or)
    /// to keep a number or a string. If the child entered more than one chunk, the scratch memory
    /// in all but the last one is free only when this scope ends.
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
        // SAFETY: the value was moved to this scope's memory, or its memory now belongs to this
        // scope. It lives for `'a`, and no other reference to it exists.
        unsafe { Fresh::new(kept) }.lend()
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
        // SAFETY: the slice exists, so its layout is valid.
        let layout = unsafe { Layout::for_value(slice.as_ref()) };
        let kept = self.keep_block(&child, slice.cast(), layout).cast();
        // SAFETY: the elements were moved to this scope's memory, or their memory now belongs to
        // this scope. They live for `'a`, and no other reference to them exists.
        unsafe { Fresh::new(NonNull::slice_from_raw_parts(kept, slice.len())) }.lend()
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
    #[inline]
    pub fn keep_str(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> &'c mut str,
    ) -> &'a mut str {
        // SAFETY: the bytes are not written to before they are a string again.
        let bytes = self.keep_slice(|s| unsafe { make(s).as_bytes_mut() });
        // SAFETY: the bytes are those of the string that `make` returned, or a copy of them, so
        // they are UTF-8.
        unsafe { core::str::from_utf8_unchecked_mut(bytes) }
    }

    /// Like [`keep_str`](Scope::keep_str), for a closure that returns either a string or another
    /// value. If `make` returns `Err`, nothing is kept and the value is returned.
    ///
    /// The string may be shared. It may also be a literal, which stays where it is, while all that
    /// the child allocated is free again. A string of this scope or of an outer one cannot be the
    /// `Ok`, because `make` has to work for every lifetime of the child. Return it as the `Err`:
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let mut s = arena.scope();
    /// let default: &str = s.alloc_str("nobody");
    /// let names = ["Ada Lovelace", ""].map(|name| {
    ///     s.keep_str_or(|s| match name.split_once(' ') {
    ///         Some((first, last)) => Ok(&*s.alloc_fmt(format_args!("{last}, {first}"))),
    ///         None => Err(default),
    ///     })
    ///     .unwrap_or_else(|default| default)
    /// });
    /// assert_eq!(names, ["Lovelace, Ada", "nobody"]);
    /// ```
    ///
    /// # Errors
    ///
    /// The error that `make` returned.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// use ebbtide::{Arena, Scope};
    ///
    /// enum Expr { Number(f64), Text(&'static str), Add(Box<[Expr; 2]>) }
    ///
    /// #[derive(Debug, PartialEq)]
    /// enum Value<'a> { Number(f64), Text(&'a str) }
    ///
    /// fn eval<'a>(s: &mut Scope<'a>, expr: &Expr) -> Value<'a> {
    ///     match expr {
    ///         Expr::Number(number) => Value::Number(*number),
    ///         Expr::Text(text) => Value::Text(text),
    ///         Expr::Add(terms) => {
    ///             // The values of the terms are free again; the sum is not.
    ///             let sum = s.keep_str_or(|s| {
    ///                 let [a, b] = [eval(s, &terms[0]), eval(s, &terms[1])];
    ///                 match (a, b) {
    ///                     (Value::Number(a), Value::Number(b)) => Err(a + b),
    ///                     (Value::Text(a), Value::Text(b)) => Ok(s.alloc_fmt(format_args!("{a}{b}"))),
    ///                     _ => Err(f64::NAN),
    ///                 }
    ///             });
    ///             sum.map_or_else(Value::Number, Value::Text)
    ///         }
    ///     }
    /// }
    ///
    /// fn add(a: Expr, b: Expr) -> Expr { Expr::Add(Box::new([a, b])) }
    ///
    /// let mut arena = Arena::new();
    /// let mut s = arena.scope();
    /// let numbers = add(Expr::Number(1.0), add(Expr::Number(2.0), Expr::Number(3.0)));
    /// assert_eq!(eval(&mut s, &numbers), Value::Number(6.0));
    /// assert_eq!(s.stats().used, 0);
    /// let texts = add(Expr::Text("ebb"), add(Expr::Text("ti"), Expr::Text("de")));
    /// assert_eq!(eval(&mut s, &texts), Value::Text("ebbtide"));
    /// assert_eq!(s.stats().used, "ebbtide".len());
    /// ```
    ///
    /// For a value with several blocks, use [`transaction`](Scope::transaction), which keeps the
    /// scratch memory too. Or compute it in a [`claim`](Scope::claim), which has chunks of its own,
    /// and copy what is to stay:
    ///
    /// ```
    /// use ebbtide::{Arena, Scope};
    ///
    /// struct Person<'a> { name: &'a str, city: &'a str }
    ///
    /// impl Person<'_> {
    ///     fn copy_to<'p>(&self, s: &Scope<'p>) -> Person<'p> {
    ///         Person { name: s.alloc_str(self.name), city: s.alloc_str(self.city) }
    ///     }
    /// }
    ///
    /// fn compute<'c>(s: &Scope<'c>, line: &str) -> Person<'c> {
    ///     let words = s.alloc_slice_from_iter(line.split(',')); // scratch
    ///     Person { name: s.alloc_str(words[0]), city: s.alloc_str(words[1]) }
    /// }
    ///
    /// let mut arena = Arena::new();
    /// let s = arena.scope();
    /// let person = compute(s.claim().scope(), "Ada,London").copy_to(&s);
    /// assert_eq!((person.name, person.city), ("Ada", "London"));
    /// assert_eq!(s.stats().used, "AdaLondon".len());
    /// ```
    pub fn keep_str_or<E>(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> Result<&'c str, E>,
    ) -> Result<&'a str, E> {
        let bytes = self.keep_slice_or(|s| make(s).map(str::as_bytes))?;
        // SAFETY: the bytes are those of the string that `make` returned, or a copy of them, so
        // they are UTF-8.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    }

    /// Like [`keep_str_or`](Scope::keep_str_or), but keeps a slice.
    ///
    /// # Errors
    ///
    /// The error that `make` returned.
    ///
    /// # Panics
    ///
    /// If `make` panics, or replaces its scope by another one.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// let mut s = arena.scope();
    /// let lines = ["3 1 2", "5 x"].map(|line| {
    ///     s.keep_slice_or(|s| {
    ///         let numbers = line.split(' ').map(str::parse::<u8>);
    ///         let numbers = s.alloc_slice_try_from_iter(numbers)?;
    ///         numbers.sort();
    ///         Ok::<_, std::num::ParseIntError>(numbers)
    ///     })
    /// });
    /// assert_eq!(lines[0], Ok(&[1, 2, 3][..]));
    /// assert!(lines[1].is_err());
    /// assert_eq!(s.stats().used, 3);
    /// ```
    pub fn keep_slice_or<T: Copy, E>(
        &mut self,
        make: impl for<'c> FnOnce(&mut Scope<'c>) -> Result<&'c [T], E>,
    ) -> Result<&'a [T], E> {
        let mut child = self.child_to_keep();
        let slice = make(&mut child)?;
        let (layout, slice) = (Layout::for_value(slice), NonNull::from(slice));
        let kept = self.keep_block(&child, slice.cast(), layout).cast();
        let kept = NonNull::slice_from_raw_parts(kept, slice.len());
        // SAFETY: either the elements were copied to this scope's memory, and no other reference to
        // the copies exists. Or they are where they were: in memory that now belongs to this scope,
        // or not the child's and alive for longer than `'c`, which may be `'a`. They are only read,
        // as through the shared reference before.
        Ok(unsafe { kept.as_ref() })
    }

    /// Runs `make` in a child scope. If it returns `Ok`, everything that it allocated becomes this
    /// scope's; if it returns an error, all of it is freed. Costs as much as a child
    /// scope; nothing is copied.
    ///
    /// The result of `make` may refer to the child's memory: `F` is its type for every lifetime
    /// (see [`ForLifetime`]).
    ///
    /// # Errors
    ///
    /// The error that `make` returned.
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
    ///     Ok(Call { name, arguments: s.alloc_slice_try_from_iter(arguments)? })
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
    #[inline]
    fn child_to_keep(&mut self) -> Scope<'a> {
        // SAFETY: this scope is not used until the child's end (I4): its callers borrow it
        // exclusively. They take over the values that escape from the child; with a closure that
        // works for every lifetime, that is only its result.
        Scope::new(unsafe { self.cursor().fork_with_room() })
    }

    /// Asserts that this is still the child that was lent. A closure with `&mut` access can replace
    /// it by another scope.
    #[inline]
    fn assert_child(&self, child: &Scope<'a>) {
        let is_child = child.cursor().is_in_list_of(self.cursor());
        assert!(is_child, "another scope was put in the place of the one that was lent");
    }

    /// Takes over a block of a child, moves it if necessary, and returns its address. A block that
    /// the child did not allocate stays where it is.
    #[inline]
    fn keep_block(&self, child: &Scope<'a>, block: NonNull<u8>, layout: Layout) -> NonNull<u8> {
        self.assert_child(child);
        // SAFETY: the child was forked from this cursor, and is this arena's: there is no other
        // scope of its list that could have been put there. Its closure has returned the block, and
        // nothing else that refers to the child's memory, because it works for every lifetime.
        unsafe { self.cursor().keep(child.cursor(), block, layout) }
    }
}
