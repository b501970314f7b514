//! Serialisation of values in a scope, and deserialisation into a scope (feature `serde`).
//!
//! [`Box`] and the [`collections`](crate::collections) serialise like their contents.
//!
//! `Deserialize` creates a value from the input alone, so it cannot allocate in a scope. serde's
//! solution is a seed, a [`DeserializeSeed`] that carries the state it needs. A scope has methods
//! that make them:
//!
//! | seed | gives |
//! |---|---|
//! | [`s.seed::<str>()`](Scope::seed) | `&mut str` |
//! | [`s.seed::<[T]>()`](Scope::seed) | `&mut [T]` |
//! | [`s.seed::<T>()`](Scope::seed) | `&mut T` |
//! | [`s.boxed_seed::<T>()`](Scope::boxed_seed) | `Box<T>`, for `str` and slices too; `T` may need `Drop` |
//! | [`s.borrowing_seed::<str>()`](Scope::borrowing_seed) | `&str`, borrowed from the input where possible; also `[u8]` |
//! | [`s.seed_value(of)`](Scope::seed_value) | `&mut` to the result of the seed `of` |
//! | [`s.seed_slice(of)`](Scope::seed_slice) | `&mut [_]` of the results of the seed `of` |
//! | [`s.seed_entries(key, value)`](Scope::seed_entries) | `&mut [(_, _)]`, the entries of a map in their order |
//! | [`s.seed_boxed(of)`](Scope::seed_boxed), [`s.seed_boxed_slice(of)`](Scope::seed_boxed_slice) | the same, owned |
//! | `s.seed_vec(of)`, `s.seed_string()`, `s.seed_map(key, value)`, `s.seed_set(of)` | the collections; maps and sets with the feature `hashbrown-017` |
//! | [`s.seed_any()`](Scope::seed_any) | a [`dynamic::Value`](crate::dynamic::Value), for data of any shape, such as JSON |
//!
//! Seeds nest. Types of your own derive [`DeserializeIn`](crate::deserialize), or have a seed of their own:
//!
//! ```
//! use ebbtide::{Arena, Scope};
//! use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor, value};
//! use std::fmt;
//!
//! #[derive(Debug, PartialEq)]
//! enum Tree<'a> {
//!     Leaf(u64),
//!     Branch(&'a [Tree<'a>]),
//! }
//!
//! #[derive(Clone, Copy)]
//! struct TreeSeed<'s, 'a>(&'s Scope<'a>);
//!
//! impl<'de, 'a> DeserializeSeed<'de> for TreeSeed<'_, 'a> {
//!     type Value = Tree<'a>;
//!     fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Tree<'a>, D::Error> {
//!         from.deserialize_any(self)
//!     }
//! }
//!
//! impl<'de, 'a> Visitor<'de> for TreeSeed<'_, 'a> {
//!     type Value = Tree<'a>;
//!     fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//!         f.write_str("a number or a list")
//!     }
//!     fn visit_u64<E: Error>(self, n: u64) -> Result<Tree<'a>, E> {
//!         Ok(Tree::Leaf(n))
//!     }
//!     fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Tree<'a>, A::Error> {
//!         let from = value::SeqAccessDeserializer::new(list);
//!         Ok(Tree::Branch(self.0.seed_slice(self).deserialize(from)?))
//!     }
//! }
//!
//! let mut arena = Arena::new();
//! let s = arena.scope();
//! let tree = TreeSeed(&s).deserialize(&mut serde_json::Deserializer::from_str("[1, [], [2]]"))?;
//! let Tree::Branch([Tree::Leaf(1), Tree::Branch([]), Tree::Branch([two])]) = tree else { panic!() };
//! assert_eq!(*two, Tree::Leaf(2));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Errors
//!
//! If memory runs out, a seed returns the deserialiser's error with the text of [`AllocError`]; it
//! never ends the program. The elements made so far are dropped, and an incomplete slice gives its
//! memory back unless something else was allocated since. All other memory of a failed input is
//! free again when the scope ends. At most 64 KiB are reserved in advance because an input
//! announces a length, so a false one does no harm.

use crate::{
    boxed::Box,
    collections::{Length, Memory, Owning, Text as AnyText, Vector},
    collector::Collector,
    error::AllocError,
    scope::Scope,
    value::assert_no_drop,
};
use core::{fmt, marker::PhantomData};
use serde::{
    Deserialize, Serialize, Serializer,
    de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor},
};

/// The most bytes reserved in advance because an input announced a length.
const TRUSTED: usize = 64 * 1024;

/// How many elements to reserve for an input that announces `hint`.
fn cautious<T>(hint: Option<usize>) -> usize {
    hint.unwrap_or(0).min(TRUSTED / size_of::<T>().max(1))
}

// Serialisation.

impl<T: ?Sized + Serialize> Serialize for Box<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<T: Serialize, M, L: Length> Serialize for Vector<T, M, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<T: Serialize, M: Memory> Serialize for Owning<T, M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

impl<M> Serialize for AnyText<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_str().serialize(serializer)
    }
}

// Visitors.

/// Collects the elements of a sequence in the scope. They are dropped if the input has an error.
struct Elements<'s, 'a, S> {
    scope: &'s Scope<'a>,
    of: S,
}

impl<'de, 'a, S: DeserializeSeed<'de> + Clone> Visitor<'de> for Elements<'_, 'a, S> {
    type Value = Box<'a, [S::Value]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut collector = Collector::new(self.scope);
        collector.hint(cautious::<S::Value>(elements.size_hint()));
        while let Some(element) = elements.next_element_seed(self.of.clone())? {
            collector.push::<AllocError>(element).map_err(A::Error::custom)?;
        }
        Ok(Box::of(collector.finish()))
    }
}

/// Collects the entries of a map in the scope, in the order of the input.
struct Entries<'s, 'a, K, V> {
    scope: &'s Scope<'a>,
    key: K,
    value: V,
}

impl<'de, 'a, K, V> Visitor<'de> for Entries<'_, 'a, K, V>
where
    K: DeserializeSeed<'de> + Clone,
    V: DeserializeSeed<'de> + Clone,
{
    type Value = Box<'a, [(K::Value, V::Value)]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut collector = Collector::new(self.scope);
        collector.hint(cautious::<(K::Value, V::Value)>(entries.size_hint()));
        while let Some(key) = entries.next_key_seed(self.key.clone())? {
            let value = entries.next_value_seed(self.value.clone())?;
            collector.push::<AllocError>((key, value)).map_err(A::Error::custom)?;
        }
        Ok(Box::of(collector.finish()))
    }
}

/// Copies a string into the scope.
struct Text<'s, 'a> {
    scope: &'s Scope<'a>,
}

impl<'a> Visitor<'_> for Text<'_, 'a> {
    type Value = &'a mut str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.scope.try_alloc_str(text).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        self.visit_str(text_of(bytes)?)
    }
}

/// Converts bytes to a string, for formats that encode strings as bytes.
fn text_of<E: Error>(bytes: &[u8]) -> Result<&str, E> {
    core::str::from_utf8(bytes).map_err(|_| E::invalid_value(Unexpected::Bytes(bytes), &"a string"))
}

/// Borrows a string from the input if it can and may, or copies it into the scope.
pub(crate) struct BorrowedText<'de, 's, 'a> {
    pub(crate) scope: &'s Scope<'a>,
    /// The identity, if strings may be borrowed.
    pub(crate) borrow: Option<fn(&'de str) -> &'a str>,
}

impl<'de, 'a> Visitor<'de> for BorrowedText<'de, '_, 'a> {
    type Value = &'a str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        match self.borrow {
            Some(borrow) => Ok(borrow(text)),
            None => self.visit_str(text),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.scope.try_alloc_str(text).map_err(E::custom)?)
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        self.visit_borrowed_str(text_of(bytes)?)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        self.visit_str(text_of(bytes)?)
    }
}

/// Borrows bytes from the input, or copies them into the scope.
struct BorrowedBytes<'s, 'a> {
    scope: &'s Scope<'a>,
}

impl<'de: 'a, 'a> Visitor<'de> for BorrowedBytes<'_, 'a> {
    type Value = &'a [u8];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(bytes)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(self.scope.try_alloc_slice_copy(bytes).map_err(E::custom)?)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(text.as_bytes())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.visit_bytes(text.as_bytes())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, bytes: A) -> Result<Self::Value, A::Error> {
        let elements = Elements { scope: self.scope, of: PhantomData::<u8> };
        Ok(Box::leak(elements.visit_seq(bytes)?))
    }
}

// The seeds.

/// Implements `Clone` and `Copy` without bounds on the type parameters, and `Debug` without the
/// borrowed scope.
macro_rules! seed {
    ($name:ident<$($parameter:ident: ?Sized),+>) => {
        impl<$($parameter: ?Sized),+> Clone for $name<'_, '_, $($parameter),+> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($parameter: ?Sized),+> Copy for $name<'_, '_, $($parameter),+> {}

        seed!(debug $name<$($parameter: ?Sized),+>);
    };
    (debug $name:ident<$($parameter:ident $(: ?$sized:ident)?),+>) => {
        impl<$($parameter $(: ?$sized)?),+> fmt::Debug for $name<'_, '_, $($parameter),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// A seed for `&mut T`; see [`Scope::seed`].
///
/// ```
/// use ebbtide::serialize::Seed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: Seed<'_, '_, [u32]> = s.seed();
/// for input in ["[1, 2]", "[3]"] {
///     assert!(seed.deserialize(&mut Deserializer::from_str(input))?.len() > 0);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct Seed<'s, 'a, T: ?Sized> {
    scope: &'s Scope<'a>,
    of: PhantomData<*const T>,
}
seed!(Seed<T: ?Sized>);

impl<'de, 'a, T: Deserialize<'de> + 'a> DeserializeSeed<'de> for Seed<'_, 'a, T> {
    type Value = &'a mut T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.scope.seed_value(PhantomData::<T>).deserialize(from)
    }
}

impl<'de, 'a, T: Deserialize<'de> + 'a> DeserializeSeed<'de> for Seed<'_, 'a, [T]> {
    type Value = &'a mut [T];

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.scope.seed_slice(PhantomData::<T>).deserialize(from)
    }
}

impl<'de, 'a> DeserializeSeed<'de> for Seed<'_, 'a, str> {
    type Value = &'a mut str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(Text { scope: self.scope })
    }
}

/// A seed for `Box<T>`; see [`Scope::boxed_seed`].
///
/// ```
/// use ebbtide::serialize::BoxedSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: BoxedSeed<'_, '_, [String]> = s.boxed_seed();
/// let names = seed.deserialize(&mut Deserializer::from_str(r#"["ebb"]"#))?;
/// assert_eq!(*names, ["ebb"]); // dropped with the box
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct BoxedSeed<'s, 'a, T: ?Sized> {
    scope: &'s Scope<'a>,
    of: PhantomData<*const T>,
}
seed!(BoxedSeed<T: ?Sized>);

impl<'de, 'a, T: Deserialize<'de>> DeserializeSeed<'de> for BoxedSeed<'_, 'a, T> {
    type Value = Box<'a, T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.scope.seed_boxed(PhantomData::<T>).deserialize(from)
    }
}

impl<'de, 'a, T: Deserialize<'de>> DeserializeSeed<'de> for BoxedSeed<'_, 'a, [T]> {
    type Value = Box<'a, [T]>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.scope.seed_boxed_slice(PhantomData::<T>).deserialize(from)
    }
}

impl<'de, 'a> DeserializeSeed<'de> for BoxedSeed<'_, 'a, str> {
    type Value = Box<'a, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let text = self.scope.seed::<str>().deserialize(from)?;
        Ok(Box::of_str(text))
    }
}

/// A seed for `&str` or `&[u8]`; see [`Scope::borrowing_seed`].
///
/// ```
/// use ebbtide::serialize::BorrowingSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: BorrowingSeed<'_, '_, str> = s.borrowing_seed();
/// let text = seed.deserialize(&mut Deserializer::from_str(r#""ebb""#))?;
/// assert_eq!(text, "ebb"); // part of the input
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct BorrowingSeed<'s, 'a, T: ?Sized> {
    scope: &'s Scope<'a>,
    of: PhantomData<*const T>,
}
seed!(BorrowingSeed<T: ?Sized>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for BorrowingSeed<'_, 'a, str> {
    type Value = &'a str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_str(BorrowedText { scope: self.scope, borrow: Some(|text| text) })
    }
}

impl<'de: 'a, 'a> DeserializeSeed<'de> for BorrowingSeed<'_, 'a, [u8]> {
    type Value = &'a [u8];

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_bytes(BorrowedBytes { scope: self.scope })
    }
}

/// A seed for a `&mut` to the value of another seed; see [`Scope::seed_value`].
///
/// ```
/// use ebbtide::serialize::ValueSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: ValueSeed<'_, '_, _> = s.seed_value(s.borrowing_seed::<str>());
/// let text: &mut &str = seed.deserialize(&mut Deserializer::from_str(r#""ebb""#))?;
/// assert_eq!(*text, "ebb");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ValueSeed<'s, 'a, S> {
    boxed: BoxedValueSeed<'s, 'a, S>,
}
seed!(debug ValueSeed<S>);

impl<'de, 'a, S: DeserializeSeed<'de, Value: 'a>> DeserializeSeed<'de> for ValueSeed<'_, 'a, S> {
    type Value = &'a mut S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        const { assert_no_drop::<S::Value>() };
        Ok(Box::leak(self.boxed.deserialize(from)?))
    }
}

/// A seed for a box of the value of another seed; see [`Scope::seed_boxed`].
///
/// ```
/// use ebbtide::serialize::BoxedValueSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: BoxedValueSeed<'_, '_, _> = s.seed_boxed(std::marker::PhantomData::<String>);
/// let text = seed.deserialize(&mut Deserializer::from_str(r#""ebb""#))?;
/// assert_eq!(*text, "ebb"); // dropped with the box
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct BoxedValueSeed<'s, 'a, S> {
    scope: &'s Scope<'a>,
    of: S,
}
seed!(debug BoxedValueSeed<S>);

impl<'de, 'a, S: DeserializeSeed<'de>> DeserializeSeed<'de> for BoxedValueSeed<'_, 'a, S> {
    type Value = Box<'a, S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let value = self.of.deserialize(from)?;
        self.scope.try_boxed(value).map_err(D::Error::custom)
    }
}

/// A seed for a slice of the values of another seed; see [`Scope::seed_slice`].
///
/// ```
/// use ebbtide::serialize::SliceSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: SliceSeed<'_, '_, _> = s.seed_slice(s.borrowing_seed::<str>());
/// let words = seed.deserialize(&mut Deserializer::from_str(r#"["ebb", "flow"]"#))?;
/// assert_eq!(words, ["ebb", "flow"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct SliceSeed<'s, 'a, S> {
    boxed: BoxedSliceSeed<'s, 'a, S>,
}
seed!(debug SliceSeed<S>);

impl<'de, 'a, S> DeserializeSeed<'de> for SliceSeed<'_, 'a, S>
where
    S: DeserializeSeed<'de, Value: 'a> + Clone,
{
    type Value = &'a mut [S::Value];

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        const { assert_no_drop::<S::Value>() };
        Ok(Box::leak(self.boxed.deserialize(from)?))
    }
}

/// A seed for a boxed slice of the values of another seed; see [`Scope::seed_boxed_slice`].
///
/// ```
/// use ebbtide::serialize::BoxedSliceSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let of = std::marker::PhantomData::<String>;
/// let seed: BoxedSliceSeed<'_, '_, _> = s.seed_boxed_slice(of);
/// let words = seed.deserialize(&mut Deserializer::from_str(r#"["ebb", "flow"]"#))?;
/// assert_eq!(*words, ["ebb", "flow"]); // dropped with the box
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct BoxedSliceSeed<'s, 'a, S> {
    scope: &'s Scope<'a>,
    of: S,
}
seed!(debug BoxedSliceSeed<S>);

impl<'de, 'a, S: DeserializeSeed<'de> + Clone> DeserializeSeed<'de> for BoxedSliceSeed<'_, 'a, S> {
    type Value = Box<'a, [S::Value]>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(Elements { scope: self.scope, of: self.of })
    }
}

/// A seed for the entries of a map as a slice; see [`Scope::seed_entries`].
///
/// ```
/// use ebbtide::serialize::EntriesSeed;
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let of = s.borrowing_seed::<str>();
/// let seed: EntriesSeed<'_, '_, _, _> = s.seed_entries(of, of);
/// let entries = seed.deserialize(&mut Deserializer::from_str(r#"{"ebb": "flow"}"#))?;
/// assert_eq!(entries, [("ebb", "flow")]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct EntriesSeed<'s, 'a, K, V> {
    scope: &'s Scope<'a>,
    key: K,
    value: V,
}
seed!(debug EntriesSeed<K, V>);

impl<'de, 'a, K, V> DeserializeSeed<'de> for EntriesSeed<'_, 'a, K, V>
where
    K: DeserializeSeed<'de, Value: 'a> + Clone,
    V: DeserializeSeed<'de, Value: 'a> + Clone,
{
    type Value = &'a mut [(K::Value, V::Value)];

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        const { assert_no_drop::<(K::Value, V::Value)>() };
        let Self { scope, key, value } = self;
        Ok(Box::leak(from.deserialize_map(Entries { scope, key, value })?))
    }
}

impl<'a> Scope<'a> {
    /// A seed that deserialises a value into the scope: a `str`, a slice of a type that implements
    /// `Deserialize`, or one value of such a type. As with [`alloc`](Scope::alloc), the type must
    /// not need `Drop`.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    /// use serde_json::Deserializer;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let text = s.seed::<str>().deserialize(&mut Deserializer::from_str(r#""ebb""#))?;
    /// let numbers = s.seed::<[u32]>().deserialize(&mut Deserializer::from_str("[1, 2, 3]"))?;
    /// let pair = s.seed::<(u8, bool)>().deserialize(&mut Deserializer::from_str("[7, true]"))?;
    /// assert_eq!((&*text, &*numbers, &*pair), ("ebb", &[1, 2, 3][..], &(7, true)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed<T: ?Sized>(&self) -> Seed<'_, 'a, T> {
        Seed { scope: self, of: PhantomData }
    }

    /// Like [`seed`](Scope::seed), but makes a box, so the value may need `Drop`.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut input = serde_json::Deserializer::from_str(r#"["on", "the heap"]"#);
    /// let names = s.boxed_seed::<[String]>().deserialize(&mut input)?;
    /// assert_eq!(*names, ["on", "the heap"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn boxed_seed<T: ?Sized>(&self) -> BoxedSeed<'_, 'a, T> {
        BoxedSeed { scope: self, of: PhantomData }
    }

    /// A seed for a `str` or a `[u8]` that borrows from the input wherever it can. It copies into
    /// the scope only strings with escapes, or every string if the input is a stream.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    ///
    /// let input = r#"["as it is", "one\nline"]"#;
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let texts = s.seed_slice(s.borrowing_seed::<str>());
    /// let texts = texts.deserialize(&mut serde_json::Deserializer::from_str(input))?;
    /// assert_eq!(texts, ["as it is", "one\nline"]);
    /// assert!(input.as_bytes().as_ptr_range().contains(&texts[0].as_ptr()));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn borrowing_seed<T: ?Sized>(&self) -> BorrowingSeed<'_, 'a, T> {
        BorrowingSeed { scope: self, of: PhantomData }
    }

    /// A seed that moves the value of the seed `of` into the scope. The value must not need `Drop`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use serde::de::DeserializeSeed;
    /// use serde_json::Deserializer;
    /// let pair = s.seed_value(s.seed::<[u8]>()).deserialize(&mut Deserializer::from_str("[1, 2]"))?;
    /// assert_eq!(**pair, [1, 2]); // a reference to the reference
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_value<S>(&self, of: S) -> ValueSeed<'_, 'a, S> {
        ValueSeed { boxed: self.seed_boxed(of) }
    }

    /// Like [`seed_value`](Scope::seed_value), but makes a box, so the value may need `Drop`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use serde::de::DeserializeSeed;
    /// use serde_json::Deserializer;
    /// let names = std::marker::PhantomData::<Vec<String>>; // a seed of serde's own
    /// let names = s.seed_boxed(names).deserialize(&mut Deserializer::from_str(r#"["ebb"]"#))?;
    /// assert_eq!(*names, ["ebb"]); // dropped with the box
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_boxed<S>(&self, of: S) -> BoxedValueSeed<'_, 'a, S> {
        BoxedValueSeed { scope: self, of }
    }

    /// A seed for a sequence, which deserialises each element with the seed `of`. The elements must
    /// not need `Drop`.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let rows = s.seed_slice(s.seed::<[u8]>());
    /// let rows = rows.deserialize(&mut serde_json::Deserializer::from_str("[[1], [], [2, 3]]"))?;
    /// assert_eq!(rows, [&[1][..], &[], &[2, 3]]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_slice<S>(&self, of: S) -> SliceSeed<'_, 'a, S> {
        SliceSeed { boxed: self.seed_boxed_slice(of) }
    }

    /// Like [`seed_slice`](Scope::seed_slice), but makes a box, so the elements may need `Drop`.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// use serde::de::DeserializeSeed;
    /// use serde_json::Deserializer;
    /// let names = std::marker::PhantomData::<String>; // a seed of serde's own
    /// let names = s.seed_boxed_slice(names).deserialize(&mut Deserializer::from_str(r#"["ebb"]"#))?;
    /// assert_eq!(*names, ["ebb"]); // dropped with the box
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_boxed_slice<S>(&self, of: S) -> BoxedSliceSeed<'_, 'a, S> {
        BoxedSliceSeed { scope: self, of }
    }

    /// A seed for the entries of a map, in the order of the input. Duplicate keys are kept. Neither
    /// keys nor values may need `Drop`.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    /// use std::marker::PhantomData;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let depths = s.seed_entries(s.seed::<str>(), PhantomData::<u32>);
    /// let input = r#"{"Kattegat": 130, "Skagerrak": 700}"#;
    /// let depths = depths.deserialize(&mut serde_json::Deserializer::from_str(input))?;
    /// assert_eq!(depths[1].1, 700);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_entries<K, V>(&self, key: K, value: V) -> EntriesSeed<'_, 'a, K, V> {
        EntriesSeed { scope: self, key, value }
    }
}

// The collections.

pub use vectors::{StringSeed, VecSeed};

mod vectors {
    use super::{
        DeserializeSeed, Deserializer, Error, Scope, SeqAccess, Visitor, cautious, text_of,
    };
    use crate::collections::{String, Vec};
    use core::fmt;

    /// Gives a [`Vec`]; see [`Scope::seed_vec`].
    #[derive(Clone, Copy)]
    pub struct VecSeed<'s, 'a, S> {
        scope: &'s Scope<'a>,
        of: S,
    }

    impl<S> fmt::Debug for VecSeed<'_, '_, S> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("VecSeed").finish_non_exhaustive()
        }
    }

    impl<'de, 's, 'a, S: DeserializeSeed<'de> + Clone> DeserializeSeed<'de> for VecSeed<'s, 'a, S> {
        type Value = Vec<'s, 'a, S::Value>;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_seq(self)
        }
    }

    impl<'de, 's, 'a, S: DeserializeSeed<'de> + Clone> Visitor<'de> for VecSeed<'s, 'a, S> {
        type Value = Vec<'s, 'a, S::Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
            let mut vec = self.scope.vec();
            // The hint may be wrong. If reserving fails, the vector grows as elements arrive.
            let _ = vec.try_reserve(cautious::<S::Value>(elements.size_hint()));
            loop {
                let next = elements.next_element_seed(self.of.clone());
                let pushed = next.and_then(|next| match next {
                    Some(element) => vec.try_push(element).map(Some).map_err(A::Error::custom),
                    None => Ok(None),
                });
                match pushed {
                    Ok(Some(())) => {}
                    Ok(None) => return Ok(vec),
                    Err(error) => {
                        vec.clear();
                        vec.shrink_to_fit();
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Gives a [`String`]; see [`Scope::seed_string`].
    #[derive(Clone, Copy)]
    pub struct StringSeed<'s, 'a> {
        scope: &'s Scope<'a>,
    }

    impl fmt::Debug for StringSeed<'_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("StringSeed").finish_non_exhaustive()
        }
    }

    impl<'de, 's, 'a> DeserializeSeed<'de> for StringSeed<'s, 'a> {
        type Value = String<'s, 'a>;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_str(self)
        }
    }

    impl<'s, 'a> Visitor<'_> for StringSeed<'s, 'a> {
        type Value = String<'s, 'a>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            let mut string = self.scope.string();
            string.try_push_str(text).map_err(E::custom)?;
            Ok(string)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            self.visit_str(text_of(bytes)?)
        }
    }

    impl<'a> Scope<'a> {
        /// A seed for a [vector](Scope::vec), which deserialises each element with the seed `of`.
        /// The vector can grow afterwards.
        ///
        /// ```
        /// use serde::de::DeserializeSeed;
        /// use std::marker::PhantomData;
        ///
        /// # let mut arena = ebbtide::Arena::new();
        /// # let s = arena.scope();
        /// let mut input = serde_json::Deserializer::from_str("[1, 2]");
        /// let mut numbers = s.seed_vec(PhantomData::<u32>).deserialize(&mut input)?;
        /// numbers.push(3);
        /// assert_eq!(serde_json::to_string(&numbers)?, "[1,2,3]");
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[must_use]
        pub fn seed_vec<S>(&self, of: S) -> VecSeed<'_, 'a, S> {
            VecSeed { scope: self, of }
        }

        /// A seed for a [string](Scope::string), which can grow afterwards.
        ///
        /// ```
        /// # let mut arena = ebbtide::Arena::new();
        /// # let s = arena.scope();
        /// use serde::de::DeserializeSeed;
        /// use serde_json::Deserializer;
        /// let mut text = s.seed_string().deserialize(&mut Deserializer::from_str(r#""ebb""#))?;
        /// text.push_str(" and flow");
        /// assert_eq!(text, "ebb and flow");
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[must_use]
        pub fn seed_string(&self) -> StringSeed<'_, 'a> {
            StringSeed { scope: self }
        }
    }
}

#[cfg(feature = "hashbrown-017")]
pub use maps::{MapSeed, SetSeed};

/// Maps and sets. hashbrown has a feature of its own for its own types.
#[cfg(feature = "hashbrown-017")]
mod maps {
    use super::{
        AllocError, DeserializeSeed, Deserializer, Error, MapAccess, Scope, SeqAccess, Serialize,
        Serializer, Visitor, cautious,
    };
    use crate::collections::{Map, OwnedMap, OwnedSet, Set};
    use core::{
        fmt,
        hash::{BuildHasher, Hash},
    };

    impl<K: Serialize + Eq + Hash, V: Serialize, H: BuildHasher> Serialize for Map<'_, '_, K, V, H> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (**self).serialize(serializer)
        }
    }

    impl<T: Serialize + Eq + Hash, H: BuildHasher> Serialize for Set<'_, '_, T, H> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            (**self).serialize(serializer)
        }
    }

    /// Gives an [`OwnedMap`], which can be turned into a [`Map`]; see [`Scope::seed_map`].
    #[derive(Clone, Copy)]
    pub struct MapSeed<'s, 'a, K, V> {
        scope: &'s Scope<'a>,
        key: K,
        value: V,
    }

    impl<K, V> fmt::Debug for MapSeed<'_, '_, K, V> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("MapSeed").finish_non_exhaustive()
        }
    }

    impl<'de, 's, 'a, K, V> DeserializeSeed<'de> for MapSeed<'s, 'a, K, V>
    where
        K: DeserializeSeed<'de, Value: Eq + Hash> + Clone,
        V: DeserializeSeed<'de> + Clone,
    {
        type Value = OwnedMap<'s, 'a, K::Value, V::Value>;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_map(self)
        }
    }

    impl<'de, 's, 'a, K, V> Visitor<'de> for MapSeed<'s, 'a, K, V>
    where
        K: DeserializeSeed<'de, Value: Eq + Hash> + Clone,
        V: DeserializeSeed<'de> + Clone,
    {
        type Value = OwnedMap<'s, 'a, K::Value, V::Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = self.scope.owned_map();
            // The hint may be wrong. If reserving fails, the map grows as entries arrive.
            let _ = map.try_reserve(cautious::<(K::Value, V::Value)>(entries.size_hint()));
            while let Some(key) = entries.next_key_seed(self.key.clone())? {
                let value = entries.next_value_seed(self.value.clone())?;
                map.try_reserve(1).map_err(|_| A::Error::custom(AllocError))?;
                map.insert(key, value);
            }
            Ok(map)
        }
    }

    /// Gives an [`OwnedSet`], which can be turned into a [`Set`]; see [`Scope::seed_set`].
    #[derive(Clone, Copy)]
    pub struct SetSeed<'s, 'a, S> {
        scope: &'s Scope<'a>,
        of: S,
    }

    impl<S> fmt::Debug for SetSeed<'_, '_, S> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("SetSeed").finish_non_exhaustive()
        }
    }

    impl<'de, 's, 'a, S> DeserializeSeed<'de> for SetSeed<'s, 'a, S>
    where
        S: DeserializeSeed<'de, Value: Eq + Hash> + Clone,
    {
        type Value = OwnedSet<'s, 'a, S::Value>;

        fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_seq(self)
        }
    }

    impl<'de, 's, 'a, S> Visitor<'de> for SetSeed<'s, 'a, S>
    where
        S: DeserializeSeed<'de, Value: Eq + Hash> + Clone,
    {
        type Value = OwnedSet<'s, 'a, S::Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
            let mut set = self.scope.owned_set();
            // The hint may be wrong. If reserving fails, the set grows as elements arrive.
            let _ = set.try_reserve(cautious::<S::Value>(elements.size_hint()));
            while let Some(element) = elements.next_element_seed(self.of.clone())? {
                set.try_reserve(1).map_err(|_| A::Error::custom(AllocError))?;
                set.insert(element);
            }
            Ok(set)
        }
    }

    impl<'a> Scope<'a> {
        /// A seed for a hash [map](Scope::owned_map). If a key occurs twice, its last value is
        /// kept.
        ///
        /// ```
        /// use serde::de::DeserializeSeed;
        /// use std::marker::PhantomData;
        ///
        /// let input = r#"{"Kattegat": 130, "Skagerrak": 700}"#;
        /// # let mut arena = ebbtide::Arena::new();
        /// # let s = arena.scope();
        /// let depths = s.seed_map(s.borrowing_seed::<str>(), PhantomData::<u32>);
        /// let depths = depths.deserialize(&mut serde_json::Deserializer::from_str(input))?;
        /// assert_eq!(depths["Skagerrak"], 700);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[must_use]
        pub fn seed_map<K, V>(&self, key: K, value: V) -> MapSeed<'_, 'a, K, V> {
            MapSeed { scope: self, key, value }
        }

        /// A seed for a hash [set](Scope::owned_set).
        ///
        /// ```
        /// # let mut arena = ebbtide::Arena::new();
        /// # let s = arena.scope();
        /// use serde::de::DeserializeSeed;
        /// use serde_json::Deserializer;
        /// let words = s.seed_set(s.borrowing_seed::<str>());
        /// let words = words.deserialize(&mut Deserializer::from_str(r#"["ebb", "flow", "ebb"]"#))?;
        /// assert_eq!(words.len(), 2);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[must_use]
        pub fn seed_set<S>(&self, of: S) -> SetSeed<'_, 'a, S> {
            SetSeed { scope: self, of }
        }
    }
}
