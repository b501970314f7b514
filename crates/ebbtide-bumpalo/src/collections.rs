//! Vectors and strings in an arena, and collecting iterators into them.

mod collect_in;
pub mod string;
pub mod vec;

pub use collect_in::{CollectIn, FromIteratorIn};
pub use string::String;
pub use vec::Vec;

use crate::AllocErr;
use core::alloc::LayoutError;

/// Why a collection could not grow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CollectionAllocErr {
    /// The collection would exceed `isize::MAX` bytes.
    CapacityOverflow,
    /// There is no memory.
    AllocErr,
}

impl From<AllocErr> for CollectionAllocErr {
    fn from(_: AllocErr) -> Self {
        CollectionAllocErr::AllocErr
    }
}

impl From<LayoutError> for CollectionAllocErr {
    fn from(_: LayoutError) -> Self {
        CollectionAllocErr::CapacityOverflow
    }
}
