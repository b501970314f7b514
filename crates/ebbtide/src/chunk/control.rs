//! The control block: the state of an arena besides its root cursor. Scopes find it through the
//! header of their current chunk.

use super::header::{ChunkName, ChunkRef, Header, Link};
use crate::{error::AllocError, poison};
use core::{
    alloc::Layout,
    cell::Cell,
    marker::PhantomData,
    mem::offset_of,
    ops::Deref,
    ptr::{self, NonNull},
};

/// The state of an arena, its first header included.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Control {
    /// The two ends of the next scope of an [`Arena`](crate::Arena), if it opens in the head. The
    /// top is 0 if the ends have to be computed: the root was lent meanwhile, has left the head or
    /// is not in use, or claims were made.
    pub(crate) ready_top: Cell<usize>,
    pub(crate) ready_low: Cell<NonNull<u8>>,
    /// The number of claims that were made and not ended. 32 bits, so that a reset reads nothing
    /// behind the first 64 bytes of an arena; each claim holds hundreds of bytes.
    pub(super) open_claims: Cell<u32>,
    /// Whether there are chunks besides the head's block. `newest` has the same information, but
    /// this field is among the 64 bytes that a reset reads anyway.
    pub(super) has_chunks: Cell<bool>,
    /// Whether the backing is being called. If a chunk is requested meanwhile, the request comes
    /// from the backing itself.
    pub(super) busy: Cell<bool>,
    /// The head of the arena's own list.
    pub(super) head: Header,
    /// The spare chunks, by size (see `spare`): those that a claim left, or that were behind its
    /// parent.
    pub(super) spare: Link,
    /// The block whose region is the head's, which has no header of its own. `None` if the head has
    /// a caller's buffer or no region.
    pub(super) head_block: Cell<Option<NonNull<u8>>>,
    /// The chunk that the backing gave last; `older` links to all others.
    pub(super) newest: Link,
    /// The size of the next ordinary chunk, header included.
    pub(super) next_size: Cell<usize>,
    /// The limit of `held`; `usize::MAX` if there is none.
    pub(super) limit: Cell<usize>,
    /// The bytes that the backing gave and that were not released.
    pub(super) held: Cell<usize>,
    /// The bytes of their regions.
    pub(super) capacity: Cell<usize>,
    /// The high-water mark: the largest capacity, up to the chunk of a scope, of all chunks in its
    /// list; with poisoning, the most bytes in use.
    high_water: Cell<usize>,
    /// Whether a limit was set, which may be `usize::MAX`.
    has_limit: Cell<bool>,
    /// A cell of the arena's owner, which is set to [`CLAIMED`] when a claim is made.
    pub(super) claim_mark: Cell<Option<NonNull<Cell<u8>>>>,
    /// Of the interface to another language that uses the arena; null otherwise.
    front_end_word: Cell<*mut ()>,
    calls: BackingCalls,
}

/// The value of a claim mark after a claim was made; see [`Control::set_claim_mark`].
pub(crate) const CLAIMED: u8 = 4;

/// The two methods of a backing whose type is erased. They find it after the control block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackingCalls {
    pub(super) allocate: Allocate,
    pub(super) release: unsafe fn(NonNull<Control>, NonNull<u8>, Layout),
}

type Allocate = unsafe fn(NonNull<Control>, Layout) -> Result<NonNull<[u8]>, AllocError>;

impl Control {
    /// The state of an arena without chunks.
    ///
    /// # Safety
    ///
    /// The control block becomes the first field of a struct, and `calls` may be called with the
    /// address of that struct.
    pub(super) const unsafe fn new(calls: BackingCalls, first_size: usize) -> Self {
        Control {
            ready_top: Cell::new(0),
            ready_low: Cell::new(NonNull::dangling()),
            open_claims: Cell::new(0),
            has_chunks: Cell::new(false),
            busy: Cell::new(false),
            head: Header::vacant(),
            spare: Link::none(),
            head_block: Cell::new(None),
            newest: Link::none(),
            next_size: Cell::new(first_size),
            limit: Cell::new(usize::MAX),
            held: Cell::new(0),
            capacity: Cell::new(0),
            high_water: Cell::new(0),
            has_limit: Cell::new(false),
            claim_mark: Cell::new(None),
            front_end_word: Cell::new(ptr::null_mut()),
            calls,
        }
    }

    /// The head, if it has a region, and every chunk of the backing, in any list.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Header> {
        let head = Some(&self.head).into_iter().filter(|head| !head.is_vacant());
        head.chain(self.chunks().map(ChunkRef::header))
    }

    /// Whether `address` is in the region of any chunk.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.all().any(|chunk| chunk.contains(address) && address != chunk.top().addr().get())
    }

    /// Every chunk of the backing but the head's block, in any list, the newest first.
    pub(super) fn chunks(&self) -> impl Iterator<Item = ChunkRef<'_>> {
        core::iter::successors(self.newest.get(), |chunk| chunk.header().older.get())
    }

    /// Whether the head's block is the only one. Reads no other header, because that would probably
    /// be a cache miss.
    pub(crate) fn has_head_alone(&self) -> bool {
        debug_assert_eq!(self.has_chunks.get(), self.newest.get().is_some());
        !self.has_chunks.get()
    }

    /// The capacity of the head's region.
    pub(crate) fn head_capacity(&self) -> usize {
        self.head.capacity()
    }

    /// Sets the size of the next ordinary chunk, header included.
    pub(crate) fn set_next_size(&self, bytes: usize) {
        self.next_size.set(bytes);
    }

    /// The limit of the bytes held; `None` if there is none.
    pub(crate) fn limit(&self) -> Option<usize> {
        self.has_limit.get().then(|| self.limit.get())
    }

    /// Sets the limit of the bytes held.
    pub(crate) fn set_limit(&self, bytes: Option<usize>) {
        self.limit.set(bytes.unwrap_or(usize::MAX));
        self.has_limit.set(bytes.is_some());
    }

    /// The bytes that the backing gave and that were not released.
    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    /// The capacity of the blocks that the backing gave and that were not released.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.get()
    }

    pub(crate) fn high_water(&self) -> usize {
        self.high_water.get()
    }

    /// Raises the high-water mark to `bytes`.
    pub(crate) fn note_high_water(&self, bytes: usize) {
        self.high_water.set(self.high_water.get().max(bytes));
    }

    /// Resets the high-water mark while no scope is open. The head's capacity stays included,
    /// because scopes that enter the head do not record that.
    pub(crate) fn reset_high_water(&self) {
        self.high_water.set(if poison::TRACKS { 0 } else { self.head_capacity() });
    }

    /// Raises the high-water mark to the capacity of the list up to `chunk`, which a cursor
    /// entered. With poisoning, cursors record the exact number of bytes instead.
    pub(super) fn note_entered(&self, chunk: &Header) {
        if !poison::TRACKS {
            self.note_high_water(chunk.capacity_before.get() + chunk.capacity());
        }
    }

    /// The number of claims that were made and not ended. At a point where no claim can be alive,
    /// it is the number of forgotten claims.
    pub(crate) fn open_claims(&self) -> u32 {
        self.open_claims.get()
    }

    /// From now on, every claim sets `mark` to [`CLAIMED`].
    ///
    /// # Safety
    ///
    /// The cell outlives the arena, and is not used while another thread uses a scope of the arena.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn set_claim_mark(&self, mark: NonNull<Cell<u8>>) {
        self.claim_mark.set(Some(mark));
    }

    /// Records that a claim is being made.
    pub(super) fn mark_claim(&self) {
        // The next scope of the arena looks for claims that were forgotten.
        self.ready_top.set(0);
        if let Some(mark) = self.claim_mark.get() {
            // SAFETY: `set_claim_mark`: the cell is alive, and this scope's thread alone uses it.
            unsafe { mark.as_ref() }.set(CLAIMED);
        }
    }

    /// Whether the backing is being called. If a chunk is requested then, the request comes from
    /// the backing itself.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get()
    }
}

/// A reference to a control block through which the backing after it can also be reached.
///
/// It differs from `&'c Control` in its provenance, which extends to the whole
/// [`Chunks`](super::Chunks).
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct ControlRef<'c> {
    control: NonNull<Control>,
    arena: PhantomData<&'c Control>,
}

impl<'c> ControlRef<'c> {
    /// # Safety
    ///
    /// `control` points to the control block of an arena that is neither moved nor dropped during
    /// `'c`, with provenance for the whole `Chunks`.
    #[inline(always)]
    pub(super) unsafe fn new(control: NonNull<Control>) -> Self {
        ControlRef { control, arena: PhantomData }
    }

    #[inline(always)]
    pub(super) fn get(self) -> &'c Control {
        // SAFETY: the creator of this handle guarantees that the block exists during `'c`. Whoever
        // uses the handle, a scope or the arena's owner, borrows the arena, so there is no `&mut`
        // to the block.
        unsafe { self.control.as_ref() }
    }

    #[inline(always)]
    pub(super) fn as_ptr(self) -> NonNull<Control> {
        self.control
    }

    /// The head of the arena's list. Computes an address and reads nothing.
    #[inline(always)]
    pub(crate) fn head(self) -> CurrentChunk<'c> {
        // SAFETY: the offset of a field, within the control block.
        let head = unsafe { self.control.byte_add(offset_of!(Control, head)) };
        // SAFETY: a header in an arena that neither moves nor ends during `'c`; the address has the
        // provenance of this handle.
        let head = unsafe { ChunkRef::new(head.cast()) };
        // SAFETY: the head is the one chunk that finds its control block by its own address (L4).
        unsafe { CurrentChunk::new(head) }
    }

    /// Stores the arena's present address in `chunk`. The arena cannot move while a scope is open
    /// that was opened after this.
    ///
    /// Stores it even if the chunk has the same address already: that pointer may come from an
    /// earlier borrow of the arena, and its provenance ended with that borrow.
    ///
    /// # Safety
    ///
    /// `chunk` is one of this arena's.
    #[inline]
    pub(crate) unsafe fn attach(self, chunk: ChunkRef<'c>) -> CurrentChunk<'c> {
        if !chunk.is_head() {
            chunk.control.set(Some(self.control.cast()));
        }
        // SAFETY: L4: the head needs no address, and any other chunk was just given it.
        unsafe { CurrentChunk::new(chunk) }
    }

    /// The chunk with this name.
    ///
    /// # Safety
    ///
    /// The name was given to a chunk of this arena that was not released since.
    pub(crate) unsafe fn named(self, name: ChunkName) -> ChunkRef<'c> {
        match name.address() {
            None => self.head().chunk(),
            // SAFETY: the chunk is still the arena's, as the caller says.
            Some(header) => unsafe { ChunkRef::new(header) },
        }
    }

    /// The region that a cursor at `chunk` allocates from (I3): the chunk's own or, if it serves an
    /// oversize request, its anchor's.
    ///
    /// # Safety
    ///
    /// `chunk` is one of this arena's.
    pub(crate) unsafe fn region(self, chunk: ChunkRef<'c>) -> ChunkRef<'c> {
        match chunk.anchor.get() {
            // SAFETY: the name was stored when a cursor of this arena entered the chunk. The anchor
            // comes before the chunk in their list, so it is not released earlier (L5).
            Some(anchor) => unsafe { self.named(anchor) },
            None => chunk,
        }
    }

    /// The word of the interface to another language.
    pub(crate) fn front_end_word(self) -> &'c Cell<*mut ()> {
        &self.get().front_end_word
    }

    /// Requests a block from the backing. Meanwhile, requests to the arena are refused.
    pub(super) fn call_allocate(self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        // SAFETY: the functions are called with the address that the contract of `Control::new`
        // requires.
        self.while_busy(|| unsafe { (self.get().calls.allocate)(self.control, layout) })
    }

    /// Calls the backing. Meanwhile, requests to the arena are refused.
    #[inline]
    pub(super) fn while_busy(
        self,
        allocate: impl FnOnce() -> Result<NonNull<[u8]>, AllocError>,
    ) -> Result<NonNull<u8>, AllocError> {
        debug_assert!(!self.is_busy(), "the backing does not use its arena");
        let _busy = Busy::mark(&self.get().busy);
        Ok(allocate()?.cast())
    }

    /// Gives a block back to the backing.
    ///
    /// # Safety
    ///
    /// The backing gave `block` for this `layout`; it was not released since and is not used again.
    pub(super) unsafe fn call_release(self, block: NonNull<u8>, layout: Layout) {
        let _busy = Busy::mark(&self.get().busy);
        // SAFETY: the functions are called with the address that the contract of `Control::new`
        // requires. The caller says that the backing gave the block for this layout, and that the
        // block was not released since and is not used again.
        unsafe { (self.get().calls.release)(self.control, block, layout) };
    }
}

impl Deref for ControlRef<'_> {
    type Target = Control;

    #[inline(always)]
    fn deref(&self) -> &Control {
        self.get()
    }
}

/// A chunk that a cursor may point to: its header has the present address of the control block
/// (L4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct CurrentChunk<'c>(ChunkRef<'c>);

impl<'c> CurrentChunk<'c> {
    /// # Safety
    ///
    /// L4: the chunk is the head, or its `control` was written since the arena was last moved.
    #[inline(always)]
    pub(crate) unsafe fn new(chunk: ChunkRef<'c>) -> Self {
        CurrentChunk(chunk)
    }

    #[inline(always)]
    pub(crate) fn chunk(self) -> ChunkRef<'c> {
        self.0
    }

    /// The control block of the arena.
    pub(crate) fn control(self) -> ControlRef<'c> {
        let control = match self.control.get() {
            Some(control) => control.cast(),
            // SAFETY: only the head has none (L4). It is a field of the control block, and its
            // handle has provenance for the whole block.
            None => unsafe { self.as_ptr().byte_sub(offset_of!(Control, head)) }.cast(),
        };
        // SAFETY: L4: this is where the arena is, and it stays there as long as this chunk is
        // current. The address has provenance for the whole `Chunks`: it is a handle's.
        unsafe { ControlRef::new(control) }
    }

    /// The first chunk of this chunk's list.
    pub(crate) fn list_start(self) -> ChunkRef<'c> {
        let start = self.chunk().header().list_start.get();
        start.unwrap_or_else(|| self.control().head().chunk())
    }

    /// The region that a cursor here allocates from (I3).
    #[inline(always)]
    pub(crate) fn region(self) -> ChunkRef<'c> {
        if self.is_oversize() { self.anchor_region() } else { self.chunk() }
    }

    /// [`region`](CurrentChunk::region) of a chunk that serves an oversize request.
    #[cold]
    #[inline(never)]
    fn anchor_region(self) -> ChunkRef<'c> {
        // SAFETY: the control block is that of the chunk's own arena.
        unsafe { self.control().region(self.chunk()) }
    }

    /// The region is the chunk's own from now on, even if the chunk served an oversize request
    /// before (I3).
    pub(crate) fn make_ordinary(self) {
        self.anchor.set(None);
    }

    /// Enters `next`, the next chunk of the list.
    ///
    /// `free_here` are the bytes that are free in the cursor's present region, and `free_there`
    /// those that the request leaves free in the next chunk. If `oversize` is true, the cursor stays
    /// in its region, and the next chunk serves only this request.
    #[inline]
    pub(crate) fn enter(
        self,
        next: ChunkRef<'c>,
        free_here: NonNull<[u8]>,
        free_there: NonNull<[u8]>,
        oversize: bool,
    ) -> CurrentChunk<'c> {
        let (control, region) = (self.control(), self.region());
        let (here, there) = (free_here.len(), free_there.len());
        debug_assert!(self.chunk().next() == Some(next), "I1: it is the next one");
        debug_assert!(there <= next.capacity() && here <= region.capacity(), "I2");
        debug_assert!(!oversize || there < here, "the larger rest is used");
        next.list_start.set(self.list_start.get());
        next.capacity_before.set(self.capacity_before.get() + self.capacity());
        next.free_when_left.set(free_there);
        if oversize {
            next.anchor.set(Some(ChunkName::of(region)));
        } else {
            next.anchor.set(None);
            region.free_when_left.set(free_here);
        }
        control.note_entered(&next);
        // SAFETY: a list holds chunks of one arena (L2).
        unsafe { control.attach(next) }
    }
}

impl<'c> Deref for CurrentChunk<'c> {
    type Target = ChunkRef<'c>;

    #[inline(always)]
    fn deref(&self) -> &ChunkRef<'c> {
        &self.0
    }
}

/// Marks the arena as waiting for its backing until dropped, even if the backing panics.
struct Busy<'c>(&'c Cell<bool>);

impl<'c> Busy<'c> {
    fn mark(flag: &'c Cell<bool>) -> Self {
        flag.set(true);
        Busy(flag)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
