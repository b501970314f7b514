//! Claims: the range is reserved once, and every thread that learns of it sees its bounds; no block
//! of another allocator is mistaken for one in the range; and every chunk is taken once, and
//! committed before.
//!
//! Models: `ci/loom.sh` runs them. The modules are the crate's own, with the atomics of loom. Each
//! model names the mutations for which it was seen to fail.

use crate::{
    loom_plain::spawn,
    shared::{
        bounds::Bounds,
        frontier::{Frontier, STEP},
        once::{Once, Readiness},
    },
};
use loom::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
};
use std::ptr;

const CHUNK: usize = 1 << 16;
const TABLE: usize = 1 << 40;
const ORIGIN: usize = TABLE + 4 * CHUNK;
const CHUNKS: u32 = 600;

struct Range {
    once: Once,
    bounds: Bounds,
    reserved: AtomicU32,
}

impl Range {
    fn new() -> Arc<Range> {
        let (once, bounds) = (Once::new(), Bounds::new());
        Arc::new(Range { once, bounds, reserved: AtomicU32::new(0) })
    }

    fn prepare(&self) -> Readiness {
        self.once.prepare(|| {
            self.reserved.fetch_add(1, Relaxed);
            let (table, origin) =
                (ptr::without_provenance_mut(TABLE), ptr::without_provenance_mut(ORIGIN));
            self.bounds.set(table, origin, CHUNKS as usize * CHUNK);
            true
        })
    }

    /// The facts that a thread with a block, or with a started owner, relies on.
    fn assert_known(&self) {
        assert_eq!(self.bounds.table().addr(), TABLE);
        assert_eq!(self.bounds.origin().addr(), ORIGIN);
        assert_eq!(self.bounds.size_bytes(), CHUNKS as usize * CHUNK);
        assert_eq!(self.bounds.offset_of(ORIGIN + CHUNK), Some(CHUNK));
    }
}

/// Fails where `prepare` stores the state without `Release`, where its last exchange fails without
/// `Acquire`, where it stores `READY` before it calls `make`, and where a load and a store stand
/// for its first exchange: then `make` is called twice.
#[test]
fn the_range_is_reserved_once_and_known_to_whoever_is_told() {
    loom::model(|| {
        let range = Range::new();
        let others = [(); 2].map(|()| {
            spawn(&range, move |range| {
                let readiness = range.prepare();
                if readiness == Readiness::Ready {
                    range.assert_known();
                }
                assert_ne!(readiness, Readiness::Unavailable);
            })
        });
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(range.reserved.load(Relaxed), 1);
        // Threads that gave up try again.
        assert_eq!(range.prepare(), Readiness::Ready);
        range.assert_known();
    });
}

/// Fails where the initialising thread does not replace the state `ABANDONED`: an exchange instead
/// of the last store.
#[test]
fn a_thread_that_is_gone_is_not_waited_for() {
    loom::model(|| {
        let once = Arc::new(Once::new());
        // As in a child that was forked off while another thread reserved the range.
        let at_work = once.prepare(|| {
            for _ in 0..2 {
                assert_eq!(once.prepare(|| unreachable!("it is being made")), Readiness::Busy);
            }
            true
        });
        assert_eq!(at_work, Readiness::Ready, "in the parent it is made yet");
        let other = spawn(&once, move |once| once.prepare(|| unreachable!("it was made")));
        assert_eq!(other.join().unwrap(), Readiness::Ready);
    });
}

#[test]
fn a_failed_initialisation_is_tried_once() {
    loom::model(|| {
        let once = Arc::new(Once::new());
        let other = spawn(&once, move |once| once.prepare(|| false));
        let here = once.prepare(|| false);
        let there = other.join().unwrap();
        assert!(here == Readiness::Unavailable || there == Readiness::Unavailable);
        assert!(here != Readiness::Ready && there != Readiness::Ready);
        assert_eq!(once.prepare(|| true), Readiness::Unavailable);
    });
}

/// Fails where the range is at address 0 before it is reserved (`NOWHERE` is 0).
#[test]
fn a_block_of_another_allocator_is_in_no_mixture_of_old_and_new_words() {
    loom::model(|| {
        let range = Range::new();
        let other = spawn(&range, move |range| {
            for address in [0x1000, ORIGIN - 8, ORIGIN + CHUNKS as usize * CHUNK, 1 << 47] {
                assert_eq!(range.bounds.offset_of(address), None, "{address:#x}");
            }
        });
        range.prepare();
        other.join().unwrap();
    });
}

/// Fails with the mutations of the first model. That the words themselves are `Relaxed` does no
/// harm.
#[test]
fn a_block_that_came_from_another_thread_is_in_the_range() {
    loom::model(|| {
        let (range, handed) = (Range::new(), Arc::new(AtomicBool::new(false)));
        let other = {
            let (range, handed) = (Arc::clone(&range), Arc::clone(&handed));
            // It never asked for the range.
            thread::spawn(move || {
                if handed.load(Acquire) {
                    range.assert_known();
                }
            })
        };
        let third = spawn(&range, move |range| range.prepare());
        if range.prepare() == Readiness::Ready {
            handed.store(true, Release);
        }
        other.join().unwrap();
        third.join().unwrap();
    });
}

/// The committed chunks, in steps. The simulated system calls order nothing, so loom detects where
/// the frontier does not either.
struct Steps([AtomicBool; 2]);

impl Steps {
    fn commit(&self, from: u32, to: u32) -> bool {
        for step in from / STEP..to.div_ceil(STEP) {
            self.0[step as usize].store(true, Relaxed);
        }
        true
    }

    fn is_committed(&self, chunk: u32) -> bool {
        self.0[(chunk / STEP) as usize].load(Relaxed)
    }
}

/// Fails where `committed` is read without `Acquire` or raised without `Release`, where the
/// frontier is moved without an exchange, and where `committed` is raised before the chunks are
/// committed.
#[test]
fn a_chunk_has_one_taker_and_is_committed_when_it_has() {
    loom::model(|| {
        let shared =
            Arc::new((Frontier::new(), Steps([AtomicBool::new(false), AtomicBool::new(false)])));
        let take = |shared: &(Frontier, Steps), chunks: u32| {
            let (frontier, steps) = shared;
            let first = frontier.advance(chunks, CHUNKS, |from, to| steps.commit(from, to));
            let first = first.unwrap().get();
            assert!(steps.is_committed(first) && steps.is_committed(first + chunks - 1));
            first..first + chunks
        };
        let other = spawn(&shared, move |shared| take(&shared, 2));
        let here = [take(&shared, 1), take(&shared, STEP)];
        let there = other.join().unwrap();
        for range in &here {
            assert!(range.end <= there.start || there.end <= range.start, "{here:?} {there:?}");
        }
        assert_eq!(shared.0.next(), 1 + 1 + STEP + 2);
    });
}

/// Fails where the frontier moves before the chunks are committed.
#[test]
fn the_frontier_does_not_move_if_the_system_refuses() {
    loom::model(|| {
        let frontier = Arc::new(Frontier::new());
        let other = spawn(&frontier, move |frontier| frontier.advance(3, CHUNKS, |_, _| true));
        let refused = frontier.advance(STEP, CHUNKS, |_, _| false);
        assert_eq!(refused, None);
        assert_eq!(other.join().unwrap().map(|first| first.get()), Some(1));
        assert_eq!(frontier.next(), 4);
        assert_eq!(frontier.advance(CHUNKS, CHUNKS, |_, _| true), None, "there is no room");
    });
}
