//! A program of its own, because its inner allocator counts bytes and calls.
//!
//! Claim: what takes n steps in transparent scopes takes instructions and memory in proportion to n.
//!
//! The file is long because each operation has a row in one table.
//!
//! Valgrind counts the instructions: `cargo test --release -p ebbtide-global --test complexity --
//! --ignored --nocapture`.

// Without a range no block is an arena's.
#![cfg(all(target_os = "linux", target_pointer_width = "64", not(loom)))]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is a failure")]

use ebbtide_complexity::{Counting, Meter, Row, Table};
use ebbtide_global::{
    ArenaFuture, Options, Scoped, arena, arena_with, engine::Owner, map, outside, release_pool,
    report, retain, set_skipping, take_out,
};
use std::{
    alloc::Layout,
    cell::RefCell,
    collections::VecDeque,
    future::{Future, poll_fn},
    hint::black_box,
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
};

#[global_allocator]
static ALLOC: Scoped<Counting> = Scoped::new(Counting);

const BLOCK: Layout = Layout::new::<[u64; 4]>();

/// The size of a large block.
const LARGE: usize = 20_000;

type Block = Box<[usize; 4]>;

fn bytes(count: usize) -> Vec<u8> {
    black_box(Vec::with_capacity(count))
}

/// A vector of the inner allocator, with room for `n` elements.
fn room<T>(n: usize) -> Vec<T> {
    outside(|| Vec::with_capacity(n))
}

/// `n` blocks of the innermost scope, in a vector of the inner allocator.
fn blocks(n: usize) -> Vec<Block> {
    let mut blocks = room(n);
    blocks.extend((0..n).map(|i| Box::new([i; 4])));
    blocks
}

/// Frees blocks in an order that is neither that of their addresses nor the reverse.
fn free_mixed<T>(mut blocks: Vec<T>) {
    for i in 0..blocks.len() {
        drop(blocks.swap_remove(i * 7919 % blocks.len()));
    }
}

/// Runs a row with the blocks of a scope that has ended.
fn escaped(n: usize) -> Vec<Block> {
    arena(|| blocks(n))
}

/// `n` scopes, each of which keeps most of its bytes, so that it pins a chunk.
fn pinned(n: usize) -> Vec<[Vec<u8>; 5]> {
    let mut kept = room(n);
    kept.extend((0..n).map(|_| arena(|| ([(); 5].map(|()| bytes(8_000)), blocks(500)).0)));
    kept
}

/// `n` scopes, each of which keeps one block in twenty.
fn sparse(n: usize) -> Vec<Block> {
    let mut kept = room(n);
    kept.extend((0..n).map(|_| arena(|| blocks(20).swap_remove(7))));
    kept
}

/// Measures `n` scopes that free `count` blocks each, while memory is short. One in `every` replaces
/// a block of a cache, which was filled in the same way.
fn requests(n: usize, count: usize, every: usize, cached: usize, meter: &mut Meter) {
    // As without a call of `retain`; with it, the pools keep what they hold for longer.
    retain(6 << 20);
    let mut cache: Vec<Vec<u8>> = vec![Vec::new(); cached];
    let mut number = 0;
    let mut serve = |n: usize| {
        for _ in 0..n {
            arena(|| {
                let own = blocks(count);
                if number % every == 0 {
                    cache[number / every * 7919 % cached] = bytes(100);
                }
                free_mixed(own);
            });
            number += 1;
        }
    };
    serve(every * cached);
    meter.run(|| serve(n));
}

/// Opens `depth` scopes inside each other. `level` runs in each of them, `innermost` in the last.
fn nest(depth: usize, level: &dyn Fn(), innermost: &dyn Fn()) {
    if depth == 0 {
        return innermost();
    }
    arena(|| {
        level();
        nest(depth - 1, level, innermost);
    });
}

/// Runs `f` in a scope, while others hold 256 MB without live blocks.
fn among_waste(f: &mut dyn FnMut()) {
    let f = RefCell::new(f);
    nest(4_000, &|| (), &|| f.borrow_mut()());
}

/// `n` owners, started.
fn owners(n: usize) -> Vec<Owner> {
    let owners: Vec<Owner> = (0..n).map(|_| Owner::new()).collect();
    owners.iter().for_each(|owner| assert!(owner.start()));
    owners
}

/// A future that is ready after `polls` polls, each of which keeps a block.
fn waiting(polls: usize) -> Pin<Box<impl Future<Output = ()>>> {
    let mut kept = Vec::new();
    Box::pin(ArenaFuture::new(poll_fn(move |_| {
        kept.push(Box::new([kept.len(); 4]));
        if kept.len() < polls { Poll::Pending } else { Poll::Ready(()) }
    })))
}

/// Measures `f` and the scope in which it runs.
fn in_scope(meter: &mut Meter, mut f: impl FnMut()) {
    meter.run(|| arena(&mut f));
}

/// Leaves runs of `n / 4` large blocks in the pool of a thread that has ended.
fn pool_other_sizes(n: usize) {
    arena(|| {
        let mut held = room(n / 4);
        held.extend((0..n / 4).map(|i| bytes(LARGE + 250 * (i % 400))));
        outside(|| thread::scope(|scope| drop(scope.spawn(|| free_mixed(held)))));
    });
}

const ROWS: &[Row] = &[
    // Blocks of one scope.
    ("blocks freed in order", |n, meter| in_scope(meter, || drop(blocks(n)))),
    ("blocks freed in reverse", |n, meter| {
        in_scope(meter, || {
            let mut blocks = blocks(n);
            while blocks.pop().is_some() {}
        });
    }),
    ("blocks freed in a mixed order", |n, meter| in_scope(meter, || free_mixed(blocks(n)))),
    ("a queue", |n, meter| {
        in_scope(meter, || {
            let mut queue: VecDeque<Block> = VecDeque::from(blocks(n));
            for i in 0..10 * n {
                queue.pop_front();
                queue.push_back(Box::new([i; 4]));
            }
        });
    }),
    ("blocks of 2 to 7 KB in a queue, whose sizes drift", |n, meter| {
        in_scope(meter, || {
            let mut queue: VecDeque<Vec<u8>> = (0..20).map(|_| bytes(2_000)).collect();
            for i in 0..n {
                queue.pop_front();
                queue.push_back(bytes(2_000 + 8 * (i % 600)));
            }
        });
    }),
    ("blocks that are held, then a queue whose sizes drift", |n, meter| {
        in_scope(meter, || {
            let held = blocks(10 * n);
            let mut queue: VecDeque<Vec<u8>> = (0..n / 10).map(|_| bytes(100)).collect();
            for i in 0..10 * n {
                queue.pop_front();
                queue.push_back(bytes(100 + 8 * (i / 20 % 600)));
            }
            drop(held);
        });
    }),
    ("pushes to vectors side by side", |n, meter| {
        in_scope(meter, || {
            let mut lists = vec![Vec::new(); 10];
            (0..n).for_each(|i| lists[i % 10].push(i));
        });
    }),
    ("pushes to a vector", |n, meter| {
        in_scope(meter, || {
            let mut list = Vec::new();
            (0..20 * n).for_each(|i| list.push(i));
        });
    }),
    ("blocks that grow by eight bytes", |n, meter| {
        in_scope(meter, || {
            let mut lists: Vec<Vec<usize>> = vec![vec![0]; n];
            for list in (0..10).flat_map(|_| 0..n) {
                lists[list].reserve_exact(1);
                lists[list].push(0);
            }
        });
    }),
    ("blocks that shrink by eight bytes", |n, meter| {
        in_scope(meter, || {
            let mut lists: Vec<Vec<usize>> = vec![vec![0; 20]; n];
            for list in (0..10).flat_map(|_| 0..n) {
                lists[list].pop();
                lists[list].shrink_to_fit();
            }
        });
    }),
    ("aligned blocks", |n, meter| {
        #[repr(align(256))]
        struct Aligned(usize);
        in_scope(meter, || {
            for i in 0..n {
                black_box(&Box::new(Aligned(i)).0);
            }
        });
    }),
    // Blocks of other scopes.
    ("blocks freed after their scope", |n, meter| {
        let mut blocks = Some(escaped(n));
        meter.run(|| free_mixed(blocks.take().unwrap()));
    }),
    ("blocks freed by the next scopes", |n, meter| {
        let mut blocks = escaped(n);
        meter.run(|| {
            while let Some(block) = blocks.pop() {
                arena(|| drop(block))
            }
        });
    }),
    ("blocks of an outer scope, freed in nested scopes", |n, meter| {
        in_scope(meter, || {
            let mut blocks = blocks(n);
            while let Some(block) = blocks.pop() {
                arena(|| drop(block));
            }
        });
    }),
    ("blocks of an outer scope, grown in nested scopes", |n, meter| {
        in_scope(meter, || {
            let mut lists: Vec<Vec<usize>> = vec![vec![0; 5]; n];
            lists.iter_mut().for_each(|list| arena(|| list.push(0)));
        });
    }),
    ("blocks freed by another thread", |n, meter| {
        let blocks = escaped(n);
        thread::scope(|scope| {
            let mut blocks = Some(blocks);
            scope.spawn(move || meter.run(|| free_mixed(blocks.take().unwrap())));
        });
    }),
    ("blocks freed by another thread in its scopes", |n, meter| {
        let mut blocks = escaped(n);
        thread::scope(|scope| {
            scope.spawn(move || {
                meter.run(|| {
                    while let Some(block) = blocks.pop() {
                        arena(|| drop(block))
                    }
                });
            });
        });
    }),
    ("blocks freed by another thread while their scope is open", |n, meter| {
        arena(|| {
            let mut blocks = Some(blocks(n));
            outside(|| {
                thread::scope(|scope| {
                    scope.spawn(|| meter.run(|| free_mixed(blocks.take().unwrap())));
                });
            });
        });
    }),
    ("blocks resized by another thread", |n, meter| {
        let mut lists: Vec<Vec<usize>> = arena(|| vec![vec![0; 20]; n]);
        thread::scope(|scope| {
            scope.spawn(|| {
                meter.run(|| {
                    for list in &mut lists {
                        list.truncate(4);
                        list.shrink_to_fit();
                        list.extend([0; 50]);
                    }
                });
            });
        });
    }),
    // Large blocks.
    ("large blocks", |n, meter| {
        in_scope(meter, || (0..n).for_each(|i| drop(bytes(LARGE + 10 * i))))
    }),
    ("large blocks held", |n, meter| {
        in_scope(meter, || {
            let mut held = room(n);
            held.extend((0..n).map(|i| bytes(LARGE + 10 * (i % 1000))));
            free_mixed(held);
        });
    }),
    ("large blocks that are zeroed", |n, meter| {
        in_scope(meter, || (0..n / 10).for_each(|_| drop(black_box(vec![0_u8; LARGE]))));
    }),
    ("a large block that grows by eight bytes", |n, meter| {
        in_scope(meter, || {
            let mut list = vec![0_usize; LARGE / 8];
            (0..n).for_each(|_| {
                list.reserve_exact(1);
                list.push(0);
            });
        });
    }),
    ("a large block that shrinks by a page", |n, meter| {
        in_scope(meter, || {
            let mut list = bytes(4096 * n + LARGE);
            (0..n).for_each(|i| list.shrink_to(4096 * (n - i) + LARGE));
        });
    }),
    ("large blocks that shrink to a page", |n, meter| {
        in_scope(meter, || {
            let mut held: Vec<Vec<u8>> = (0..n / 4).map(|_| bytes(2 * LARGE)).collect();
            held.iter_mut().for_each(|block| block.shrink_to(9_000));
        });
    }),
    ("large blocks that outlive their scopes", |n, meter| {
        meter.run(|| {
            let mut held = room(n);
            held.extend((0..n).map(|_| arena(|| bytes(LARGE))));
            free_mixed(held);
        });
    }),
    ("large blocks of an outer scope, freed in nested scopes", |n, meter| {
        in_scope(meter, || {
            (0..n).for_each(|_| {
                let block = bytes(LARGE);
                arena(|| drop(block));
            })
        });
    }),
    ("large blocks after runs of other sizes in the pools", |n, meter| {
        pool_other_sizes(n);
        in_scope(meter, || (0..n).for_each(|i| drop(bytes(LARGE + 250 * (i % 400) + 1))));
    }),
    ("large blocks after runs of other sizes, where memory is short", |n, meter| {
        pool_other_sizes(n);
        retain(0);
        in_scope(meter, || (0..n).for_each(|i| drop(bytes(LARGE + 250 * (i % 400) + 1))));
    }),
    // Scopes.
    ("scopes", |n, meter| meter.run(|| (0..n).for_each(|_| arena(|| drop(blocks(5)))))),
    ("scopes of several chunks", |n, meter| {
        meter.run(|| (0..n / 10).for_each(|_| arena(|| drop(blocks(10_000)))))
    }),
    ("scopes with a label", |n, meter| {
        const LABELS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        meter.run(|| {
            for i in 0..n {
                arena_with(&Options::new().label(LABELS[i % 12]), || drop(blocks(5)));
            }
        });
    }),
    ("nested scopes", |n, meter| meter.run(|| nest(n, &|| drop(blocks(5)), &|| ()))),
    ("nested scopes that keep a block each", |n, meter| {
        let kept = RefCell::new(room(n));
        meter.run(|| nest(n, &|| kept.borrow_mut().push(Box::new([0; 4])), &|| ()));
        free_mixed::<Block>(kept.into_inner());
    }),
    ("nested scopes with lists", |n, meter| {
        meter.run(|| nest(n, &|| drop([bytes(2_000), bytes(3_000)]), &|| ()))
    }),
    ("large blocks of the outermost of n scopes, freed in the innermost", |n, meter| {
        let held = RefCell::new(Vec::new());
        let meter = RefCell::new(meter);
        arena(|| {
            *held.borrow_mut() = (0..n).map(|_| bytes(LARGE)).collect();
            nest(n, &|| (), &|| meter.borrow_mut().run(|| free_mixed(held.take())));
        });
    }),
    ("blocks of the outermost of n scopes, freed in the innermost", |n, meter| {
        let held = RefCell::new(Vec::new());
        let meter = RefCell::new(meter);
        arena(|| {
            held.replace(blocks(n));
            nest(n, &|| (), &|| meter.borrow_mut().run(|| free_mixed(held.take())));
        });
    }),
    ("scopes in the innermost of n scopes", |n, meter| {
        let meter = RefCell::new(meter);
        nest(n, &|| (), &|| {
            meter.borrow_mut().run(|| (0..n).for_each(|_| arena(|| drop(blocks(5)))));
        });
    }),
    ("scopes ended in the wrong order", |n, meter| {
        let owner = &owners(1)[0];
        meter.run(|| {
            let tickets: Vec<_> = (0..n).map(|_| owner.enter_default().unwrap()).collect();
            tickets.into_iter().for_each(|ticket| owner.leave(ticket));
        });
    }),
    ("scopes ended twice in the innermost of n", |n, meter| {
        let owner = &owners(1)[0];
        (0..n).for_each(|_| assert!(owner.enter_default().is_some()));
        meter.run(|| {
            for _ in 0..n {
                let scope = owner.enter_default().unwrap();
                owner.leave(scope);
                owner.leave(scope);
            }
        });
    }),
    ("calls of outside, nested", |n, meter| {
        fn nest(depth: usize) {
            outside(|| {
                if depth > 0 {
                    nest(depth - 1)
                }
            });
        }
        in_scope(meter, || nest(n));
    }),
    ("calls of outside in nested scopes", |n, meter| {
        meter.run(|| nest(n, &|| outside(|| drop(bytes(10))), &|| ()))
    }),
    ("values taken out", |n, meter| {
        meter.run(|| (0..n).for_each(|_| drop(arena(|| take_out(|| bytes(10))))))
    }),
    ("items of a map", |n, meter| meter.run(|| drop(map(0..n, |i| i.to_string())))),
    // Requests that the inner allocator serves.
    ("requests of excluded sizes", |n, meter| {
        let options = Options::new().min_size(100).max_size(1000);
        meter.run(|| {
            arena_with(&options, || (0..n).for_each(|_| drop((bytes(10), bytes(5000)))));
        });
    }),
    ("requests beyond a limit", |n, meter| {
        let options = Options::new().byte_limit(1_000_000);
        meter.run(|| {
            arena_with(&options, || (0..n).for_each(|_| drop([bytes(500), bytes(LARGE)])));
        });
    }),
    ("requests that the bound refuses, in a scope of full chunks", |n, meter| {
        among_waste(&mut || {
            let held = blocks(200 * n);
            retain(0);
            meter.run(|| drop((0..n).map(|_| bytes(3_000)).collect::<Vec<_>>()));
            drop(held);
        });
    }),
    ("requests that the bound refuses, in a scope of empty chunks", |n, meter| {
        among_waste(&mut || {
            drop((0..n).map(|_| bytes(3_000)).collect::<Vec<_>>());
            retain(0);
            meter.run(|| drop((0..n).map(|i| bytes(4_000 + 8 * (i % 500))).collect::<Vec<_>>()));
        });
    }),
    ("nested scopes that the bound refuses", |n, meter| {
        among_waste(&mut || {
            retain(0);
            let meter = RefCell::new(&mut *meter);
            let measured = || meter.borrow_mut().run(|| nest(n, &|| drop(blocks(5)), &|| ()));
            nest(1_000, &|| drop(blocks(5)), &measured);
        });
    }),
    ("scopes that are skipped", |n, meter| {
        meter.run(|| drop((0..n).map(|_| arena(|| bytes(200))).collect::<Vec<_>>()))
    }),
    // Pinned chunks.
    ("chunks that are pinned, and their end", |n, meter| meter.run(|| free_mixed(pinned(n / 10)))),
    ("scopes after n pinned chunks", |n, meter| {
        let kept = pinned(n / 10);
        meter.run(|| (0..n).for_each(|_| arena(|| drop(blocks(5)))));
        drop(kept);
    }),
    ("scopes of several chunks after n pinned chunks", |n, meter| {
        let kept = pinned(n / 10);
        meter.run(|| (0..n / 10).for_each(|_| arena(|| drop(blocks(10_000)))));
        drop(kept);
    }),
    ("scopes that keep little, and their end", |n, meter| {
        let before = sparse(1_000);
        meter.run(|| free_mixed(sparse(n)));
        drop(before);
    }),
    ("scopes that keep little, in a ring", |n, meter| {
        let mut kept: VecDeque<Block> = sparse(n / 4).into();
        meter.run(|| {
            for _ in 0..n {
                kept.pop_front();
                kept.push_back(arena(|| blocks(20).swap_remove(7)));
            }
        });
    }),
    ("scopes that keep little, where memory is short", |n, meter| {
        retain(0);
        let before = sparse(1_000);
        meter.run(|| free_mixed(sparse(n)));
        drop(before);
    }),
    ("scopes that keep little of sizes that drift", |n, meter| {
        meter.run(|| {
            let mut kept = VecDeque::new();
            for i in 0..n {
                kept.push_back(arena(|| blocks(200).swap_remove(7)));
                outside(|| kept.extend((kept.len() > n / 8).then(|| Box::new([i; 4]))));
                if kept.len() > n / 4 {
                    kept.pop_front();
                }
            }
        });
    }),
    ("kept blocks, freed by another thread", |n, meter| {
        meter.run(|| {
            for _ in 0..10 {
                let kept = sparse(n / 10);
                thread::scope(|scope| drop(scope.spawn(|| free_mixed(kept))));
            }
        });
    }),
    // Owners, threads and futures.
    ("owners, one after the other", |n, meter| {
        meter.run(|| {
            for _ in 0..n {
                let owner = Owner::new();
                assert!(owner.start());
                let scope = owner.enter_default().unwrap();
                assert!(!owner.alloc(BLOCK).is_null());
                owner.leave(scope);
            }
        });
    }),
    ("reports after n owners, one after the other", |n, meter| {
        (0..n).for_each(|_| drop(owners(1)));
        meter.run(|| (0..n).for_each(|_| drop(report())));
    }),
    ("scopes after n threads that kept a block each", |n, meter| {
        let kept: Vec<Block> = (0..n / 10)
            .map(|i| thread::spawn(move || arena(|| Box::new([i; 4]))).join().unwrap())
            .collect();
        meter.run(|| (0..n).for_each(|_| arena(|| drop(blocks(5)))));
        drop(kept);
    }),
    ("requests, one in four of which caches a block", |n, meter| {
        requests(n, 500, 4, 1_000, meter);
    }),
    ("short requests, one in two of which caches a block", |n, meter| {
        requests(n, 15, 2, 30_000, meter);
    }),
    ("pools released", |n, meter| {
        meter.run(|| {
            for _ in 0..n / 4 {
                arena(|| drop(blocks(5)));
                release_pool();
            }
        });
    }),
    ("pools released that hold n runs", |n, meter| {
        arena(|| drop((0..n).map(|i| bytes(LARGE + 10 * i)).collect::<Vec<_>>()));
        meter.run(release_pool);
    }),
    ("polls of a future", |n, meter| {
        let mut future = waiting(n);
        let mut context = Context::from_waker(Waker::noop());
        meter.run(|| while future.as_mut().poll(&mut context).is_pending() {});
    }),
    ("futures held", |n, meter| {
        let mut context = Context::from_waker(Waker::noop());
        meter.run(|| {
            let mut futures: Vec<_> = (0..n).map(|_| waiting(10)).collect();
            for future in (0..10).flat_map(|_| 0..n) {
                let _ = futures[future].as_mut().poll(&mut context);
            }
        });
    }),
    ("blocks with headers", |n, meter| {
        let owner = &owners(1)[0];
        meter.run(|| {
            let scope = owner.enter_default().unwrap();
            let held: Vec<*mut u8> = (0..n).map(|_| owner.alloc_headed(100, 16)).collect();
            for block in held {
                // SAFETY: alive; used only through the result, if that is not null.
                let resized = unsafe { owner.resize_headed(block, 200) };
                // SAFETY: alive, and not used again.
                assert!(unsafe {
                    owner.free_headed(if resized.is_null() { block } else { resized })
                });
            }
            owner.leave(scope);
        });
    }),
    // An owner that starts looks for the figures of one that has ended.
    ("owners with a scope each, 50 at once", |n, meter| {
        meter.run(|| {
            for _ in 0..n / 50 {
                let owners = owners(50);
                for owner in &owners {
                    assert!(owner.enter_default().is_some());
                    assert!(!owner.alloc(BLOCK).is_null());
                }
            }
        });
    }),
    // The last one, because the figures of as many owners as there are at once are kept for ever.
    ("scopes of several chunks after n owners at once", |n, meter| {
        drop(owners(n));
        meter.run(|| (0..n / 10).for_each(|_| arena(|| drop(blocks(10_000)))));
    }),
];

/// Pools keep what they get, so the bytes that are held do not fall, unless a row says otherwise.
static TABLE: Table = Table {
    rows: ROWS,
    begin: || {
        set_skipping(false);
        retain(8 << 30);
        release_pool();
    },
    held: || report().held,
};

#[test]
fn memory_grows_in_proportion_to_the_size() {
    TABLE.check_memory();
}

/// The child of the test below.
#[test]
#[ignore = "Valgrind runs it"]
fn every_row() {
    TABLE.run();
}

#[test]
#[ignore = "takes minutes, and needs Valgrind"]
fn instructions_grow_in_proportion_to_the_size() {
    TABLE.check_instructions(
        "every_row",
        &[
            ("requests, one in four of which caches a block", 75_000),
            ("short requests, one in two of which caches a block", 5_000),
        ],
    );
}
