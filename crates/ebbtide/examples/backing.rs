//! Two custom backings: one that counts the calls of another, and a pool over static memory for
//! programs that must not call the heap.
//!
//! `cargo run -p ebbtide --example backing`

use ebbtide::{AllocError, Arena, Backing, Fixed, Heap, Retain};
use std::{
    alloc::Layout,
    cell::UnsafeCell,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::{
        AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Forwards to `inner` and counts calls.
#[derive(Debug)]
struct Labelled<B> {
    label: &'static str,
    inner: B,
    chunks: AtomicUsize,
    bytes: AtomicUsize,
}

impl<B> Labelled<B> {
    fn new(label: &'static str, inner: B) -> Self {
        Labelled { label, inner, chunks: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }
    }
}

// SAFETY: the inner backing meets the contract, and its blocks are returned unchanged.
unsafe impl<B: Backing> Backing for Labelled<B> {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = self.inner.allocate(layout)?;
        self.chunks.fetch_add(1, Relaxed);
        self.bytes.fetch_add(layout.size(), Relaxed);
        println!("{}: took {} bytes", self.label, layout.size());
        Ok(block)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        self.chunks.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller releases a block of the inner backing, with its layout.
        unsafe { self.inner.release(block, layout) };
    }
}

const SLOTS: usize = 8;
const SLOT: usize = 16 * 1024;

/// Static memory in slots of equal size, with a bit for each slot in use.
#[repr(align(16))]
struct Pool {
    memory: UnsafeCell<MaybeUninit<[[u8; SLOT]; SLOTS]>>,
    taken: AtomicUsize,
}

// SAFETY: the caller that sets the bit of a slot uses the slot exclusively until the bit is
// cleared.
unsafe impl Sync for Pool {}

static POOL: Pool =
    Pool { memory: UnsafeCell::new(MaybeUninit::uninit()), taken: AtomicUsize::new(0) };

impl Pool {
    fn slot(&self, index: usize) -> NonNull<u8> {
        let first = NonNull::from(&self.memory).cast::<u8>();
        // SAFETY: `index` is below `SLOTS`.
        unsafe { first.add(index * SLOT) }
    }

    fn index(&self, slot: NonNull<u8>) -> usize {
        (slot.addr().get() - self.memory.get().addr()) / SLOT
    }
}

// SAFETY: a slot is large and aligned enough, which is checked below. It is static memory, so it
// does not move. Its bit prevents it from being returned twice.
unsafe impl Backing for &'static Pool {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() > SLOT || layout.align() > align_of::<Pool>() {
            return Err(AllocError); // the arena asks for less, if less would do
        }
        let free = |taken: usize| {
            let bit = !taken & (taken + 1);
            (bit < 1 << SLOTS).then_some(taken | bit)
        };
        #[allow(deprecated, reason = "the oldest supported compiler has no `try_update`")]
        let before = self.taken.fetch_update(Acquire, Relaxed, free).map_err(|_| AllocError)?;
        let index = before.trailing_ones() as usize;
        Ok(NonNull::slice_from_raw_parts(self.slot(index), layout.size()))
    }

    unsafe fn release(&self, block: NonNull<u8>, _layout: Layout) {
        let bit = 1 << self.index(block);
        self.taken.fetch_and(!bit, Release);
    }
}

fn main() {
    let mut arena = Arena::new_in(Labelled::new("requests", Heap));
    for turn in 0..3_u64 {
        let s = arena.scope();
        let squares = s.alloc_slice_fill_with(10_000, |i| i as u64 * turn);
        assert_eq!(squares[9_999], 9_999 * turn);
    } // the second and the third turn print nothing: the chunks are still there
    let held = arena.stats().held;
    assert_eq!(arena.backing().bytes.load(Relaxed), held);
    assert_eq!(arena.backing().chunks.load(Relaxed), 2);
    println!("{}: {}", arena.backing().label, arena.stats());
    arena.reset_with(Retain::Bytes(0));
    assert_eq!(arena.backing().bytes.load(Relaxed), 0);

    // A pool of 128 KiB serves any number of arenas that fit.
    let mut first = Arena::with_capacity_in(10_000, &POOL);
    let mut second = Arena::new_in(&POOL);
    {
        let (a, b) = (first.scope(), second.scope());
        let mut sum = 0;
        while let (Ok(x), Ok(y)) = (a.try_alloc([1_u64; 100]), b.try_alloc([2_u64; 100])) {
            sum += x[99] + y[99];
        }
        println!("pool: full after {sum} words; {} and {}", a.stats(), b.stats());
        assert!(a.stats().held + b.stats().held > SLOTS * SLOT / 2);
    }
    drop((first, second));
    assert_eq!(POOL.taken.load(Relaxed), 0);

    // A buffer that spills into the pool only when it is full.
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 256]).or_spill(&POOL);
    fixed.scope().alloc([0_u8; 256]);
    assert_eq!(POOL.taken.load(Relaxed), 0);
    fixed.scope().alloc([0_u8; 257]);
    assert_eq!(POOL.taken.load(Relaxed), 1);
}
