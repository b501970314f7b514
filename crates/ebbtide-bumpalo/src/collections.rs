//! Vectors and strings in an arena, and collecting iterators into them.

mod collect_in;
pub mod string;
pub mod vec;

pub use crate::error::CollectionAllocErr;
pub use collect_in::{CollectIn, FromIteratorIn};
pub use string::String;
pub use vec::Vec;
