//! Errors.

#[cfg(feature = "collections")]
use core::alloc::LayoutError;
use core::{error::Error, fmt};

/// The allocation failed: there is no memory, or it would exceed the arena's limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocErr;

impl fmt::Display for AllocErr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memory allocation failed")
    }
}

impl Error for AllocErr {}

impl From<ebbtide::AllocError> for AllocErr {
    fn from(_: ebbtide::AllocError) -> Self {
        AllocErr
    }
}

/// Either the allocation failed, or the initialiser returned an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AllocOrInitError<E> {
    /// The allocation failed.
    Alloc(AllocErr),
    /// The error of the initialiser. The block is free again, unless the initialiser allocated.
    Init(E),
}

impl<E> From<AllocErr> for AllocOrInitError<E> {
    fn from(error: AllocErr) -> Self {
        AllocOrInitError::Alloc(error)
    }
}

impl<E> From<ebbtide::AllocOrInitError<E>> for AllocOrInitError<E> {
    fn from(error: ebbtide::AllocOrInitError<E>) -> Self {
        match error {
            ebbtide::AllocOrInitError::Alloc(error) => AllocOrInitError::Alloc(error.into()),
            ebbtide::AllocOrInitError::Init(error) => AllocOrInitError::Init(error),
        }
    }
}

impl<E: fmt::Display> fmt::Display for AllocOrInitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocOrInitError::Alloc(error) => error.fmt(f),
            AllocOrInitError::Init(error) => write!(f, "initialization failed: {error}"),
        }
    }
}

/// Why a collection could not grow.
#[cfg(feature = "collections")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CollectionAllocErr {
    /// The collection would exceed `isize::MAX` bytes.
    CapacityOverflow,
    /// There is no memory.
    AllocErr,
}

#[cfg(feature = "collections")]
impl From<AllocErr> for CollectionAllocErr {
    fn from(_: AllocErr) -> Self {
        CollectionAllocErr::AllocErr
    }
}

#[cfg(feature = "collections")]
impl From<LayoutError> for CollectionAllocErr {
    fn from(_: LayoutError) -> Self {
        CollectionAllocErr::CapacityOverflow
    }
}

/// How infallible methods fail: by a panic, which can be caught, as with bumpalo. ebbtide itself
/// calls `handle_alloc_error`, which ends the process.
#[cold]
#[inline(never)]
pub(crate) fn out_of_memory() -> ! {
    panic!("out of memory")
}

/// The value, or a panic if there is no memory.
#[inline(always)]
pub(crate) fn or_panic<T, E>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(_) => out_of_memory(),
    }
}
