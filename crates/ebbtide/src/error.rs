//! What can go wrong, and the trait that lets one body serve an allocation method and its `try_`
//! twin.

use core::{convert::Infallible, error::Error, fmt};

/// The memory could not be had.
///
/// Returned by every `try_` method: the backing refused, the byte limit or the end of a fixed
/// buffer was reached, the request exceeds `isize::MAX` bytes, or an alignment asked for at run
/// time was no power of two. What was allocated and what is free in the scope are as they were
/// before the call; chunks that a growing slice or string went through on the way may have come to
/// the arena.
///
/// It has no fields, so that `Result<&mut T, AllocError>` is one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct AllocError;

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the arena could not serve the request: \
             its backing, its byte limit or its buffer has no room for it",
        )
    }
}

impl Error for AllocError {}

/// Either the memory could not be had, or the caller's own code failed to make the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocOrInitError<E> {
    /// The memory could not be had; the initialiser did not run, or was cut short.
    Alloc(AllocError),
    /// The initialiser's own error.
    Init(E),
}

impl<E> From<AllocError> for AllocOrInitError<E> {
    fn from(error: AllocError) -> Self {
        AllocOrInitError::Alloc(error)
    }
}

impl<E: fmt::Display> fmt::Display for AllocOrInitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocOrInitError::Alloc(error) => error.fmt(f),
            AllocOrInitError::Init(error) => write!(f, "the initialiser failed: {error}"),
        }
    }
}

impl<E: Error + 'static> Error for AllocOrInitError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AllocOrInitError::Alloc(error) => Some(error),
            AllocOrInitError::Init(error) => Some(error),
        }
    }
}

/// What a failed allocation is: an [`AllocError`] to return, or [`Infallible`], which cannot be
/// made because the failing path diverges. A body generic over it serves both twins of a method.
pub trait Failure: Sized {
    /// Whether the slow path itself must diverge when there is no memory.
    const DIVERGES: bool;

    /// The request exceeds `isize::MAX` bytes. Panics where failure diverges, as `Vec` does.
    fn too_large() -> Self;

    /// An alignment asked for at run time is no power of two. Panics where failure diverges.
    fn bad_alignment(align: usize) -> Self;

    /// The slow path returned without a block; never reached where failure diverges.
    fn refused() -> Self;
}

impl Failure for AllocError {
    const DIVERGES: bool = false;

    #[inline(always)]
    fn too_large() -> Self {
        AllocError
    }

    #[inline(always)]
    fn bad_alignment(_align: usize) -> Self {
        AllocError
    }

    #[inline(always)]
    fn refused() -> Self {
        AllocError
    }
}

impl Failure for Infallible {
    const DIVERGES: bool = true;

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn too_large() -> Self {
        panic!("capacity overflow: an allocation cannot exceed isize::MAX bytes")
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn bad_alignment(align: usize) -> Self {
        panic!("the alignment must be a power of two, and it is {align}")
    }

    fn refused() -> Self {
        unreachable!("the infallible slow path diverges instead of returning no block")
    }
}
