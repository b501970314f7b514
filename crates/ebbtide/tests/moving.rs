//! Claim: an arena that moves between borrows keeps working: its root, wherever its cursor is, its
//! chunks, and earlier checkpoints.

#![cfg(feature = "std")]

use crate::common::{Log, Watched, address, watched};
use ebbtide::{Arena, Checkpoint, Retain};
use std::sync::Arc;

type Boxed = Box<Arena<Watched>>;

/// An arena whose first chunk holds 1,024 bytes.
fn small() -> (Boxed, Arc<Log>) {
    let (backing, log) = watched();
    (Box::new(Arena::with_chunk_size_in(1024, backing)), log)
}

/// The same, with blocks of these sizes in its root.
fn holding(sizes: &[usize]) -> (Boxed, Arc<Log>, Blocks) {
    let (arena, log) = small();
    let mut blocks = Blocks::default();
    for bytes in sizes {
        blocks.add(&arena, *bytes);
    }
    (arena, log, blocks)
}

/// Moves the arena to another address and frees the old box.
#[allow(clippy::boxed_local, reason = "the address is that of the box")]
fn moved(arena: Boxed) -> Boxed {
    let before = address(&*arena);
    let arena = Box::new(*arena);
    assert_ne!(address(&*arena), before);
    arena
}

/// Blocks of the root, by address, with their contents.
#[derive(Default)]
struct Blocks(Vec<(*const [u8], u8)>);

impl Blocks {
    fn add(&mut self, arena: &Arena<Watched>, bytes: usize) {
        let pattern = u8::try_from(self.0.len()).unwrap() + 1;
        self.0.push((arena.root().alloc_slice_fill_copy(bytes, pattern), pattern));
    }

    fn check(&self, _arena: &Arena<Watched>) {
        for (block, pattern) in &self.0 {
            // SAFETY: the root's blocks live until it is reset or rewound, and the arena is
            // borrowed.
            let block = unsafe { &**block };
            assert!(block.iter().all(|byte| byte == pattern), "block {pattern}");
        }
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|(block, _)| block.len()).sum()
    }
}

#[test]
fn a_root_continues_after_a_move_wherever_its_cursor_is() {
    // The root is in the first chunk; in the second; in the first, with one or two oversize chunks
    // behind it.
    for before in [&[100_usize][..], &[1000, 500], &[100, 5000], &[100, 5000, 5000]] {
        let (mut arena, log, mut blocks) = holding(before);
        for bytes in [64, 64, 900, 9000, 64] {
            let (stats, chunks) = (arena.stats(), arena.chunks().collect::<Vec<_>>());
            arena = moved(arena);
            assert_eq!(arena.stats(), stats);
            assert_eq!(arena.chunks().collect::<Vec<_>>(), chunks);
            blocks.add(&arena, bytes);
            blocks.check(&arena);
            assert!(arena.stats().used >= blocks.bytes());
        }
        arena = moved(arena);
        arena.reset();
        assert_eq!(arena.stats().used, 0);
        drop(arena);
        assert_eq!(log.live(), 0);
    }
}

#[test]
fn scopes_open_after_the_contents_of_the_root() {
    for before in [&[100_usize][..], &[1000, 500], &[100, 5000], &[1011], &[1024]] {
        let (mut arena, _, mut blocks) = holding(before);
        for turn in 0..10 {
            let used = arena.stats().used;
            for bytes in [1, 300, 3000] {
                let mut s = arena.scope();
                let kept = s.alloc_slice_fill_copy(bytes, 0xEE_u8);
                s.scope().alloc_slice_fill_copy(bytes, 0xED_u8);
                assert!(kept.iter().all(|byte| *byte == 0xEE));
            }
            blocks.check(&arena);
            assert_eq!(arena.stats().used, used, "a scope takes nothing of the root's");
            if turn % 3 == 2 {
                blocks.add(&arena, 5);
            }
            arena = moved(arena);
        }
    }
}

#[test]
fn a_checkpoint_of_the_root_is_valid_after_a_move() {
    for before in [&[100_usize][..], &[1000, 500], &[100, 5000], &[100, 5000, 5000]] {
        let (mut arena, log, mut blocks) = holding(before);
        let mark: Checkpoint = arena.root().checkpoint();
        let used = arena.stats().used;
        for after in [10, 1000, 10_000] {
            arena = moved(arena);
            arena.root().alloc_slice_fill_copy(after, 0xEE_u8);
            arena = moved(arena);
            // SAFETY: created by the root, and the slice is not used again.
            unsafe { arena.root().rewind(mark) };
            assert_eq!(arena.stats().used, used);
            arena = moved(arena);
            blocks.check(&arena);
        }
        // From another chunk, which alone holds the arena's new address.
        for _ in 0..5 {
            arena.root().alloc([0xEE_u8; 900]);
        }
        arena = moved(arena);
        // SAFETY: a checkpoint of this root; allocations made after it are not used again.
        unsafe { arena.root().rewind(mark) };
        assert_eq!(arena.stats().used, used);
        blocks.add(&arena, 64);
        blocks.check(&arena);
        drop(arena);
        assert_eq!(log.live(), 0);
    }
}

#[test]
fn another_chunk_replaces_a_released_first_chunk() {
    let (backing, log) = watched();
    let mut arena = Box::new(Arena::with_chunk_size_in(10_000, backing));
    arena.root().alloc([1_u8; 9_000]);
    let first = log.held();
    arena.set_limit(Some(first + 3_000));
    arena.root().alloc([2_u8; 2_000]);
    assert_eq!(arena.stats().chunks, 2);
    let second = log.held() - first;

    arena.reset_with(Retain::Bytes(second));
    assert_eq!((arena.stats().chunks, log.held(), arena.stats().used), (1, second, 0));
    arena = moved(arena);
    assert_eq!(*arena.scope().alloc([3_u8; 2_000]), [3; 2_000]);
    assert_eq!((arena.stats().chunks, log.held()), (1, second));
    assert!(arena.scope().try_alloc_zeroed_slice::<u8>(12_000).is_err(), "the limit holds");

    arena.reset_with(Retain::Bytes(second - 1));
    assert_eq!((arena.stats().chunks, log.held()), (0, 0));
    arena = moved(arena);
    assert_eq!(*arena.root().alloc([4_u8; 100]), [4; 100]);
    drop(arena);
    assert_eq!(log.live(), 0);
}

#[test]
fn chunks_of_forgotten_claims_are_recovered_after_a_move() {
    let (mut arena, log) = small();
    for turn in 0..4 {
        let s = arena.scope();
        let claim = s.claim();
        claim.scope().alloc_slice_fill_copy(3_000, 1_u8);
        std::mem::forget(claim);
        let calls = log.calls();
        arena = moved(arena);
        arena.reset();
        arena.scope().alloc_slice_fill_copy(3_000, 2_u8);
        assert!(turn == 0 || log.calls() == calls, "found among the chunks there are");
    }
    drop(arena);
    assert_eq!(log.live(), 0);
}
