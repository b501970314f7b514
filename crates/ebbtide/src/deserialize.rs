//! Types that deserialise into a scope, and their derive macro (features `serde` and `derive`).
//!
//! [`s.deserialize(from)`](Scope::deserialize) deserialises any type that implements
//! [`DeserializeIn`]. Strings, slices and references lie in the scope, so the input may end before
//! they do:
//!
//! ```
//! # #[cfg(feature = "derive")] {
//! use ebbtide::{Arena, deserialize::DeserializeIn};
//!
//! #[derive(Debug, DeserializeIn, PartialEq)]
//! struct Chart<'a> {
//!     name: &'a str,
//!     soundings: &'a [Sounding],
//!     inset: Option<&'a Chart<'a>>,
//! }
//!
//! #[derive(Debug, DeserializeIn, PartialEq)]
//! #[serde(rename_all = "lowercase")]
//! enum Sounding {
//!     Depth(u32),
//!     Unknown,
//! }
//!
//! let mut arena = Arena::new();
//! let s = arena.scope();
//! let input = String::from(r#"{"name": "Kattegat", "soundings": [{"depth": 130}, "unknown"]}"#);
//! let chart: Chart<'_> = s.deserialize(&mut serde_json::Deserializer::from_str(&input))?;
//! drop(input);
//! let soundings = &[Sounding::Depth(130), Sounding::Unknown];
//! assert_eq!(chart, Chart { name: "Kattegat", soundings, inset: None });
//! # }
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # The derive
//!
//! Values and errors are those of serde's `Deserialize`, for the same type with `Box`, `Vec` and `String`.
//!
//! | lifetimes of the type | stand for |
//! |---|---|
//! | none | – |
//! | `'a` | the scope's memory |
//! | `'s, 'a` | a borrow of the scope, and its memory, as in `Vec<'s, 'a, T>` and `Map<'s, 'a, K, V>` |
//!
//! Every type parameter must implement `DeserializeIn`.
//!
//! These attributes of `#[serde(…)]` have effect, and the meaning that they have for serde:
//!
//! | on | attributes |
//! |---|---|
//! | a type | `rename`, `rename_all`, `rename_all_fields`, `default`, `deny_unknown_fields`, `transparent`, `from`, `try_from`, `expecting` |
//! | a variant | `rename`, `alias`, `rename_all`, `skip`, `skip_deserializing` |
//! | a field | `rename`, `alias`, `default`, `skip`, `skip_deserializing`, `deserialize_with`, `with` |
//!
//! Those of `Serialize` alone are accepted, and any other is a compile error that names it: `flatten`,
//! `tag`, `content` and `untagged` need a copy of the input first, which [`dynamic`](crate::dynamic) gives;
//! `borrow` is chosen for the whole input, by [`deserialize_borrowing`](Scope::deserialize_borrowing).
//!
//! A field of a type that only implements `Deserialize` needs
//! `#[serde(deserialize_with = "serde::Deserialize::deserialize")]`. A sequence of bytes is a sequence
//! of numbers, as for serde's `Vec<u8>`.
//!
//! # Errors
//!
//! As for [seeds](crate::serialize#errors): no memory is an error of the deserialiser, and a false
//! length reserves at most 64 KiB for each sequence. How deep an input may nest is the deserialiser's to limit. Text after
//! the value is found by `from.end()` of a `serde_json::Deserializer`.

use crate::{
    boxed::Box,
    collections::{NodeVec, String, Vec},
    scope::Scope,
    serialize::BorrowedText,
};
use core::{fmt, marker::PhantomData, num, time::Duration};
use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor},
};

#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod derived;

#[cfg(feature = "derive")]
pub use ebbtide_derive::DeserializeIn;

/// Types that deserialise into a scope.
///
/// Implemented for numbers, `bool`, `char`, `()`, `Duration`, tuples and arrays; for `&T`, `&mut T`,
/// `Option` and [`Box`] of these, `str` and slices; for [`Vec`], [`NodeVec`], [`String`], and hash maps
/// and sets of [`collections`](crate::collections). As in a scope, what a reference or a collection
/// without destructor holds must not need `Drop`. An array is made on the stack: where it is large, use a
/// slice.
///
/// `#[derive(DeserializeIn)]`, with the feature `derive`, implements it for structs and enums: see
/// the [module](crate::deserialize). By hand, it takes a [seed](SeedIn), whose scope has more seeds:
///
/// ```
/// use ebbtide::deserialize::{DeserializeIn, SeedIn};
/// use serde::de::{DeserializeSeed, Deserializer};
///
/// /// The entries of a map, in their order.
/// struct Depths<'a>(&'a [(&'a str, u32)]);
///
/// impl<'de, 's, 'a> DeserializeIn<'de, 's, 'a> for Depths<'a> {
///     fn deserialize_in<D: Deserializer<'de>>(
///         seed: SeedIn<'de, 's, 'a, Self>,
///         from: D,
///     ) -> Result<Self, D::Error> {
///         let entries = seed.scope().seed_entries(seed.of::<&str>(), seed.of::<u32>());
///         Ok(Depths(entries.deserialize(from)?))
///     }
/// }
///
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let input = r#"[{"Kattegat": 130}, {}]"#;
/// let depths: &[Depths<'_>] = s.deserialize(&mut serde_json::Deserializer::from_str(input))?;
/// assert_eq!(depths[0].0, [("Kattegat", 130)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be deserialised into a scope",
    note = "derive `DeserializeIn` for types of your own, and use `&'a str` and `&'a [T]` instead of `String` and `Vec<T>`",
    note = "for a field whose type implements serde's `Deserialize`: `#[serde(deserialize_with = \"serde::Deserialize::deserialize\")]`"
)]
pub trait DeserializeIn<'de, 's, 'a>: Sized {
    /// Deserialises a value. Call [`Scope::deserialize`] instead.
    ///
    /// # Errors
    ///
    /// The deserialiser's error, if the input is wrong or there is no memory.
    fn deserialize_in<D: Deserializer<'de>>(
        seed: SeedIn<'de, 's, 'a, Self>,
        from: D,
    ) -> Result<Self, D::Error>;
}

/// A seed for any type that implements [`DeserializeIn`], which nests in other seeds.
///
/// ```
/// use ebbtide::deserialize::SeedIn;
/// use serde::de::DeserializeSeed;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let depths = s.seed_entries(SeedIn::<&str>::new(&s), SeedIn::<Option<u32>>::new(&s));
/// let input = r#"{"Kattegat": 130, "Atlantis": null}"#;
/// let depths = depths.deserialize(&mut serde_json::Deserializer::from_str(input))?;
/// assert_eq!(depths[1], ("Atlantis", None));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct SeedIn<'de, 's, 'a, T> {
    scope: &'s Scope<'a>,
    /// The identity, if strings are borrowed from the input.
    borrow: Option<fn(&'de str) -> &'a str>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for SeedIn<'_, '_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SeedIn<'_, '_, '_, T> {}

impl<T> fmt::Debug for SeedIn<'_, '_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeedIn").finish_non_exhaustive()
    }
}

impl<'de, 's, 'a, T> SeedIn<'de, 's, 'a, T> {
    /// A seed for values in a scope; see [`SeedIn`].
    #[must_use]
    pub fn new(scope: &'s Scope<'a>) -> Self {
        SeedIn { scope, borrow: None, of: PhantomData }
    }

    /// The scope in which the value will lie; see [`DeserializeIn`].
    pub fn scope(self) -> &'s Scope<'a> {
        self.scope
    }

    /// The seed for another type, such as a field's; see [`DeserializeIn`].
    #[must_use]
    pub fn of<U>(self) -> SeedIn<'de, 's, 'a, U> {
        SeedIn { scope: self.scope, borrow: self.borrow, of: PhantomData }
    }

    /// Borrows strings from the input where possible; see [`Scope::deserialize_borrowing`].
    #[must_use]
    pub fn borrowing(self) -> Self
    where
        'de: 'a,
    {
        SeedIn { borrow: Some(|text| text), ..self }
    }
}

impl<'de, 's, 'a, T: DeserializeIn<'de, 's, 'a>> DeserializeSeed<'de> for SeedIn<'de, 's, 'a, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        T::deserialize_in(self, from)
    }
}

impl<'a> Scope<'a> {
    /// Deserialises a value whose strings, slices and references lie in the scope: any type that
    /// implements [`DeserializeIn`], which types of your own derive.
    ///
    /// # Errors
    ///
    /// The deserialiser's error, if the input is wrong or there is no memory.
    ///
    /// ```
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut from = serde_json::Deserializer::from_str(r#"[["Kattegat", 130], ["Skagerrak", 700]]"#);
    /// let depths: &[(&str, u32)] = s.deserialize(&mut from)?;
    /// from.end()?; // nothing follows
    /// assert_eq!(depths[1], ("Skagerrak", 700));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn deserialize<'de, 's, T: DeserializeIn<'de, 's, 'a>, D: Deserializer<'de>>(
        &'s self,
        from: D,
    ) -> Result<T, D::Error> {
        T::deserialize_in(SeedIn::new(self), from)
    }

    /// Like [`deserialize`](Scope::deserialize), but each `&str` is part of the input if it can be: one
    /// without escapes, in a JSON text in memory. So the value ends before the input does.
    ///
    /// # Errors
    ///
    /// The deserialiser's error, if the input is wrong or there is no memory.
    ///
    /// ```
    /// let input = r#"["as it is", "one\nline"]"#;
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut from = serde_json::Deserializer::from_str(input);
    /// let texts: [&str; 2] = s.deserialize_borrowing(&mut from)?;
    /// let within = |text: &str| input.as_bytes().as_ptr_range().contains(&text.as_ptr());
    /// assert_eq!(texts.map(within), [true, false]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn deserialize_borrowing<
        'de: 'a,
        's,
        T: DeserializeIn<'de, 's, 'a>,
        D: Deserializer<'de>,
    >(
        &'s self,
        from: D,
    ) -> Result<T, D::Error> {
        T::deserialize_in(SeedIn::new(self).borrowing(), from)
    }
}

/// Each implementation: its parameters, its type, and the deserialised value.
macro_rules! implement {
    ($([$($parameter:tt)*] $type:ty: |$seed:ident, $from:ident| $made:expr;)*) => {$(
        impl<'de, 's, 'a, $($parameter)*> DeserializeIn<'de, 's, 'a> for $type {
            fn deserialize_in<D: Deserializer<'de>>(
                $seed: SeedIn<'de, 's, 'a, Self>,
                $from: D,
            ) -> Result<Self, D::Error> {
                $made
            }
        }
    )*};
}

implement! {
    [T: ?Sized] PhantomData<T>: |_seed, from| Self::deserialize(from);
    [T: DeserializeIn<'de, 's, 'a>] Option<T>:
        |seed, from| from.deserialize_option(Optional(seed.of()));
    [T: DeserializeIn<'de, 's, 'a>, const N: usize] [T; N]:
        |seed, from| from.deserialize_tuple(N, Array(seed.of()));
}

// Types without memory of their own.

macro_rules! plain {
    ($($type:ty)*) => { implement! { $([] $type: |_seed, from| Self::deserialize(from);)* } };
}

plain! {
    () bool char f32 f64 Duration
    i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize
    num::NonZeroI8 num::NonZeroI16 num::NonZeroI32 num::NonZeroI64 num::NonZeroI128 num::NonZeroIsize
    num::NonZeroU8 num::NonZeroU16 num::NonZeroU32 num::NonZeroU64 num::NonZeroU128 num::NonZeroUsize
}

struct Optional<'de, 's, 'a, T>(SeedIn<'de, 's, 'a, T>);

impl<'de, 's, 'a, T: DeserializeIn<'de, 's, 'a>> Visitor<'de> for Optional<'de, 's, 'a, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("option")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(from).map(Some)
    }
}

struct Array<'de, 's, 'a, T, const N: usize>(SeedIn<'de, 's, 'a, T>);

impl<'de, 's, 'a, T, const N: usize> Visitor<'de> for Array<'de, 's, 'a, T, N>
where
    T: DeserializeIn<'de, 's, 'a>,
{
    type Value = [T; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match N {
            0 => f.write_str("an empty array"),
            _ => write!(f, "an array of length {N}"),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut array = [const { None }; N];
        for (index, element) in array.iter_mut().enumerate() {
            *element = elements.next_element_seed(self.0)?;
            if element.is_none() {
                return Err(A::Error::invalid_length(index, &self));
            }
        }
        Ok(array.map(|element| match element {
            Some(element) => element,
            None => unreachable!("every element is there"),
        }))
    }
}

struct Tuple<'de, 's, 'a, T>(SeedIn<'de, 's, 'a, T>);

macro_rules! tuples {
    ($($len:literal: $($name:ident)*;)*) => {$(
        implement! {
            [$($name: DeserializeIn<'de, 's, 'a>),*] ($($name,)*):
                |seed, from| from.deserialize_tuple($len, Tuple(seed));
        }

        impl<'de, 's, 'a, $($name),*> Visitor<'de> for Tuple<'de, 's, 'a, ($($name,)*)>
        where
            $($name: DeserializeIn<'de, 's, 'a>,)*
        {
            type Value = ($($name,)*);

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a tuple of size {}", $len)
            }

            fn visit_seq<Z: SeqAccess<'de>>(self, mut elements: Z) -> Result<Self::Value, Z::Error> {
                let mut indexes = 0..;
                Ok(($({
                    let index = indexes.next().unwrap_or_default();
                    let element = elements.next_element_seed(self.0.of::<$name>())?;
                    element.ok_or_else(|| Z::Error::invalid_length(index, &self))?
                },)*))
            }
        }
    )*};
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C E;
    5: A B C E F;
    6: A B C E F G;
    7: A B C E F G H;
    8: A B C E F G H I;
    9: A B C E F G H I J;
    10: A B C E F G H I J K;
    11: A B C E F G H I J K L;
    12: A B C E F G H I J K L M;
}

// Strings, slices and values in the scope.

implement! {
    [] &'a str: |seed, from| {
        from.deserialize_str(BorrowedText { scope: seed.scope, borrow: seed.borrow })
    };
    [] &'a mut str: |seed, from| seed.scope.seed::<str>().deserialize(from);
    [] Box<'a, str>: |seed, from| seed.scope.boxed_seed::<str>().deserialize(from);
    [] String<'s, 'a>: |seed, from| seed.scope.seed_string().deserialize(from);
    [T: DeserializeIn<'de, 's, 'a> + 'a] &'a T:
        |seed, from| <&mut T>::deserialize_in(seed.of(), from).map(|value| &*value);
    [T: DeserializeIn<'de, 's, 'a> + 'a] &'a mut T:
        |seed, from| seed.scope.seed_value(seed.of::<T>()).deserialize(from);
    [T: DeserializeIn<'de, 's, 'a>] Box<'a, T>:
        |seed, from| seed.scope.seed_boxed(seed.of::<T>()).deserialize(from);
    [T: DeserializeIn<'de, 's, 'a> + 'a] &'a [T]:
        |seed, from| <&mut [T]>::deserialize_in(seed.of(), from).map(|slice| &*slice);
    [T: DeserializeIn<'de, 's, 'a> + 'a] &'a mut [T]:
        |seed, from| seed.scope.seed_slice(seed.of::<T>()).deserialize(from);
    [T: DeserializeIn<'de, 's, 'a>] Box<'a, [T]>:
        |seed, from| seed.scope.seed_boxed_slice(seed.of::<T>()).deserialize(from);
    [T: DeserializeIn<'de, 's, 'a>] Vec<'s, 'a, T>:
        |seed, from| seed.scope.seed_vec(seed.of::<T>()).deserialize(from);
    [T: DeserializeIn<'de, 's, 'a>] NodeVec<'a, T>:
        |seed, from| {
            let list = Vec::deserialize_in(seed.of(), from)?;
            if u32::try_from(list.len()).is_err() {
                return Err(D::Error::invalid_length(list.len(), &"at most 4294967295 elements"));
            }
            Ok(list.into_node_vec())
        };
}

#[cfg(feature = "hashbrown-017")]
mod maps {
    use super::{DeserializeIn, DeserializeSeed, Deserializer, SeedIn};
    use crate::collections::{Map, OwnedMap, OwnedSet, Set};
    use core::hash::Hash;

    implement! {
        [K: DeserializeIn<'de, 's, 'a> + Eq + Hash, V: DeserializeIn<'de, 's, 'a>] OwnedMap<'s, 'a, K, V>:
            |seed, from| seed.scope.seed_map(seed.of::<K>(), seed.of::<V>()).deserialize(from);
        [K: DeserializeIn<'de, 's, 'a> + Eq + Hash, V: DeserializeIn<'de, 's, 'a>] Map<'s, 'a, K, V>:
            |seed, from| OwnedMap::deserialize_in(seed.of(), from).map(Into::into);
        [T: DeserializeIn<'de, 's, 'a> + Eq + Hash] OwnedSet<'s, 'a, T>:
            |seed, from| seed.scope.seed_set(seed.of::<T>()).deserialize(from);
        [T: DeserializeIn<'de, 's, 'a> + Eq + Hash] Set<'s, 'a, T>:
            |seed, from| OwnedSet::deserialize_in(seed.of(), from).map(Into::into);
    }
}
