//! Errors, and the trait that lets an allocation method and its `try_` version share one body.

use core::{convert::Infallible, error::Error, fmt};

/// The allocation failed.
///
/// The `try_` methods return it if the backing refused a request, the byte limit or the end of a
/// fixed buffer was reached, the request exceeds `isize::MAX` bytes, or an alignment passed at run
/// time is not a power of two. A failed call leaves existing allocations and the free memory of the
/// scope unchanged. The arena keeps any chunks that it added while a slice or string was growing.
///
/// It has no fields, so that `Result<&mut T, AllocError>` is one word, and so that a
/// [`Backing`](crate::Backing) can return one.
///
/// ```
/// use ebbtide::{AllocError, StackArena};
///
/// let mut small = StackArena::<16>::new();
/// let s = small.scope();
/// assert_eq!(s.try_alloc([0u8; 17]), Err(AllocError));
/// assert!(s.try_alloc([0u8; 16]).is_ok()); // an error changes nothing
/// ```
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

/// Either the allocation failed, or the caller's initialiser returned an error.
///
/// Nothing else can fail, so there will be no other variants, and a `match` may name these two
/// only.
///
/// ```
/// use ebbtide::{AllocOrInitError, StackArena};
///
/// let mut small = StackArena::<16>::new();
/// let s = small.scope();
/// let parse = |text: &str| s.try_alloc_try_with(|| text.parse::<u64>()).map(|n| *n);
/// assert_eq!(parse("7"), Ok(7));
/// assert!(matches!(parse("x"), Err(AllocOrInitError::Init(_))));
/// assert_eq!(parse("8"), Ok(8));
/// assert_eq!(parse("9"), Err(AllocOrInitError::Alloc(ebbtide::AllocError))); // full
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocOrInitError<E> {
    /// The allocation failed. The initialiser did not run, or did not run to its end.
    Alloc(AllocError),
    /// The error that the initialiser returned.
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

/// How an allocation failure is reported: as an [`AllocError`] to return, or as [`Infallible`],
/// which has no values because the failing path diverges. A method and its `try_` version share one
/// body that is generic over this trait.
pub trait Failure: Sized {
    /// Whether the slow path must diverge when it runs out of memory.
    const DIVERGES: bool;

    /// The request exceeds `isize::MAX` bytes. Panics if failure diverges, as `Vec` does.
    fn too_large() -> Self;

    /// An alignment passed at run time is not a power of two. Panics if failure diverges.
    fn bad_alignment(align: usize) -> Self;

    /// The slow path returned without a block. Never reached if failure diverges.
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
