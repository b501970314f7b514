//! Arenas over the caller's own memory.

use crate::{
    arith::LOWEST_ADDRESS,
    backing::{Backing, NoSpill},
    chunk::{Chunks, FIRST_CHUNK},
    raw::Cursor,
    scope::Scope,
    stats::Stats,
    threads::SharedByThreads,
};
use core::{
    fmt,
    mem::MaybeUninit,
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

/// An arena over the caller's own memory: a `&mut [MaybeUninit<u8>]`, an array, or any owner of
/// bytes.
///
/// A scope over a buffer of n bytes holds exactly n. A vector, or another block that may grow, ends
/// before the last of them. A child of that scope begins at a multiple of
/// 16 and so holds up to 15 bytes less. If less than 64 bytes are left and the arena has a chunk of
/// its spill backing, the scope itself moves to that chunk when a child opens. When the buffer is
/// full, allocation fails and changes nothing, unless [`or_spill`](Fixed::or_spill) set a backing
/// for further chunks.
///
/// Some methods of an [`Arena`](crate::Arena) have no counterpart here. There is no `root`: its
/// cursor would outlive the borrow of the buffer, whose owner may return another buffer next time.
/// There is no `reset`, because nothing outlives a scope; no `contains` and no `chunks`, because
/// the arena is borrowed while a scope is open, and empty otherwise; and no `try_scope`, because
/// opening a scope takes no memory.
///
/// ```
/// use core::mem::MaybeUninit;
/// use ebbtide::Fixed;
///
/// let mut buffer = [MaybeUninit::uninit(); 100];
/// let mut fixed = Fixed::new(&mut buffer[..]);
/// let s = fixed.scope();
/// assert!(s.try_alloc_slice_fill_copy(101, 0u8).is_err());
/// assert!(s.try_alloc_slice_fill_copy(100, 0u8).is_ok());
/// assert!(s.try_alloc(0u8).is_err());
/// ```
pub struct Fixed<O, B: Backing = NoSpill> {
    /// The head stands for the buffer; the chunks behind it are the spill.
    chunks: Chunks<B>,
    memory: O,
}

// SAFETY: the chunks are the arena's own, `B: Send` by its definition and `O: Send` here. Every
// scope and allocation borrows the arena, so none is left on the old thread.
unsafe impl<O: Send, B: Backing> Send for Fixed<O, B> {}

// SAFETY: never applies, because nothing implements the bound.
#[cfg(not(doc))]
unsafe impl<O, B: Backing> Sync for Fixed<O, B> where Self: SharedByThreads {}

// Only the user's code and the backing can panic, and the chunks are consistent while they run.
impl<O: UnwindSafe, B: Backing> UnwindSafe for Fixed<O, B> {}
impl<O: RefUnwindSafe, B: Backing> RefUnwindSafe for Fixed<O, B> {}

impl<O: AsMut<[MaybeUninit<u8>]>> Fixed<O> {
    /// An arena over `memory`. Its `as_mut` is called once for every scope that is opened.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::Fixed;
    /// let mut buffer = [MaybeUninit::uninit(); 64];
    /// let mut fixed = Fixed::new(&mut buffer[..]); // or the array itself
    /// assert_eq!(fixed.scope().alloc(1), &1);
    /// ```
    #[must_use]
    pub const fn new(memory: O) -> Self {
        Fixed { chunks: Chunks::new(NoSpill, FIRST_CHUNK), memory }
    }

    /// Allocates from `backing` when the buffer is full, in chunks like those of an
    /// [`Arena`](crate::Arena), which stay for the next scope. A limit that was set stays.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let mut fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(Heap);
    /// let s = fixed.scope();
    /// s.alloc([0u8; 64]); // fills the buffer
    /// s.alloc([0u8; 64]); // on the heap
    /// assert_eq!(s.stats().chunks, 2);
    /// ```
    #[must_use]
    pub fn or_spill<B: Backing>(self, backing: B) -> Fixed<O, B> {
        let chunks = Chunks::new(backing, FIRST_CHUNK);
        chunks.control().settings().set_limit(self.limit());
        Fixed { chunks, memory: self.memory }
    }
}

/// A range of bytes given by address: the memory of [`Fixed::from_raw_parts`].
///
/// ```
/// use ebbtide::{Fixed, RawBytes};
/// use std::ptr::NonNull;
///
/// let mut memory = [0u64; 8];
/// // SAFETY: the bytes belong to `memory`, which is not used while they are in use.
/// let fixed = unsafe { Fixed::from_raw_parts(NonNull::from(&mut memory).cast(), 64) };
/// let bytes: RawBytes = fixed.into_memory(); // for another arena
/// assert!(Fixed::new(bytes).scope().try_alloc([0u8; 65]).is_err());
/// ```
#[derive(Debug)]
pub struct RawBytes {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: nobody else uses the bytes, on any thread, as long as this value lives, by
// `from_raw_parts`'s contract.
unsafe impl Send for RawBytes {}

impl AsMut<[MaybeUninit<u8>]> for RawBytes {
    #[inline]
    fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the bytes are valid, in one allocation, at most `isize::MAX`, and nobody else's
        // as long as this lives, by `from_raw_parts`'s contract; they may be uninitialised.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }
}

impl Fixed<RawBytes> {
    /// An arena over `len` bytes at `start`.
    ///
    /// # Safety
    ///
    /// As long as the arena lives, or the [`RawBytes`] that it gives back, the bytes are valid for
    /// reads and writes, lie in one allocation, and are used by nobody else. `len` is at most
    /// `isize::MAX`.
    ///
    /// ```
    /// use ebbtide::Fixed;
    /// use std::ptr::NonNull;
    ///
    /// let mut memory = [0u64; 8];
    /// // SAFETY: the bytes belong to `memory`, which is not used while the arena lives.
    /// let mut fixed = unsafe { Fixed::from_raw_parts(NonNull::from(&mut memory).cast(), 64) };
    /// assert_eq!(fixed.scope().alloc(1), &1);
    /// ```
    #[inline]
    #[must_use]
    pub const unsafe fn from_raw_parts(start: NonNull<u8>, len: usize) -> Self {
        Fixed::new(RawBytes { start, len })
    }
}

/// The spare capacity of a `Vec<u8>` as memory for a [`Fixed`].
///
/// ```
/// use ebbtide::Fixed;
/// let mut fixed = Fixed::from_vec(Vec::with_capacity(100));
/// assert_eq!(fixed.scope().alloc(1), &1);
/// assert!(fixed.into_memory().into_vec().is_empty());
/// ```
#[cfg(feature = "alloc")]
#[derive(Debug, Default)]
pub struct SpareCapacity(alloc::vec::Vec<u8>);

#[cfg(feature = "alloc")]
impl AsMut<[MaybeUninit<u8>]> for SpareCapacity {
    #[inline]
    fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.0.spare_capacity_mut()
    }
}

#[cfg(feature = "alloc")]
impl SpareCapacity {
    /// Returns the vector with its elements unchanged.
    ///
    /// ```
    /// let fixed = ebbtide::Fixed::from_vec(b"ebb".to_vec());
    /// assert_eq!(fixed.into_memory().into_vec(), b"ebb");
    /// ```
    #[inline]
    #[must_use]
    pub fn into_vec(self) -> alloc::vec::Vec<u8> {
        self.0
    }
}

#[cfg(feature = "alloc")]
impl Fixed<SpareCapacity> {
    /// An arena over the spare capacity of a vector. The elements stay as they are;
    /// `into_memory().into_vec()` gives the vector back.
    ///
    /// ```
    /// let mut fixed = ebbtide::Fixed::from_vec(Vec::with_capacity(1 << 10));
    /// let s = fixed.scope();
    /// assert!(s.try_alloc([0u8; 1 << 10]).is_ok());
    /// ```
    #[inline]
    #[must_use]
    pub const fn from_vec(vec: alloc::vec::Vec<u8>) -> Self {
        Fixed::new(SpareCapacity(vec))
    }

    /// An arena over a buffer of plain bytes, whose contents are lost. It is taken by value,
    /// because a scope leaves bytes behind that are not initialised.
    ///
    /// ```
    /// let bytes = vec![7u8; 100].into_boxed_slice();
    /// let mut fixed = ebbtide::Fixed::from_boxed_slice(bytes);
    /// assert!(fixed.scope().try_alloc([0u8; 100]).is_ok());
    /// ```
    #[inline]
    #[must_use]
    pub fn from_boxed_slice(bytes: alloc::boxed::Box<[u8]>) -> Self {
        let mut vec = bytes.into_vec();
        vec.clear();
        Fixed::from_vec(vec)
    }
}

impl<O: AsMut<[MaybeUninit<u8>]>, B: Backing> Fixed<O, B> {
    /// Opens a scope over the whole buffer. Costs a dozen instructions and the owner's `as_mut`.
    ///
    /// # Panics
    ///
    /// Only if the owner's `as_mut` does.
    ///
    /// ```
    /// use core::mem::MaybeUninit;
    ///
    /// let mut fixed = ebbtide::Fixed::new([MaybeUninit::<u8>::uninit(); 64]);
    /// for turn in 0..3u8 {
    ///     let s = fixed.scope(); // all 64 bytes are free again
    ///     assert_eq!(s.alloc_slice_fill_copy(64, turn).len(), 64);
    /// }
    /// ```
    #[inline]
    pub fn scope(&mut self) -> Scope<'_> {
        // The two addresses outlive this call's borrow of `memory`. That borrow could last as long
        // as the scope, because `self` is borrowed exclusively until then.
        let (mut low, mut top) = region(self.memory.as_mut());
        if low.addr().get() < LOWEST_ADDRESS {
            // The comparison of the fast path relies on this (see `arith`). Such a buffer, usually
            // an empty one, counts as full.
            low = nowhere();
            top = low;
        }
        let control = self.chunks.control();
        // SAFETY: the arena is borrowed exclusively, so no claim is alive.
        unsafe { control.reclaim() };
        control.set_buffer(low, top);
        // Not a fork, which begins at an aligned address: a buffer of n bytes holds n. SAFETY: the
        // scope borrows the arena exclusively, and so do its allocations: no other scope is in use
        // (I0, I1, I4).
        Scope::new(unsafe { Cursor::over(control.head()) })
    }

    /// Statistics of the spill, and the buffer's size as of the last scope.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let mut fixed = Fixed::new([MaybeUninit::<u8>::uninit(); 64]).or_spill(Heap);
    /// fixed.scope().alloc([0u8; 100]);
    /// let stats = fixed.stats();
    /// assert!(stats.held >= 100, "the spill holds a chunk: {stats:?}");
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        // A scope would borrow the arena exclusively, so none is open and nothing is in use.
        Stats::of(self.chunks.control(), 0)
    }

    /// Resets [`high_water`](Stats::high_water), which then covers later use only.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let mut fixed = Fixed::new([MaybeUninit::<u8>::uninit(); 64]).or_spill(Heap);
    /// fixed.scope().alloc([0u8; 100_000]);
    /// fixed.reset_high_water();
    /// fixed.scope().alloc([0u8; 10]);
    /// assert!(fixed.stats().high_water < 100_000);
    /// ```
    pub fn reset_high_water(&mut self) {
        let control = self.chunks.control();
        control.settings().reset_high_water(control.head_capacity());
    }

    /// Returns the owner of the memory, and releases the chunks of the spill.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// let fixed = ebbtide::Fixed::new([MaybeUninit::<u8>::uninit(); 64]);
    /// assert_eq!(fixed.into_memory().len(), 64);
    /// ```
    pub fn into_memory(self) -> O {
        self.memory
    }

    /// Releases the chunks that the spill took from its backing.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let mut fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(Heap);
    /// fixed.scope().alloc([0u8; 1000]); // in a chunk of the heap, which stays
    /// assert!(fixed.stats().held >= 1000);
    /// fixed.trim();
    /// assert_eq!(fixed.stats().held, 0);
    /// ```
    pub fn trim(&mut self) {
        let control = self.chunks.control();
        // SAFETY: the arena is borrowed exclusively, so no scope, claim or allocation is left.
        unsafe { control.release_behind(control.head().chunk()) };
    }

    /// Limits the number of bytes that the spill may hold of its backing; see
    /// [`Arena::set_limit`](crate::Arena::set_limit).
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let mut fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(Heap);
    /// fixed.set_limit(Some(500));
    /// assert!(fixed.scope().try_alloc([0u8; 1000]).is_err());
    /// ```
    pub fn set_limit(&self, bytes: Option<usize>) {
        self.chunks.control().settings().set_limit(bytes);
    }

    /// The limit set by [`set_limit`](Fixed::set_limit).
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(Heap);
    /// fixed.set_limit(Some(10_000));
    /// assert_eq!(fixed.limit(), Some(10_000));
    /// ```
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.chunks.control().settings().limit()
    }

    /// The backing that the arena spills to.
    ///
    /// ```
    /// # use core::mem::MaybeUninit;
    /// use ebbtide::{Fixed, Heap};
    ///
    /// let fixed = Fixed::new([MaybeUninit::uninit(); 64]).or_spill(Heap);
    /// let _: &Heap = fixed.backing();
    /// ```
    pub fn backing(&self) -> &B {
        self.chunks.backing()
    }
}

/// The address of an empty region.
fn nowhere() -> NonNull<u8> {
    let lowest = core::ptr::without_provenance_mut(LOWEST_ADDRESS);
    // SAFETY: `LOWEST_ADDRESS` is not 0.
    unsafe { NonNull::new_unchecked(lowest) }
}

/// The address of a buffer, and of its end.
fn region(memory: &mut [MaybeUninit<u8>]) -> (NonNull<u8>, NonNull<u8>) {
    let len = memory.len();
    let low = NonNull::from(memory).cast::<u8>();
    // SAFETY: `len` bytes further is one past the end of the slice.
    (low, unsafe { low.add(len) })
}

impl<O, B: Backing> fmt::Debug for Fixed<O, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixed")
            .field("capacity", &self.chunks.control().head_capacity())
            .field("held", &self.chunks.control().held())
            .finish_non_exhaustive()
    }
}

/// An arena of `N` bytes by value, aligned to 16: on the stack, in a struct, in a `static`'s mutex.
///
/// It has no backing. For `set_limit`, `trim` and other methods of a [`Fixed`], convert it with
/// [`or_spill`](StackArena::or_spill).
///
/// ```
/// use ebbtide::StackArena;
///
/// let mut arena = StackArena::<100>::new();
/// let s = arena.scope();
/// let ones = s.alloc_slice_fill_copy(12, 1u64);
/// assert_eq!(ones.iter().sum::<u64>(), 12);
/// assert!(s.try_alloc(0u64).is_err());
/// ```
pub struct StackArena<const N: usize> {
    fixed: Fixed<StackBytes<N>>,
}

/// The memory of a [`StackArena`].
///
/// ```
/// use ebbtide::{Fixed, Heap, StackArena, StackBytes};
/// /// A field that begins with 256 bytes of the struct's own.
/// struct Parser {
///     scratch: Fixed<StackBytes<256>, Heap>,
/// }
/// let mut parser = Parser { scratch: StackArena::new().or_spill(Heap) };
/// assert_eq!(parser.scratch.scope().alloc_str("short"), "short");
/// assert_eq!(parser.scratch.stats().held, 0);
/// ```
#[repr(C, align(16))]
pub struct StackBytes<const N: usize>([MaybeUninit<u8>; N]);

impl<const N: usize> AsMut<[MaybeUninit<u8>]> for StackBytes<N> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.0
    }
}

impl<const N: usize> fmt::Debug for StackBytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackBytes({N})")
    }
}

impl<const N: usize> StackArena<N> {
    /// An empty arena. Writes none of its bytes.
    ///
    /// ```
    /// use ebbtide::StackArena;
    /// let mut stack = StackArena::<64>::new();
    /// assert_eq!(stack.scope().alloc(1), &1);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        StackArena { fixed: Fixed::new(StackBytes([MaybeUninit::uninit(); N])) }
    }

    /// Opens a scope over all `N` bytes. Costs a dozen instructions.
    ///
    /// ```
    /// let mut arena = ebbtide::StackArena::<32>::new();
    /// let s = arena.scope();
    /// assert_eq!(s.alloc_str("on the stack"), "on the stack");
    /// ```
    #[inline]
    pub fn scope(&mut self) -> Scope<'_> {
        self.fixed.scope()
    }

    /// Statistics: the capacity as of the last scope; see [`Fixed::stats`].
    ///
    /// ```
    /// let mut arena = ebbtide::StackArena::<100>::new();
    /// arena.scope();
    /// assert_eq!(arena.stats().capacity, 100);
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.fixed.stats()
    }

    /// Allocates from `backing` when the bytes are used up; see [`Fixed::or_spill`].
    ///
    /// ```
    /// use ebbtide::{Heap, StackArena};
    /// let mut arena = StackArena::<32>::new().or_spill(Heap);
    /// assert_eq!(arena.scope().alloc_slice_fill_copy(100, 1u8).len(), 100);
    /// ```
    #[must_use]
    pub fn or_spill<B: Backing>(self, backing: B) -> Fixed<StackBytes<N>, B> {
        self.fixed.or_spill(backing)
    }
}

impl<const N: usize> Default for StackArena<N> {
    fn default() -> Self {
        StackArena::new()
    }
}

impl<const N: usize> fmt::Debug for StackArena<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackArena({N})")
    }
}
