//! Time and memory of a fresh arena, by the number and the size of allocations. Memory is counted
//! in a separate, untimed turn.

use ebbtide_benches::{
    contestants,
    harness::{Bench, contestant, main as bench, observe},
    peers::{BlinkAlloc, Bumpalo, Ebbtide, Handle, Peer},
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

/// The system's heap, with a count of the bytes held. For programs with one thread.
struct Counted;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: `System`'s own blocks.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.load(Ordering::Relaxed) + layout.size();
        HELD.store(held, Ordering::Relaxed);
        if held > MOST.load(Ordering::Relaxed) {
            MOST.store(held, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.store(HELD.load(Ordering::Relaxed) - layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counted = Counted;

/// No arena is filled with more than this.
const MOST_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    bench(Duration::from_millis(4000), Duration::from_millis(500), |bench| bench.settled(run))
}

fn run(bench: &mut Bench) {
    small(bench);
    let most = if bench.quick() { 1_000_000 } else { 100_000_000 };
    let mut count = 100;
    while count <= most {
        row::<8>(bench, &format!("scaling: {count} of 8 bytes"), count);
        count *= 10;
    }
    let bytes = if bench.quick() { 1 << 24 } else { 1 << 28 };
    macro_rules! sizes {
        ($($size:literal)*) => {$(
            let count = bytes / $size;
            row::<$size>(bench, &format!("scaling: {} MiB of {} bytes", bytes >> 20, $size), count);
        )*};
    }
    sizes!(8 64 512 4096 32768 65536);
}

/// The memory held by many open claims, forgotten claims and small arenas, with 16 bytes in each.
fn small(bench: &mut Bench) {
    let mut row = |name: String, contestant: &str, taken: usize, asked: usize| {
        println!("\n{name}");
        bench.memory(&name, contestant, taken, asked);
    };
    for count in [10, 100, 300] {
        let claims = held(|| {
            let mut arena = ebbtide::Arena::new();
            let s = arena.scope();
            let claims: Vec<_> = (0..count).map(|_| s.claim()).collect();
            claims.iter().for_each(|claim| observe(claim.scope().alloc([0_u64; 2])));
        });
        row(format!("{count} open claims"), Ebbtide::NAME, claims, count * 16);
        let forgotten = held(|| {
            let mut arena = ebbtide::Arena::new();
            for _ in 0..count {
                let s = arena.scope();
                let claim = s.claim();
                observe(claim.scope().alloc([0_u64; 2]));
                std::mem::forget(claim);
            }
        });
        row(format!("{count} forgotten claims"), Ebbtide::NAME, forgotten, count * 16);
    }
    const ARENAS: usize = 10_000;
    const WORDS: usize = 100;
    macro_rules! arenas {
        ($($name:expr => $new:expr, $root:expr;)*) => {$(
            let taken = held(|| {
                let arenas: Vec<_> = (0..ARENAS).map(|_| $new).collect();
                for arena in &arenas {
                    let root = $root(arena);
                    (0..WORDS as u64).for_each(|n| observe(root.alloc(n)));
                }
            });
            row(format!("{ARENAS} arenas of {WORDS} u64"), $name, taken, ARENAS * WORDS * 8);
        )*};
    }
    arenas! {
        Ebbtide::NAME => ebbtide::Arena::new(), ebbtide::Arena::root;
        "ebbtide, with_chunk_size" => ebbtide::Arena::with_chunk_size(800), ebbtide::Arena::root;
        "ebbtide::TypedArena" => ebbtide::TypedArena::new(), itself;
        Bumpalo::NAME => bumpalo::Bump::new(), itself;
        BlinkAlloc::NAME => blink_alloc::Blink::new(), itself;
        "typed-arena" => typed_arena::Arena::new(), itself;
    }
}

fn itself<T>(arena: &T) -> &T {
    arena
}

/// The most heap memory held while `run` runs, minus the memory held before.
fn held(run: impl FnOnce()) -> usize {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    run();
    MOST.load(Ordering::Relaxed) - before
}

fn row<const N: usize>(bench: &mut Bench, name: &str, count: usize) {
    if !bench.wants(name) || count * N > MOST_BYTES {
        return;
    }
    let contestants =
        contestants!([Ebbtide +] |P| contestant(P::NAME, move || fill::<P, N>(count)));
    bench.row(name, count, contestants, &[]);
    for (peer, fill) in contestants!([Ebbtide +] |P| (P::NAME, fill::<P, N> as fn(usize))) {
        bench.memory(name, peer, held(|| fill(count)), count * N);
    }
}

/// Writes every byte of every block.
#[inline(never)]
fn fill<P: Peer, const N: usize>(count: usize) {
    let mut peer = P::fresh();
    let handle = peer.open();
    for n in 0..count {
        let mut value = [0_u8; N];
        value[0] = (n & 0xFF) as u8;
        observe(handle.alloc(value));
    }
}
