//! Scopes as three machine words, for interfaces to other languages.
//!
//! Programs in Rust need nothing from here. A front end (the C interface, a binding, a compiler's
//! runtime) cannot hold a [`Scope`], whose borrow only Rust checks. It holds [`Words`] instead,
//! three words that it may copy, store and change.
//!
//! # The fast paths of a front end
//!
//! As long as words are *in use* (see [`Words::scope`]), the bytes from `low` to `top` are free. A
//! front end may take a block of them without a call:
//!
//! - At the high end, a block of at most [`SMALL`] bytes, aligned to at most [`SMALL`], begins at
//!   `(top - size) & !(align - 1)`. It fits if that is not below `low`. `top` then becomes the
//!   start of the block. For larger sizes and alignments this comparison is not exact.
//! - At the low end, a block begins at `low`, rounded up. It fits if its end is not above `top`.
//!   `low` then becomes the end of the block. The last block there, the one that ends at `low`, may
//!   grow up to `top` and shrink in place: by moving `low`. No other low-end block of the scope
//!   ends at `low`, even in another chunk. A block of another arena may, if that arena's memory comes
//!   from this scope, so a block is passed only to the scope that it came from. (Our vectors may be
//!   passed any scope, so their blocks end *below* `top`.)
//!
//! If the block does not fit, [`Scope::try_alloc_layout`] or [`alloc_low`] is the cold path. It
//! writes the new words over the old ones.
//!
//! In a build with `-Zsanitizer=address`, free memory is poisoned, so a front end has to unpoison the
//! blocks that it takes by itself.
//!
//! # Marks
//!
//! A copy of the words is a mark. Writing it back frees everything that was allocated since, and
//! has no other cost. A mark stays valid as long as the arena is neither moved, reset nor trimmed.
//! If fewer than 64 bytes are free, a front end should call [`Scope::scope`] before it copies the
//! words, and ignore the result. The call moves the words to the next chunk. Otherwise each
//! iteration of a loop would have to enter that chunk.
//!
//! ```
//! use ebbtide::{Arena, front_end::Words};
//! use std::alloc::Layout;
//!
//! let mut arena = Arena::new();
//! let mut words = Words::of(arena.scope());
//! let mark = words;
//!
//! // The fast path, by hand.
//! let start = (words.top - 8) & !7;
//! assert!(start >= words.low.addr());
//! words.top = start;
//! // SAFETY: eight bytes that were free and are aligned.
//! unsafe { words.low.with_addr(start).cast::<u64>().write(1) };
//!
//! // The cold path.
//! // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
//! let scope = unsafe { words.scope() };
//! assert!(scope.try_alloc_layout(Layout::new::<[u64; 10_000]>()).is_ok());
//! assert_eq!(scope.stats().chunks, 2);
//!
//! words = mark; // both blocks are free again
//! # let _ = words;
//! ```

#[cfg(feature = "std")]
use crate::thread_end::{self, End};
use crate::{arith, error::AllocError, scope::Scope};
use core::{alloc::Layout, cell::Cell, mem::transmute, ptr::NonNull};

#[cfg(all(feature = "std", target_os = "linux"))]
pub use crate::thread_key::ThreadKey;

/// Calls `f` once when this thread ends, for a front end that keeps arenas of a thread. Until then the
/// library that this code is linked to is not unloaded. Returns false if that is too late: the thread is
/// ending, and has called such functions before. Of two functions of a thread, the last one is called.
///
/// Blocks of arenas that `f` drops go to the heap at once, as all that a thread drops while it ends.
///
/// ```
/// use ebbtide::{Arena, front_end, warm};
///
/// extern "C" fn end() {
///     drop(Arena::with_capacity(100));
///     assert_eq!(warm::held(), 0);
/// }
/// assert!(std::thread::spawn(|| front_end::at_thread_end(end)).join().unwrap());
/// ```
#[inline]
#[cfg(feature = "std")]
pub fn at_thread_end(f: extern "C" fn()) -> bool {
    thread_end::call(End::Interface, f)
}

/// The largest size and the largest alignment for which one comparison decides whether a block fits
/// at the high end, in bytes.
///
/// ```
/// use std::alloc::Layout;
/// /// Whether a front end may take the block without a call.
/// fn is_fast(layout: Layout) -> bool {
///     layout.size().max(layout.align()) <= ebbtide::front_end::SMALL
/// }
/// assert!(is_fast(Layout::new::<[u64; 4]>()) && !is_fast(Layout::new::<[u64; 10_000]>()));
/// ```
pub const SMALL: usize = arith::SMALL;

/// The words of a scope.
///
/// Their order, sizes and meaning are part of the interface: three words, without padding. The
/// lifetime of the scope is not: code that keeps words has to follow the rules of [`Words::scope`].
///
/// ```
/// use ebbtide::{Arena, front_end::Words};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// let mark = words;
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// scope.alloc(1u64);
/// assert_ne!(words, mark);
/// assert_eq!(size_of::<Words>(), 3 * size_of::<usize>());
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// The end of the free bytes, as an address. Blocks have the provenance of `low`.
    pub top: usize,
    /// Identifies the chunk that the scope is in.
    pub chunk: *mut (),
    /// The first free byte.
    pub low: *mut u8,
}

// SAFETY: words are three addresses. Nothing follows them without `Words::scope`, which is unsafe
// and requires that one thread at a time uses them.
unsafe impl Send for Words {}

impl Words {
    /// Converts a scope to its words. Its lifetime `'a` is lost, so the caller is responsible for
    /// how the words are used; see [`Words::scope`].
    ///
    /// ```
    /// use ebbtide::{Arena, front_end::Words};
    /// let mut arena = Arena::new();
    /// let mut words = Words::of(arena.scope());
    /// assert!(words.top > words.low.addr());
    /// # let _ = &mut words;
    /// ```
    #[inline]
    #[must_use]
    pub fn of(scope: Scope<'_>) -> Words {
        // SAFETY: a scope is its cursor, which has these three fields in this order (`raw` asserts
        // it). Any value of theirs is a valid number or pointer.
        unsafe { transmute::<Scope<'_>, Words>(scope) }
    }

    /// Converts the words to a scope. Allocating in the scope changes the words.
    ///
    /// # Safety
    ///
    /// The words are in use:
    ///
    /// - [`Words::of`] made them, or a copy of them. Since then, they were changed only by their
    ///   scope, by the fast paths of the [module](self), or to earlier words of the same scope.
    /// - Since then, and during `'s`, the arena has neither moved nor been reset, trimmed or
    ///   dropped. No method of it was called: its statistics and its limit are reached through the
    ///   scope.
    /// - No other words of the arena are in use, except ancestors: words that these were copied
    ///   from, and that do not change until these are no longer in use.
    /// - When the words go back to earlier ones, or to those of an ancestor, nothing that was
    ///   allocated since is used again.
    /// - One thread at a time uses the arena and its words.
    ///
    /// ```
    /// use ebbtide::{Arena, front_end::Words};
    /// let mut arena = Arena::new();
    /// let mut words = Words::of(arena.scope());
    /// let top = words.top;
    /// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
    /// let scope = unsafe { words.scope() };
    /// scope.alloc([0u8; 24]);
    /// assert_eq!(top - words.top, 24);
    /// ```
    #[inline(always)]
    pub unsafe fn scope<'s>(&'s mut self) -> &'s mut Scope<'s> {
        let scope = core::ptr::from_mut(self).cast::<Scope<'s>>();
        // SAFETY: `Words` has the layout of a scope (see `Words::of`). Its values are those of a
        // scope in use during `'s`, by this function's contract; `self` is borrowed as long.
        unsafe { &mut *scope }
    }
}

/// The free bytes of a scope: what is left of the region that it allocates from, and the regions of
/// the chunks behind. For front ends that poison memory after its scope ended.
///
/// ```
/// use ebbtide::{Arena, front_end::Words};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// let free = words.top - words.low.addr();
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// let ranges = ebbtide::front_end::free_ranges(scope);
/// assert_eq!(ranges.map(|range| range.len()).sum::<usize>(), free);
/// ```
pub fn free_ranges<'s>(scope: &'s Scope<'_>) -> impl Iterator<Item = NonNull<[u8]>> + 's {
    scope.cursor().free_ranges()
}

/// Whether words can be a mark of this scope: copied from it, or from an ancestor, and not rewound
/// past since. For front ends that check what they are passed. Visits each chunk up to the scope's
/// own.
///
/// ```
/// use ebbtide::{Arena, front_end::{Words, is_mark}};
/// let (mut arena, mut other) = (Arena::new(), Arena::new());
/// let (mut words, mark) = (Words::of(arena.scope()), Words::of(other.scope()));
/// let own = words;
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// scope.alloc([0u8; 10_000]);
/// assert!(is_mark(scope, &own) && !is_mark(scope, &mark));
/// ```
#[inline]
#[must_use]
pub fn is_mark(scope: &Scope<'_>, mark: &Words) -> bool {
    let Some(low) = NonNull::new(mark.low) else { return false };
    scope
        .cursor()
        .can_rewind_to(mark.top, low, &|chunk| chunk.as_ptr().as_ptr().cast() == mark.chunk)
}

/// Whether an address lies in memory that was allocated from this scope or from an ancestor, and not
/// freed since. The bytes that were left free in chunks before the scope's count as allocated. For
/// front ends that are asked whose block something is. Visits each chunk up to the scope's, unless
/// the address lies in that one.
///
/// ```
/// use ebbtide::{Arena, front_end::{Words, has_allocated}};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// let mark = words;
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// let block = std::ptr::from_ref(scope.alloc(7)).addr();
/// assert!(has_allocated(scope, block) && !has_allocated(scope, block - 1));
/// words = mark;
/// // SAFETY: the words are in use: the mark is one of this scope, which did not change since.
/// assert!(!has_allocated(unsafe { words.scope() }, block));
/// ```
#[inline]
#[must_use]
pub fn has_allocated(scope: &Scope<'_>, address: usize) -> bool {
    scope.cursor().has_taken(address)
}

/// Like [`has_allocated`], for the address of a block of at least one byte from the high end. The
/// scope may be a mark, even if low-end blocks from before it were freed since: a block that was then
/// taken from the high end can lie below the mark's `low`, where [`has_allocated`] would be true.
///
/// ```
/// use ebbtide::{Arena, front_end::{Words, alloc_low, has_allocated, has_allocated_high}};
/// use std::alloc::Layout;
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// let free = scope.stats().capacity - scope.stats().used;
/// let low = alloc_low(scope, Layout::array::<u8>(free - 100)?)?;
/// let mut mark = words;
/// words.low = low.as_ptr(); // frees the block
/// // SAFETY: the words are in use: they went back to earlier ones of the low end.
/// let block = unsafe { words.scope() }.try_alloc_layout(Layout::new::<[u8; 200]>())?.addr().get();
/// // SAFETY: the words are in use: the mark is one of this scope.
/// let mark = unsafe { mark.scope() };
/// assert!(!has_allocated_high(mark, block) && has_allocated(mark, block));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline]
#[must_use]
pub fn has_allocated_high(scope: &Scope<'_>, block: usize) -> bool {
    scope.cursor().has_taken_high(block)
}

/// A word that each arena keeps for its front end, null at first. All scopes of the arena have the
/// same. The library neither reads nor changes it.
///
/// ```
/// use ebbtide::{Arena, front_end::{Words, word}};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// assert!(word(scope).get().is_null());
/// word(scope).set(std::ptr::without_provenance_mut(8));
/// assert_eq!(word(&scope.scope()).get().addr(), 8);
/// ```
#[inline]
#[must_use]
pub fn word<'s>(scope: &'s Scope<'_>) -> &'s Cell<*mut ()> {
    scope.cursor().control().front_end_word()
}

/// Limits the bytes that the scope's arena may hold of its backing, as
/// [`Arena::set_limit`](crate::Arena::set_limit) does; `None` for no limit. For front ends whose
/// arena must not be borrowed while words are in use.
///
/// ```
/// use ebbtide::{Arena, front_end::Words};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// ebbtide::front_end::set_limit(scope, Some(1 << 16));
/// assert!(scope.try_alloc([0u8; 100_000]).is_err());
/// ```
#[inline]
pub fn set_limit(scope: &Scope<'_>, bytes: Option<usize>) {
    scope.cursor().control().settings().set_limit(bytes);
}

/// A block at the low end of a scope, uninitialised. While it is the last one there, which means
/// that it ends at `low`, it grows and shrinks in place as `low` moves.
///
/// # Errors
///
/// [`AllocError`]. The scope is unchanged then.
///
/// ```
/// use ebbtide::{Arena, front_end::Words};
/// let mut arena = Arena::new();
/// let mut words = Words::of(arena.scope());
/// // SAFETY: the words are in use: the arena has no other scope, and stays where it is.
/// let scope = unsafe { words.scope() };
/// let block = ebbtide::front_end::alloc_low(scope, std::alloc::Layout::new::<[u32; 3]>())?;
/// // It ends at `low`, so it may grow there.
/// assert_eq!(words.low.addr(), block.addr().get() + 12);
/// # Ok::<(), ebbtide::AllocError>(())
/// ```
#[inline]
pub fn alloc_low(scope: &Scope<'_>, layout: Layout) -> Result<NonNull<u8>, AllocError> {
    scope.cursor().reserve_layout_low(layout)
}
