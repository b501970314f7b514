//! Claim: a pool lends each arena to one borrower at a time, whatever threads, futures and panics
//! do.

#![cfg(feature = "std")]

use crate::common::{
    Watched, address, assert_apart, assert_works, fewer_under_miri, panic_of, watched,
};
use ebbtide::{AllocError, Backing, Pool, Pooled, Scope};
use std::{
    alloc::Layout,
    future::{Future, poll_fn},
    mem,
    panic::{RefUnwindSafe, UnwindSafe},
    pin::pin,
    ptr::NonNull,
    sync::{Barrier, Mutex, mpsc},
    task::{Context, Poll, Waker},
    thread,
};

const _: () = {
    const fn is_shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    const fn is_sent<T: Send + UnwindSafe>() {}
    is_shared::<Pool>();
    is_sent::<Pooled<'static>>();
    is_sent::<Scope<'static>>();
};

/// Two simultaneous borrowers of an arena would see each other's bytes.
fn work(s: &mut Scope<'_>, mark: usize) -> usize {
    let kept = s.alloc_slice_fill_copy(mark % 300, mark);
    for turn in 0..3 {
        let inner = s.scope();
        inner.alloc_slice_fill_copy(turn * 100, usize::MAX);
    }
    let text = s.alloc_fmt(format_args!("{mark}"));
    assert!(kept.iter().all(|n| *n == mark));
    assert_eq!(text.parse(), Ok(mark));
    kept.len()
}

#[test]
fn an_arena_comes_back_reset_and_warm() {
    let pool = Pool::new();
    let mut first = pool.get();
    first.scope().alloc([1_u8; 100_000]);
    let held = first.stats().held;
    assert_eq!(pool.stats().held, 0, "it is lent");
    drop(first);
    assert_eq!((pool.stats().held, pool.stats().used), (held, 0));
    let mut again = pool.get();
    assert_eq!(again.stats().held, held, "the same one");
    assert_works(&again.scope());
    assert_works(&again.try_scope().unwrap());
}

#[test]
fn a_pool_creates_as_many_arenas_as_are_borrowed_at_a_time() {
    let pool = Pool::with_chunk_size(1000);
    for _ in 0..10 {
        let mut lent: Vec<_> = (0..5).map(|_| pool.get()).collect();
        let blocks: Vec<_> = lent
            .iter_mut()
            .map(|arena| arena.scope().alloc([1_u8; 100]) as *mut [u8; 100])
            .collect();
        assert!((1..5).all(|i| !blocks[..i].contains(&blocks[i])));
        // Returned in a different order.
        drop(lent.swap_remove(1));
    }
    assert_eq!(pool.stats().chunks, 5);
    let mut one = pool.get();
    let mut two = pool.get();
    assert_apart(one.scope().alloc(1), two.scope().alloc(2));
}

#[test]
fn an_empty_pool_holds_nothing() {
    static POOL: Pool = Pool::new();
    assert_eq!(POOL.stats(), ebbtide::Stats::default());
    POOL.trim();
    drop(POOL.get());
    assert_eq!(POOL.stats().held, 0, "no scope was opened");
    assert!(format!("{:?} {:?}", POOL, POOL.get()).contains("Stats"));
}

#[test]
fn trim_releases_idle_arenas_and_keeps_borrowed_ones() {
    let pool = Pool::default();
    let mut lent = pool.get();
    let s = lent.scope();
    let kept = s.alloc([1_u8; 10_000]);
    pool.scope(|s| s.alloc([1_u8; 10_000])[0]);
    assert!(pool.stats().held > 0);
    pool.trim();
    assert_eq!(pool.stats().held, 0);
    assert_eq!(*kept, [1; 10_000]);
    drop(lent);
    assert!(pool.stats().held >= 10_000);
}

#[test]
fn many_threads_share_a_pool() {
    let pool = Pool::new();
    let (threads, turns) = (8, if cfg!(miri) { 3 } else { 300 });
    let start = Barrier::new(threads);
    let total: usize = thread::scope(|spawner| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (pool, start) = (&pool, &start);
                spawner.spawn(move || {
                    start.wait();
                    let mut total = 0;
                    for turn in 0..turns {
                        let mut outer = pool.get();
                        let mut outer = outer.scope();
                        let kept = outer.alloc(turn);
                        total += pool.scope(|mut s| work(&mut s, thread * 1000 + turn));
                        total += work(&mut outer, turn);
                        assert_eq!(*kept, turn);
                    }
                    total
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let expected = (0..threads)
        .flat_map(|thread| (0..turns).map(move |turn| (thread * 1000 + turn) % 300 + turn))
        .sum::<usize>();
    assert_eq!(total, expected);
    assert_eq!(pool.stats().used, 0);
    // An arena may be created although another is idle, if that one's lock is held. But a shard
    // creates one only if all of its own are borrowed, so it never has more than were borrowed at a
    // time.
    let shards = thread::available_parallelism().map_or(1, |n| n.get().next_power_of_two());
    let mut arenas = 0;
    let mut lent = Vec::new();
    while pool.stats().held > 0 {
        lent.push(pool.get());
        arenas += 1;
    }
    assert!(arenas <= 2 * threads * shards, "{arenas} arenas, {shards} shards");
}

#[test]
fn arenas_can_be_returned_on_another_thread() {
    let pool = Pool::new();
    let (sender, receiver) = mpsc::sync_channel::<(usize, Pooled<'_>)>(2);
    thread::scope(|threads| {
        let worker = threads.spawn(|| {
            for (turn, mut arena) in receiver {
                work(&mut arena.scope(), turn);
            }
        });
        for turn in 0..fewer_under_miri(500) {
            let mut arena = pool.get();
            work(&mut arena.scope(), turn);
            sender.send((turn, arena)).unwrap();
        }
        drop(sender);
        worker.join().unwrap();
    });
    assert!(pool.stats().chunks <= 4 * 2, "{}", pool.stats());
}

#[test]
fn a_pool_survives_panics_while_arenas_are_borrowed() {
    let pool = Pool::new();
    for turn in 0..10 {
        let message = panic_of(|| {
            let mut held = pool.get();
            let s = held.scope();
            s.alloc([turn; 1000]);
            pool.scope(|t| {
                t.alloc([turn; 1000]);
                panic!("with two arenas out");
            })
        });
        assert_eq!(message.as_deref(), Some("with two arenas out"));
    }
    assert_eq!((pool.stats().chunks, pool.stats().used), (2, 0));
    let outcome = thread::scope(|threads| {
        threads.spawn(|| panic_of(|| pool.map([1, 0], |s, n| *s.alloc(1) / n))).join().unwrap()
    });
    assert!(outcome.unwrap().contains("divide by zero"));
    pool.scope(|s| assert_works(&s));
    assert_eq!(pool.stats().chunks, 2);
}

#[test]
fn only_a_forgotten_arena_is_lost() {
    let pool = Pool::new();
    let arena = pool.get(); // no memory yet, so nothing leaks but the handle
    assert_eq!(arena.stats().held, 0);
    drop(arena);
    let mut arena = pool.get();
    let s = arena.scope();
    mem::forget((s.boxed([1_u8; 100]), s));
    drop(arena);
    assert_eq!(pool.stats().chunks, 1);
    pool.scope(|s| {
        mem::forget(s.claim());
        assert_works(&s);
    });
    let chunks = pool.stats().chunks;
    for _ in 0..10 {
        pool.scope(|s| {
            mem::forget(s.claim());
            assert_works(&s);
        });
    }
    assert_eq!(pool.stats().chunks, chunks, "forgotten claims are found again");
}

#[test]
fn map_gives_each_item_a_scope_and_keeps_the_order() {
    let pool = Pool::new();
    let lengths = pool.map(0..fewer_under_miri(1000), |mut s, n| work(&mut s, n));
    assert!(lengths.iter().enumerate().all(|(n, length)| *length == n % 300));
    assert!(pool.map([0_u8; 0], |_, n| n).is_empty());
    assert!(pool.stats().held < 100_000, "{}", pool.stats());
    // The iterator may use the pool as well.
    let nested = pool.map((0..10).map(|n| pool.scope(|s| *s.alloc(n))), |s, n| *s.alloc(n));
    assert_eq!(nested, (0..10).collect::<Vec<_>>());
}

/// Pending once.
fn turn() -> impl Future<Output = ()> {
    let mut asked = false;
    poll_fn(move |_| if mem::replace(&mut asked, true) { Poll::Ready(()) } else { Poll::Pending })
}

/// Runs futures in turns, with each poll on a new thread.
fn run_on_threads<T: Send>(futures: Vec<impl Future<Output = T> + Send>) -> Vec<T> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    while futures.iter().any(|(_, output)| output.is_none()) {
        for (future, output) in futures.iter_mut().filter(|(_, output)| output.is_none()) {
            let poll = || future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let poll = thread::scope(|threads| threads.spawn(poll).join()).unwrap();
            if let Poll::Ready(value) = poll {
                *output = Some(value);
            }
        }
    }
    futures.into_iter().filter_map(|(_, output)| output).collect()
}

/// Takes the scope by `&mut`: a future that holds `&Scope` across `.await` is not `Send`.
async fn in_parts(s: &mut Scope<'_>, mark: usize) -> usize {
    let first = s.alloc(mark);
    turn().await;
    *first + 1
}

#[test]
fn b39_a_task_has_an_arena_of_its_own_across_await() {
    let pool = Pool::new();
    let pool = &pool;
    let futures = (0..20).map(|mark| handle(pool, mark)).collect();
    assert_eq!(run_on_threads(futures), (1..=20).collect::<Vec<_>>());
    assert_eq!((pool.stats().chunks, pool.stats().used), (20, 0));
    let one = pin!(handle(pool, 7)).poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(one, Poll::Pending);
}

async fn handle(pool: &Pool, mark: usize) -> usize {
    let mut arena = pool.get();
    let mut s = arena.scope();
    let numbers = s.alloc_slice_fill_copy(100, mark);
    turn().await;
    let sum = in_parts(&mut s, mark).await;
    let text = s.alloc_fmt(format_args!("{sum}"));
    turn().await;
    assert!(numbers.iter().all(|n| *n == mark));
    text.parse().unwrap()
}

#[test]
fn dropping_a_future_returns_its_arena() {
    let pool = Pool::new();
    {
        let mut future = pin!(handle(&pool, 1));
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((poll, pool.stats().chunks), (Poll::Pending, 0));
    }
    assert_eq!(pool.stats().chunks, 1);
}

// rayon casts integers to pointers, which Miri rejects under strict provenance.
#[cfg(all(feature = "rayon", not(miri)))]
mod rayon {
    use super::*;

    #[test]
    fn par_map_keeps_the_order() {
        let pool = Pool::new();
        let lengths = pool.par_map(0..fewer_under_miri(5000), |mut s, n| work(&mut s, n));
        assert!(lengths.iter().enumerate().all(|(n, length)| *length == n % 300));
        let words = ["ebb", "tide", ""];
        let texts = pool.par_map(&words[..], |s, word: &&str| s.alloc_str(word).to_owned());
        assert_eq!(texts, words);
        assert!(pool.par_map(0..0_u8, |_, n| n).is_empty());
        assert_eq!(pool.stats().used, 0);
    }

    #[test]
    fn try_par_map_keeps_the_order_or_returns_an_error() {
        let pool = Pool::new();
        let bad = fewer_under_miri(5000);
        let f = |s: Scope<'_>, n: usize| {
            if n == bad { Err(AllocError) } else { s.try_alloc(n).map(|n| 2 * *n) }
        };
        assert_eq!(pool.try_par_map(0..bad, f), Ok((0..bad).map(|n| 2 * n).collect()));
        assert_eq!(pool.try_par_map(0..2 * bad, f), Err(AllocError));
    }

    #[test]
    fn par_map_nests() {
        let pool = Pool::new();
        let sums = pool.par_map(0..40_usize, |s, n| {
            let kept = s.alloc_slice_fill_copy(100, n);
            let below = pool.par_map(0..n, |t, m| *t.alloc(m));
            let inner = ebbtide::scope(|t| *t.alloc(n));
            assert!(kept.iter().all(|k| *k == n));
            below.into_iter().sum::<usize>() + inner
        });
        assert!(sums.iter().enumerate().all(|(n, sum)| *sum == n * (n + 1) / 2));
    }

    #[test]
    fn par_map_passes_a_panic_on() {
        let pool = Pool::new();
        let message = panic_of(|| {
            pool.par_map(0..1000, |s, n| {
                let n = *s.alloc(n);
                // Not `assert`: the hook that silences expected panics is set per thread.
                if n == 500 {
                    std::panic::resume_unwind(Box::new("at five hundred"));
                }
                n
            })
        });
        assert_eq!(message.as_deref(), Some("at five hundred"));
        assert_eq!(pool.stats().used, 0);
        assert_eq!(pool.par_map(0..100, |s, n| *s.alloc(n)), (0..100).collect::<Vec<_>>());
    }
}

/// Text of a root, by many threads that go on in each other's arenas.
#[test]
fn results_of_a_root_outlive_the_loan() {
    let mut pool = Pool::with_chunk_size(500);
    for _ in 0..2 {
        let words = Mutex::new(Vec::new());
        thread::scope(|threads| {
            for thread in 0..4 {
                let (pool, words) = (&pool, &words);
                threads.spawn(move || {
                    for turn in 0..fewer_under_miri(200) {
                        let root = pool.root();
                        let word = root.alloc_fmt(format_args!("{thread} {turn}"));
                        words.lock().unwrap().push((thread, turn, word));
                        // A scope of the pool does not get an arena that holds results.
                        pool.scope(|s| s.alloc_slice_fill_copy(300, 0xFF_u8).len());
                    }
                });
            }
        });
        let words = words.into_inner().unwrap();
        assert_eq!(words.len(), 4 * fewer_under_miri(200));
        assert!(words.iter().all(|(thread, turn, word)| **word == format!("{thread} {turn}")));
        let used: usize = words.iter().map(|(.., word)| word.len()).sum();
        assert!((used..used + 100).contains(&pool.stats().used), "and what moved to another chunk");
        pool.trim();
        assert!(words.iter().all(|(thread, turn, word)| **word == format!("{thread} {turn}")));
        pool.reset();
        assert_eq!(pool.stats().used, 0);
    }
}

#[test]
fn a_root_goes_on_in_the_arena_of_the_last_one() {
    let mut pool = Pool::new();
    let one = pool.root().alloc(1_u8);
    let root = pool.try_root().unwrap();
    let two = root.alloc(2_u8);
    assert_eq!(address(two) + 1, address(one));
    assert_eq!(root.stats().used, 2);
    assert!(format!("{root:?}").starts_with("PooledRoot { stats"));
    // While that arena is lent, another one is used.
    let three = pool.root().alloc(3_u8);
    drop(root);
    assert_eq!(pool.stats().chunks, 2);
    assert_eq!((*one, *two, *three), (1, 2, 3));
    pool.reset();
    let mut lent = [pool.get(), pool.get()];
    assert_eq!(pool.stats().chunks, 0, "both are idle again, and lent");
    lent.iter_mut().for_each(|arena| assert_works(&arena.scope()));
}

#[test]
fn a_forgotten_root_keeps_what_it_holds() {
    let mut pool = Pool::new();
    let root = pool.root();
    let kept = root.alloc_str("ebb");
    crate::common::leak(root);
    pool.root().alloc_str("flow");
    assert_eq!(kept, "ebb");
    pool.reset();
    assert_works(&pool.get().scope());
}

#[test]
fn a_claim_of_a_root_that_is_forgotten_does_not_disturb_the_next() {
    let mut pool = Pool::new();
    for _ in 0..3 {
        let kept = pool.root().alloc(7);
        let root = pool.root();
        let claim = root.claim();
        claim.scope().alloc([1_u8; 2000]);
        mem::forget(claim);
        drop(root);
        pool.root().alloc([2_u8; 50_000]);
        assert_eq!(*kept, 7);
        pool.reset();
        assert_works(&pool.get().scope());
    }
}

#[test]
fn a_limit_holds_for_one_loan() {
    let pool = Pool::new();
    pool.scope(|s| s.alloc_zeroed_slice::<u8>(1_000_000).len());
    let mut limited = pool.get();
    limited.set_limit(Some(100_000));
    assert!(limited.stats().held <= 100_000, "what an earlier loan left counts too");
    let s = limited.scope();
    assert!(s.try_alloc_zeroed_slice::<u8>(100_000).is_err());
    assert!(s.try_alloc_zeroed_slice::<u8>(60_000).is_ok());
    limited.set_limit(None);
    assert!(limited.scope().try_alloc_zeroed_slice::<u8>(200_000).is_ok());
    limited.set_limit(Some(50_000));
    drop(limited);
    let mut next = pool.get();
    assert!(next.scope().try_alloc_zeroed_slice::<u8>(200_000).is_ok());
}

/// Without poison, the high water counts whole chunks, and a loan starts in the one that the last
/// loan left.
#[test]
#[cfg(any(feature = "poison", ebbtide_asan))]
fn the_high_water_of_a_loan_is_its_own() {
    let pool = Pool::with_chunk_size(1000);
    pool.scope(|s| s.alloc_zeroed_slice::<u8>(50_000).len());
    let mut lent = pool.get();
    assert!(lent.stats().capacity > 50_000);
    lent.scope().alloc([0_u8; 100]);
    assert!((100..=1000).contains(&lent.stats().high_water));
    lent.scope().alloc([0_u8; 20_000]);
    assert!(lent.stats().high_water >= 20_000);
}

#[test]
fn try_map_stops_at_the_first_error() {
    let pool = Pool::new();
    let mut seen = 0;
    let mut check = |s: Scope<'_>, n: u8| {
        seen += 1;
        if n == 3 { Err(AllocError) } else { s.try_alloc(n).map(|n| *n) }
    };
    assert_eq!(pool.try_map([1, 2], &mut check), Ok(vec![1, 2]));
    assert_eq!(pool.try_map([1, 3, 2], &mut check), Err(AllocError));
    assert_eq!(seen, 4);
}

/// Clones share their log.
#[derive(Clone)]
struct Shared(std::sync::Arc<Watched>);

// SAFETY: the blocks of another backing, passed on.
unsafe impl Backing for Shared {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.0.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller guarantees that the block came from here, and so from the inner
        // backing.
        unsafe { self.0.release(block, layout) };
    }
}

#[test]
fn every_arena_of_a_pool_uses_its_backing() {
    let (backing, log) = watched();
    let backing = Shared(std::sync::Arc::new(backing));
    let pool = Pool::new_in(backing.clone());
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| pool.scope(|s| s.alloc([1_u8; 100_000])[0]));
        }
    });
    assert!(log.live() >= 2);
    log.refuse_all();
    pool.trim();
    assert_eq!(log.live(), 0);
    assert_eq!(pool.try_map([1, 2], |_, n| Ok::<_, AllocError>(n)), Err(AllocError));
    assert!(pool.try_scope(|_| ()).is_err());
    assert!(pool.try_root().is_err());
    log.allow();
    let sized = Pool::with_chunk_size_in(5000, backing);
    assert_eq!(sized.scope(|s| s.stats().capacity), 5008);
    drop((pool, sized));
    assert_eq!(log.live(), 0);
}

#[test]
fn a_limit_of_the_loan_of_a_root_ends_with_it() {
    for front_end in [false, true] {
        let mut pool = Pool::new();
        let root = pool.root();
        let kept = root.alloc(7);
        if front_end {
            ebbtide::front_end::set_limit(&root, Some(0));
        } else {
            root.set_limit(Some(0));
        }
        assert!(root.try_alloc_slice_fill_copy(100_000, 0u8).is_err());
        drop(root);
        let root = pool.root();
        assert!(root.try_alloc_slice_fill_copy(100_000, 0u8).is_ok());
        assert_eq!(*kept, 7);
        root.set_limit(Some(0));
        drop(root);
        pool.reset();
        assert!(pool.get().scope().try_alloc_slice_fill_copy(1_000_000, 0u8).is_ok());
    }
}

/// Otherwise two threads would slow each other down, each in an arena of its own.
#[test]
fn roots_share_no_cache_line() {
    let pool = Pool::new();
    let roots: [_; 20] = std::array::from_fn(|_| pool.root());
    let places = roots.each_ref().map(|root| std::ptr::from_ref(&**root).addr() % 64);
    assert_eq!(places, [places[0]; 20]);
}
