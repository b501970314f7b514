//! The model: operations decoded from bytes, run on an arena and on a record of live blocks.
//!
//! After each operation, no two live blocks overlap, every byte has the value that was written,
//! addresses are aligned, and the statistics agree with the record and the backing. `run(&bytes)`
//! is the only public function. The file is long because it is self-contained: a fuzz target
//! includes it by its path.
#![allow(unreachable_pub, reason = "public for whoever includes the file")]
#![allow(clippy::cast_possible_truncation, reason = "patterns of bytes")]

use ebbtide::{AllocError, Arena, Backing, Checkpoint, Fixed, Retain, Scope, StackArena, Stats};
use std::{
    alloc::Layout,
    cell::Cell,
    collections::HashMap,
    fmt,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

/// The maximum depth of nested scopes.
const DEEPEST: usize = 8;

/// The maximum size of a block, to keep runs short.
const LARGEST: usize = 20_000;

/// One operation, with three bytes of arguments.
#[derive(Clone, Copy, Debug)]
struct Op {
    kind: u8,
    size: u8,
    align: u8,
    seed: u8,
}

impl Op {
    /// Mostly small sizes; large ones force new chunks.
    fn bytes(self) -> usize {
        let size = usize::from(self.size);
        match self.seed % 16 {
            0 => size * 64,
            1 => size * 8,
            2 => 0,
            _ => size % 64,
        }
        .min(LARGEST)
    }

    fn align(self) -> usize {
        match self.align % 64 {
            0 => 4096,
            1 => 8192,
            2 => 256,
            other => 1 << (other % 7),
        }
    }
}

/// The log of the backing, and the failures that it is to inject.
#[derive(Debug, Default)]
struct Account {
    held: AtomicUsize,
    blocks: AtomicUsize,
    /// After this many calls, one fails. 0: none.
    fuse: AtomicUsize,
    /// Requests above this size fail. 0: none.
    most: AtomicUsize,
    /// The value of `most` at first and whenever it is not set otherwise.
    usually: AtomicUsize,
    given: Mutex<HashMap<usize, Layout>>,
}

impl Account {
    /// What the chunks have outside their regions: those of a page and more, a cache line more, and
    /// the one with the control block, if there `is_first`, as much more as in any other arena.
    fn overhead(&self, is_first: bool) -> usize {
        let (first, small) = first_and_later();
        let given = self.given.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let overheads = given.values().map(|layout| match layout.size() - small {
            0..4096 => small,
            _ => small + 64,
        });
        let control = if is_first && !given.is_empty() { first - small } else { 0 };
        overheads.sum::<usize>() + control
    }
}

/// What a small first chunk and a small later one have outside their regions.
fn first_and_later() -> (usize, usize) {
    let arena = Arena::with_chunk_size(16);
    // So that it does not begin in the block of a dropped one.
    arena.set_limit(None);
    arena.alloc([0_u8; 16]);
    let first = arena.held() - arena.capacity();
    arena.alloc([0_u8; 16]);
    (first, arena.held() - arena.capacity() - first)
}

struct Accounted(Arc<Account>);

// SAFETY: blocks come from the global allocator unchanged; `release` returns each once with its
// layout.
unsafe impl Backing for Accounted {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let account = &self.0;
        let most = account.most.load(SeqCst);
        if most != 0 && layout.size() > most {
            return Err(AllocError);
        }
        let fuse = account.fuse.load(SeqCst);
        account.fuse.store(fuse.saturating_sub(1), SeqCst);
        if fuse == 1 || layout.size() > 1 << 24 {
            return Err(AllocError);
        }
        // SAFETY: a chunk has a header, so its size is not 0.
        let block = NonNull::new(unsafe { std::alloc::alloc(layout) }).ok_or(AllocError)?;
        account.held.fetch_add(layout.size(), SeqCst);
        account.blocks.fetch_add(1, SeqCst);
        let mut given = account.given.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        given.insert(block.addr().get(), layout);
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        let account = &self.0;
        let mut given = account.given.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if given.remove(&block.addr().get()) != Some(layout) {
            // `release` must not unwind.
            std::process::abort();
        }
        account.held.fetch_sub(layout.size(), SeqCst);
        account.blocks.fetch_sub(1, SeqCst);
        // SAFETY: returned by `allocate` with this layout, and not released since.
        unsafe { std::alloc::dealloc(block.as_ptr(), layout) };
    }
}

/// A live block, and a copy of its contents.
struct Block<'a> {
    bytes: &'a [u8],
    written: Vec<u8>,
}

/// The blocks of one scope, with a link to those of its ancestors.
struct Frame<'f, 'a> {
    blocks: Vec<Block<'a>>,
    parent: Option<&'f dyn Ancestor>,
}

/// A frame, independent of the lifetime of its blocks.
trait Ancestor {
    fn check(&self, new: &[u8]) -> usize;
}

impl Ancestor for Frame<'_, '_> {
    /// Checks all blocks of this frame and its ancestors, and that `new` overlaps none. Returns the
    /// live bytes.
    fn check(&self, new: &[u8]) -> usize {
        let mut live = 0;
        let new_range = new.as_ptr_range();
        for block in &self.blocks {
            assert!(block.bytes == block.written, "a live block was overwritten");
            live += block.bytes.len();
            let range = block.bytes.as_ptr_range();
            let same = std::ptr::eq(block.bytes, new);
            let apart = range.end <= new_range.start || new_range.end <= range.start;
            assert!(same || apart || new.is_empty() || block.bytes.is_empty(), "overlap");
        }
        live + self.parent.map_or(0, |parent| parent.check(new))
    }
}

/// The contents of a block with this seed.
fn pattern(seed: u8, len: usize) -> Vec<u8> {
    (0..len).map(|i| seed.wrapping_mul(31).wrapping_add((i % 251) as u8)).collect()
}

/// A cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Writes its text in two pieces, and formats something else into the scope between them.
struct Meddling<'s, 'a>(&'s Scope<'a>, &'s str, bool);

impl fmt::Display for Meddling<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = self.1.split_at(self.1.len() / 2);
        f.write_str(first)?;
        if self.2 {
            let _ = self.0.try_alloc_fmt(format_args!("{}{}", first, 1));
            let _ = self.0.try_alloc([0xEEu8; 33]);
        }
        f.write_str(second)
    }
}

/// The expected state of the arena.
struct World {
    account: Arc<Account>,
    /// The size of the buffer, if the arena has one.
    buffer: Cell<Option<usize>>,
    /// The most bytes that may be held: the limit, or what was held when it was set.
    ceiling: Cell<usize>,
    /// The most bytes that were held after an operation.
    most_held: Cell<usize>,
    /// Chunks of claims are in no list until the arena is reset; until then, only sums are
    /// compared.
    claimed: Cell<bool>,
}

impl World {
    fn agree(&self, stats: Stats) {
        let held = self.account.held.load(SeqCst);
        assert_eq!(stats.held, held, "held");
        self.most_held.set(self.most_held.get().max(held));
        assert!(held <= self.ceiling.get(), "limit");
        assert!(stats.used <= stats.capacity, "used");
        assert!(stats.used <= stats.high_water, "high water");
        assert!(stats.oversize <= stats.chunks, "oversize");
        if !self.claimed.get() {
            let chunks = self.account.blocks.load(SeqCst);
            assert_eq!(stats.chunks, chunks + usize::from(self.buffer.get().is_some()), "chunks");
            let chunk_bytes = stats.capacity - self.buffer.get().unwrap_or(0);
            let is_first = self.buffer.get().is_none();
            assert_eq!(held - chunk_bytes, self.account.overhead(is_first), "capacity");
        }
    }
}

/// The remaining operations.
struct Source<'b> {
    bytes: &'b [u8],
}

impl Source<'_> {
    fn next(&mut self) -> Option<Op> {
        let (op, rest) = self.bytes.split_at_checked(4)?;
        self.bytes = rest;
        Some(Op { kind: op[0], size: op[1], align: op[2], seed: op[3] })
    }

    /// A remainder shorter than an operation is ignored.
    fn is_empty(&self) -> bool {
        self.bytes.len() < 4
    }

    /// The next few operations.
    fn take(&mut self, most: u8) -> impl Iterator<Item = Op> {
        (0..most).map_while(|_| self.next())
    }
}

/// Allocates by the method that `op` selects. A failure must not change the statistics.
fn allocate<'a>(s: &Scope<'a>, op: Op) -> Option<&'a [u8]> {
    let len = op.bytes();
    let bytes = pattern(op.seed, len);
    let reentrant = op.align & 0x80 != 0;
    let meddle = || {
        if reentrant {
            let _ = s.try_alloc([0xEEu8; 13]);
            let _ = s.try_alloc_slice_from_iter((0..9u16).filter(|i| i % 2 == 0));
        }
    };
    let before = s.stats().used;
    let got: Option<&'a [u8]> = match op.kind % 24 {
        0 => s.try_alloc([op.seed; 1]).ok().map(|block| &block[..]),
        1 => s.try_alloc([op.seed; 8]).ok().map(|block| &block[..]),
        2 => s.try_alloc(Line([op.seed; 64])).ok().map(|line| &line.0[..]),
        3 => s.try_alloc([op.seed; 4_500]).ok().map(|block| &block[..]),
        4 => {
            let make = || {
                meddle();
                [op.seed; 24]
            };
            s.try_alloc_with(make).ok().map(|block| &block[..])
        }
        5 => {
            let make = || {
                meddle();
                if op.align & 1 == 0 { Ok([op.seed; 40]) } else { Err([1u8; 80]) }
            };
            s.try_alloc_try_with(make).ok().map(|block| &block[..])
        }
        6 => s.try_alloc_slice_copy(&bytes).ok().map(|block| &*block),
        7 => s.try_alloc_slice_clone(&bytes).ok().map(|block| &*block),
        8 => s.try_alloc_slice_fill_copy(len, op.seed).ok().map(|block| &*block),
        9 => {
            let make = |i: usize| {
                if i % 100 == 50 {
                    meddle();
                }
                bytes[i]
            };
            s.try_alloc_slice_fill_with(len, make).ok().map(|block| &*block)
        }
        10 => {
            let make = |i: usize| {
                if i % 100 == 50 {
                    meddle();
                }
                if i > 70 && op.align & 1 == 0 { Err(i) } else { Ok(bytes[i]) }
            };
            s.try_alloc_slice_try_fill_with(len, make).ok().map(|block| &*block)
        }
        11 => s.try_alloc_slice_fill_iter(bytes.iter().copied()).ok().map(|block| &*block),
        12 | 13 => {
            let values = bytes.iter().enumerate().filter(|(i, _)| {
                if i % 100 == 50 {
                    meddle();
                }
                true
            });
            s.try_alloc_slice_from_iter(values.map(|(_, byte)| *byte)).ok().map(|block| &*block)
        }
        14 => {
            let text: String = bytes.iter().map(|byte| char::from(byte % 128)).collect();
            s.try_alloc_str(&text).ok().map(|text| text.as_bytes())
        }
        15 | 16 => {
            let text: String = bytes.iter().map(|byte| char::from(byte % 128)).collect();
            let display = Meddling(s, &text, reentrant);
            let made = s.try_alloc_fmt(format_args!("{display}")).ok();
            assert!(made.as_ref().is_none_or(|made| **made == text), "formatted");
            made.map(|text| text.as_bytes())
        }
        17 => {
            let layout = Layout::from_size_align(len, op.align()).ok()?;
            let block = s.try_alloc_layout(layout).ok();
            assert!(block.is_none_or(|block| block.addr().get() % op.align() == 0), "alignment");
            block.map(|block| {
                // SAFETY: the block is new and has `len` bytes.
                unsafe { block.copy_from_nonoverlapping(NonNull::from(&bytes[..]).cast(), len) };
                // SAFETY: all of them were written, and they live for `'a`.
                unsafe { std::slice::from_raw_parts(block.as_ptr(), len) }
            })
        }
        18 => {
            let block = s.try_alloc_aligned([op.seed; 48], op.align()).ok();
            block.map(|block| {
                assert_eq!(block.as_ptr().addr() % op.align(), 0, "alignment");
                &block[..]
            })
        }
        19 => {
            let block = s.try_alloc_uninit_slice_aligned::<u8>(len, op.align()).ok();
            block.map(|block| {
                assert_eq!(block.as_ptr().addr() % op.align(), 0, "alignment");
                for (place, byte) in block.iter_mut().zip(&bytes) {
                    place.write(*byte);
                }
                // SAFETY: all elements were written, and they live for `'a`.
                unsafe { std::slice::from_raw_parts(block.as_ptr().cast(), len) }
            })
        }
        20 => s.try_alloc_zeroed_slice::<u8>(len).ok().map(|block| {
            assert!(block.iter().all(|byte| *byte == 0), "zeroed");
            block.copy_from_slice(&bytes);
            &*block
        }),
        21 => s.try_alloc_vec(bytes).ok().map(|block| &*block),
        22 => {
            let owned = s.try_boxed_slice_from_iter(bytes.iter().copied()).ok();
            owned.map(|owned| &*ebbtide::boxed::Box::leak(owned))
        }
        _ => {
            let words = s.try_alloc_slice_fill_with(len / 8, |i| i as u64).ok();
            words.map(|words| {
                assert_eq!(words.as_ptr().addr() % align_of::<u64>(), 0, "alignment");
                let bytes: *const u8 = words.as_ptr().cast();
                // SAFETY: the bytes of `u64`s, which live for `'a` and are written no more.
                unsafe { std::slice::from_raw_parts(bytes, len / 8 * 8) }
            })
        }
    };
    let after = s.stats().used;
    match &got {
        Some(block) => assert!(after - before >= block.len(), "used less than was allocated"),
        None if !reentrant => assert_eq!(after, before, "a refusal changed the scope"),
        None => {}
    }
    got
}

/// Builds at the low end until it is done or memory is exhausted, then finishes or abandons the
/// builder. Its contents must survive a failure.
fn build<'a>(s: &mut Scope<'a>, op: Op) -> Option<&'a [u8]> {
    let bytes = pattern(op.seed, op.bytes());
    let before = s.stats().used;
    let (abandoned, piece) = (op.align % 4 == 0, 1 + usize::from(op.align / 4));
    let built = match op.kind % 3 {
        0 => {
            let mut vec = s.grow_vec::<u8>();
            for piece in bytes.chunks(piece) {
                if vec.try_extend_from_slice(piece).is_err() {
                    assert!(vec.capacity() - vec.len() < piece.len(), "refused what fits");
                    break;
                }
            }
            vec.truncate(vec.len().saturating_sub(usize::from(op.align % 2)));
            assert!(*vec == bytes[..vec.len()], "built");
            (!abandoned).then(|| &*vec.into_slice())
        }
        1 => {
            let mut vec = s.grow_vec::<[u32; 3]>();
            let made = vec.try_extend((0..bytes.len() / 12).map(|i| [i as u32; 3]));
            assert!(made.is_ok() || vec.len() == vec.capacity());
            let _ = vec.pop();
            assert!(vec.iter().enumerate().all(|(i, value)| *value == [i as u32; 3]), "built");
            (!abandoned).then(|| {
                let words = vec.into_slice().as_flattened();
                assert_eq!(words.as_ptr().addr() % 4, 0, "alignment");
                // SAFETY: the bytes of `u32`s, which live for `'a` and are written no more.
                unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
            })
        }
        _ => {
            let source: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let mut text = s.grow_string();
            for character in source.chars() {
                if text.try_push(character).is_err() {
                    break;
                }
            }
            let _ = text.pop();
            assert!(source.starts_with(&*text), "built");
            (!abandoned).then(|| text.into_str().as_bytes())
        }
    };
    let after = s.stats().used;
    match &built {
        Some(block) => assert!(after - before >= block.len(), "used less than was built"),
        None => assert_eq!(after, before, "an abandoned builder leaves nothing"),
    }
    built
}

/// Blocks from the `Allocator` trait, which are grown, shrunk and freed.
#[cfg(feature = "allocator-api2-04")]
mod low_end {
    use super::*;
    use ebbtide::allocator_api2_04::alloc::Allocator;

    struct Held {
        start: NonNull<u8>,
        layout: Layout,
        seed: u8,
    }

    impl Held {
        fn new(s: &Scope<'_>, op: Op) -> Option<Self> {
            let layout = Layout::from_size_align(op.bytes(), op.align()).ok()?;
            let start = s.allocate(layout).ok()?.cast::<u8>();
            let held = Held { start, layout, seed: op.seed };
            held.write(0);
            Some(held)
        }

        /// Writes the bytes from `from` on.
        fn write(&self, from: usize) {
            assert_eq!(self.start.addr().get() % self.layout.align(), 0, "alignment");
            let bytes = pattern(self.seed, self.layout.size());
            // SAFETY: within the block.
            let place = unsafe { self.start.add(from) };
            let bytes = NonNull::from(&bytes[from..]);
            // SAFETY: the block has that many bytes from there, and is the only reference to them.
            unsafe { place.copy_from_nonoverlapping(bytes.cast(), bytes.len()) };
        }

        fn bytes(&self) -> &[u8] {
            // SAFETY: all bytes were written, and the block is the only reference to them.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
        }

        fn check(&self) {
            assert!(
                self.bytes() == pattern(self.seed, self.layout.size()),
                "a block was overwritten"
            );
        }

        fn resize(&mut self, s: &Scope<'_>, op: Op) {
            let (old, align) = (self.layout, op.align());
            let grows = op.kind % 2 == 0;
            let size = if grows { old.size() + op.bytes() } else { old.size().min(op.bytes()) };
            let Ok(new) = Layout::from_size_align(size, align) else { return };
            let before = s.stats().used;
            let resized = if grows {
                // SAFETY: a block of this scope with this layout; `new` is as large.
                unsafe { s.grow(self.start, old, new) }
            } else {
                // SAFETY: a block of this scope with this layout; `new` is no larger.
                unsafe { s.shrink(self.start, old, new) }
            };
            let Ok(block) = resized else {
                assert_eq!(s.stats().used, before, "a refusal changed the scope");
                return;
            };
            (self.start, self.layout) = (block.cast(), new);
            let kept = old.size().min(size);
            assert!(self.bytes_of(kept) == pattern(self.seed, kept), "a block lost bytes");
            self.write(kept);
        }

        /// The first `len` bytes; others may be uninitialised.
        fn bytes_of(&self, len: usize) -> &[u8] {
            // SAFETY: these were written, and copied if the block moved.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), len) }
        }

        fn free(self, s: &Scope<'_>) {
            // SAFETY: a block of this scope with this layout, and not used again.
            unsafe { s.deallocate(self.start, self.layout) };
        }
    }

    /// Runs operations on blocks, mixed with values and claims.
    pub(super) fn blocks<'a>(
        world: &World,
        s: &Scope<'a>,
        source: &mut Source<'_>,
        op: Op,
        frame: &mut Frame<'_, 'a>,
    ) {
        let mut blocks: Vec<Held> = Vec::new();
        let mut claims = Vec::new();
        for op in source.take(op.size % 24) {
            let which = usize::from(op.align) % blocks.len().max(1);
            match op.kind % 16 {
                0..=3 => blocks.extend(Held::new(s, op)),
                4..=9 => {
                    // Prefers the last block, because it changes in place.
                    let last = blocks.len().saturating_sub(1);
                    let which = if op.kind % 4 == 0 { which } else { last };
                    if let Some(block) = blocks.get_mut(which) {
                        block.resize(s, op);
                    }
                }
                10 | 11 if !blocks.is_empty() => blocks.swap_remove(which).free(s),
                12 => {
                    if let Ok(claim) = s.try_claim() {
                        world.claimed.set(true);
                        claims.push((Held::new(claim.scope(), op), claim));
                    }
                }
                13 => {
                    let index = usize::from(op.seed) % claims.len().max(1);
                    if let Some((block, claim)) = claims.get_mut(index) {
                        if let Some(block) = block {
                            block.resize(claim.scope(), op);
                        }
                        if op.align % 2 == 0 {
                            drop(claims.swap_remove(index));
                        }
                    }
                }
                _ => {
                    let bytes = allocate(s, op);
                    frame
                        .blocks
                        .extend(bytes.map(|bytes| Block { bytes, written: bytes.to_vec() }));
                }
            }
            let all = || blocks.iter().chain(claims.iter().filter_map(|(block, _)| block.as_ref()));
            let mut ranges: Vec<_> = all()
                .map(|block| {
                    block.check();
                    frame.check(block.bytes());
                    block.bytes().as_ptr_range()
                })
                .filter(|range| !range.is_empty())
                .collect();
            ranges.sort_by_key(|range| range.start);
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "overlap");
        }
        if op.seed % 2 == 0 {
            blocks.into_iter().rev().for_each(|block| block.free(s));
        }
        if op.seed % 5 == 0 {
            // Forgets each block, not the vector, which would be a leak.
            claims.into_iter().for_each(|(_, claim)| std::mem::forget(claim));
        }
    }
}

/// Runs operations in a scope until one of them ends it.
fn level<'a>(
    world: &World,
    s: &mut Scope<'a>,
    source: &mut Source<'_>,
    depth: usize,
    parent: Option<&dyn Ancestor>,
) {
    let mut frame = Frame { blocks: Vec::new(), parent };
    while let Some(op) = source.next() {
        let mut new: &[u8] = &[];
        match op.kind {
            0..=139 => {
                if let Some(bytes) = allocate(s, op) {
                    frame.blocks.push(Block { bytes, written: bytes.to_vec() });
                    new = bytes;
                }
            }
            140..=149 => {
                if let Some(bytes) = build(s, op) {
                    frame.blocks.push(Block { bytes, written: bytes.to_vec() });
                    new = bytes;
                }
            }
            150..=159 => {
                #[cfg(feature = "allocator-api2-04")]
                low_end::blocks(world, s, source, op, &mut frame);
            }
            160..=189 if depth < DEEPEST => {
                let before = s.stats().used;
                level(world, &mut s.scope(), source, depth + 1, Some(&frame));
                assert_eq!(s.stats().used, before, "a scope's end gives back what it used");
            }
            160..=209 => break,
            210..=219 => {
                let before = s.stats().used;
                let checkpoint = s.checkpoint();
                for op in source.take(op.size % 6) {
                    if let Some(bytes) = allocate(s, op) {
                        frame.check(bytes);
                    }
                }
                // SAFETY: created by this scope, and nothing allocated since is used again.
                unsafe { s.rewind(checkpoint) };
                assert_eq!(s.stats().used, before, "a rewind gives back what was used");
            }
            220..=227 => claim(world, s, source, op, &mut frame),
            228..=229 => claims_in_turn(world, s, op),
            230..=239 => world.account.fuse.store(usize::from(op.size % 8), SeqCst),
            240..=249 => {
                let most = match op.seed % 2 {
                    0 => world.account.usually.load(SeqCst),
                    _ => usize::from(op.size) * 64,
                };
                world.account.most.store(most, SeqCst);
            }
            250 => {
                let before = s.stats();
                let reserved = s.try_reserve(op.bytes()).is_ok();
                assert_eq!(s.stats().used, before.used);
                assert!(reserved || s.stats().held <= before.held, "a refusal takes nothing");
            }
            251 => {
                let before = s.stats().used;
                let kept = s.keep_str_or(|child| {
                    for op in source.take(op.size % 6) {
                        if let Some(bytes) = allocate(child, op) {
                            frame.check(bytes);
                        }
                    }
                    Ok::<_, ()>("a literal")
                });
                assert_eq!((kept, s.stats().used), (Ok("a literal"), before));
            }
            _ => {
                // A loop of scopes that end at once. The first may move this scope to the next
                // chunk, without changing the statistics.
                let memory = |stats: Stats| (stats.capacity, stats.used, stats.held, stats.chunks);
                let before = memory(s.stats());
                let _ = s.scope();
                let after = s.stats();
                assert_eq!(memory(after), before);
                let _ = s.scope();
                assert_eq!(s.stats(), after);
            }
        }
        let stats = s.stats();
        assert!(frame.check(new) <= stats.used, "more lives than is used");
        world.agree(stats);
    }
    frame.check(&[]);
}

/// Allocates from a claim and from its parent in turn.
fn claim<'a>(
    world: &World,
    s: &Scope<'a>,
    source: &mut Source<'_>,
    op: Op,
    frame: &mut Frame<'_, 'a>,
) {
    let Ok(claim) = s.try_claim() else { return };
    world.claimed.set(true);
    {
        let mut inner = Frame { blocks: Vec::new(), parent: None };
        for (turn, op) in source.take(op.size % 8).enumerate() {
            let bytes = if turn % 2 == 0 {
                let bytes = allocate(claim.scope(), op);
                inner.blocks.extend(bytes.map(|bytes| Block { bytes, written: bytes.to_vec() }));
                bytes
            } else {
                let bytes = allocate(s, op);
                frame.blocks.extend(bytes.map(|bytes| Block { bytes, written: bytes.to_vec() }));
                bytes
            };
            frame.check(bytes.unwrap_or_default());
            inner.check(bytes.unwrap_or_default());
        }
    }
    if op.seed % 4 == 0 {
        std::mem::forget(claim);
    }
}

/// A loop of claims with one slice each, whose sizes rise, fall or do both. What it holds in addition to
/// the most that was held before is at most four times the largest, and two chunks.
fn claims_in_turn(world: &World, s: &Scope<'_>, op: Op) {
    let (step, turns) = (1 + usize::from(op.size) * 3, usize::from(op.align % 32));
    for turn in 0..turns {
        let size = step
            * match op.seed % 4 {
                0 => turn,
                1 => turns - turn,
                2 => turn % 5 * 4,
                _ => (turn * 7 + usize::from(op.seed)) % 31,
            };
        if let Ok(claim) = s.try_claim() {
            world.claimed.set(true);
            if let Ok(slice) = claim.scope().try_alloc_slice_fill_copy(size, op.seed) {
                assert!(slice.iter().all(|byte| *byte == op.seed), "overwritten");
            }
        }
        let held = world.account.held.load(SeqCst);
        let bound = world.most_held.get() + 4 * (step * 31 + 512) + 2 * 16_384;
        assert!(held <= bound, "{held} held, the bound is {bound}");
    }
}

/// The blocks of the root, which live until a reset or a rewind, and its checkpoints.
struct Root {
    blocks: Frame<'static, 'static>,
    /// Each with the number of blocks and bytes in use at the time.
    marks: Vec<(Checkpoint, usize, usize)>,
}

impl Root {
    fn add(&mut self, bytes: &[u8]) {
        // SAFETY: the block is no longer written to, and lives until the root is reset or rewound,
        // when it is removed from this record.
        let bytes: &'static [u8] =
            unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        self.blocks.blocks.push(Block { bytes, written: bytes.to_vec() });
        self.blocks.check(bytes);
    }

    fn clear(&mut self) {
        self.blocks.blocks.clear();
        self.marks.clear();
    }
}

/// Moves the arena to another address; the old box is freed afterwards.
#[allow(clippy::boxed_local, reason = "the address is that of the box")]
fn moved(arena: Box<Arena<Accounted>>) -> Box<Arena<Accounted>> {
    Box::new(*arena)
}

/// Runs operations on an arena, and scopes in it.
fn run_arena(world: &World, arena: Arena<Accounted>, source: &mut Source<'_>) {
    let mut arena = Box::new(arena);
    let mut root = Root { blocks: Frame { blocks: Vec::new(), parent: None }, marks: Vec::new() };
    while let Some(op) = source.next() {
        match op.kind {
            0..=39 => {
                let Ok(scope) = arena.try_root() else { continue };
                match op.align % 8 {
                    0 => {
                        let (count, used) = (root.blocks.blocks.len(), scope.stats().used);
                        root.marks.push((scope.checkpoint(), count, used));
                    }
                    1 => {
                        if let Some((mark, count, used)) = root.marks.pop() {
                            // SAFETY: created by the root, without a reset since, and everything
                            // allocated since is removed from the record.
                            unsafe { scope.rewind(mark) };
                            root.blocks.blocks.truncate(count);
                            assert_eq!(
                                scope.stats().used,
                                used,
                                "a rewind gives back what was used"
                            );
                        }
                    }
                    _ => {}
                }
                for op in source.take(op.size % 8) {
                    if let Some(bytes) = allocate(scope, op) {
                        root.add(bytes);
                        assert!(root.blocks.check(bytes) <= scope.stats().used);
                    }
                }
            }
            40..=169 => {
                let before = arena.stats().used;
                if let Ok(mut s) = arena.try_scope() {
                    level(world, &mut s, source, 1, Some(&root.blocks));
                }
                assert_eq!(arena.stats().used, before);
            }
            170..=184 => {
                arena.reset();
                root.clear();
                world.claimed.set(false);
                assert_eq!(arena.stats().used, 0);
            }
            185..=199 => {
                let used = arena.stats().used;
                arena.trim();
                root.marks.clear();
                world.claimed.set(false);
                assert_eq!(arena.stats().used, used);
            }
            200..=219 => {
                let most = usize::from(op.size) * 256;
                arena.reset_with(match op.seed % 3 {
                    0 => Retain::All,
                    1 => Retain::Bytes(most),
                    _ => Retain::OneChunk,
                });
                root.clear();
                world.claimed.set(false);
                let stats = arena.stats();
                assert!(stats.used == 0 && (op.seed % 3 != 1 || stats.held <= most));
            }
            220..=239 => {
                let held = arena.stats().held;
                let limit = (op.seed % 3 != 0).then(|| held + usize::from(op.size) * 64);
                arena.set_limit(limit);
                assert_eq!(arena.limit(), limit);
                world.ceiling.set(limit.unwrap_or(usize::MAX));
            }
            _ => {
                world.account.fuse.store(0, SeqCst);
                world.account.most.store(world.account.usually.load(SeqCst), SeqCst);
                arena = moved(arena);
            }
        }
        root.blocks.check(&[]);
        world.agree(arena.stats());
    }
}

/// Runs the operations encoded in `bytes`, and panics if arena and model disagree.
pub fn run(bytes: &[u8]) {
    let Some((&[kind, size], bytes)) = bytes.split_first_chunk::<2>() else { return };
    let size = usize::from(size);
    let account = Arc::new(Account::default());
    if kind & 8 != 0 {
        // A backing of small blocks, so that lists get long.
        account.usually.store(600, SeqCst);
        account.most.store(600, SeqCst);
    }
    let world = World {
        account: Arc::clone(&account),
        buffer: Cell::new(None),
        ceiling: Cell::new(usize::MAX),
        most_held: Cell::new(0),
        claimed: Cell::new(false),
    };
    let backing = Accounted(Arc::clone(&account));
    let source = &mut Source { bytes };
    match kind % 8 {
        0 => {
            let mut buffer = vec![MaybeUninit::uninit(); size * 16 + 7];
            // Starts at an odd address, with an end to match.
            let buffer = &mut buffer[size % 7..];
            world.buffer.set(Some(buffer.len()));
            level(&world, &mut Fixed::new(buffer).scope(), source, 1, None);
        }
        1 => {
            let mut fixed = Fixed::new(vec![MaybeUninit::uninit(); size * 4]).or_spill(backing);
            world.buffer.set(Some(size * 4));
            while !source.is_empty() {
                level(&world, &mut fixed.scope(), source, 1, None);
                if source.bytes.len() % 3 == 0 {
                    fixed.trim();
                    world.claimed.set(false);
                }
            }
        }
        2 => {
            world.buffer.set(Some(1_000));
            level(&world, &mut StackArena::<1_000>::new().scope(), source, 1, None);
        }
        3 => {
            let Ok(arena) = Arena::try_with_capacity_in(size * 50, backing) else { return };
            run_arena(&world, arena, source);
        }
        4 | 5 => run_arena(&world, Arena::with_chunk_size_in(size * 8, backing), source),
        _ => run_arena(&world, Arena::new_in(backing), source),
    }
    assert_eq!(account.blocks.load(SeqCst), 0, "every chunk goes back to the backing");
    assert_eq!(account.held.load(SeqCst), 0);
}
