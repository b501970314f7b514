//! Chunks: the blocks that an arena got from its backing, their headers, and the list they form.
//!
//! ```text
//! block from the backing                         Control
//! ┌────────┬─┬───────────────────────┬─┐         ┌─────────┐
//! │ Header │ │ region                │ │         │ home ───┼ next ─► chunk ─ next ─► chunk ─ next ─► …
//! └────────┴─┴───────────────────────┴─┘         └─────────┘         in use          in use   free
//!            low ►             ◄ top, at a cache line: the two gaps are 48 bytes together
//! ```
//!
//! The list is in the order in which scopes enter the chunks. A scope's end gives none of them back:
//! the next scope finds them behind the chunk it begins in. All of this is cold code; the fast paths
//! are in [`raw`](crate::raw) and read nothing of a header.
//!
//! The list begins with *home*, a header in the control block itself. It stands for the region of the arena's
//! first block, or for a caller's buffer; so opening a scope there looks at nothing but the arena. Home moves when
//! the arena does, between loans. Nothing that outlasts a loan therefore holds its address: where a header or a
//! checkpoint names it, it says [`HOME`], and home itself, which alone has no `control`, finds the
//! control block around it.

use crate::{
    arith::{self, CHUNK_ALIGN, LOWEST_ADDRESS},
    backing::{Backing, HUGE_PAGE},
    error::AllocError,
    poison,
};
use core::{alloc::Layout, cell::Cell, mem::offset_of, ptr::NonNull};

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

/// The record at the start of every block, and the one in the control block that a list begins with.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Header {
    /// The region: the bytes that allocations come from.
    region_low: Cell<NonNull<u8>>,
    region_top: Cell<NonNull<u8>>,
    /// The chunk that a cursor enters after this one.
    next: Cell<Option<NonNull<Header>>>,
    /// The chunk that a claim's list begins with; `None` in the arena's own, which begins with home.
    first: Cell<Option<NonNull<Header>>>,
    /// The chunk that the backing gave before this one, whatever list either is in.
    older: Cell<Option<NonNull<Header>>>,
    /// The control block of the arena; `None` for home, which is in it. Right for every other chunk that a live
    /// cursor names: where a scope begins in one it is written anew, entering a chunk copies it on.
    control: Cell<Option<NonNull<Control>>>,
    /// The bytes asked of the backing; 0 for a buffer that came from elsewhere.
    block_size: Cell<usize>,
    /// While the chunk serves one oversize request: the chunk that owns the cursor's region (I3), or [`HOME`].
    anchor: Cell<Option<NonNull<Header>>>,
    /// The free bytes of the region when a cursor last left it for another.
    idle: Cell<usize>,
    /// The capacity of all chunks before this one in the list, as of when it was last entered.
    before: Cell<usize>,
    /// What scopes have written to since it was last poisoned.
    pub(crate) touched: poison::Touched,
}

/// Stands for an arena's home in what may outlast the loan in which home was where it was.
pub(crate) const HOME: NonNull<Header> = NonNull::dangling();

impl Header {
    /// A header without a region, in no list.
    const fn vacant() -> Self {
        Header {
            region_low: Cell::new(NonNull::dangling()),
            region_top: Cell::new(NonNull::dangling()),
            next: Cell::new(None),
            first: Cell::new(None),
            older: Cell::new(None),
            control: Cell::new(None),
            block_size: Cell::new(0),
            anchor: Cell::new(None),
            idle: Cell::new(0),
            before: Cell::new(0),
            touched: poison::Touched::nowhere(),
        }
    }

    /// Makes `low..top` the region, of a block of `block_size` bytes that the backing gave.
    fn set_region(&self, low: NonNull<u8>, top: NonNull<u8>, block_size: usize) {
        self.region_low.set(low);
        self.region_top.set(top);
        self.block_size.set(block_size);
    }

    /// Stands for the region of `other` from now on.
    fn take_over(&self, other: &Header) {
        self.set_region(other.low(), other.top(), other.block_size());
        self.touched.copy(&other.touched);
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

    /// The bytes of the region.
    pub(crate) fn capacity(&self) -> usize {
        self.region_top.get().addr().get() - self.region_low.get().addr().get()
    }

    /// Whether there is no region, not even one of no bytes.
    fn is_vacant(&self) -> bool {
        self.region_top.get() == NonNull::dangling()
    }

    pub(crate) fn idle(&self) -> usize {
        self.idle.get()
    }

    /// The bytes that the backing was asked for.
    pub(crate) fn block_size(&self) -> usize {
        self.block_size.get()
    }

    /// The region is the chunk's own, whatever role the chunk was in before (I3).
    pub(crate) fn make_ordinary(&self) {
        self.anchor.set(None);
    }

    /// Whether the chunk serves one oversize request of the scope that last entered it.
    pub(crate) fn is_oversize(&self) -> bool {
        self.anchor.get().is_some()
    }

    pub(crate) fn contains(&self, address: usize) -> bool {
        (self.region_low.get().addr().get()..=self.region_top.get().addr().get()).contains(&address)
    }
}

/// Notes in `chunk`, which is not home, where its arena is now. It cannot move while a scope opened after this lives.
///
/// Always stored, even where the address is the same: a pointer from an earlier loan of the arena
/// ended with that loan.
#[inline]
pub(crate) fn attach(chunk: NonNull<Header>, control: NonNull<Control>) {
    // SAFETY: callers pass a chunk of a live list.
    unsafe { chunk.as_ref() }.control.set(Some(control));
}

/// The control block of the arena that `chunk`, which a cursor names, belongs to.
pub(crate) fn control_of(chunk: NonNull<Header>) -> NonNull<Control> {
    // SAFETY: callers pass a chunk that a cursor names, of a live list. Those but home are attached: `attach` when a
    // scope opens in one or is rewound, `enter` when a cursor moves on, `claim` when one begins.
    match unsafe { chunk.as_ref() }.control.get() {
        Some(control) => control,
        // SAFETY: home alone has none, and cursors have its address from `home_of`: it leads to all of the
        // control block and beyond.
        None => unsafe { chunk.byte_sub(offset_of!(Control, home)) }.cast(),
    }
}

/// The header that the list of an arena begins with.
pub(crate) fn home_of(control: NonNull<Control>) -> NonNull<Header> {
    // SAFETY: a field of the block, which is alive as long as its address is used.
    unsafe { control.byte_add(offset_of!(Control, home)) }.cast()
}

/// The chunk that the list of `chunk`, which a cursor names, begins with.
pub(crate) fn first_of(chunk: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: callers pass a chunk of a live list.
    let first = unsafe { chunk.as_ref() }.first.get();
    first.unwrap_or_else(|| home_of(control_of(chunk)))
}

/// `chunk`, which a cursor names, as it may be called when the arena has moved.
pub(crate) fn name_of(chunk: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: callers pass a chunk of a live list.
    let is_home = unsafe { chunk.as_ref() }.control.get().is_none();
    if is_home { HOME } else { chunk }
}

/// The chunk of the arena that [`name_of`] called so.
pub(crate) fn named(name: NonNull<Header>, control: NonNull<Control>) -> NonNull<Header> {
    if name == HOME { home_of(control) } else { name }
}

/// The header whose region a cursor at `chunk` allocates from: `chunk` itself or, after an oversize
/// request, the chunk that was current before it (I3).
pub(crate) fn region_of(chunk: NonNull<Header>) -> NonNull<Header> {
    region_in(control_of(chunk), chunk)
}

/// As [`region_of`], of any chunk of the arena's, whether a cursor names it or did before the arena moved.
pub(crate) fn region_in(control: NonNull<Control>, chunk: NonNull<Header>) -> NonNull<Header> {
    // SAFETY: callers pass chunks of a live list. An anchor was set when a cursor of this list entered the
    // chunk, names a chunk before it, and is taken back when a chunk begins a list.
    match unsafe { chunk.as_ref() }.anchor.get() {
        Some(anchor) => named(anchor, control),
        None => chunk,
    }
}

/// Whether the backing of the arena is at work: whoever asks now is the backing itself.
pub(crate) fn is_busy(chunk: NonNull<Header>) -> bool {
    // SAFETY: callers pass the chunk of a cursor in use, and the arena is there as long as that is.
    unsafe { control_of(chunk).as_ref() }.busy.get()
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
    let (region, control) = (region_of(from), control_of(from));
    // SAFETY: `from` is a chunk of a live list.
    let from = unsafe { from.as_ref() };
    // SAFETY: `chunk` is linked behind it.
    let chunk = unsafe { chunk.as_ref() };
    chunk.control.set(Some(control));
    chunk.first.set(from.first.get());
    chunk.before.set(from.before.get() + from.capacity());
    chunk.idle.set(free_there);
    if oversize {
        chunk.anchor.set(Some(name_of(region)));
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
    /// A claim was made since the arena's own list last was all the chunks there are.
    scattered: Cell<bool>,
    /// There are chunks beside home's block: what `newest` says too, where a reset need not look.
    many: Cell<bool>,
    /// What the arena's own list begins with.
    home: Header,
    /// Chunks in no list, linked by `next`: a claim left them, or came upon them behind its parent.
    spare: Cell<Option<NonNull<Header>>>,
    /// The block whose region is home's; in no list. `None` where that is a caller's buffer, or nothing.
    home_block: Cell<Option<NonNull<Header>>>,
    /// The chunk that the backing gave last; `older` leads to all others but `home_block`.
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
                scattered: Cell::new(false),
                many: Cell::new(false),
                home: Header::vacant(),
                spare: Cell::new(None),
                home_block: Cell::new(None),
                newest: Cell::new(None),
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

    /// The header that the list begins with, by an address that leads to the control block and the backing.
    #[inline(always)]
    pub(crate) fn home(&self) -> NonNull<Header> {
        home_of(self.address())
    }

    pub(crate) fn backing(&self) -> &B {
        &self.backing
    }

    /// Makes `low..top`, a caller's buffer, home's region.
    pub(crate) fn settle_in_buffer(&self, low: NonNull<u8>, top: NonNull<u8>) {
        debug_assert!(
            self.control.home_block.get().is_none(),
            "an arena over a buffer has no first block"
        );
        let home = &self.control.home;
        home.set_region(low, top, 0);
        home.touched.all(low, top);
        self.note_home();
    }

    /// Makes a block with room for `region` bytes, and its region home's. The list is empty until then.
    ///
    /// # Errors
    ///
    /// As [`new_chunk`].
    pub(crate) fn make_first(&self, region: usize) -> Result<(), AllocError> {
        let home = &self.control.home;
        debug_assert!(home.next.get().is_none(), "the list is empty");
        home.next.set(Some(new_chunk(self.address(), region)?));
        self.move_in();
        Ok(())
    }

    /// Makes the region of the list's first chunk, if there is one, home's.
    fn move_in(&self) {
        let home = &self.control.home;
        debug_assert!(self.control.home_block.get().is_none(), "home has no block");
        if let Some(block) = home.next.get() {
            // SAFETY: a chunk of the list.
            let header = unsafe { block.as_ref() };
            home.next.set(header.next.take());
            home.take_over(header);
            self.control.home_block.set(Some(block));
            self.note_all();
            self.note_home();
        }
    }

    /// Makes home's block, if it has one, the list's first chunk, and home vacant.
    fn move_out(&self) {
        let home = &self.control.home;
        if let Some(block) = self.control.home_block.take() {
            // SAFETY: home's block, which is not released.
            let header = unsafe { block.as_ref() };
            header.take_over(home);
            home.take_over(&Header::vacant());
            header.next.set(home.next.replace(Some(block)));
            self.note_all();
        }
    }

    /// Notes that scopes begin in home's region.
    fn note_home(&self) {
        if !poison::TRACKS {
            self.control.note_high_water(self.control.home.capacity());
        }
    }

    /// Puts every chunk into the arena's own list: spare ones, and those of claims that were forgotten.
    ///
    /// # Safety
    ///
    /// No claim is alive.
    #[inline]
    pub(crate) unsafe fn gather(&self) {
        if self.control.scattered.get() {
            self.gather_all();
        }
    }

    #[cold]
    fn gather_all(&self) {
        let control = &self.control;
        control.scattered.set(false);
        control.spare.set(None);
        // Whoever is in the list belongs to it; the others are put behind the last.
        for header in control.chunks() {
            header.first.set(Some(NonNull::from(header)));
        }
        let mut last = &control.home;
        while let Some(chunk) = last.next.get() {
            // SAFETY: a chunk of the list.
            last = unsafe { chunk.as_ref() };
            last.first.set(None);
        }
        let mut newest = control.newest.get();
        while let Some(chunk) = newest {
            // SAFETY: `older` leads to every chunk of the backing but home's, and none is released here.
            let header = unsafe { chunk.as_ref() };
            if header.first.take().is_some() {
                header.next.set(None);
                last.next.set(Some(chunk));
                last = header;
            }
            newest = header.older.get();
        }
    }

    /// Gives the chunks behind `kept`, one of the list, back to the backing.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again names
    /// one.
    pub(crate) unsafe fn release_behind(&self, kept: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe { self.gather() };
        // SAFETY: the caller's promise, and every chunk is in the list.
        unsafe { self.cut_behind(kept) };
    }

    /// Gives the chunks behind `kept`, one of the list, back to the backing.
    ///
    /// # Safety
    ///
    /// As [`Chunks::release_behind`], and every chunk is in the list.
    unsafe fn cut_behind(&self, kept: NonNull<Header>) {
        // SAFETY: the caller names a chunk of the list.
        let next = unsafe { kept.as_ref() }.next.take();
        self.note_all();
        // SAFETY: they are in no list now, and the caller says that nothing in them is alive.
        unsafe { self.control.release_all(self.address(), next) };
    }

    /// Gives all chunks back to the backing, home's block too.
    ///
    /// # Safety
    ///
    /// No allocation lives in any of them, no claim is alive, and no cursor that will be used again names
    /// one.
    pub(crate) unsafe fn release(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.gather() };
        self.move_out();
        // SAFETY: as above, and every chunk is in the list.
        unsafe { self.cut_behind(self.home()) };
    }

    /// Gives chunks back until those that are kept, in the order of the list, come to at most `most`
    /// bytes of the backing.
    ///
    /// # Safety
    ///
    /// As [`Chunks::release`].
    pub(crate) unsafe fn release_beyond(&self, most: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.gather() };
        self.move_out();
        let mut kept = 0;
        let mut last = &self.control.home;
        let mut beyond = None;
        let mut next = last.next.take();
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list that is taken apart here.
            let header = unsafe { chunk.as_ref() };
            next = header.next.take();
            if header.block_size() > most - kept {
                header.next.set(beyond.replace(chunk));
                continue;
            }
            kept += header.block_size();
            last.next.set(Some(chunk));
            last = header;
        }
        self.note_all();
        // SAFETY: they were put aside above, and the caller says that nothing in them is alive.
        unsafe { self.control.release_all(self.address(), beyond) };
        self.move_in();
    }

    /// Makes `newest` and `older` lead to the chunks of the list and no others.
    fn note_all(&self) {
        self.control.newest.set(None);
        let mut next = self.control.home.next.get();
        while let Some(chunk) = next {
            // SAFETY: a chunk of the list.
            let header = unsafe { chunk.as_ref() };
            header.older.set(self.control.newest.replace(Some(chunk)));
            next = header.next.get();
        }
        self.control.many.set(self.control.newest.get().is_some());
    }
}

impl<B: Backing> Drop for Chunks<B> {
    fn drop(&mut self) {
        // SAFETY: every scope and allocation borrows the owner of this, so none is left.
        unsafe { self.release() };
    }
}

impl Control {
    /// The header that the list begins with.
    #[inline(always)]
    pub(crate) fn home(&self) -> &Header {
        &self.home
    }

    /// Home, if it has a region, and every chunk of the backing, whatever list it is in.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Header> {
        Some(&self.home).into_iter().filter(|home| !home.is_vacant()).chain(self.chunks())
    }

    /// Every chunk of the backing but home's block, the newest first, whatever list it is in.
    fn chunks(&self) -> impl Iterator<Item = &Header> {
        let mut newest = self.newest.get();
        core::iter::from_fn(move || {
            // SAFETY: `older` leads to every chunk of the backing; none is released while the arena is
            // borrowed.
            let header: &Header = unsafe { newest?.as_ref() };
            newest = header.older.get();
            Some(header)
        })
    }

    /// Whether home's block is the only one. No other header is looked at, for it may have left the caches long ago.
    pub(crate) fn has_home_alone(&self) -> bool {
        debug_assert_eq!(self.many.get(), self.newest.get().is_some());
        !self.many.get()
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

    /// Gives back `chunk` and all that `next` leads to from there.
    ///
    /// # Safety
    ///
    /// `this` is the address of `self`'s [`Chunks`]; they are in no list and not released, and nothing in them is
    /// alive.
    unsafe fn release_all(&self, this: NonNull<Control>, mut chunk: Option<NonNull<Header>>) {
        while let Some(block) = chunk {
            // SAFETY: not released yet, as the caller says.
            let header = unsafe { block.as_ref() };
            chunk = header.next.get();
            let block_size = header.block_size();
            poison::lift(header.low(), header.capacity());
            self.held.set(self.held.get() - block_size);
            // SAFETY: `new_chunk` made this very layout for the block.
            let layout = unsafe { Layout::from_size_align_unchecked(block_size, CHUNK_ALIGN) };
            // SAFETY: `this` is the address of a `Chunks`; the block is the backing's own, with its
            // layout, and never used again.
            unsafe { (self.calls.release)(this, block.cast(), layout) };
        }
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
    let control = control_of(after);
    // SAFETY: the arena is there as long as a cursor is.
    let this = unsafe { control.as_ref() };
    let take = |list| unlink(list, largest, &fits);
    let chunk = match take(&head.next).or_else(|| take(&this.spare)) {
        Some(chunk) => chunk,
        None => new_chunk(control, region)?,
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
    let control = control_of(parent);
    // SAFETY: the caller's promise.
    let parent = unsafe { parent.as_ref() };
    // SAFETY: the arena is there as long as a cursor is.
    let this = unsafe { control.as_ref() };
    if this.busy.get() {
        return Err(AllocError);
    }
    this.scattered.set(true);
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
    // SAFETY: a claim's chunks stay until the arena is free of loans, and the arena as long as a claim does.
    let control = unsafe { control_of(first).as_ref() };
    control.spare_all(first);
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
    unsafe { chunk.write(Header::vacant()) };
    // SAFETY: just written.
    let header = unsafe { chunk.as_ref() };
    header.set_region(low, top, size);
    header.touched.none(low, top);
    poison::fresh(low, size - OVERHEAD);
    header.older.set(this.newest.replace(Some(chunk)));
    this.many.set(true);
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
