//! Claims: except for the first chunk and chunks of one large request, no chunk is larger than 4
//! MiB, whatever the size of the first one; and chunks that were released do not make later ones
//! larger.

#![cfg(feature = "std")]

use ebbtide::{Arena, Fixed, Heap, Pool, Retain, Scope};

const CAP: usize = 4 << 20;

/// Fills 30 MiB with small blocks and returns the sizes of all chunks.
fn capacities(arena: &mut Arena) -> Vec<usize> {
    for _ in 0..30 * 1024 {
        arena.root().alloc_uninit_slice::<u8>(1024);
    }
    arena.chunks().map(|chunk| chunk.capacity).collect()
}

fn assert_capped(mut arena: Arena, first: usize) {
    let capacities = capacities(&mut arena);
    assert!(capacities[0] >= first, "{capacities:?}");
    assert!(
        capacities.len() > 2 && capacities[1..].iter().all(|size| *size <= CAP),
        "{capacities:?}"
    );
}

#[test]
fn the_cap_holds_after_a_first_chunk_of_any_size() {
    for first in [1, 100, 16 << 10, CAP - 1000, CAP, CAP + 1, 2 * CAP, 9_999_999, 20 << 20] {
        assert_capped(Arena::with_capacity(first), first);
        assert_capped(Arena::with_chunk_size(first), first);
    }
}

#[test]
fn the_cap_holds_after_a_reset_to_one_chunk() {
    let mut arena = Arena::new();
    capacities(&mut arena);
    let all = arena.stats().capacity;
    arena.reset_with(Retain::OneChunk);
    arena.scope();
    assert!(arena.stats().capacity >= all, "the one chunk has room for what all had");
    for _ in 0..all / 1024 {
        arena.root().alloc_uninit_slice::<u8>(1024);
    }
    assert_capped(arena, all);
}

#[test]
fn retaining_bytes_skips_chunks_that_are_too_large() {
    let mut arena = Arena::with_chunk_size(1_000);
    arena.root().alloc_uninit_slice::<u8>(1_000);
    arena.root().alloc_uninit_slice::<u8>(1_000_000);
    arena.root().alloc_uninit_slice::<u8>(3_000);
    assert_eq!(arena.stats().chunks, 3);
    arena.reset_with(Retain::Bytes(100_000));
    assert_eq!(arena.stats().chunks, 2);
    assert!(arena.stats().held <= 100_000);
    arena.reset_with(Retain::Bytes(500));
    assert_eq!((arena.stats().chunks, arena.stats().held), (0, 0));
}

#[test]
fn a_limit_stays_when_a_buffer_gets_a_spill() {
    let fixed = Fixed::new([core::mem::MaybeUninit::uninit(); 64]);
    fixed.set_limit(Some(10_000));
    let mut fixed = fixed.or_spill(Heap);
    let s = fixed.scope();
    assert!(s.try_alloc_uninit_slice::<u8>(20_000).is_err());
    assert!(s.try_alloc_uninit_slice::<u8>(5_000).is_ok());
    assert!(s.stats().held <= 10_000);
}

/// Uses 40,000 bytes in small blocks and a claim.
fn use_some(mut s: Scope<'_>) {
    for _ in 0..400 {
        s.try_alloc([0_u8; 100]).unwrap();
    }
    s.try_claim().unwrap().scope().try_alloc([0_u8; 100]).unwrap();
    s.scope().try_alloc([0_u8; 100]).unwrap();
}

#[test]
fn chunks_do_not_grow_because_earlier_ones_were_released() {
    let mut arena = Arena::new();
    arena.set_limit(Some(100_000));
    let mut fixed = Fixed::from_vec(Vec::with_capacity(500)).or_spill(Heap);
    fixed.set_limit(Some(100_000));
    let pool = Pool::new();
    pool.scope(|s| s.alloc_slice_fill_copy(10_000_000, 0_u8).len());
    for retained in [None, Some(0), Some(20_000)] {
        for _ in 0..20 {
            use_some(arena.scope());
            assert!(arena.stats().held <= 100_000, "{:?}", arena.stats());
            match retained {
                None => arena.trim(),
                Some(bytes) => arena.reset_with(Retain::Bytes(bytes)),
            }
            use_some(fixed.scope());
            fixed.trim();
            let mut pooled = pool.get();
            pooled.set_limit(Some(100_000));
            use_some(pooled.scope());
        }
    }
    arena.set_limit(None);
    arena.trim();
    use_some(arena.scope());
    assert!(arena.stats().held < 80_000, "{:?}", arena.stats());
}
