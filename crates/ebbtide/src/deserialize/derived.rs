//! What the code of the derive macro names.

use super::{DeserializeIn, SeedIn};
use core::convert::TryFrom;
#[cfg(not(feature = "alloc"))]
use core::str;
pub use core::{self, convert::From, default::Default, fmt, marker::PhantomData};
pub use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{
    de::{Expected, Unexpected},
    forward_to_deserialize_any,
};

/// How to treat a name that is not among those of a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Fields; others are ignored.
    Fields,
    /// Fields; others are errors.
    KnownFields,
    /// Variants; others are errors.
    Variants,
}

/// A seed for the index of a field or a variant, from one of its names or itself. The index of a
/// field to ignore is `usize::MAX`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// All names.
    pub names: &'static [&'static str],
    /// The index for each name.
    pub indexes: &'static [usize],
    /// How many indexes there are.
    pub count: usize,
    /// What is named.
    pub kind: Kind,
}

impl<'de> DeserializeSeed<'de> for Names {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Names {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Fields | Kind::KnownFields => "field identifier",
            Kind::Variants => "variant identifier",
        })
    }

    fn visit_u64<E: Error>(self, index: u64) -> Result<usize, E> {
        match (usize::try_from(index), self.kind) {
            (Ok(found), _) if found < self.count => Ok(found),
            (_, Kind::Fields) => Ok(usize::MAX),
            _ => Err(E::invalid_value(Unexpected::Unsigned(index), &Index(self))),
        }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        self.find(name.as_bytes()).map_or_else(|| self.unknown(name), Ok)
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<usize, E> {
        let unknown = || {
            #[cfg(feature = "alloc")]
            let name = &alloc::string::String::from_utf8_lossy(name);
            #[cfg(not(feature = "alloc"))]
            let name = str::from_utf8(name).unwrap_or("\u{FFFD}");
            self.unknown(name)
        };
        self.find(name).map_or_else(unknown, Ok)
    }
}

impl Names {
    fn find(&self, name: &[u8]) -> Option<usize> {
        let index = self.names.iter().position(|known| known.as_bytes() == name)?;
        Some(self.indexes[index])
    }

    fn unknown<E: Error>(&self, name: &str) -> Result<usize, E> {
        match self.kind {
            Kind::Fields => Ok(usize::MAX),
            Kind::KnownFields => Err(E::unknown_field(name, self.names)),
            Kind::Variants => Err(E::unknown_variant(name, self.names)),
        }
    }
}

/// An index, as messages call it.
struct Index(Names);

impl Expected for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Names { count, kind, .. } = self.0;
        let what = if matches!(kind, Kind::Variants) { "variant" } else { "field" };
        write!(f, "{what} index 0 <= i < {count}")
    }
}

/// The value of a field that is not in the input: `None` for an `Option`, otherwise an error.
///
/// # Errors
///
/// A missing field.
#[doc(hidden)]
pub fn missing<'de, 's, 'a, T, E>(seed: SeedIn<'de, 's, 'a, T>, field: &'static str) -> Result<T, E>
where
    T: DeserializeIn<'de, 's, 'a>,
    E: Error,
{
    T::deserialize_in(seed, Missing { field, error: PhantomData })
}

struct Missing<E> {
    field: &'static str,
    error: PhantomData<E>,
}

impl<'de, E: Error> Deserializer<'de> for Missing<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.field))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Gives the `Ok` of a field's conversion, or the deserialiser's error.
///
/// # Errors
///
/// The error of the conversion, as text.
#[doc(hidden)]
pub fn converted<T, U, E>(value: T) -> Result<U, E>
where
    U: TryFrom<T, Error: fmt::Display>,
    E: Error,
{
    U::try_from(value).map_err(E::custom)
}
