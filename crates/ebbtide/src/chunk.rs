//! Chunks: the blocks that an arena got from its backing, their headers, and the list they form.
//!
//! ```text
//! block from the backing                         Control ── first ─► chunk ─ next ─► chunk ─ next ─► …
//! ┌────────┬─┬───────────────────────┬─┐                             in use          in use   free
//! │ Header │ │ region                │ │                             ▲ cursor.chunk ──┘
//! └────────┴─┴───────────────────────┴─┘
//!            low ►             ◄ top, at a cache line: the two gaps are 48 bytes together
//! ```
//!
//! The list is in the order in which scopes enter the chunks. A scope's end gives none of them back:
//! the next scope finds them behind the chunk it begins in. All of this is cold code; the fast paths
//! are in [`raw`](crate::raw) and read nothing of a header.

use crate::{
    arith::{self, CHUNK_ALIGN, LOWEST_ADDRESS},
    backing::{Backing, HUGE_PAGE},
    error::AllocError,
    poison,
};
use core::{alloc::Layout, cell::Cell, ptr::NonNull};

/// The size of the first ordinary chunk, header included, unless the user chose another.
pub(crate) const FIRST_CHUNK: usize = 16 * 1024 - ALLOCATOR_OVERHEAD;

/// Doubling stops here: no ordinary chunk of an arena is made larger than this, header included.
pub(crate) const LARGEST_CHUNK: usize = 2 * HUGE_PAGE;

/// What common heaps add to a block, kept off so that a chunk does not spill into one page more.
const ALLOCATOR_OVERHEAD: usize = 32;

/// The region of a chunk ends at a multiple of this, so that blocks of one, two, four … cache lines, taken
/// off its top, lie in so many and not in one more: filling one of 512 bytes takes 0.6 of the time.
const CACHE_LINE: usize = 64;

/// The bytes of a chunk that are not its region: the header, and what rounding the end takes at most.
pub(crate) const OVERHEAD: usize = size_of::<Header>() + CACHE_LINE - CHUNK_ALIGN;

const _: () = assert!(OVERHEAD % CHUNK_ALIGN == 0 && align_of::<Header>() <= CHUNK_ALIGN);

/// The record at the start of every chunk; a [`Fixed`](crate::Fixed) keeps one for its buffer.
#[repr(C, align(16))]
#[derive(Debug)]
pub(crate) struct Header {
    /// The chunk that a cursor enters after this one.
    next: Cell<Option<NonNull<Header>>>,
    /// The chunk that the list begins with: the arena's first, or a claim's. Right where `control` is.
    first: Cell<Option<NonNull<Header>>>,
    /// The chunk that the backing gave before this one, whatever list either is in.
    older: Cell<Option<NonNull<Header>>>,
    /// The control block of the arena. Right for every chunk that a live cursor names: opening a
    /// scope writes it into the chunk that the scope begins in, entering a chunk copies it on.
    control: Cell<Option<NonNull<Control>>>,
    /// The region: the bytes that allocations come from.
    region_low: Cell<NonNull<u8>>,
    region_top: Cell<NonNull<u8>>,
    /// The bytes asked of the backing; 0 for a buffer that came from elsewhere.
    block_size: usize,
    /// While the chunk serves one oversize request: the chunk that owns the cursor's region (I3).
    anchor: Cell<Option<NonNull<Header>>>,
    /// The free bytes of the region when a cursor last left it for another.
    idle: Cell<usize>,
    /// The capacity of all chunks before this one in the list, as of when it was last entered.
    before: Cell<usize>,
    /// What scopes have written to since it was last poisoned.
    pub(crate) touched: poison::Touched,
}

impl Header {
    /// A header for the region `low..top`, in no list yet.
    fn new(low: NonNull<u8>, top: NonNull<u8>, block_size: usize) -> Self {
        Header {
            next: Cell::new(None),
            first: Cell::new(None),
            older: Cell::new(None),
            control: Cell::new(None),
            region_low: Cell::new(low),
            region_top: Cell::new(top),
            block_size,
            anchor: Cell::new(None),
            idle: Cell::new(0),
            before: Cell::new(0),
            touched: poison::Touched::new(low, top),
        }
    }

    /// A header without a region, for a buffer that is not known yet.
    pub(crate) const fn vacant() -> Self {
        Header {
            next: Cell::new(None),
            first: Cell::new(None),
            older: Cell::new(None),
            control: Cell::new(None),
            region_low: Cell::new(NonNull::dangling()),
            region_top: Cell::new(NonNull::dangling()),
            block_size: 0,
            anchor: Cell::new(None),
            idle: Cell::new(0),
            before: Cell::new(0),
            touched: poison::Touched::none(),
        }
    }

    /// Makes `low..top` the region of a header that owns no block.
    pub(crate) fn set_region(&self, low: NonNull<u8>, top: NonNull<u8>) {
        debug_assert_eq!(self.block_size, 0, "a chunk's region never changes");
        self.region_low.set(low);
        self.region_top.set(top);
        self.touched.reset(low, top);
    }

    pub(crate) fn low(&self) -> NonNull<u8> {
        self.region_low.get()
    }

    pub(crate) fn top(&self) -> NonNull<u8> {
        self.region_top.get()
    }

    pub(crate) fn next(&self) -> Option<NonNull<Header>> {
        self.next.get()
    }

    pub(crate) fn set_next(&self, next: Option<NonNull<Header>>) {
        self.next.set(next);
    }

    /// The bytes of the region.
    pub(crate) fn capacity(&self) -> usize {
        self.region_top.get().addr().get() - self.region_low.get().addr().get()
    }

    pub(crate) fn idle(&self) -> usize {
        self.idle.get()
    }

    /// The bytes that the backing was asked for.
    pub(crate) fn block_size(&self) -> usize {
        self.block_size
    }

    /// The region is the chunk's own, whatever role the chunk was in before (I3).
    pub(crate) fn make_ordinary(&self) {
        self.anchor.set(None);
    }

    /// Whether the chunk serves one oversize request of the scope that last entered it.
    pub(crate) fn is_oversize(&self) -> bool {
        self.anchor.get().is_some()
    }

    /// The chunk that this one's list begins with.
    pub(crate) fn first(&self) -> Option<NonNull<Header>> {
        self.first.get()
    }

    /// Makes this the first of its list.
    pub(crate) fn set_first(&self) {
        self.first.set(Some(NonNull::from(self)));
    }

    pub(crate) fn control(&self) -> NonNull<Control> {
        debug_assert!(self.control.get().is_some(), "a cursor's chunk is attached");
        // SAFETY: only chunks that a cursor names are asked, and those are attached: `attach` when a
        // scope opens or is rewound, `enter` when a cursor moves on, `claim` when one begins.
        unsafe { self.control.get().unwrap_unchecked() }
    }

    /// Notes where the arena is now. It cannot move while a scope opened after this lives.
    ///
    /// Always stored, even where the address is the same: a pointer from an earlier loan of the arena
    /// ended with that loan.
    #[inline(always)]
    pub(crate) fn attach(&self, control: NonNull<Control>) {
        self.control.set(Some(control));
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.region_low.get().addr().get()..=self.region_top.get().addr().get()).contains(&address)
    }
}

/// The header whose region a cursor at `chunk` allocates from: `chunk` itself or, after an oversize
/// request, the chunk that was current before it (I3).
pub(crate) fn region_of(chunk: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: callers pass chunks of a live list. An anchor was set when a cursor of this list entered the
    // chunk, names a chunk before it, and is taken back when a chunk begins a list.
    unsafe { chunk.as_ref() }.anchor.get().unwrap_or(chunk)
}

/// Whether the backing of the arena is at work: whoever asks now is the backing itself.
pub(crate) fn is_busy(chunk: NonNull<Header>) -> bool {
    // SAFETY: callers pass the chunk of a cursor in use.
    let control = unsafe { chunk.as_ref() }.control();
    // SAFETY: the arena is there as long as a cursor is.
    unsafe { control.as_ref() }.busy.get()
}

/// Makes `chunk`, which is linked right behind `from`, ready to be the one that the cursor names.
///
/// `free_here` is what the cursor leaves free in the region it allocates from; `free_there` what the
/// request leaves free in `chunk`. `oversize`: the region stays, `chunk` serves this request only.
pub(crate) fn enter(
    from: NonNull<Header>,
    chunk: NonNull<Header>,
    free_here: usize,
    free_there: usize,
    oversize: bool,
) {
    let region = region_of(from);
    // SAFETY: `from` is a chunk of a live list.
    let from = unsafe { from.as_ref() };
    // SAFETY: `chunk` is linked behind it.
    let chunk = unsafe { chunk.as_ref() };
    let control = from.control();
    chunk.control.set(Some(control));
    chunk.first.set(from.first.get());
    chunk.before.set(from.before.get() + from.capacity());
    chunk.idle.set(free_there);
    if oversize {
        chunk.anchor.set(Some(region));
    } else {
        chunk.anchor.set(None);
        // SAFETY: `region_of` returns a chunk of the same live list.
        unsafe { region.as_ref() }.idle.set(free_here);
    }
    if !poison::TRACKS {
        // SAFETY: `control` was attached by the scope that is open now.
        unsafe { control.as_ref() }.note_high_water(chunk.before.get() + chunk.capacity());
    }
}

/// What an arena knows beside its chunks. Scopes reach it through the chunk they are in.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Control {
    /// Chunks in no list, linked by `next`: a claim left them, or came upon them behind its parent.
    spare: Cell<Option<NonNull<Header>>>,
    /// Claims that were made and not dropped.
    claims: Cell<usize>,
    /// The first chunk of the arena's own list.
    first: Cell<Option<NonNull<Header>>>,
    /// The chunk that the backing gave last; `older` leads to all others.
    newest: Cell<Option<NonNull<Header>>>,
    /// The size of the next ordinary chunk, header included.
    next_size: Cell<usize>,
    /// The most bytes that may be held of the backing.
    limit: Cell<usize>,
    /// The bytes held of the backing.
    held: Cell<usize>,
    /// The largest capacity that scopes have entered; with poisoning, the most bytes in use.
    high_water: Cell<usize>,
    /// The backing is at work: whoever asks for a chunk now is the backing itself.
    busy: Cell<bool>,
    /// `Backing::allocate` and `release` of the backing beside this block in its [`Chunks`].
    calls: Calls,
}

/// A backing's two methods, its type erased, taken by the address of the control block beside it.
#[derive(Clone, Copy, Debug)]
struct Calls {
    allocate: Allocate,
    release: unsafe fn(NonNull<Control>, NonNull<u8>, Layout),
}

type Allocate = unsafe fn(NonNull<Control>, Layout) -> Result<NonNull<[u8]>, AllocError>;

/// A control block and the backing it calls. Dropping it gives every chunk back.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Chunks<B: Backing> {
    control: Control,
    backing: B,
}

impl<B: Backing> Chunks<B> {
    /// No chunk yet; the first ordinary one will have `first_size` bytes, header included.
    pub(crate) const fn new(backing: B, first_size: usize) -> Self {
        Chunks {
            control: Control {
                first: Cell::new(None),
                newest: Cell::new(None),
                spare: Cell::new(None),
                claims: Cell::new(0),
                next_size: Cell::new(first_size),
                limit: Cell::new(usize::MAX),
                held: Cell::new(0),
                high_water: Cell::new(0),
                busy: Cell::new(false),
                calls: Calls { allocate: allocate::<B>, release: release::<B> },
            },
            backing,
        }
    }

    #[inline(always)]
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The control block by address, valid for the backing behind it too.
    #[inline(always)]
    pub(crate) fn address(&self) -> NonNull<Control> {
        NonNull::from(self).cast()
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }

    /// Makes a chunk with room for `region` bytes, and the only one of the list.
    ///
    /// # Errors
    ///
    /// As [`new_chunk`].
    pub(crate) fn make_first(&self, region: usize) -> Result<NonNull<Header>, AllocError> {
        debug_assert!(self.control.first.get().is_none(), "the list is empty");
        let chunk = new_chunk(self.address(), region)?;
        // SAFETY: the chunk was just made.
        let header = unsafe { chunk.as_ref() };
        header.attach(self.address());
        header.first.set(Some(chunk));
        self.control.first.set(Some(chunk));
        if !poison::TRACKS {
            self.control.note_high_water(header.capacity());
        }
        Ok(chunk)
    }

    /// Puts every chunk into the arena's own list: spare ones, and those of claims that were forgotten.
    ///
    /// # Safety
    ///
    /// No claim is alive, and where the list begins with a header of no block, it is where it was.
    pub(crate) unsafe fn gather(&self) {
        let control = &self.control;
        if control.spare.get().is_none() && control.claims.get() == 0 {
            return;
        }
        control.claims.set(0);
        control.spare.set(None);
        // Whoever belongs to the list names its first chunk; the others are put behind the last.
        let mut newest = control.newest.get();
        while let Some(chunk) = newest {
            // SAFETY: `older` leads to every chunk of the backing, and none is released here.
            let header = unsafe { chunk.as_ref() };
            header.first.set(None);
            newest = header.older.get();
        }
        let first = control.first.get();
        let mut last = None;
        let mut next = first;
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list.
            let header = unsafe { chunk.as_ref() };
            header.first.set(first);
            last = Some(header);
            next = header.next.get();
        }
        let mut newest = control.newest.get();
        while let Some(chunk) = newest {
            // SAFETY: as above.
            let header = unsafe { chunk.as_ref() };
            if header.first.get().is_none() {
                header.first.set(first);
                header.next.set(None);
                if let Some(last) = last.replace(header) {
                    last.next.set(Some(chunk));
                }
            }
            newest = header.older.get();
        }
    }

    /// Gives the chunks behind `kept` back to the backing; all of them where it is `None`.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again names
    /// one. Where the list begins with a header of no block, that is kept.
    pub(crate) unsafe fn release_behind(&self, kept: Option<NonNull<Header>>) {
        // SAFETY: the caller's promise.
        unsafe { self.gather() };
        let mut next = match kept {
            // SAFETY: the caller names a chunk of the list.
            Some(kept) => unsafe { kept.as_ref() }.next.take(),
            None => self.control.first.take(),
        };
        self.note_all();
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list, unlinked above, not yet released.
            next = unsafe { chunk.as_ref() }.next.get();
            // SAFETY: it is in no list now, and the caller says that nothing in it is alive.
            unsafe { self.control.release(self.address(), chunk) };
        }
    }

    /// Makes `newest` and `older` lead to the chunks of the list and no others.
    fn note_all(&self) {
        self.control.newest.set(None);
        let mut next = self.control.first.get();
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list.
            let header = unsafe { chunk.as_ref() };
            if header.block_size != 0 {
                header.older.set(self.control.newest.replace(Some(chunk)));
            }
            next = header.next.get();
        }
    }

    /// Gives chunks back until those that are kept, in the order of the list, come to at most `most`
    /// bytes of the backing.
    ///
    /// # Safety
    ///
    /// As [`Chunks::release_behind`] of all.
    pub(crate) unsafe fn release_beyond(&self, most: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.gather() };
        let mut kept = 0;
        let mut last: Option<NonNull<Header>> = None;
        let mut beyond = None;
        let mut next = self.control.first.take();
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list that is taken apart here.
            let header = unsafe { chunk.as_ref() };
            next = header.next.take();
            if header.block_size > most - kept {
                header.next.set(beyond.replace(chunk));
                continue;
            }
            kept += header.block_size;
            match last {
                // SAFETY: the last chunk that was kept.
                Some(last) => unsafe { last.as_ref() }.next.set(Some(chunk)),
                None => self.control.first.set(Some(chunk)),
            }
            last = Some(chunk);
        }
        self.note_all();
        while let Some(chunk) = beyond {
            // SAFETY: a chunk that was put aside above, not yet released.
            beyond = unsafe { chunk.as_ref() }.next.get();
            // SAFETY: it is in no list now, and the caller says that nothing in it is alive.
            unsafe { self.control.release(self.address(), chunk) };
        }
        if let Some(first) = self.control.first.get() {
            // SAFETY: a chunk that was kept.
            let header = unsafe { first.as_ref() };
            header.first.set(Some(first));
            header.before.set(0);
        }
    }
}

impl<B: Backing> Drop for Chunks<B> {
    fn drop(&mut self) {
        // SAFETY: every scope and allocation borrows the owner of this, so none is left.
        unsafe { self.release_behind(None) };
    }
}

impl Control {
    pub(crate) fn first(&self) -> Option<NonNull<Header>> {
        self.first.get()
    }

    pub(crate) fn set_first(&self, first: Option<NonNull<Header>>) {
        self.first.set(first);
    }

    /// Every chunk of the backing, the newest first, whatever list it is in.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Header> {
        let mut newest = self.newest.get();
        core::iter::from_fn(move || {
            // SAFETY: `older` leads to every chunk of the backing; none is released while the arena is
            // borrowed.
            let header: &Header = unsafe { newest?.as_ref() };
            newest = header.older.get();
            Some(header)
        })
    }

    /// Whether there is no second chunk: the first of the list is the oldest of all. No header is looked at, for it
    /// may have left the caches long ago.
    pub(crate) fn has_one_at_most(&self) -> bool {
        let answer = self.first == self.newest;
        debug_assert_eq!(answer, self.all().nth(1).is_none());
        answer
    }

    pub(crate) fn set_next_size(&self, bytes: usize) {
        self.next_size.set(bytes);
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.get()
    }

    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.set(bytes);
    }

    pub(crate) fn held(&self) -> usize {
        self.held.get()
    }

    pub(crate) fn high_water(&self) -> usize {
        self.high_water.get()
    }

    pub(crate) fn note_high_water(&self, bytes: usize) {
        self.high_water.set(self.high_water.get().max(bytes));
    }

    /// Puts a whole list of chunks that hold nothing in front of the spare ones.
    fn spare_all(&self, first: NonNull<Header>) {
        // SAFETY: callers pass a chunk of a live list.
        let mut last: &Header = unsafe { first.as_ref() };
        while let Some(next) = last.next.get() {
            // SAFETY: a chunk of the same list.
            last = unsafe { next.as_ref() };
        }
        last.next.set(self.spare.replace(Some(first)));
    }

    /// # Safety
    ///
    /// `this` is the address of `self`'s [`Chunks`]; `chunk` is in no list and not released, and
    /// nothing in it is alive.
    unsafe fn release(&self, this: NonNull<Control>, chunk: NonNull<Header>) {
        // SAFETY: not released yet, as the caller says.
        let header = unsafe { chunk.as_ref() };
        let block_size = header.block_size;
        poison::lift(header.low(), header.capacity());
        self.held.set(self.held.get() - block_size);
        // SAFETY: `new_chunk` made this very layout for the block.
        let layout = unsafe { Layout::from_size_align_unchecked(block_size, CHUNK_ALIGN) };
        // SAFETY: `this` is the address of a `Chunks`; the block is the backing's own, with its
        // layout, and never used again.
        unsafe { (self.calls.release)(this, chunk.cast(), layout) };
    }
}

/// # Safety
///
/// `control` is the address of a `Chunks<B>`, as [`Chunks::address`] gives it.
unsafe fn allocate<B: Backing>(
    control: NonNull<Control>,
    layout: Layout,
) -> Result<NonNull<[u8]>, AllocError> {
    // SAFETY: the caller's promise; only shared references to it exist while scopes are open.
    let chunks = unsafe { control.cast::<Chunks<B>>().as_ref() };
    chunks.backing.allocate(layout)
}

/// # Safety
///
/// As [`allocate`], and as `Backing::release`.
unsafe fn release<B: Backing>(control: NonNull<Control>, block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller's promise.
    let chunks = unsafe { control.cast::<Chunks<B>>().as_ref() };
    // SAFETY: the caller's promise.
    unsafe { chunks.backing.release(block, layout) };
}

/// The chunk right behind `after` that `fits` accepts: one that the list has further on or that is spare,
/// moved there, or a new one with room for `region` bytes. Of those there are, the first one; for what
/// may grow, the `largest`.
///
/// # Errors
///
/// As [`new_chunk`]; the list is then as it was.
///
/// # Safety
///
/// `after` is the chunk of a cursor in use.
pub(crate) unsafe fn chunk_behind(
    after: NonNull<Header>,
    region: usize,
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Result<NonNull<Header>, AllocError> {
    // SAFETY: the caller's promise.
    let head = unsafe { after.as_ref() };
    // SAFETY: the arena is there as long as a cursor is.
    let control = unsafe { head.control().as_ref() };
    let take = |list| unlink(list, largest, &fits);
    let chunk = match take(&head.next).or_else(|| take(&control.spare)) {
        Some(chunk) => chunk,
        None => new_chunk(head.control(), region)?,
    };
    // SAFETY: just made, or a chunk of the arena, and in no list.
    unsafe { chunk.as_ref() }.next.set(head.next.get());
    head.next.set(Some(chunk));
    Ok(chunk)
}

/// Where a list leads to its next chunk.
type Link = Cell<Option<NonNull<Header>>>;

/// Takes a chunk that `fits` accepts out of the list that `link` begins: the first, or the `largest`.
fn unlink(
    mut link: &Link,
    largest: bool,
    fits: impl Fn(&Header) -> bool,
) -> Option<NonNull<Header>> {
    let mut found: Option<(&Link, NonNull<Header>, &Header)> = None;
    while let Some(chunk) = link.get() {
        // SAFETY: a chunk of a live list; none is released while an arena is borrowed.
        let header: &Header = unsafe { chunk.as_ref() };
        let better = found.is_none_or(|(_, _, best)| header.capacity() > best.capacity());
        if better && fits(header) {
            found = Some((link, chunk, header));
            if !largest {
                break;
            }
        }
        link = &header.next;
    }
    let (link, chunk, header) = found?;
    link.set(header.next.get());
    Some(chunk)
}

/// A chunk for a claim whose parent is in `parent`: a list of its own. The chunks behind the parent
/// become spare, for both to take from.
///
/// # Errors
///
/// As [`new_chunk`].
///
/// # Safety
///
/// `parent` is the chunk of a cursor in use.
pub(crate) unsafe fn claim(parent: NonNull<Header>) -> Result<NonNull<Header>, AllocError> {
    // SAFETY: the caller's promise.
    let parent = unsafe { parent.as_ref() };
    let control = parent.control();
    // SAFETY: the arena is there as long as a cursor is.
    let this = unsafe { control.as_ref() };
    if this.busy.get() {
        return Err(AllocError);
    }
    if let Some(behind) = parent.next.take() {
        this.spare_all(behind);
    }
    let chunk = match unlink(&this.spare, false, |_| true) {
        Some(chunk) => chunk,
        None => new_chunk(control, 0)?,
    };
    // SAFETY: just made, or spare until now.
    let header = unsafe { chunk.as_ref() };
    header.next.set(None);
    header.first.set(Some(chunk));
    header.before.set(parent.before.get() + parent.capacity());
    header.control.set(Some(control));
    this.claims.set(this.claims.get() + 1);
    if !poison::TRACKS {
        this.note_high_water(header.before.get() + header.capacity());
    }
    Ok(chunk)
}

/// Ends the claim whose list begins with `first`: all its chunks become spare.
///
/// # Safety
///
/// [`claim`] returned `first`, the claim ends now for the first time, and nothing allocated in it is
/// used again.
pub(crate) unsafe fn end_claim(first: NonNull<Header>) {
    // SAFETY: a claim's chunks stay until the arena is free of loans.
    let header = unsafe { first.as_ref() };
    // SAFETY: the arena is there as long as a claim is.
    let control = unsafe { header.control().as_ref() };
    control.spare_all(first);
    control.claims.set(control.claims.get() - 1);
}

/// Asks the backing for a chunk of the ordinary size, or for one with room for `region` bytes where
/// that is more. Refused, it asks for half as much, as long as `region` bytes fit.
///
/// # Errors
///
/// The backing refused the least size that would do, the limit forbids it, the size exceeds
/// `isize::MAX`, or the backing itself is asking. Nothing has changed then.
fn new_chunk(control: NonNull<Control>, region: usize) -> Result<NonNull<Header>, AllocError> {
    // SAFETY: callers pass the address that `Chunks::address` gave, of a live `Chunks`.
    let this = unsafe { control.as_ref() };
    let least = region
        .checked_next_multiple_of(CHUNK_ALIGN)
        .and_then(|region| region.checked_add(OVERHEAD))
        .ok_or(AllocError)?;
    let allowed = this.limit.get().saturating_sub(this.held.get());
    if least > allowed || this.busy.get() {
        return Err(AllocError);
    }
    let ordinary = this.next_size.get();
    let wanted = ordinary.min(isize::MAX as usize);
    let mut size = wanted.max(least).min(allowed) & !(CHUNK_ALIGN - 1);
    let (block, layout) = loop {
        let layout = Layout::from_size_align(size, CHUNK_ALIGN).map_err(|_| AllocError)?;
        let busy = Busy::mark(&this.busy);
        // SAFETY: `control` is the address of a `Chunks` of the type whose calls it holds.
        let answer = unsafe { (this.calls.allocate)(control, layout) };
        drop(busy);
        match answer {
            Ok(block) => break (block.cast::<u8>(), layout),
            Err(AllocError) if size > least => {
                size = (size / 2).max(least) & !(CHUNK_ALIGN - 1);
            }
            Err(AllocError) => return Err(AllocError),
        }
    };
    if block.addr().get() < LOWEST_ADDRESS {
        // The comparison of the fast path relies on this (see `arith`).
        let busy = Busy::mark(&this.busy);
        // SAFETY: the block just came from this backing with this layout and holds nothing.
        unsafe { (this.calls.release)(control, block, layout) };
        drop(busy);
        return Err(AllocError);
    }
    // The same capacity wherever the block lies: the ends move together.
    let end = size - (block.addr().get() + size) % CACHE_LINE;
    let start = end - (size - OVERHEAD);
    // SAFETY: `start` is behind the header, and the region within the `size` bytes of the block (I5).
    let low = unsafe { block.add(start) };
    // SAFETY: as above.
    let top = unsafe { block.add(end) };
    let chunk = block.cast::<Header>();
    // SAFETY: the block is aligned for a header, has room for it, and nobody else uses it.
    unsafe { chunk.write(Header::new(low, top, size)) };
    poison::fresh(low, size - OVERHEAD);
    // SAFETY: just written.
    unsafe { chunk.as_ref() }.older.set(this.newest.replace(Some(chunk)));
    this.held.set(this.held.get() + size);
    // Every call to the backing doubles the ordinary size, an oversize one too, so that a run of
    // requests a little above it settles; an oversize request's own size never counts.
    this.next_size.set(ordinary.max(doubled(ordinary)));
    Ok(chunk)
}

/// The ordinary size after `ordinary`: twice as much, and a little more where that makes whole huge pages.
fn doubled(ordinary: usize) -> usize {
    let doubled = ordinary.saturating_mul(2).min(LARGEST_CHUNK);
    match doubled.next_multiple_of(HUGE_PAGE) {
        pages if pages - doubled <= HUGE_PAGE / 8 => pages,
        _ => doubled,
    }
}

/// Marks the arena as waiting for its backing, until dropped: a panic in the backing ends it too.
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

/// The total size of a chunk whose region has room for `capacity` bytes, wherever it ends. `None` on
/// overflow.
pub(crate) const fn size_for_capacity(capacity: usize) -> Option<usize> {
    match arith::region_for(capacity, 1) {
        Some(region) => region.checked_add(OVERHEAD),
        None => None,
    }
}
