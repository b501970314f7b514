//! Collections that live in a scope: vectors, strings, and (feature `hashbrown-017`) maps and sets.
//!
//! | type | created by | for |
//! |---|---|---|
//! | [`Vec`], [`String`] | [`s.vec()`](Scope::vec), [`s.string()`](Scope::string) | several collections that grow in one scope |
//! | [`GrowVec`](crate::GrowVec), [`GrowString`](crate::GrowString) | [`s.grow_vec()`](Scope::grow_vec), [`s.grow_string()`](Scope::grow_string) | one at a time; the fastest |
//! | [`NodeVec`] | [`NodeVec::new()`](crate::vector::Vector::new) | nodes of trees: 16 bytes, holds no scope |
//! | `Map`, `Set` | `s.map()`, `s.set()` | hash maps and sets of plain values |
//! | [`OwnedVec`], `OwnedMap`, `OwnedSet` | [`s.owned_vec()`](Scope::owned_vec), … | elements that need `Drop` |
//!
//! # Two lifetimes
//!
//! A collection borrows its scope for `'s`, in order to grow. Its memory lives for `'a`, as in
//! `Scope<'a>`. So the results of `into_slice` and `into_str` may outlive the scope's variable, and
//! a function that takes `&Scope<'a>` can return what lives for `'a`:
//!
//! ```
//! use ebbtide::{Arena, Scope, collections::Vec};
//!
//! fn words<'a>(s: &Scope<'a>, text: &str) -> &'a [&'a str] {
//!     let mut words: Vec<'_, 'a, &'a str> = s.vec();
//!     for word in text.split_whitespace() {
//!         words.push(s.alloc_str(word)); // between two pushes, in the same scope
//!     }
//!     words.into_slice()
//! }
//!
//! let mut arena = Arena::new();
//! assert_eq!(words(&arena.scope(), "ebb and flow"), ["ebb", "and", "flow"]);
//! ```
//!
//! # Destructors
//!
//! Only the `Owned` collections have a destructor. The others do not need `Drop`, so a node that
//! contains one can be allocated with [`alloc`](Scope::alloc). Elements that need `Drop` are
//! rejected at compile time, by `cargo build` but not yet by `cargo check`.

pub use crate::{
    text::{FromUtf8Error, String, Text, TextDrain},
    vector::{
        Drain, ExtractIf, HasArena, IntoIter, Length, Memory, NoScope, NodeVec, ScopeMut, Splice,
        Vec, Vector, WithScope, owning::Owning,
    },
};
pub use collect::{CollectIn, FromIteratorIn};
#[cfg(feature = "hashbrown-017")]
pub use map::{Map, OwnedMap, OwnedSet, Set};

// Exported macros are at the root of the crate, where `use ebbtide::*` would import them in place of
// the standard library's. So they have other names there.
#[doc(inline)]
pub use crate::{__ebbtide_format as format, __ebbtide_vec as vec};

use crate::scope::Scope;

/// A [`Vec`] that drops its elements; see [`Owning`].
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let s = arena.scope();
/// use ebbtide::collections::OwnedVec;
/// let mut words: OwnedVec<'_, '_, String> = s.owned_vec();
/// words.push("ebb".repeat(2)); // dropped with the vector
/// assert_eq!(words, ["ebbebb"]);
/// ```
pub type OwnedVec<'s, 'a, T> = Owning<T, &'s Scope<'a>>;

/// A [`GrowVec`](crate::GrowVec) that drops its elements; see [`Owning`].
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// # let mut s = arena.scope();
/// use ebbtide::collections::OwnedGrowVec;
/// let mut words: OwnedGrowVec<'_, '_, String> = s.owned_grow_vec();
/// words.push("ebb".repeat(2)); // dropped with the vector
/// assert_eq!(words, ["ebbebb"]);
/// ```
pub type OwnedGrowVec<'s, 'a, T> = Owning<T, ScopeMut<'s, 'a>>;

/// Creates a vector in a scope, like `std::vec!` on the heap.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// assert_eq!(ebbtide::collections::vec![in s; 1, 2, 3].len(), 3);
/// assert_eq!(ebbtide::collections::vec![in s; 0; 100].len(), 100);
/// assert_eq!(ebbtide::collections::vec![in s; "of this type only"; 0].len(), 0);
/// let empty: ebbtide::collections::Vec<u8> = ebbtide::collections::vec![in s];
/// assert!(empty.is_empty());
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __ebbtide_vec {
    (in $scope:expr $(;)?) => {
        $scope.vec()
    };
    (in $scope:expr; $value:expr; $len:expr) => {{
        let len: usize = $len;
        let mut vec = $scope.vec_with_capacity(len);
        vec.resize(len, $value);
        vec
    }};
    (in $scope:expr; $($value:expr),+ $(,)?) => {
        $crate::collections::Vec::from_array_in([$($value),+], &$scope)
    };
}

/// Formats into a string in a scope, like `std::format!` on the heap. Use
/// [`alloc_fmt`](crate::Scope::alloc_fmt) if the text does not need to grow.
///
/// # Panics
///
/// If a `Display` or other formatting implementation returns an error.
///
/// ```
/// # let mut arena = ebbtide::Arena::new();
/// let s = arena.scope();
/// let depth = 131;
/// let mut text = ebbtide::collections::format!(in s, "{depth} m");
/// text.push('!');
/// assert_eq!(text, "131 m!");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __ebbtide_format {
    (in $scope:expr, $($argument:tt)*) => {
        $crate::collections::formatted(&$scope, ::core::format_args!($($argument)*))
    };
}

/// The implementation of [`format!`].
#[doc(hidden)]
#[must_use]
pub fn formatted<'s, 'a>(
    scope: &'s Scope<'a>,
    arguments: core::fmt::Arguments<'_>,
) -> String<'s, 'a> {
    let mut text = scope.string();
    if let Err(error) = core::fmt::Write::write_fmt(&mut text, arguments) {
        panic!("a formatting implementation returned an error, or there is no memory: {error}");
    }
    text
}

mod collect;
#[cfg(feature = "hashbrown-017")]
mod map;
#[cfg(not(feature = "hashbrown-017"))]
mod without_map;
