//! Hash maps and sets: those of hashbrown, in the memory of a scope.

use super::collect::FromIteratorIn;
use crate::{arena::Arena, backing::Backing, scope::Scope, vector::assert_plain};
use core::{
    fmt,
    hash::{BuildHasher, Hash},
    mem::{ManuallyDrop, needs_drop},
    ops::{Deref, DerefMut, Index},
};
use hashbrown_017::{
    DefaultHashBuilder, Equivalent, HashMap, HashSet,
    hash_map::{IntoKeys, IntoValues},
};

/// A hash map that drops its keys and values: hashbrown's own, in a scope.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::OwnedMap;
/// let mut names: OwnedMap<'_, '_, u32, String> = s.owned_map();
/// names.insert(1, "ebb".repeat(2)); // dropped with the map
/// assert_eq!(names[&1], "ebbebb");
/// ```
pub type OwnedMap<'s, 'a, K, V, S = DefaultHashBuilder> = HashMap<K, V, S, &'s Scope<'a>>;

/// A hash set that drops its elements: hashbrown's own, in a scope.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::OwnedSet;
/// let mut names: OwnedSet<'_, '_, String> = s.owned_set();
/// names.insert("ebb".repeat(2)); // dropped with the set
/// assert!(names.contains("ebbebb"));
/// ```
pub type OwnedSet<'s, 'a, T, S = DefaultHashBuilder> = HashSet<T, S, &'s Scope<'a>>;

/// Empty maps and sets in the [root](Arena::root).
impl<B: Backing> Arena<B> {
    /// The same in the [root](Arena::root); see [`Scope::map`].
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut depths = arena.map();
    /// depths.insert("Kattegat", 130);
    /// assert_eq!(depths["Kattegat"], 130);
    /// ```
    #[inline]
    #[must_use]
    pub fn map<K, V>(&self) -> Map<'_, '_, K, V> {
        const { assert_plain::<(K, V)>() };
        self.root().map()
    }

    /// The same in the [root](Arena::root); see [`Scope::set`].
    ///
    /// ```
    /// let arena = ebbtide::Arena::new();
    /// let mut seen = arena.set();
    /// assert!(seen.insert("ebb") && !seen.insert("ebb"));
    /// ```
    #[inline]
    #[must_use]
    pub fn set<T>(&self) -> Set<'_, '_, T> {
        const { assert_plain::<T>() };
        self.root().set()
    }
}

/// Rejects a hasher that needs `Drop`, which a map without a destructor does not run.
const fn assert_plain_hasher<S>() {
    assert!(
        !needs_drop::<S>(),
        "this hasher needs `Drop`, which this collection does not run: use `OwnedMap` or `OwnedSet`, \
         which do"
    );
}

/// A hash map without a destructor, so that a node in an arena can contain one.
///
/// It derefs to hashbrown's map and so has all its methods. Keys, values and hashers that need `Drop`
/// are rejected at compile time; use [`owned_map`](Scope::owned_map) or [`OwnedMap`] for those.
///
/// ```
/// use ebbtide::{Arena, Scope, collections::Map};
///
/// struct Block<'s, 'a> {
///     names: Map<'s, 'a, &'a str, u32>,
///     parent: Option<&'a Block<'s, 'a>>,
/// }
///
/// let mut arena = Arena::new();
/// let s = arena.scope();
/// let outer = s.alloc(Block { names: s.map(), parent: None });
/// outer.names.insert("x", 1);
/// let inner = s.alloc(Block { names: s.map(), parent: Some(outer) });
/// assert_eq!(inner.parent.unwrap().names["x"], 1);
/// ```
pub struct Map<'s, 'a, K, V, S = DefaultHashBuilder> {
    inner: ManuallyDrop<OwnedMap<'s, 'a, K, V, S>>,
}

/// A hash set without a destructor; see [`Map`].
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let mut seen = s.set();
/// assert!(seen.insert("ebb"));
/// assert!(!seen.insert("ebb"));
/// ```
pub struct Set<'s, 'a, T, S = DefaultHashBuilder> {
    inner: ManuallyDrop<OwnedSet<'s, 'a, T, S>>,
}

impl<'a> Scope<'a> {
    /// An empty hash map. Allocates nothing until the first entry.
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
    #[must_use]
    pub fn map<K, V>(&self) -> Map<'_, 'a, K, V> {
        const { assert_plain::<(K, V)>() };
        Map::of(self.owned_map())
    }

    /// An empty hash map with room for `capacity` entries.
    ///
    /// # Panics
    ///
    /// If the table would exceed `isize::MAX` bytes. `try_reserve` of an empty map returns an error
    /// instead.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.map_with_capacity::<u8, u8>(10).capacity() >= 10);
    /// ```
    #[inline]
    #[must_use]
    pub fn map_with_capacity<K, V>(&self, capacity: usize) -> Map<'_, 'a, K, V> {
        const { assert_plain::<(K, V)>() };
        Map::of(HashMap::with_capacity_in(capacity, self))
    }

    /// An empty hash map with the given hasher.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut map = s.map_with_hasher(std::hash::RandomState::new());
    /// map.insert("ebb", 1);
    /// assert_eq!(map["ebb"], 1);
    /// ```
    #[inline]
    #[must_use]
    pub fn map_with_hasher<K, V, S>(&self, hasher: S) -> Map<'_, 'a, K, V, S> {
        const { assert_plain::<(K, V)>() };
        const { assert_plain_hasher::<S>() };
        Map::of(HashMap::with_hasher_in(hasher, self))
    }

    /// An empty hash map with the given hasher and room for `capacity` entries.
    ///
    /// # Panics
    ///
    /// If the table would exceed `isize::MAX` bytes. `try_reserve` of an empty map returns an error
    /// instead.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use std::hash::RandomState;
    /// let mut map = s.map_with_capacity_and_hasher(10, RandomState::new());
    /// map.insert("ebb", 1);
    /// assert!(map.capacity() >= 10);
    /// ```
    #[inline]
    #[must_use]
    pub fn map_with_capacity_and_hasher<K, V, S>(
        &self,
        capacity: usize,
        hasher: S,
    ) -> Map<'_, 'a, K, V, S> {
        const { assert_plain::<(K, V)>() };
        const { assert_plain_hasher::<S>() };
        Map::of(HashMap::with_capacity_and_hasher_in(capacity, hasher, self))
    }

    /// An empty hash set. Allocates nothing until the first element.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.set().insert(1));
    /// ```
    #[inline]
    #[must_use]
    pub fn set<T>(&self) -> Set<'_, 'a, T> {
        const { assert_plain::<T>() };
        Set::of(self.owned_set())
    }

    /// An empty hash set with room for `capacity` elements.
    ///
    /// # Panics
    ///
    /// If the table would exceed `isize::MAX` bytes. `try_reserve` of an empty set returns an error
    /// instead.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.set_with_capacity::<u8>(10).capacity() >= 10);
    /// ```
    #[inline]
    #[must_use]
    pub fn set_with_capacity<T: Eq + Hash>(&self, capacity: usize) -> Set<'_, 'a, T> {
        const { assert_plain::<T>() };
        Set::of(HashSet::with_capacity_in(capacity, self))
    }

    /// An empty hash set with the given hasher.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut set = s.set_with_hasher(std::hash::RandomState::new());
    /// assert!(set.insert("ebb"));
    /// ```
    #[inline]
    #[must_use]
    pub fn set_with_hasher<T, S>(&self, hasher: S) -> Set<'_, 'a, T, S> {
        const { assert_plain::<T>() };
        const { assert_plain_hasher::<S>() };
        Set::of(HashSet::with_hasher_in(hasher, self))
    }

    /// An empty hash set with the given hasher and room for `capacity` elements.
    ///
    /// # Panics
    ///
    /// If the table would exceed `isize::MAX` bytes. `try_reserve` of an empty set returns an error
    /// instead.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use std::hash::RandomState;
    /// let mut set = s.set_with_capacity_and_hasher(10, RandomState::new());
    /// assert!(set.insert("ebb") && set.capacity() >= 10);
    /// ```
    #[inline]
    #[must_use]
    pub fn set_with_capacity_and_hasher<T: Eq + Hash, S: BuildHasher>(
        &self,
        capacity: usize,
        hasher: S,
    ) -> Set<'_, 'a, T, S> {
        const { assert_plain::<T>() };
        const { assert_plain_hasher::<S>() };
        Set::of(HashSet::with_capacity_and_hasher_in(capacity, hasher, self))
    }

    /// An empty hash map that drops its keys and values.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut names = s.owned_map();
    /// names.insert(1, String::from("Kattegat")); // freed when `names` is dropped
    /// assert_eq!(names[&1], "Kattegat");
    /// ```
    #[inline]
    #[must_use]
    pub fn owned_map<K, V>(&self) -> OwnedMap<'_, 'a, K, V> {
        HashMap::with_hasher_in(DefaultHashBuilder::default(), self)
    }

    /// An empty hash set that drops its elements.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// assert!(s.owned_set().insert(String::from("Kattegat")));
    /// ```
    #[inline]
    #[must_use]
    pub fn owned_set<T>(&self) -> OwnedSet<'_, 'a, T> {
        HashSet::with_hasher_in(DefaultHashBuilder::default(), self)
    }
}

impl<'s, 'a, K, V, S> Map<'s, 'a, K, V, S> {
    // The assertion is in the methods of `Scope` too, so that the error names the line of the
    // caller.
    #[inline]
    fn of(inner: OwnedMap<'s, 'a, K, V, S>) -> Self {
        const { assert_plain::<(K, V)>() };
        const { assert_plain_hasher::<S>() };
        Map { inner: ManuallyDrop::new(inner) }
    }

    /// Converts to hashbrown's map. That has a destructor, which frees its block if it allocated
    /// last.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut map = s.map();
    /// map.insert(1, 2);
    /// let map: ebbtide::hashbrown_017::HashMap<_, _, _, _> = map.into_inner();
    /// # assert_eq!(map[&1], 2);
    /// ```
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> OwnedMap<'s, 'a, K, V, S> {
        ManuallyDrop::into_inner(self.inner)
    }

    /// The keys, by value and in any order.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut map = s.map();
    /// map.insert("ebb", 1);
    /// assert!(map.into_keys().eq(["ebb"]));
    /// ```
    #[inline]
    #[must_use = "dropping the iterator drops the keys"]
    pub fn into_keys(self) -> IntoKeys<K, V, &'s Scope<'a>> {
        self.into_inner().into_keys()
    }

    /// The values, by value and in any order.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut map = s.map();
    /// map.insert("ebb", 1);
    /// assert!(map.into_values().eq([1]));
    /// ```
    #[inline]
    #[must_use = "dropping the iterator drops the values"]
    pub fn into_values(self) -> IntoValues<K, V, &'s Scope<'a>> {
        self.into_inner().into_values()
    }

    /// Copies the entries, in any order, to a slice that lives for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut map = s.map();
    /// map.insert("ebb", 1);
    /// assert_eq!(map.into_entries(), [("ebb", 1)]);
    /// ```
    #[must_use]
    pub fn into_entries(self) -> &'a mut [(K, V)] {
        let scope: &'s Scope<'a> = self.inner.allocator();
        scope.alloc_slice_from_iter(self)
    }
}

impl<'s, 'a, T, S> Set<'s, 'a, T, S> {
    #[inline]
    fn of(inner: OwnedSet<'s, 'a, T, S>) -> Self {
        const { assert_plain::<T>() };
        const { assert_plain_hasher::<S>() };
        Set { inner: ManuallyDrop::new(inner) }
    }

    /// Converts to hashbrown's set. That has a destructor, which frees its block if it allocated
    /// last.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut set = s.set();
    /// set.insert(1);
    /// assert!(set.into_inner().contains(&1));
    /// ```
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> OwnedSet<'s, 'a, T, S> {
        ManuallyDrop::into_inner(self.inner)
    }

    /// Copies the elements, in any order, to a slice that lives for `'a`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut set = s.set();
    /// set.insert("ebb");
    /// assert_eq!(set.into_slice(), ["ebb"]);
    /// ```
    #[must_use]
    pub fn into_slice(self) -> &'a mut [T] {
        let scope: &'s Scope<'a> = self.inner.allocator();
        scope.alloc_slice_from_iter(self)
    }
}

/// Converts to a map without a destructor. Keys and values that need `Drop` are rejected at compile
/// time.
impl<'s, 'a, K, V, S> From<OwnedMap<'s, 'a, K, V, S>> for Map<'s, 'a, K, V, S> {
    fn from(map: OwnedMap<'s, 'a, K, V, S>) -> Self {
        const { assert_plain::<(K, V)>() };
        const { assert_plain_hasher::<S>() };
        Map::of(map)
    }
}

/// Converts to a set without a destructor. Elements that need `Drop` are rejected at compile time.
impl<'s, 'a, T, S> From<OwnedSet<'s, 'a, T, S>> for Set<'s, 'a, T, S> {
    fn from(set: OwnedSet<'s, 'a, T, S>) -> Self {
        const { assert_plain::<T>() };
        const { assert_plain_hasher::<S>() };
        Set::of(set)
    }
}

impl<'s, 'a, K, V, S> Deref for Map<'s, 'a, K, V, S> {
    type Target = OwnedMap<'s, 'a, K, V, S>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl<K, V, S> DerefMut for Map<'_, '_, K, V, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl<'s, 'a, T, S> Deref for Set<'s, 'a, T, S> {
    type Target = OwnedSet<'s, 'a, T, S>;

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl<T, S> DerefMut for Set<'_, '_, T, S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

/// Clones into the same scope.
impl<K: Clone, V: Clone, S: Clone> Clone for Map<'_, '_, K, V, S> {
    fn clone(&self) -> Self {
        Map { inner: self.inner.clone() }
    }
}

/// Clones into the same scope.
impl<T: Clone, S: Clone> Clone for Set<'_, '_, T, S> {
    fn clone(&self) -> Self {
        Set { inner: self.inner.clone() }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Extend<(K, V)> for Map<'_, '_, K, V, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.inner.extend(entries);
    }
}

impl<'x, K, V, S> Extend<(&'x K, &'x V)> for Map<'_, '_, K, V, S>
where
    K: Eq + Hash + Copy + 'x,
    V: Copy + 'x,
    S: BuildHasher,
{
    #[inline]
    fn extend<I: IntoIterator<Item = (&'x K, &'x V)>>(&mut self, entries: I) {
        self.inner.extend(entries);
    }
}

impl<T: Eq + Hash, S: BuildHasher> Extend<T> for Set<'_, '_, T, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.inner.extend(values);
    }
}

impl<'x, T: Eq + Hash + Copy + 'x, S: BuildHasher> Extend<&'x T> for Set<'_, '_, T, S> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'x T>>(&mut self, values: I) {
        self.inner.extend(values);
    }
}

impl<'s, 'a, K, V, S> FromIteratorIn<'s, 'a, (K, V)> for Map<'s, 'a, K, V, S>
where
    K: Eq + Hash,
    S: BuildHasher + Default,
{
    const ACCEPTED: () = {
        assert_plain::<(K, V)>();
        assert_plain_hasher::<S>();
    };

    fn from_iter_in<I: IntoIterator<Item = (K, V)>>(entries: I, scope: &'s Scope<'a>) -> Self {
        let mut map = scope.map_with_hasher(S::default());
        map.extend(entries);
        map
    }
}

impl<'s, 'a, T: Eq + Hash, S: BuildHasher + Default> FromIteratorIn<'s, 'a, T>
    for Set<'s, 'a, T, S>
{
    const ACCEPTED: () = {
        assert_plain::<T>();
        assert_plain_hasher::<S>();
    };

    fn from_iter_in<I: IntoIterator<Item = T>>(values: I, scope: &'s Scope<'a>) -> Self {
        let mut set = Set::of(HashSet::with_hasher_in(S::default(), scope));
        set.extend(values);
        set
    }
}

impl<'s, 'a, K, V, S> IntoIterator for Map<'s, 'a, K, V, S> {
    type Item = (K, V);
    type IntoIter = hashbrown_017::hash_map::IntoIter<K, V, &'s Scope<'a>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.into_inner().into_iter()
    }
}

impl<'m, K, V, S> IntoIterator for &'m Map<'_, '_, K, V, S> {
    type Item = (&'m K, &'m V);
    type IntoIter = hashbrown_017::hash_map::Iter<'m, K, V>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'m, K, V, S> IntoIterator for &'m mut Map<'_, '_, K, V, S> {
    type Item = (&'m K, &'m mut V);
    type IntoIter = hashbrown_017::hash_map::IterMut<'m, K, V>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'s, 'a, T, S> IntoIterator for Set<'s, 'a, T, S> {
    type Item = T;
    type IntoIter = hashbrown_017::hash_set::IntoIter<T, &'s Scope<'a>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.into_inner().into_iter()
    }
}

impl<'m, T, S> IntoIterator for &'m Set<'_, '_, T, S> {
    type Item = &'m T;
    type IntoIter = hashbrown_017::hash_set::Iter<'m, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V, S, Q> Index<&Q> for Map<'_, '_, K, V, S>
where
    K: Eq + Hash,
    Q: Hash + Equivalent<K> + ?Sized,
    S: BuildHasher,
{
    type Output = V;

    #[inline]
    fn index(&self, key: &Q) -> &V {
        &self.inner[key]
    }
}

impl<K: Eq + Hash, V: PartialEq, S: BuildHasher> PartialEq for Map<'_, '_, K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        *self.inner == *other.inner
    }
}

impl<K: Eq + Hash, V: Eq, S: BuildHasher> Eq for Map<'_, '_, K, V, S> {}

impl<T: Eq + Hash, S: BuildHasher> PartialEq for Set<'_, '_, T, S> {
    fn eq(&self, other: &Self) -> bool {
        *self.inner == *other.inner
    }
}

impl<T: Eq + Hash, S: BuildHasher> Eq for Set<'_, '_, T, S> {}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for Map<'_, '_, K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.inner, f)
    }
}

impl<T: fmt::Debug, S> fmt::Debug for Set<'_, '_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.inner, f)
    }
}
