//! Collections that live in a scope: [`Vec`] and [`String`] (feature `allocator-api2`), [`Map`] and [`Set`]
//! (feature `hashbrown`).
//!
//! They borrow the scope by shared reference, so any number of them can grow side by side, and values can
//! be allocated between. The one that grew last grows in place; the others move when they are full. A
//! collection that has the scope to itself is faster as a [`GrowVec`](crate::GrowVec).

#[cfg(feature = "hashbrown")]
pub use map::{Map, Set};
#[cfg(feature = "allocator-api2")]
pub use vec::{String, Vec};

#[cfg(feature = "allocator-api2")]
mod vec {
    use crate::{copy::copy_bytes, error::AllocError, scope::Scope};
    use allocator_api2::vec::Vec as Inner;
    use core::{
        cmp::Ordering,
        fmt,
        hash::{Hash, Hasher},
        mem::{ManuallyDrop, needs_drop},
        ops::{Deref, DerefMut},
        ptr::NonNull,
    };

    /// allocator-api2's vector over a scope, without a destructor: a node that holds one can be
    /// [`alloc`](Scope::alloc)ed. All methods are the inner vector's, by `Deref`.
    ///
    /// Its elements must not need `Drop`, which is checked when the program is compiled. For those that do,
    /// use `allocator_api2::vec::Vec::new_in(&scope)`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// use ebbtide::{Scope, collections::Vec};
    ///
    /// struct Node<'s> { name: &'s str, children: Vec<'s, &'s Node<'s>> }
    ///
    /// fn leaf<'s>(s: &'s Scope<'s>, name: &'s str) -> &'s mut Node<'s> {
    ///     s.alloc(Node { name, children: s.vec() })
    /// }
    ///
    /// let s = arena.scope();
    /// let root = leaf(&s, "root");
    /// root.children.push(leaf(&s, "a"));
    /// root.children.push(leaf(&s, "b"));
    /// assert_eq!(root.children.iter().map(|node| node.name).collect::<String>(), "ab");
    /// ```
    pub struct Vec<'s, T> {
        inner: ManuallyDrop<Inner<T, &'s Scope<'s>>>,
    }

    /// Refuses, when the program is compiled, to forget destructors. Said where the user's code calls, and
    /// again in `of`, so that no way leads round it.
    const fn assert_no_drop<T>() {
        assert!(
            !needs_drop::<T>(),
            "these elements need `Drop`, which this vector does not run: use \
             `allocator_api2::vec::Vec::new_in(&scope)`, which does"
        );
    }

    impl<'s> Scope<'s> {
        /// An empty vector in this scope. Takes nothing until the first element.
        #[inline]
        pub fn vec<T>(&'s self) -> Vec<'s, T> {
            const { assert_no_drop::<T>() };
            Vec::of(Inner::new_in(self))
        }

        /// An empty vector with room for `capacity` elements.
        ///
        /// # Panics
        ///
        /// If that exceeds `isize::MAX` bytes.
        #[inline]
        pub fn vec_with_capacity<T>(&'s self, capacity: usize) -> Vec<'s, T> {
            const { assert_no_drop::<T>() };
            Vec::of(Inner::with_capacity_in(capacity, self))
        }

        /// An empty string in this scope. Takes nothing until the first character.
        ///
        /// ```
        /// # let mut arena = ebbtide::Arena::new();
        /// # let s = arena.scope();
        /// let mut text = s.string();
        /// text.push_str("ebb");
        /// text.push('!');
        /// assert_eq!(text.into_str(), "ebb!");
        /// ```
        #[inline]
        pub fn string(&'s self) -> String<'s> {
            String { bytes: self.vec() }
        }
    }

    impl<'s, T> Vec<'s, T> {
        #[inline]
        pub(crate) fn of(inner: Inner<T, &'s Scope<'s>>) -> Self {
            const { assert_no_drop::<T>() };
            Vec { inner: ManuallyDrop::new(inner) }
        }

        /// Leaves the elements in the scope.
        #[inline]
        #[must_use]
        pub fn into_slice(self) -> &'s mut [T] {
            self.into_inner().leak()
        }

        /// The inner vector, which has a destructor: it gives its block back if that is the last one.
        #[inline]
        #[must_use]
        pub fn into_inner(self) -> Inner<T, &'s Scope<'s>> {
            ManuallyDrop::into_inner(self.inner)
        }
    }

    impl Vec<'_, u8> {
        /// Adds bytes that room was reserved for, few ones without a call.
        #[inline(always)]
        fn push_reserved(&mut self, bytes: &[u8]) {
            let len = self.inner.len();
            let room = NonNull::from(&mut self.inner.spare_capacity_mut()[..bytes.len()]);
            // SAFETY: the room was free, so the bytes lie elsewhere; as many are there on both sides.
            unsafe { copy_bytes(NonNull::from(bytes).cast(), room.cast(), bytes.len()) };
            // SAFETY: within the capacity, and initialised by the copy.
            unsafe { self.inner.set_len(len + bytes.len()) };
        }
    }

    impl<'s, T> Deref for Vec<'s, T> {
        type Target = Inner<T, &'s Scope<'s>>;

        #[inline(always)]
        fn deref(&self) -> &Self::Target {
            &self.inner
        }
    }

    impl<T> DerefMut for Vec<'_, T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut Self::Target {
            &mut self.inner
        }
    }

    impl<T> Extend<T> for Vec<'_, T> {
        #[inline]
        fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
            self.inner.extend(values);
        }
    }

    impl<'x, T: Copy + 'x> Extend<&'x T> for Vec<'_, T> {
        #[inline]
        fn extend<I: IntoIterator<Item = &'x T>>(&mut self, values: I) {
            self.inner.extend(values.into_iter().copied());
        }
    }

    /// Fails with [`OutOfMemory`](std::io::ErrorKind::OutOfMemory) where there is no memory; the bytes are
    /// then as they were.
    ///
    /// ```
    /// # use std::io::Write;
    /// # let mut arena = ebbtide::Arena::new();
    /// let s = arena.scope();
    /// let mut bytes = s.vec();
    /// bytes.write_all(b"ebb and flow")?;
    /// assert_eq!(bytes.into_slice(), b"ebb and flow");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "std")]
    impl std::io::Write for Vec<'_, u8> {
        #[inline]
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.inner.try_reserve(bytes.len()).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
            self.push_reserved(bytes);
            Ok(bytes.len())
        }

        #[inline]
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl<'s, T> IntoIterator for Vec<'s, T> {
        type Item = T;
        type IntoIter = allocator_api2::vec::IntoIter<T, &'s Scope<'s>>;

        #[inline]
        fn into_iter(self) -> Self::IntoIter {
            self.into_inner().into_iter()
        }
    }

    impl<'v, T> IntoIterator for &'v Vec<'_, T> {
        type Item = &'v T;
        type IntoIter = core::slice::Iter<'v, T>;

        #[inline]
        fn into_iter(self) -> Self::IntoIter {
            self.iter()
        }
    }

    impl<'v, T> IntoIterator for &'v mut Vec<'_, T> {
        type Item = &'v mut T;
        type IntoIter = core::slice::IterMut<'v, T>;

        #[inline]
        fn into_iter(self) -> Self::IntoIter {
            self.iter_mut()
        }
    }

    impl<T: fmt::Debug> fmt::Debug for Vec<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.as_slice().fmt(f)
        }
    }

    impl<T: PartialEq> PartialEq for Vec<'_, T> {
        fn eq(&self, other: &Self) -> bool {
            self.as_slice() == other.as_slice()
        }
    }

    impl<T: Eq> Eq for Vec<'_, T> {}

    impl<T: PartialOrd> PartialOrd for Vec<'_, T> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            self.as_slice().partial_cmp(other.as_slice())
        }
    }

    impl<T: Ord> Ord for Vec<'_, T> {
        fn cmp(&self, other: &Self) -> Ordering {
            self.as_slice().cmp(other.as_slice())
        }
    }

    impl<T: Hash> Hash for Vec<'_, T> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.as_slice().hash(state);
        }
    }

    /// A string over a scope, without a destructor; see [`Vec`].
    #[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct String<'s> {
        /// Always whole UTF-8.
        bytes: Vec<'s, u8>,
    }

    impl<'s> String<'s> {
        /// Adds text.
        ///
        /// # Panics
        ///
        /// If the string would exceed `isize::MAX` bytes.
        #[inline]
        pub fn push_str(&mut self, text: &str) {
            self.bytes.reserve(text.len());
            self.bytes.push_reserved(text.as_bytes());
        }

        /// Adds a character.
        ///
        /// # Panics
        ///
        /// If the string would exceed `isize::MAX` bytes.
        #[inline]
        pub fn push(&mut self, character: char) {
            self.push_str(character.encode_utf8(&mut [0; 4]));
        }

        /// Takes the last character off.
        pub fn pop(&mut self) -> Option<char> {
            let last = self.chars().next_back()?;
            let len = self.len() - last.len_utf8();
            self.bytes.truncate(len);
            Some(last)
        }

        /// Shortens the text to `len` bytes; longer than it is, it stays.
        ///
        /// # Panics
        ///
        /// If `len` is inside a character.
        pub fn truncate(&mut self, len: usize) {
            if len < self.len() {
                assert!(self.is_char_boundary(len), "byte {len} is inside a character");
                self.bytes.truncate(len);
            }
        }

        /// Makes it empty.
        pub fn clear(&mut self) {
            self.bytes.clear();
        }

        /// Makes room for `additional` more bytes.
        ///
        /// # Panics
        ///
        /// If the string would exceed `isize::MAX` bytes.
        pub fn reserve(&mut self, additional: usize) {
            self.bytes.reserve(additional);
        }

        /// As [`reserve`](String::reserve).
        ///
        /// # Errors
        ///
        /// [`AllocError`]; the string is as it was.
        pub fn try_reserve(&mut self, additional: usize) -> Result<(), AllocError> {
            self.bytes.try_reserve(additional).map_err(|_| AllocError)
        }

        /// The bytes that it has room for.
        #[must_use]
        pub fn capacity(&self) -> usize {
            self.bytes.capacity()
        }

        /// The text.
        #[must_use]
        pub fn as_str(&self) -> &str {
            self
        }

        /// Leaves the text in the scope.
        #[inline]
        #[must_use]
        pub fn into_str(self) -> &'s mut str {
            // SAFETY: always whole UTF-8.
            unsafe { core::str::from_utf8_unchecked_mut(self.bytes.into_slice()) }
        }
    }

    impl Deref for String<'_> {
        type Target = str;

        #[inline(always)]
        fn deref(&self) -> &str {
            // SAFETY: always whole UTF-8.
            unsafe { core::str::from_utf8_unchecked(&self.bytes) }
        }
    }

    impl DerefMut for String<'_> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut str {
            // SAFETY: always whole UTF-8, and a `&mut str` keeps it so.
            unsafe { core::str::from_utf8_unchecked_mut(&mut self.bytes) }
        }
    }

    impl fmt::Write for String<'_> {
        /// Fails where there is no memory; the text is then as it was.
        #[inline]
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.bytes.try_reserve(text.len()).map_err(|_| fmt::Error)?;
            self.bytes.push_reserved(text.as_bytes());
            Ok(())
        }
    }

    impl Extend<char> for String<'_> {
        fn extend<I: IntoIterator<Item = char>>(&mut self, characters: I) {
            characters.into_iter().for_each(|character| self.push(character));
        }
    }

    impl<'x> Extend<&'x str> for String<'_> {
        fn extend<I: IntoIterator<Item = &'x str>>(&mut self, texts: I) {
            texts.into_iter().for_each(|text| self.push_str(text));
        }
    }

    impl PartialEq<str> for String<'_> {
        fn eq(&self, other: &str) -> bool {
            **self == *other
        }
    }

    impl PartialEq<&str> for String<'_> {
        fn eq(&self, other: &&str) -> bool {
            **self == **other
        }
    }

    impl PartialEq<String<'_>> for str {
        fn eq(&self, other: &String<'_>) -> bool {
            *self == **other
        }
    }

    impl PartialEq<String<'_>> for &str {
        fn eq(&self, other: &String<'_>) -> bool {
            **self == **other
        }
    }

    impl fmt::Debug for String<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    impl fmt::Display for String<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Display::fmt(&**self, f)
        }
    }
}

#[cfg(feature = "hashbrown")]
mod map {
    use crate::scope::Scope;
    use core::hash::Hash;
    use hashbrown::DefaultHashBuilder;

    /// hashbrown's map over a scope.
    pub type Map<'s, K, V, S = DefaultHashBuilder> = hashbrown::HashMap<K, V, S, &'s Scope<'s>>;

    /// hashbrown's set over a scope.
    pub type Set<'s, T, S = DefaultHashBuilder> = hashbrown::HashSet<T, S, &'s Scope<'s>>;

    impl<'s> Scope<'s> {
        /// An empty hash map in this scope. Takes nothing until the first entry. It has a destructor, for
        /// keys and values that have one.
        ///
        /// ```
        /// # let mut arena = ebbtide::Arena::new();
        /// let s = arena.scope();
        /// let mut count = s.map();
        /// for word in ["ebb", "flow", "ebb"] {
        ///     *count.entry(word).or_insert(0) += 1;
        /// }
        /// assert_eq!(count["ebb"], 2);
        /// ```
        #[inline]
        pub fn map<K, V>(&'s self) -> Map<'s, K, V> {
            Map::new_in(self)
        }

        /// An empty hash set in this scope; as [`map`](Scope::map).
        #[inline]
        pub fn set<T: Hash + Eq>(&'s self) -> Set<'s, T> {
            Set::new_in(self)
        }
    }
}
