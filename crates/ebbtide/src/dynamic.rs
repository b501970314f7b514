//! Data whose shape is known only at run time, such as a JSON document (feature `serde`).
//!
//! [`Value`] holds whatever a self-describing format can express. It lies in a scope as a whole:
//! arrays and objects are slices in the scope, and strings are borrowed from the input wherever
//! they have no escapes. So a value is `Copy` and has no destructor, and a document is gone when
//! its scope ends, without being walked. [`Scope::seed_any`] deserialises one, and `Serialize`
//! writes it:
//!
//! ```
//! use ebbtide::{Arena, dynamic::Value};
//! use serde::de::DeserializeSeed;
//!
//! let input = r#"{"place": "Kattegat", "depths": [5, null, 130.5], "charted": true}"#;
//! let mut arena = Arena::new();
//! let s = arena.scope();
//! let chart = s.seed_any().deserialize(&mut serde_json::Deserializer::from_str(input))?;
//!
//! assert_eq!(chart["place"].as_str(), Some("Kattegat"));
//! assert_eq!(chart["depths"][2].as_f64(), Some(130.5));
//! assert_eq!(chart["owner"], Value::Null);
//! let charted = chart.get("depths").and_then(Value::as_array).unwrap();
//! assert_eq!(charted.iter().filter(|depth| !depth.is_null()).count(), 2);
//!
//! // A reply is made of slices as well.
//! let reply = Value::Object(s.alloc([("place", chart["place"]), ("soundings", 2.into())]));
//! assert_eq!(serde_json::to_string(&reply)?, r#"{"place":"Kattegat","soundings":2}"#);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Where the shape is known, a type of your own with `#[derive(Deserialize)]` and one of the
//! [seeds](crate::serialize) is faster, and reports what is missing.
//!
//! # Memory
//!
//! On 64-bit platforms an element of an array takes 24 bytes and a member of an object 40, besides
//! the strings that were copied.
//!
//! # Which input is accepted
//!
//! - Objects keep their members in the order of the input. If a key occurs twice, both are kept and
//!   written, and lookups find the last one, as `serde_json::Value` does.
//! - Keys must be strings. Bytes must be UTF-8, and become a string. Integers must fit `u64` or
//!   `i64`; `serde_json` makes a float of a larger number.
//! - The format must be self-describing: `deserialize_any` is called. With its feature
//!   `arbitrary_precision`, `serde_json` gives numbers as objects of its own.
//! - Deserialising, comparing and writing recurse as deep as the document is nested.
//!   `serde_json::Deserializer` refuses more than 128 levels; use a format's limit for input that
//!   you do not trust.
#![forbid(unsafe_code)]

use crate::scope::Scope;
use core::{fmt, ops::Index, str};
use serde::{
    Serialize, Serializer,
    de::{
        DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};

/// Any value of a self-describing format, in a scope: see the [module](self).
///
/// Later versions may have more variants, for example for bytes or for integers of 128 bits. A
/// `match` therefore needs an arm for all others.
///
/// ```
/// # use ebbtide::dynamic::Value;
/// fn sum(value: &Value<'_>) -> u64 {
///     match value {
///         Value::Unsigned(n) => *n,
///         Value::Array(list) => list.iter().map(sum).sum(),
///         Value::Object(entries) => entries.iter().map(|(_, value)| sum(value)).sum(),
///         _ => 0,
///     }
/// }
/// let list = [Value::Unsigned(1), Value::Null, Value::Unsigned(2)];
/// assert_eq!(sum(&Value::Array(&list)), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value: `null`, `None` or `()`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A negative integer. Deserialising and converting make others [`Unsigned`](Value::Unsigned).
    Signed(i64),
    /// A number with a fraction or an exponent, or an integer that fits no other variant.
    Float(f64),
    /// A string.
    String(&'a str),
    /// A sequence.
    Array(&'a [Value<'a>]),
    /// A map, as its entries.
    Object(&'a [(&'a str, Value<'a>)]),
}

impl<'a> Value<'a> {
    /// Whether this is [`Null`](Value::Null).
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert!(Value::Null.is_null());
    /// ```
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the value if it is a [`Bool`](Value::Bool).
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::Bool(true).as_bool(), Some(true));
    /// assert_eq!(Value::Null.as_bool(), None);
    /// ```
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = *self { Some(value) } else { None }
    }

    /// Returns the value if it is an integer between 0 and `u64::MAX`.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::from(7).as_u64(), Some(7));
    /// assert_eq!(Value::from(-7).as_u64(), None);
    /// assert_eq!(Value::from(7.0).as_u64(), None);
    /// ```
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// Returns the value if it is an integer between `i64::MIN` and `i64::MAX`.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::from(-7).as_i64(), Some(-7));
    /// assert_eq!(Value::from(u64::MAX).as_i64(), None);
    /// ```
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Unsigned(number) => i64::try_from(number).ok(),
            Value::Signed(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value if it is a number. Large integers are rounded.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::Float(0.5).as_f64(), Some(0.5));
    /// ```
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "documented")]
    pub const fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::Unsigned(number) => Some(number as f64),
            Value::Signed(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value if it is a [`String`](Value::String).
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::String("ebb").as_str(), Some("ebb"));
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> Option<&'a str> {
        if let Value::String(text) = *self { Some(text) } else { None }
    }

    /// Returns the elements if this is an [`Array`](Value::Array).
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// assert_eq!(Value::Array(&[Value::Null]).as_array().map(<[_]>::len), Some(1));
    /// ```
    #[must_use]
    pub const fn as_array(&self) -> Option<&'a [Value<'a>]> {
        if let Value::Array(elements) = *self { Some(elements) } else { None }
    }

    /// Returns the members if this is an [`Object`](Value::Object), in the order of the input.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// let entries = [("depth", Value::Unsigned(131))];
    /// assert_eq!(Value::Object(&entries).as_object(), Some(&entries[..]));
    /// ```
    #[must_use]
    pub const fn as_object(&self) -> Option<&'a [(&'a str, Value<'a>)]> {
        if let Value::Object(members) = *self { Some(members) } else { None }
    }

    /// Returns the member of an object with this key, the last one if there are several. `None` if
    /// there is no such member or this is not an object.
    ///
    /// Compares the keys one after the other. For many lookups in a large object, collect
    /// [`as_object`](Value::as_object) into a map.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// let depths = Value::Object(&[("Kattegat", Value::Unsigned(130))]);
    /// assert_eq!(depths.get("Kattegat").and_then(|depth| depth.as_u64()), Some(130));
    /// assert_eq!(depths.get("Skagerrak"), None);
    /// ```
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a Value<'a>> {
        self.as_object()?.iter().rev().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Returns the element of an array with this index. `None` if there is no such element or this
    /// is not an array.
    ///
    /// ```
    /// # use ebbtide::dynamic::Value;
    /// let list = [Value::Bool(true)];
    /// assert_eq!(Value::Array(&list).get_index(0), Some(&Value::Bool(true)));
    /// assert_eq!(Value::Array(&list).get_index(1), None);
    /// ```
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<&'a Value<'a>> {
        self.as_array()?.get(index)
    }
}

static NULL: Value<'static> = Value::Null;

/// Like [`Value::get`], but gives [`Value::Null`] where there is no such member. Never panics.
impl<'a> Index<&str> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, key: &str) -> &Value<'a> {
        self.get(key).unwrap_or(&NULL)
    }
}

/// Like [`Value::get_index`], but gives [`Value::Null`] where there is no such element. Never
/// panics.
impl<'a> Index<usize> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, index: usize) -> &Value<'a> {
        self.get_index(index).unwrap_or(&NULL)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(text)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Unsigned(number)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        u64::try_from(number).map_or(Value::Signed(number), Value::Unsigned)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Float(number)
    }
}

/// Conversions from smaller numbers, by way of a larger one.
macro_rules! from_smaller {
    ($($smaller:ty => $larger:ty),+ $(,)?) => {$(
        impl From<$smaller> for Value<'_> {
            fn from(number: $smaller) -> Self {
                Value::from(<$larger>::from(number))
            }
        }
    )+};
}

from_smaller!(u8 => u64, u16 => u64, u32 => u64, i8 => i64, i16 => i64, i32 => i64, f32 => f64);

impl<'a> From<&'a [Value<'a>]> for Value<'a> {
    fn from(elements: &'a [Value<'a>]) -> Self {
        Value::Array(elements)
    }
}

impl<'a> From<&'a [(&'a str, Value<'a>)]> for Value<'a> {
    fn from(members: &'a [(&'a str, Value<'a>)]) -> Self {
        Value::Object(members)
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Unsigned(number) => serializer.serialize_u64(number),
            Value::Signed(number) => serializer.serialize_i64(number),
            Value::Float(number) => serializer.serialize_f64(number),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => serializer.collect_seq(elements),
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

/// A seed for a [`Value`]; see [`Scope::seed_any`].
///
/// ```
/// use ebbtide::dynamic::{AnySeed, Value};
/// use serde::de::DeserializeSeed;
/// use serde_json::Deserializer;
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// let seed: AnySeed<'_, '_> = s.seed_any();
/// for (input, value) in [("null", Value::Null), ("7", Value::Unsigned(7))] {
///     assert_eq!(seed.deserialize(&mut Deserializer::from_str(input))?, value);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct AnySeed<'s, 'a> {
    scope: &'s Scope<'a>,
}

impl fmt::Debug for AnySeed<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnySeed").finish_non_exhaustive()
    }
}

impl<'de: 'a, 'a> DeserializeSeed<'de> for AnySeed<'_, 'a> {
    type Value = Value<'a>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value<'a>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for AnySeed<'_, 'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value with string keys and integers of at most 64 bits")
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value<'a>, D::Error> {
        self.deserialize(from)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Value<'a>, D::Error> {
        self.deserialize(from)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'a>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value<'a>, E> {
        Ok(Value::Unsigned(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value<'a>, E> {
        Ok(Value::from(number))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Value<'a>, E> {
        u64::try_from(number).map(Value::Unsigned).map_err(|_| too_large(&self))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Value<'a>, E> {
        match (u64::try_from(number), i64::try_from(number)) {
            (Ok(number), _) => Ok(Value::Unsigned(number)),
            (_, Ok(number)) => Ok(Value::Signed(number)),
            _ => Err(too_large(&self)),
        }
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value<'a>, E> {
        Ok(Value::Float(number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Value<'a>, E> {
        Ok(Value::String(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'a>, E> {
        self.scope.try_alloc_str(text).map(|text| Value::String(text)).map_err(E::custom)
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Value<'a>, E> {
        match str::from_utf8(bytes) {
            Ok(text) => self.visit_borrowed_str(text),
            Err(_) => Err(E::invalid_value(Unexpected::Bytes(bytes), &self)),
        }
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Value<'a>, E> {
        match str::from_utf8(bytes) {
            Ok(text) => self.visit_str(text),
            Err(_) => Err(E::invalid_value(Unexpected::Bytes(bytes), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<Value<'a>, A::Error> {
        let from = SeqAccessDeserializer::new(elements);
        Ok(Value::Array(self.scope.seed_slice(self).deserialize(from)?))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value<'a>, A::Error> {
        let from = MapAccessDeserializer::new(members);
        let seed = self.scope.seed_entries(self.scope.borrowing_seed::<str>(), self);
        Ok(Value::Object(seed.deserialize(from)?))
    }
}

#[cold]
fn too_large<E: Error>(expected: &AnySeed<'_, '_>) -> E {
    E::invalid_value(Unexpected::Other("an integer of more than 64 bits"), expected)
}

impl<'a> Scope<'a> {
    /// A seed for a [`dynamic::Value`](Value), which holds whatever the input says. Strings are
    /// borrowed from the input where possible.
    ///
    /// ```
    /// use serde::de::DeserializeSeed;
    ///
    /// # let mut arena = ebbtide::Arena::new();
    /// # let s = arena.scope();
    /// let mut input = serde_json::Deserializer::from_str(r#"[{"depth": 130}, "unknown"]"#);
    /// let list = s.seed_any().deserialize(&mut input)?;
    /// assert_eq!(list[0]["depth"].as_u64(), Some(130));
    /// assert_eq!(list[1].as_str(), Some("unknown"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn seed_any(&self) -> AnySeed<'_, 'a> {
        AnySeed { scope: self }
    }
}
