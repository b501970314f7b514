//! Claims about persistent scopes: the next scope uses the memory that the last one left free,
//! wherever that was freed; no live block is ever overwritten; and the memory is returned when the
//! scope ends.

// Without a range, no scope persists.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{
    Options, arena, arena_with,
    engine::{Owner, Ticket},
    outside, release_pool, report,
};
use std::{alloc::Layout, collections::VecDeque, sync::mpsc, thread};

/// Blocks whose contents are checked when they are dropped.
struct Record {
    number: usize,
    cells: Vec<Vec<u8>>,
}

impl Record {
    fn new(number: usize) -> Record {
        let cell =
            |place: usize| vec![Record::byte(number, place); 1 + (number * 7 + place * 13) % 90];
        Record { number, cells: (0..8).map(cell).collect() }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn byte(number: usize, place: usize) -> u8 {
        (number * 31 + place) as u8
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        for (place, cell) in self.cells.iter().enumerate() {
            assert!(cell.iter().all(|byte| *byte == Record::byte(self.number, place)));
        }
    }
}

/// Makes 64 records, and returns every eighth.
fn some(first: usize) -> Vec<Record> {
    let records: Vec<Record> = (first..first + 64).map(Record::new).collect();
    records.into_iter().filter(|record| record.number % 8 == 0).collect()
}

/// Opens 400 scopes and keeps blocks of each: enough for a scope to persist.
fn keep_much() -> VecDeque<Vec<Record>> {
    (0..400).map(|number| arena(|| some(64 * number))).collect()
}

fn pinned() -> usize {
    report().escapes.pinned_chunks
}

/// Drops the blocks that scopes kept. The next outermost scope then ends the persistent one, which
/// has no live block, and no chunk stays pinned.
#[track_caller]
fn assert_nothing_stays_pinned<T>(kept: T) {
    drop(kept);
    arena(|| ());
    assert_eq!(pinned(), 0);
}

#[test]
fn what_is_freed_in_scopes_of_any_kind_is_used_again() {
    alone!();
    let mut kept = keep_much();
    for number in 0..2_000 {
        arena(|| {
            let own = some(64 * number);
            match number % 4 {
                0 => drop(kept.pop_front()),
                1 => outside(|| drop(kept.pop_front())),
                2 => arena(|| drop(kept.pop_front())),
                _ => drop((kept.pop_front(), arena(|| some(number)))),
            }
            kept.push_back(own);
        });
    }
    let chunks = pinned();
    assert!(chunks < 80, "{chunks} chunks");
    assert_nothing_stays_pinned(kept);
}

#[test]
fn the_next_scope_persists_if_one_that_keeps_nothing_was_the_first() {
    alone!();
    let mut cache: VecDeque<Vec<u8>> = VecDeque::new();
    let mut most = 0;
    for number in 0..10_000 {
        arena(|| {
            let own: Vec<Box<[usize; 4]>> = (0..500).map(|cell| Box::new([cell; 4])).collect();
            if number % 4 == 0 {
                cache.push_back(vec![1; 100]);
                drop((cache.len() > 1_000).then(|| cache.pop_front()));
            }
            assert_eq!(own[number % 500][0], number % 500);
        });
        most = most.max(pinned());
    }
    // If no scope persists, each of these blocks pins a chunk until memory is tight.
    assert!(most < 64, "{most} chunks for 1,000 blocks of 100 bytes");
    assert_nothing_stays_pinned(cache);
}

#[test]
fn it_takes_no_chunk_that_scopes_inside_of_it_pinned() {
    alone!();
    let mut kept = keep_much();
    for number in 0..300 {
        let own = arena(|| {
            let inner = arena(|| some(64 * number));
            // Too large for the free lists, so that a chunk is needed. The inner scope left one
            // with a free tail.
            let large: Vec<Vec<u8>> = (0..20).map(|_| vec![1; 1000 + number]).collect();
            kept.push_back(inner);
            large
        });
        assert!(own.iter().flatten().all(|byte| *byte == 1));
        kept.extend((number % 5 == 0).then(|| arena(|| some(number))));
        if number % 3 == 0 {
            kept.pop_front();
        }
    }
    assert_nothing_stays_pinned(kept);
}

#[test]
fn a_scope_with_options_that_it_cannot_serve_ends_it() {
    alone!();
    for options in [
        Options::new().byte_limit(1 << 20),
        Options::new().min_size(16),
        Options::new().max_size(4096),
    ] {
        let mut kept = keep_much();
        for number in 0..200 {
            kept.push_back(arena_with(&options, || some(number)));
            kept.push_back(arena(|| some(number)));
            kept.pop_front();
        }
        drop(kept);
        arena_with(&options, || ());
        assert_eq!(pinned(), 0, "{options:?}");
    }
}

#[test]
fn what_another_thread_frees_is_used_again() {
    alone!();
    let mut most = 0;
    let (sender, receiver) = mpsc::sync_channel::<Vec<Record>>(64);
    let consumer = thread::spawn(move || receiver.into_iter().map(|records| records.len()).sum());
    for number in 0..5_000 {
        let records = arena(|| some(64 * number));
        sender.send(records).unwrap();
        most = most.max(pinned());
    }
    drop(sender);
    let count: usize = consumer.join().unwrap();
    assert_eq!(count, 5_000 * 8);
    // At most 66 scopes' records wait in the channel. All records together would fill more than 400
    // chunks.
    assert!(most < 200, "{most} chunks");
    arena(|| ());
    release_pool();
    assert_eq!(pinned(), 0);
}

#[test]
fn it_ends_with_its_thread_and_what_it_kept_lives_on() {
    alone!();
    let kept = thread::spawn(keep_much).join().unwrap();
    assert!(pinned() > 0);
    drop(kept);
    assert_eq!(pinned(), 0);
}

#[test]
fn the_pools_are_released_with_it() {
    alone!();
    let mut kept = keep_much();
    release_pool();
    kept.truncate(10);
    let few = pinned();
    assert!(few <= 11, "{few} chunks for ten scopes");
    drop(kept);
    assert_eq!(pinned(), 0, "no scope is suspended for the next one");
}

#[test]
fn it_ends_when_what_it_has_is_of_no_use() {
    alone!();
    let mut most = 0;
    let mut kept = Vec::new();
    // The blocks of one size fit into its free lists; those of all sizes together would be 50 MB.
    for size in (8..1024).step_by(8) {
        let mut next = Vec::new();
        for _ in 0..400 {
            next.extend(arena(|| {
                let blocks: Vec<Vec<u8>> = (0..200).map(|_| vec![1; size]).collect();
                blocks.into_iter().step_by(8).take(400_000 / 400 / size + 1).collect::<Vec<_>>()
            }));
        }
        kept = next;
        most = most.max(pinned());
    }
    assert!(most < 400, "{most} chunks");
    assert_nothing_stays_pinned(kept);
}

#[test]
fn its_figures_are_those_of_the_scopes_that_went_on_in_it() {
    alone!();
    let options = Options::new().label("persistent");
    // The claim is about scopes that are not the first of their process.
    arena(|| ());
    let before = report();
    let mut kept = VecDeque::new();
    for _ in 0..1_000 {
        kept.push_back(arena_with(&options, || {
            let blocks: Vec<Box<[u64; 8]>> = (0..300).map(|n| Box::new([n; 8])).collect();
            blocks.into_iter().nth(150).unwrap()
        }));
        if kept.len() > 500 {
            // Outside of any scope, because frees in a scope offset what it keeps.
            kept.pop_front();
        }
    }
    let after = report();
    assert_eq!(after.scopes - before.scopes, 1_000);
    assert_eq!(after.escapes.blocks - before.escapes.blocks, 1_000);
    let label = after.labels.iter().find(|label| label.label == "persistent").unwrap();
    assert_eq!((label.scopes, label.escaped), (1_000, 1_000));
    assert!(label.blocks >= 300_000);
    // The end of the persistent scope changes no figure: its sessions were counted when they ended.
    release_pool();
    assert!(pinned() > 0);
    let end = report();
    assert_eq!((end.scopes, end.escapes.blocks), (after.scopes, after.escapes.blocks));
    drop(kept);
    assert_eq!(pinned(), 0);
}

#[test]
fn a_block_of_it_is_resized_wherever_that_happens() {
    alone!();
    let mut kept = keep_much();
    let grow = |records: &mut Vec<Record>| {
        for record in records {
            let number = record.number;
            for (place, cell) in record.cells.iter_mut().enumerate() {
                let byte = Record::byte(number, place);
                cell.resize(cell.len() * 3, byte);
                cell.shrink_to_fit();
                cell.truncate(cell.len() / 6);
                cell.shrink_to_fit();
            }
        }
    };
    for number in 0..400 {
        let mut own = arena(|| {
            let mut own = some(64 * number);
            grow(&mut own);
            kept.front_mut().map(grow);
            own
        });
        grow(&mut own);
        kept.front_mut().map(grow);
        arena(|| arena(|| grow(&mut own)));
        kept.push_back(own);
        kept.pop_front();
    }
    assert_nothing_stays_pinned(kept);
}

#[test]
fn large_blocks_live_on_too() {
    alone!();
    let mut kept = keep_much();
    let mut large = VecDeque::new();
    for number in 0..400 {
        let own = arena(|| {
            large.pop_front();
            vec![number; 10_000 + number]
        });
        large.push_back(own);
        kept.pop_front();
        large.extend((number % 3 == 0).then(|| vec![number; 5]));
    }
    assert!(large.iter().all(|block| block.iter().all(|n| *n == block[0])));
    assert_nothing_stays_pinned((kept, large));
}

/// Like `keep_much`, for an owner of its own and with blocks of 64 bytes.
fn keep_blocks(owner: &Owner) -> (Vec<*mut u8>, Vec<Ticket>) {
    let layout = Layout::from_size_align(64, 8).unwrap();
    let (mut kept, mut tickets) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        let ticket = owner.enter(&Options::new()).unwrap();
        let mut blocks: Vec<*mut u8> = (0..500).map(|_| owner.alloc(layout)).collect();
        kept.push(blocks.swap_remove(250));
        for block in blocks {
            // SAFETY: the block is alive, with this layout.
            assert!(unsafe { owner.dealloc(block, layout) });
        }
        owner.leave(ticket);
        tickets.push(ticket);
    }
    (kept, tickets)
}

#[test]
fn a_block_that_shrinks_much_leaves_the_arena() {
    alone!();
    let [large, less] = [64, 40].map(|size| Layout::from_size_align(size, 8).unwrap());
    let owner = started();
    // Of scopes before the first that persists, and of suspended ones.
    for block in keep_blocks(&owner).0 {
        // SAFETY: the block is alive, with this layout.
        let shrunk = unsafe { owner.realloc(block, large, 40) };
        assert_eq!(shrunk, block, "too little is freed to move it");
        // SAFETY: the block is alive; it was resized to this layout.
        let shrunk = unsafe { owner.realloc(block, less, 20) };
        assert!(shrunk.is_null(), "the caller moves it");
        // SAFETY: the block is alive, with its old layout.
        assert!(unsafe { owner.dealloc(block, less) });
    }
    owner.end();
    assert_eq!(pinned(), 0);
}

#[test]
fn a_ticket_ends_the_scope_that_it_was_for_and_no_later_one() {
    alone!();
    let layout = Layout::from_size_align(64, 8).unwrap();
    let owner = started();
    let (kept, tickets) = keep_blocks(&owner);

    let enter = || owner.enter(&Options::new()).unwrap();
    let last = enter();
    for old in tickets {
        owner.leave(old);
        assert!(owner.is_open(), "its scope ended long ago");
    }
    let inner = enter();
    let outside = owner.enter_outside().unwrap();
    assert!(!owner.is_open());
    owner.leave(last);
    for inside in [outside, inner, last] {
        owner.leave(inside);
        assert!(!owner.is_open());
    }
    let forgotten = enter();
    assert!(owner.is_open());
    for block in kept {
        // SAFETY: the block is alive, with this layout.
        assert!(unsafe { owner.dealloc(block, layout) });
    }
    owner.end();
    owner.leave(forgotten);
    assert_eq!(pinned(), 0);
}

#[test]
fn a_session_that_ends_inside_of_outside_leaves_the_next_one_open() {
    alone!();
    let owner = started();
    let (kept, _) = keep_blocks(&owner);
    let enter = || owner.enter(&Options::new()).unwrap();
    let session = enter();
    let outside = owner.enter_outside().unwrap();
    owner.leave(session);
    let next = enter();
    assert!(owner.is_open());
    owner.leave(outside);
    assert!(owner.is_open(), "that was in another session");
    owner.leave(next);
    let layout = Layout::from_size_align(64, 8).unwrap();
    for block in kept {
        // SAFETY: the block is alive, with this layout.
        assert!(unsafe { owner.dealloc(block, layout) });
    }
    owner.end();
    assert_eq!(pinned(), 0);
}

const BLOCK: Layout = Layout::new::<[u64; 12]>();

/// Opens a scope, allocates 64 blocks and keeps one.
fn keep_one(owner: &Owner, kept: &mut Vec<*mut u8>) {
    let ticket = owner.enter(&Options::new()).unwrap();
    let mut blocks = [(); 64].map(|()| owner.alloc(BLOCK)).into_iter();
    kept.extend(blocks.next());
    blocks.for_each(|block| free(owner, block));
    owner.leave(ticket);
}

fn free(owner: &Owner, block: *mut u8) {
    // SAFETY: callers pass a live block of this layout, once.
    assert!(unsafe { owner.dealloc(block, BLOCK) });
}

#[test]
fn scopes_inside_of_it_use_tails() {
    alone!();
    let (owner, mut kept) = (started(), Vec::new());
    (0..1_500).for_each(|_| keep_one(&owner, &mut kept));
    let before = pinned();
    let ticket = owner.enter(&Options::new()).unwrap();
    // Few enough that the bound allows a chunk for each eighth, however slow the machine is.
    (0..500).for_each(|_| keep_one(&owner, &mut kept));
    owner.leave(ticket);
    let more = pinned() - before;
    kept.into_iter().for_each(|block| free(&owner, block));
    owner.end();
    // No more than outermost scopes would pin.
    assert!(more < 500 / 8, "{more} chunks for 500 blocks of 96 bytes");
}

#[test]
fn its_end_changes_no_figure() {
    alone!();
    let (owner, mut kept) = (started(), Vec::new());
    (0..1_500).for_each(|_| keep_one(&owner, &mut kept));
    let before = report();
    owner.release_pools();
    let after = report();
    kept.into_iter().for_each(|block| free(&owner, block));
    owner.end();
    assert_eq!(after.escapes.blocks, before.escapes.blocks);
    assert_eq!(after.scopes, before.scopes);
}

#[test]
fn a_thread_that_frees_all_it_kept_holds_no_chunk_while_it_waits() {
    alone!();
    let before = pinned();
    thread::spawn(move || {
        let kept: Vec<_> = (0..400).map(|n| arena(|| some(64 * n))).collect();
        assert!(pinned() > before, "its scopes persist");
        drop(kept);
        // No scope was opened since, and the thread still runs.
        assert_eq!(pinned(), before);
        // The next scopes persist as before.
        let again: Vec<_> = (0..400).map(|n| arena(|| some(64 * n))).collect();
        assert!(pinned() > before);
        drop(again);
        assert_eq!(pinned(), before);
    })
    .join()
    .unwrap();
}

/// Opens scopes that cannot persist and keep a third of their blocks: far more than the bound allows.
fn fill_the_bound(kept: &mut Vec<Vec<u8>>) {
    let options = Options::new().max_size(4096);
    let before = report().fallbacks.waste;
    for scope in 0..150 {
        arena_with(&options, || {
            let blocks = (0..1000).map(|number| vec![1_u8; 16 + (scope * 7 + number * 31) % 240]);
            let mut blocks: Vec<_> = blocks.collect();
            blocks.retain(|block| block.len() % 3 == 0);
            outside(|| kept.extend(blocks));
        });
    }
    assert!(report().fallbacks.waste > before + 20, "{}", report());
}

/// Opens scopes that serve 3 MiB, in sizes that rise. They free fifteen of sixteen blocks at once, and
/// the others at their end. Returns how many requests were refused in the last ten scopes.
fn keep_nothing() -> u64 {
    let sixteen = |size| (0..16).map(|_| vec![1_u8; size]).collect::<Vec<_>>();
    let scope = || {
        let sizes = (16..256).step_by(8).flat_map(|size| [size; 45]);
        let blocks: Vec<_> = sizes.map(|size| sixteen(size).swap_remove(0)).collect();
        let pinned = pinned();
        drop(blocks);
        pinned
    };
    let before = pinned();
    (0..1000).for_each(|_| arena(|| ()));
    for _ in 0..40 {
        arena(scope);
    }
    let refused = report().fallbacks.waste;
    (0..10).for_each(|_| assert!(arena(scope) <= before, "the scope persists"));
    report().fallbacks.waste - refused
}

#[test]
fn scopes_that_keep_nothing_are_served_when_others_have_filled_the_bound() {
    alone!();
    let (persistent, mut kept) = (keep_much(), Vec::new());
    assert_eq!(keep_nothing(), 0, "{}", report());
    for _ in 0..3 {
        fill_the_bound(&mut kept);
        let report = report();
        // Two owners, and half a MiB for those of these scopes that may use the reserve.
        let without_reserve = report.live_peak / 8 * 11 + (8 << 20) + (1 << 19);
        assert!(report.escapes.pinned_bytes <= without_reserve, "{report}");
        assert_eq!(keep_nothing(), 0, "{}", ebbtide_global::report());
        let report = ebbtide_global::report();
        assert!(report.held <= report.bound, "{report}");

        // From now on, the owner keeps blocks again. What the pools hold of the reserve makes room.
        kept.drain(..kept.len() / 10);
        kept.push(arena(|| vec![1; 100]));
        arena(|| vec![1_u8; 256 << 10].len());
        assert_eq!(ebbtide_global::report().fallbacks.waste, report.fallbacks.waste, "{report}");
    }
    assert_nothing_stays_pinned((persistent, kept));
}
