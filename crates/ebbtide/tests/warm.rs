//! A program of its own, because its global allocator counts calls and refuses requests, and because
//! blocks are kept for the whole process.
//!
//! Claim: the memory of dropped arenas serves the next ones, what is kept is bounded by the recent
//! use, and it goes back when the program idles, when a thread ends, when the heap refuses a request
//! and by `trim`.
#![cfg(feature = "std")]
#![allow(clippy::unwrap_used)]

use ebbtide::{Arena, Backing, Heap, Retain, Scope, Stats, TypedArena, front_end, local, warm};
use ebbtide_patience::{eventually, pause};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

/// The heap's calls for blocks of arenas, which alone are aligned to 16 and have 256 bytes or more.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Their bytes.
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// The heap refuses to hold more of these bytes.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether it did.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);
/// How long the heap takes to take one block back, in milliseconds.
static SLOWNESS: AtomicU64 = AtomicU64::new(0);

struct Counting;

fn is_counted(layout: Layout) -> bool {
    layout.align() == 16 && layout.size() >= 256
}

// SAFETY: forwards to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_counted(layout) {
            CALLS.fetch_add(1, SeqCst);
            if BYTES.load(SeqCst) + layout.size() > MOST.load(SeqCst) {
                IS_REFUSED.store(true, SeqCst);
                return std::ptr::null_mut();
            }
            BYTES.fetch_add(layout.size(), SeqCst);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_counted(layout) {
            CALLS.fetch_add(1, SeqCst);
            match SLOWNESS.swap(0, SeqCst) {
                0 => {}
                slowness => pause(slowness),
            }
            BYTES.fetch_sub(layout.size(), SeqCst);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

/// Nothing is kept when a test begins and ends. The tests run one after the other.
struct Alone(#[allow(dead_code, reason = "a guard")] MutexGuard<'static, ()>);

fn alone() -> Alone {
    static LOCK: Mutex<()> = Mutex::new(());
    let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // Under Miri nothing is kept unless asked for.
    warm::set_limit(usize::MAX);
    warm::trim();
    Alone(guard)
}

impl Drop for Alone {
    fn drop(&mut self) {
        MOST.store(usize::MAX, SeqCst);
        local::trim();
        warm::trim();
    }
}

/// Makes an arena, fills it with this many bytes, and drops it.
fn fill(bytes: usize) {
    let arena = Arena::new();
    for _ in 0..bytes / 1000 {
        arena.alloc_zeroed_slice::<u8>(1000);
    }
    arena.alloc(1_u8);
}

/// The calls of the heap meanwhile.
fn calls(f: impl FnOnce()) -> usize {
    let before = CALLS.load(SeqCst);
    f();
    CALLS.load(SeqCst) - before
}

/// Whether blocks of 32 KiB or more are kept on this system.
const KEEPS_LARGE: bool = cfg!(target_os = "linux");

#[test]
fn an_arena_like_the_last_ones_calls_no_heap() {
    let _alone = alone();
    let row: [(&str, fn()); 6] = [
        ("a word", || fill(1)),
        ("a capacity", || drop(Arena::with_capacity(5000))),
        ("a large capacity", || drop(Arena::with_capacity(100_000))),
        ("a mebibyte", || fill(1 << 20)),
        ("a large request", || {
            Arena::new().alloc_zeroed_slice::<u8>(3_000_000);
        }),
        ("a typed arena", || {
            let arena = TypedArena::new();
            (0..10_000).for_each(|i| {
                arena.alloc(i);
            });
        }),
    ];
    for (name, make) in row {
        // Only the second shows that what the first gives back is needed again.
        make();
        make();
        let again = calls(make);
        let is_large = !["a word", "a capacity"].contains(&name);
        assert!(again == 0 || is_large && !KEEPS_LARGE, "{name}: {again} calls");
    }
}

/// Otherwise what the arena leaves would add to what the program needs for something else.
#[test]
fn a_large_arena_alone_leaves_little() {
    let _alone = alone();
    let before = BYTES.load(SeqCst);
    let arenas: Vec<Arena> = [50_000, 40 << 20, 1 << 20].map(Arena::with_capacity).into();
    let chunks = Arena::new();
    (0..20).for_each(|_| _ = chunks.alloc_layout(Layout::new::<[u64; 1 << 18]>()));
    drop((arenas, chunks));
    assert!(BYTES.load(SeqCst) - before <= (2 << 20) + (64 << 10));
    // Nor does a small one that is made again and again show that the large one will be.
    (0..3).for_each(|_| drop(Arena::with_capacity(5 << 20)));
    assert!(BYTES.load(SeqCst) - before <= 12 << 20);
    if KEEPS_LARGE {
        // On a busy machine, more than two seconds may lie between two of them.
        assert!(eventually(|| {
            drop(Arena::with_capacity(40 << 20));
            warm::held() > 40 << 20
        }));
    }
}

/// The last one may have needed several blocks for that.
#[test]
fn an_arena_begins_with_as_much_as_the_last_one_needed() {
    if cfg!(any(feature = "poison", ebbtide_asan)) {
        return; // A block with dead contents serves nobody.
    }
    let _alone = alone();
    let row: [fn() -> Arena; 3] =
        [Arena::new, || Arena::with_chunk_size(600), || Arena::with_capacity(2000)];
    for (kind, make) in row.into_iter().enumerate() {
        for bytes in (16..30_000).step_by(if cfg!(miri) { 3001 } else { 160 }) {
            let used = |arena: Arena| {
                (0..bytes / 16).for_each(|i| _ = arena.alloc([i; 2]));
                arena.stats().chunks
            };
            // Each needs about twice as much as the one before, until one has enough.
            let made = (0..8).find(|_| used(make()) == 1);
            let chunks = calls(|| assert_eq!(used(make()), 1));
            assert!(
                made.is_some() && chunks == 0,
                "{kind}: {bytes} bytes, {made:?}, {chunks} calls"
            );
        }
        warm::trim();
    }
}

#[test]
fn two_arenas_at_a_time_never_share_a_block() {
    let _alone = alone();
    for round in 0..20_u8 {
        let arenas: Vec<Arena> = (0..5).map(|_| Arena::new()).collect();
        let filled: Vec<&[u8]> = arenas
            .iter()
            .zip(round..)
            .flat_map(|(arena, i)| {
                [1, 100, 20_000, 200_000].map(|n| &*arena.alloc_slice_fill_copy(n, i))
            })
            .collect();
        for (slices, i) in filled.chunks(4).zip(round..) {
            assert!(slices.iter().all(|slice| slice.iter().all(|byte| *byte == i)));
        }
    }
}

#[test]
fn what_is_kept_and_used_is_at_most_the_recent_use() {
    let _alone = alone();
    let mut arenas: VecDeque<Arena> = VecDeque::with_capacity(20);
    let start = BYTES.load(SeqCst);
    let (mut state, mut peak) = (1_u64, 0);
    for _ in 0..if cfg!(miri) { 40 } else { 2000 } {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = usize::try_from(state >> 33).unwrap();
        if random % 5 < 2 && arenas.len() < 20 {
            let arena = Arena::with_capacity(random % 300_000);
            arena.alloc_zeroed_slice::<u8>(random % 200_000);
            arenas.push_back(arena);
        } else if random % 5 < 4 {
            arenas.pop_front();
        } else {
            arenas.pop_back();
        }
        // Each has at most two blocks.
        let sizes = arenas.iter().flat_map(|arena| {
            let capacity = arena.chunks().next().map_or(0, |chunk| chunk.capacity);
            let first = arena.held().min(capacity + Arena::<Heap>::chunk_overhead(capacity));
            [first, arena.held() - first]
        });
        let (large, small): (Vec<usize>, Vec<usize>) = sizes.partition(|size| *size >= 32 << 10);
        let (large, small) = (large.iter().sum::<usize>(), small.iter().sum::<usize>());
        peak = peak.max(large);
        let bytes = BYTES.load(SeqCst) - start;
        assert_eq!(large + small + warm::held(), bytes);
        assert!(
            bytes < small + peak + (64 << 10),
            "{bytes} bytes, {small} in small blocks, {peak}"
        );
    }
    arenas.clear();
    warm::trim();
    assert_eq!(BYTES.load(SeqCst), start);
}

/// The statistics after so many bytes were allocated.
fn used(scope: &Scope, bytes: usize) -> Stats {
    scope.alloc_zeroed_slice::<u8>(bytes);
    scope.stats()
}

/// Whatever the last arena was used for, the next one is like the first of a program, but for a larger
/// block, and so fewer of them.
#[test]
fn an_arena_in_a_block_that_is_kept_is_a_new_one() {
    type Use = fn(&mut Arena, usize);
    let uses: [(&str, Use); 16] = [
        ("a word", |arena, _| _ = arena.alloc(1)),
        ("more than asked for", |arena, k| _ = arena.alloc_zeroed_slice::<u8>(1100 * k)),
        ("a scope", |arena, _| _ = arena.scope().alloc(1)),
        ("a scope that allocates nothing", |arena, _| _ = arena.scope()),
        ("a forgotten claim", |arena, _| std::mem::forget(arena.root().claim())),
        ("a claim", |arena, _| _ = arena.scope().claim().scope().alloc(1)),
        ("more than a chunk", |arena, k| _ = arena.alloc_zeroed_slice::<u8>(5000 * k)),
        ("no limit", |arena, _| arena.set_limit(None)),
        ("a limit", |arena, k| arena.set_limit(Some(10_000 * k))),
        ("a reset", |arena, _| arena.reset()),
        ("a trim", |arena, _| arena.trim()),
        ("one chunk", |arena, _| arena.reset_with(Retain::OneChunk)),
        ("the largest chunk", |arena, _| arena.reset_with(Retain::Largest)),
        ("3000 bytes", |arena, k| arena.reset_with(Retain::Bytes(3000 * k))),
        ("nothing", |arena, _| arena.reset_with(Retain::Bytes(0))),
        ("a word of a front end", |arena, _| {
            front_end::word(arena.root()).set(std::ptr::without_provenance_mut(8));
        }),
    ];
    type Later = fn(&mut Arena, usize) -> Stats;
    let later: [&[Later]; 3] = [
        &[|arena, k| used(&arena.scope(), 100 * k), |arena, k| used(arena.root(), 3000 * k)],
        &[
            |arena, k| used(arena.root(), 100 * k),
            |arena, k| used(&arena.scope(), 800 * k),
            |arena, _| {
                assert!(front_end::word(arena.root()).get().is_null());
                arena.stats()
            },
        ],
        &[|arena, k| {
            arena.alloc_zeroed_slice::<u8>(1500 * k);
            arena.stats()
        }],
    ];
    let seen = |uses: &[&(&str, Use)], k| {
        let mut seen = Vec::new();
        for later in later {
            let mut arena = Arena::with_chunk_size(1000 * k);
            uses.iter().for_each(|(_, f)| f(&mut arena, k));
            seen.push((used(&arena.scope(), 1), arena.limit()));
            drop(arena);
            let mut arena = Arena::with_chunk_size(1000 * k);
            seen.push((arena.stats(), arena.limit()));
            seen.extend(later.iter().map(|f| (f(&mut arena, k), arena.limit())));
        }
        seen
    };
    let _alone = alone();
    let sequences = uses.iter().flat_map(|first| {
        let pairs = uses.iter().map(move |second| vec![first, second]);
        pairs.flat_map(|pair| [pair.clone(), [pair, vec![&uses[0]]].concat()])
    });
    // Blocks that a thread keeps, and those that are kept for all of them.
    let sequences = sequences.flat_map(|uses| [(uses.clone(), 1), (uses, 50)]);
    for (uses, k) in sequences.take(if cfg!(miri) { 60 } else { usize::MAX }) {
        warm::set_limit(0);
        let expected = seen(&uses, k);
        warm::set_limit(usize::MAX);
        let names: Vec<_> = uses.iter().map(|(name, _)| name).collect();
        for ((stats, limit), (expected, expected_limit)) in seen(&uses, k).into_iter().zip(expected)
        {
            assert_eq!(limit, expected_limit, "{names:?}, {k}");
            // Padding depends on the address.
            assert!(
                stats.used.abs_diff(expected.used) < 16,
                "{names:?}, {k}: {stats:?}, {expected:?}"
            );
            assert!(stats.chunks <= expected.chunks, "{names:?}, {k}: {stats:?}, not {expected:?}");
            assert!(
                stats.oversize <= expected.oversize,
                "{names:?}, {k}: {stats:?}, not {expected:?}"
            );
            assert!(stats.used <= stats.high_water, "{names:?}, {k}: {stats:?}");
            // The largest block that a thread keeps.
            assert!(stats.held < expected.held + (32 << 10), "{names:?}, {k}: {stats:?}");
        }
    }
}

#[test]
fn a_forgotten_iterator_pins_no_chunks_of_the_next_arena() {
    let _alone = alone();
    let held = |forget: fn(&Arena)| {
        warm::trim();
        let arena = Arena::new();
        arena.alloc(1_u8);
        forget(&arena);
        drop(arena);
        let arena = Arena::new();
        for len in (64..26_000).step_by(64) {
            arena.root().claim().scope().alloc_zeroed_slice::<u8>(len);
        }
        arena.held()
    };
    assert_eq!(held(|arena| std::mem::forget(arena.chunks())), held(|_| ()));
}

#[test]
fn an_idle_program_keeps_nothing_large() {
    let _alone = alone();
    for _ in 0..3 {
        (0..2).for_each(|_| fill(10 << 20));
        assert_eq!(warm::held() > 5 << 20, KEEPS_LARGE, "{}", warm::held());
        assert!(eventually(|| warm::held() <= 64 << 10), "{}", warm::held());
    }
}

#[test]
fn use_keeps_memory_warm() {
    let _alone = alone();
    fill(4 << 20);
    for _ in 0..30 {
        ebbtide_patience::pause(100);
        fill(4 << 20);
        assert_eq!(warm::held() > 2 << 20, KEEPS_LARGE, "{}", warm::held());
    }
}

#[test]
fn the_end_of_a_thread_gives_its_blocks_back() {
    let _alone = alone();
    let before = BYTES.load(SeqCst);
    for _ in 0..10 {
        thread::spawn(|| {
            fill(100);
            assert!(warm::held() > 0);
            ebbtide::scope(|s| *s.alloc(1));
        })
        .join()
        .unwrap();
    }
    // The helper thread has no arenas.
    assert_eq!(BYTES.load(SeqCst), before);
}

#[test]
fn a_refused_request_is_made_again_when_everything_went_back() {
    let _alone = alone();
    let start = BYTES.load(SeqCst);
    fill(1 << 20);
    assert!(!KEEPS_LARGE || warm::held() > 500_000);
    MOST.store(start + 600_000, SeqCst);
    IS_REFUSED.store(false, SeqCst);
    let arena = Arena::try_with_capacity(590_000);
    assert!(arena.is_ok());
    assert!(Arena::try_with_capacity(590_000).is_err(), "the limit is below two");
    assert!(IS_REFUSED.load(SeqCst));
}

/// However long that takes: a busy machine may stop a thread in the middle of it.
#[test]
fn a_refused_request_waits_for_what_another_thread_gives_back() {
    let _alone = alone();
    if !KEEPS_LARGE {
        return;
    }
    drop(Arena::with_capacity(1_000_000));
    MOST.store(BYTES.load(SeqCst) + 100_000, SeqCst);
    SLOWNESS.store(300, SeqCst);
    let is_served = thread::scope(|scope| {
        scope.spawn(warm::trim);
        assert!(eventually(|| SLOWNESS.load(SeqCst) == 0));
        Arena::try_with_capacity(900_000).is_ok()
    });
    assert!(is_served);
}

/// Arenas never need more than the heap has, only with what is kept they would.
#[test]
fn nothing_is_refused_while_memory_is_kept() {
    let _alone = alone();
    let before = BYTES.load(SeqCst);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(SeqCst) {
                    drop(Arena::with_capacity(40_000));
                }
            });
        }
        MOST.store(before + 1_500_000, SeqCst);
        let refused = (0..if cfg!(miri) { 10 } else { 20_000 }).find(|i| {
            Arena::try_with_capacity(if i % 2 == 0 { 1_000_000 } else { 900_000 }).is_err()
        });
        is_done.store(true, SeqCst);
        assert_eq!(refused, None, "{} bytes are kept", warm::held());
    });
}

#[test]
fn zero_turns_it_off() {
    let _alone = alone();
    fill(1 << 20);
    warm::set_limit(0);
    assert_eq!(warm::held(), 0);
    let before = BYTES.load(SeqCst);
    fill(1 << 20);
    assert_eq!((warm::held(), BYTES.load(SeqCst)), (0, before));
    warm::set_limit(100_000);
    fill(1 << 20);
    assert!(warm::held() <= 100_000 + (64 << 10));
}

#[test]
fn other_layouts_and_sizes_are_the_heaps() {
    let _alone = alone();
    for (size, align) in [(1, 1), (255, 16), (300, 8), (5000, 64), (1 << 20, 4096)] {
        let layout = Layout::from_size_align(size, align).unwrap();
        let block = Heap.allocate(layout).unwrap().cast();
        // SAFETY: the block was just allocated with this layout.
        unsafe { Heap.release(block, layout) };
        assert_eq!(warm::held(), 0, "{layout:?}");
    }
    fill(1 << 20);
    let held = warm::held();
    assert!(Heap.allocate(Layout::from_size_align(0, 16).unwrap()).is_err());
    assert_eq!(warm::held(), held, "a request of no bytes is no lack of memory");
}

#[test]
fn one_thread_makes_arenas_and_another_drops_them() {
    let _alone = alone();
    let before = BYTES.load(SeqCst);
    let (sender, receiver) = mpsc::sync_channel::<Arena>(4);
    let dropper = thread::spawn(move || receiver.into_iter().for_each(drop));
    for i in 0..if cfg!(miri) { 10 } else { 500 } {
        let arena = Arena::new();
        arena.alloc_zeroed_slice::<u8>(i * 700);
        sender.send(arena).unwrap();
    }
    drop(sender);
    dropper.join().unwrap();
    assert!(BYTES.load(SeqCst) - before <= 6 * 500 * 700 + (128 << 10));
    warm::trim();
    assert_eq!(BYTES.load(SeqCst), before);
}

#[test]
fn threads_that_come_and_go_hold_no_more_than_they_used() {
    const THREADS: usize = 4;
    const LARGEST: usize = 1 << 20;
    static USED: AtomicUsize = AtomicUsize::new(0);
    static PEAK: AtomicUsize = AtomicUsize::new(0);
    let _alone = alone();
    let start = BYTES.load(SeqCst);
    for round in 0..if cfg!(miri) { 1 } else { 25 } {
        thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    let mut state = (round * THREADS + thread) as u64;
                    let mut arenas = Vec::with_capacity(8);
                    for _ in 0..if cfg!(miri) { 5 } else { 60 } {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let random = usize::try_from(state >> 33).unwrap();
                        if random % 3 > 0 && arenas.len() < 8 {
                            let arena = Box::new(Arena::with_capacity(random % LARGEST));
                            let used = USED.fetch_add(arena.held(), SeqCst) + arena.held();
                            PEAK.fetch_max(used, SeqCst);
                            arenas.push(arena);
                        } else if let Some(arena) = arenas.pop() {
                            USED.fetch_sub(arena.held(), SeqCst);
                        }
                        // Each thread may be between its arena and the note of it. The peak comes second: it only
                        // rises, and the others go on in between.
                        let bytes = BYTES.load(SeqCst) - start;
                        let most = PEAK.load(SeqCst) + THREADS * (LARGEST + (128 << 10));
                        assert!(bytes <= most, "{bytes} of {most}");
                    }
                    USED.fetch_sub(arenas.iter().map(|arena| arena.held()).sum(), SeqCst);
                });
            }
        });
    }
    assert!(eventually(|| BYTES.load(SeqCst) - start <= 64 << 10), "{}", warm::held());
}

/// Its parent has a helper thread and, for a moment now and then, another thread that holds the lock.
#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn a_child_of_a_fork_goes_on() {
    let _alone = alone();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(SeqCst) {
                fill(100_000);
            }
        });
        let status = || {
            fill(200_000);
            // SAFETY: the child allocates by the C library, which allows that, and ends by `_exit`.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // What is kept would stay as long as the child does nothing.
                let is_empty = warm::held() <= 64 << 10;
                (0..10).for_each(|_| fill(300_000));
                // SAFETY: ends the process.
                unsafe { libc::_exit((!is_empty).into()) };
            }
            let mut status = 1;
            // SAFETY: waits for the child that was just made.
            let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
            (ended == child, status)
        };
        let failed = (0..200).map(|_| status()).find(|status| *status != (true, 0));
        is_done.store(true, SeqCst);
        assert_eq!(failed, None, "a child ended so");
    });
}
