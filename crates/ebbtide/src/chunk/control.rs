//! The control block: the state of an arena besides its root cursor. Scopes find it through the
//! header of their current chunk. That of an [`Arena`](crate::Arena) lies in its first block, in front
//! of the head's region, where any other chunk has its header; that of a [`Fixed`](crate::Fixed) moves
//! with it.

use super::header::{CACHE_LINE, ChunkName, ChunkRef, Header, Link, block_size};
use crate::{arith::CHUNK_ALIGN, backing::Backing, error::AllocError, poison};
use core::{
    alloc::Layout,
    cell::Cell,
    marker::PhantomData,
    ops::Deref,
    ptr::{self, NonNull},
};

/// The state of an arena, its first header included.
#[repr(C)]
pub(crate) struct Control {
    /// The head of the arena's own list. It comes first, so that its address is the control block's.
    pub(super) head: Header,
    /// The top of the next scope of an [`Arena`](crate::Arena), if it opens in the head. It is 0 if
    /// the ends of the scope have to be computed: the root was lent meanwhile, has left the head or
    /// is not in use, or claims were made.
    pub(crate) ready_top: Cell<usize>,
    /// The number of claims that were made and not ended. 32 bits, so that it shares a word with the
    /// next two; each claim holds hundreds of bytes.
    pub(super) open_claims: Cell<u32>,
    /// Whether there are chunks besides the head's block. `newest` has the same information, but
    /// this field lies beside those that a reset reads anyway.
    pub(super) has_chunks: Cell<bool>,
    /// Whether this control block lies in a block of the backing, whose region is the head's.
    /// Otherwise the head has a caller's buffer.
    pub(super) has_block: bool,
    /// The number of iterators over chunks that were made and not dropped. While there is one, no
    /// chunk is released (L1).
    pins: Cell<u16>,
    /// The spare chunks, by size (see `spare`): those that a claim left, or that were behind a
    /// cursor which needed another one.
    pub(super) spare: Link,
    /// The bytes of the spare chunks.
    pub(super) spare_bytes: Cell<usize>,
    /// The most bytes that were held at once outside the spare chunks, as far as was noted.
    pub(super) most_in_use: Cell<usize>,
    /// The chunk that the backing gave last; `older` links to all others.
    pub(super) newest: Link,
    /// The bytes that the backing gave and that were not released.
    pub(super) held: Cell<usize>,
    /// The bytes of their regions.
    pub(super) capacity: Cell<usize>,
    pub(super) settings: Settings,
    calls: &'static BackingCalls,
    /// The present address of the backing; any address if that has no size.
    backing: Cell<NonNull<()>>,
}

/// The part of an arena's state that is there without a control block.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The size of the next ordinary chunk, header included.
    pub(super) next_size: Cell<usize>,
    /// The limit of `held`; `usize::MAX` if there is none.
    pub(super) limit: Cell<usize>,
    /// The high-water mark: the largest capacity, up to the chunk of a scope, of all chunks in its
    /// list; with poisoning, the most bytes in use.
    high_water: Cell<usize>,
    /// A cell of the arena's owner, which is set to [`CLAIMED`] when a claim is made.
    claim_mark: Cell<Option<NonNull<Cell<u8>>>>,
    /// Of the interface to another language that uses the arena; null otherwise.
    front_end_word: Cell<*mut ()>,
    /// Whether nothing was changed since the arena was made, and it has had no block but the first. Its
    /// control block, with the head, then serves another such arena.
    pub(super) is_new: Cell<bool>,
    /// Whether a limit was set, which may be `usize::MAX`.
    has_limit: Cell<bool>,
    /// Whether the backing is being called. If a chunk is requested meanwhile, the request comes
    /// from the backing itself.
    busy: Cell<bool>,
}

/// The bytes of a region that the control block of an arena takes, besides the place of a header.
pub(super) const CONTROL_ROOM: usize =
    (size_of::<Control>() - size_of::<Header>()).next_multiple_of(CACHE_LINE);

const _: () = assert!(align_of::<Control>() <= CHUNK_ALIGN);

/// The value of a claim mark after a claim was made; see [`Settings::set_claim_mark`].
pub(crate) const CLAIMED: u8 = 4;

/// The two methods of a backing whose type is erased.
struct BackingCalls {
    allocate: Allocate,
    release: unsafe fn(NonNull<()>, NonNull<u8>, Layout),
}

type Allocate = unsafe fn(NonNull<()>, Layout) -> Result<NonNull<[u8]>, AllocError>;

impl BackingCalls {
    /// The methods of this type.
    const fn of<B: Backing>() -> &'static Self {
        const { &BackingCalls { allocate: allocate::<B>, release: release::<B> } }
    }
}

/// Calls `Backing::allocate`.
///
/// # Safety
///
/// `backing` is the address of a `B`, to which nobody has a `&mut`.
unsafe fn allocate<B: Backing>(
    backing: NonNull<()>,
    layout: Layout,
) -> Result<NonNull<[u8]>, AllocError> {
    // SAFETY: by this function's contract, the address is that of a `B`, to which nobody has a
    // `&mut`.
    unsafe { backing.cast::<B>().as_ref() }.allocate(layout)
}

/// Calls `Backing::release`.
///
/// # Safety
///
/// `backing` is the address of a `B`, to which nobody has a `&mut`. It gave `block` for this `layout`;
/// the block was not released since and is not used again.
unsafe fn release<B: Backing>(backing: NonNull<()>, block: NonNull<u8>, layout: Layout) {
    // SAFETY: by this function's contract, the address is that of a `B`, to which nobody has a
    // `&mut`.
    let backing = unsafe { backing.cast::<B>().as_ref() };
    // SAFETY: by this function's contract, this backing gave the block for this layout, and it was
    // not released since and is not used again.
    unsafe { backing.release(block, layout) };
}

impl Settings {
    /// The first ordinary chunk will have `first_size` bytes, header included.
    pub(crate) const fn new(first_size: usize) -> Self {
        Settings {
            next_size: Cell::new(first_size),
            limit: Cell::new(usize::MAX),
            high_water: Cell::new(0),
            claim_mark: Cell::new(None),
            front_end_word: Cell::new(ptr::null_mut()),
            is_new: Cell::new(true),
            has_limit: Cell::new(false),
            busy: Cell::new(false),
        }
    }

    /// Takes over the state of `other`. It is not new.
    pub(crate) fn copy_from(&self, other: &Settings) {
        let Settings {
            next_size,
            limit,
            high_water,
            claim_mark,
            front_end_word,
            is_new: _,
            has_limit,
            busy,
        } = other;
        self.is_new.set(false);
        self.next_size.set(next_size.get());
        self.limit.set(limit.get());
        self.high_water.set(high_water.get());
        self.claim_mark.set(claim_mark.get());
        self.front_end_word.set(front_end_word.get());
        self.has_limit.set(has_limit.get());
        self.busy.set(busy.get());
    }

    /// Whether nobody has set a limit, a mark or a word, so that they are those of a new arena.
    pub(super) fn are_untouched(&self) -> bool {
        self.limit.get() == usize::MAX
            && !self.has_limit.get()
            && self.claim_mark.get().is_none()
            && self.front_end_word.get().is_null()
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
        self.is_new.set(false);
        self.limit.set(bytes.unwrap_or(usize::MAX));
        self.has_limit.set(bytes.is_some());
    }

    pub(crate) fn high_water(&self) -> usize {
        self.high_water.get()
    }

    /// Raises the high-water mark to `bytes`.
    pub(crate) fn note_high_water(&self, bytes: usize) {
        self.high_water.set(self.high_water.get().max(bytes));
    }

    /// Resets the high-water mark while no scope is open. The capacity of the head stays included,
    /// because scopes that enter the head do not record that.
    pub(crate) fn reset_high_water(&self, head_capacity: usize) {
        self.high_water.set(if poison::TRACKS { 0 } else { head_capacity });
    }

    /// From now on, every claim sets `mark` to [`CLAIMED`].
    ///
    /// # Safety
    ///
    /// The cell outlives the arena, and is not used while another thread uses a scope of the arena.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn set_claim_mark(&self, mark: NonNull<Cell<u8>>) {
        self.is_new.set(false);
        self.claim_mark.set(Some(mark));
    }

    /// Whether the backing is being called. If a chunk is requested then, the request comes from
    /// the backing itself.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    /// Calls the backing by `call`. Meanwhile, requests to the arena are refused.
    #[inline]
    pub(super) fn while_busy<R>(&self, call: impl FnOnce() -> R) -> R {
        debug_assert!(!self.is_busy(), "the backing does not use its arena");
        let _busy = Busy::mark(&self.busy);
        call()
    }
}

impl Control {
    /// The state of an arena without chunks and without a region. Its backing is a `B`.
    pub(super) const fn new<B: Backing>(settings: Settings, has_block: bool) -> Self {
        Control {
            head: Header::vacant(),
            ready_top: Cell::new(0),
            open_claims: Cell::new(0),
            has_chunks: Cell::new(false),
            has_block,
            pins: Cell::new(0),
            spare: Link::none(),
            spare_bytes: Cell::new(0),
            most_in_use: Cell::new(0),
            newest: Link::none(),
            held: Cell::new(0),
            capacity: Cell::new(0),
            settings,
            calls: BackingCalls::of::<B>(),
            backing: Cell::new(NonNull::<B>::dangling().cast()),
        }
    }

    /// The same state, with a head that has no region and no list, and with no chunks registered.
    #[inline]
    pub(super) fn without_head(&self) -> Self {
        Control {
            head: Header::vacant(),
            ready_top: Cell::new(0),
            newest: Link::none(),
            spare: self.spare.clone(),
            pins: Cell::new(0),
            spare_bytes: self.spare_bytes.clone(),
            most_in_use: self.most_in_use.clone(),
            open_claims: self.open_claims.clone(),
            has_chunks: self.has_chunks.clone(),
            held: self.held.clone(),
            capacity: self.capacity.clone(),
            settings: self.settings.clone(),
            backing: self.backing.clone(),
            ..*self
        }
    }

    /// States where the backing is. Costs nothing if it has no size.
    ///
    /// # Safety
    ///
    /// The control block was made for a `B`, and `backing` is the arena's. It stays there and nobody
    /// has a `&mut` to it as long as the arena is borrowed as it is now.
    #[inline(always)]
    pub(super) unsafe fn set_backing<B: Backing>(&self, backing: &B) {
        if size_of::<B>() > 0 {
            self.backing.set(NonNull::from(backing).cast());
        }
    }

    /// The head, if it has a region, and every chunk of the backing, in any list.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Header> {
        let head = Some(&self.head).into_iter().filter(|head| !head.is_vacant());
        head.chain(self.chunks().map(ChunkRef::header))
    }

    /// Whether `address` is in the region of any chunk.
    #[inline]
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.all().any(|chunk| chunk.contains(address) && address != chunk.top().addr().get())
    }

    /// Every chunk of the backing but the head's block, in any list, the newest first.
    pub(super) fn chunks(&self) -> Older<'_> {
        Older(self.newest.get())
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

    /// The bytes that the backing gave and that were not released.
    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    /// The capacity of the blocks that the backing gave and that were not released.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.get()
    }

    /// The bytes that the limit allows in addition to those held.
    pub(super) fn allowed(&self) -> usize {
        self.settings.limit.get().saturating_sub(self.held.get())
    }

    /// The bytes held in the head's block and in chunks that are not spare.
    pub(super) fn in_use(&self) -> usize {
        self.held.get() - self.spare_bytes.get()
    }

    /// The most bytes that were in use at once, or `now` if that is more. Chunks that a scope left behind
    /// its cursor count only as far as scopes entered them.
    pub(super) fn most_in_use(&self, now: usize) -> usize {
        self.most_in_use.get().max(self.settings.high_water()).max(now)
    }

    /// Raises `most_in_use` to what is in use now, and returns it. Called while no chunk is behind a cursor.
    pub(super) fn note_in_use(&self) -> usize {
        self.most_in_use.set(self.most_in_use(self.in_use()));
        self.most_in_use.get()
    }

    /// Forgets the iterators over chunks. None is alive.
    #[inline]
    pub(super) fn forget_pins(&self) {
        self.pins.set(0);
    }

    /// Whether an iterator over chunks is alive, or was forgotten.
    pub(super) fn is_pinned(&self) -> bool {
        self.pins.get() > 0
    }

    /// Raises the high-water mark to the capacity of the list up to `chunk`, which a cursor
    /// entered. With poisoning, cursors record the exact number of bytes instead.
    pub(super) fn note_entered(&self, chunk: &Header) {
        if !poison::TRACKS {
            self.settings.note_high_water(chunk.capacity_before.get() + chunk.capacity());
        }
    }

    /// The number of claims that were made and not ended. At a point where no claim can be alive,
    /// it is the number of forgotten claims.
    pub(crate) fn open_claims(&self) -> u32 {
        self.open_claims.get()
    }

    /// Records that a claim is being made.
    pub(super) fn mark_claim(&self) {
        // The next scope of the arena looks for claims that were forgotten.
        self.ready_top.set(0);
        if let Some(mark) = self.settings.claim_mark.get() {
            // SAFETY: `set_claim_mark`: the cell is alive, and this scope's thread alone uses it.
            unsafe { mark.as_ref() }.set(CLAIMED);
        }
    }

    /// The settings, while there is a control block.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// A reference to a control block whose backing can be called.
///
/// It also differs from `&'c Control` in its provenance, which extends to the whole block if the
/// control block lies in one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct ControlRef<'c> {
    control: NonNull<Control>,
    arena: PhantomData<&'c Control>,
}

impl<'c> ControlRef<'c> {
    /// # Safety
    ///
    /// `control` points to the control block of an arena that is neither moved nor dropped during
    /// `'c`, with provenance for the whole block if it lies in one. It knows where the backing is.
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

    /// The head of the arena's list. Reads nothing.
    #[inline(always)]
    pub(crate) fn head(self) -> CurrentChunk<'c> {
        // SAFETY: the head is the first field of the control block, which neither moves nor ends
        // during `'c`; the address has the provenance of this handle.
        let head = unsafe { ChunkRef::new(self.control.cast()) };
        // SAFETY: the head is the one chunk that finds its control block by its own address (L4).
        unsafe { CurrentChunk::new(head) }
    }

    /// Stores the present address of the control block in `chunk`. It cannot move while a scope is
    /// open that was opened after this.
    ///
    /// Stores it even if the chunk has the same address already: if the control block is a field of a
    /// `Fixed`, that pointer may come from an earlier borrow, and its provenance ended with that.
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
            // SAFETY: by this function's contract, a chunk of this arena that was not released
            // since got this name, so the header is alive (L1).
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

    /// The size of the arena's first block.
    pub(super) fn first_block_size(self) -> usize {
        debug_assert!(self.has_block, "the region is not a caller's");
        block_size(self.head.capacity() + CONTROL_ROOM)
    }

    /// The word of the interface to another language.
    pub(crate) fn front_end_word(self) -> &'c Cell<*mut ()> {
        let settings = &self.get().settings;
        settings.is_new.set(false);
        &settings.front_end_word
    }

    /// Requests a block from the backing. Meanwhile, requests to the arena are refused.
    pub(super) fn call_allocate(self, layout: Layout) -> Result<NonNull<u8>, AllocError> {
        let control = self.get();
        let (allocate, backing) = (control.calls.allocate, control.backing.get());
        // SAFETY: the calls are those of the backing's type, this is where the backing is
        // (`Blocks::refresh`), and nobody has a `&mut` to it.
        let block = control.settings.while_busy(|| unsafe { allocate(backing, layout) })?;
        Ok(block.cast())
    }

    /// Gives a block back to the backing. Meanwhile, requests to the arena are refused.
    ///
    /// # Safety
    ///
    /// The backing gave `block` for this `layout`; it was not released since and is not used again.
    pub(super) unsafe fn call_release(self, block: NonNull<u8>, layout: Layout) {
        let control = self.get();
        let (release, backing) = (control.calls.release, control.backing.get());
        // SAFETY: the calls are those of the type of the backing, which is here (`Blocks::refresh`).
        // By this function's contract, it gave this block for this layout, and nobody uses it.
        control.settings.while_busy(|| unsafe { release(backing, block, layout) });
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
#[derive(Clone, Copy, PartialEq, Eq)]
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
            // Only the head has none (L4), which is the first field of the control block.
            None => self.as_ptr().cast(),
        };
        // SAFETY: L4: this is where the arena is, and it stays there as long as this chunk is
        // current. The address has the provenance of a handle.
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

/// A chunk and those that were made before it (L3). `older` of a chunk is read before the chunk is returned.
pub(super) struct Older<'c>(pub(super) Option<ChunkRef<'c>>);

impl<'c> Iterator for Older<'c> {
    type Item = ChunkRef<'c>;

    fn next(&mut self) -> Option<ChunkRef<'c>> {
        let chunk = self.0?;
        self.0 = chunk.header().older.get();
        Some(chunk)
    }
}

/// Keeps an arena from releasing chunks until dropped, for iterators over them. A forgotten one costs
/// memory: chunks are released by a reset or at the end only, both of which borrow the arena
/// exclusively.
pub(crate) struct Pin<'c>(&'c Cell<u16>);

impl<'c> Pin<'c> {
    /// Pins the chunks of a control block that may be written to.
    pub(crate) fn new(control: ControlRef<'c>) -> Self {
        let pins = &control.get().pins;
        pins.set(pins.get().saturating_add(1));
        Pin(pins)
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        // Once the count is at its maximum, some pins are not counted.
        if self.0.get() < u16::MAX {
            self.0.set(self.0.get() - 1);
        }
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
