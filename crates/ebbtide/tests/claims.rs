//! Claim: a claim has its own chunks, returns them when it ends, and does not affect its parent.

#![cfg(feature = "std")]

use ebbtide::{Arena, Fixed, Heap, Retain, StackArena};

#[test]
fn parent_and_claim_allocate_side_by_side() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let claim = s.claim();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for n in 0..2_000_u64 {
        ours.push(s.alloc([n; 3]));
        theirs.push(claim.scope().alloc([!n; 3]));
    }
    for n in 0..2_000_u64 {
        let index = usize::try_from(n).unwrap();
        assert_eq!((*ours[index], *theirs[index]), ([n; 3], [!n; 3]));
    }
}

#[test]
fn claims_may_end_in_any_order() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let kept = s.alloc(7);
    let (first, second, third) = (s.claim(), s.claim(), s.claim());
    let (a, b) = (first.scope().alloc(1), third.scope().alloc(3));
    drop(second);
    let fourth = s.claim();
    fourth.scope().alloc_slice_fill_copy(10_000, 4_u64);
    assert_eq!((*a, *b), (1, 3));
    drop(first);
    drop(fourth);
    assert_eq!((*b, *kept), (3, 7));
    drop(third);
    assert_eq!(s.alloc(8), &8);
}

#[test]
fn a_warm_claim_does_not_call_the_backing() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let turn = || {
        let claim = s.claim();
        for n in 0..1_000_u64 {
            claim.scope().alloc(n);
        }
        let inner = claim.scope().claim();
        inner.scope().alloc_slice_fill_copy(50_000, 1_u8);
    };
    turn();
    turn();
    let held = s.stats().held;
    for _ in 0..100 {
        turn();
    }
    assert_eq!(s.stats().held, held);
}

#[test]
fn a_large_spare_chunk_is_found_behind_many_small_ones() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let large = s.claim();
    large.scope().alloc_zeroed_slice::<u8>(1 << 20);
    drop(large);
    let small: Vec<_> = (0..20).map(|_| s.claim()).collect();
    drop(small);
    let held = s.stats().held;
    s.alloc_zeroed_slice::<u8>(1 << 19);
    assert_eq!(s.stats().held, held);
    // The small ones have no room for this.
    s.alloc_zeroed_slice::<u8>(1 << 20);
    assert!(s.stats().held > held + (1 << 20));
}

#[test]
fn reset_recovers_the_chunks_of_a_forgotten_claim() {
    let mut arena = Arena::new();
    let forget = |arena: &mut Arena| {
        let s = arena.scope();
        s.alloc(1);
        let claim = s.claim();
        claim.scope().alloc_zeroed_slice::<u8>(20_000);
        std::mem::forget(claim);
    };
    forget(&mut arena);
    let held = arena.stats().held;
    for _ in 0..20 {
        arena.reset();
        forget(&mut arena);
        assert_eq!(arena.stats().held, held);
    }
    arena.reset();
    assert_eq!(arena.chunks().map(|chunk| chunk.capacity).sum::<usize>(), arena.stats().capacity);
    arena.trim();
    assert_eq!(arena.stats().chunks, 1);
    arena.reset_with(Retain::Bytes(0));
    assert_eq!(arena.stats().held, 0);
}

#[test]
fn a_parent_that_moved_on_keeps_its_chunks_through_a_claim() {
    let mut arena = Arena::with_chunk_size(256);
    let mut s = arena.scope();
    let kept: Vec<&mut [u8; 100]> = (0..10).map(|n| s.alloc([n; 100])).collect();
    {
        let child = s.scope();
        child.alloc([0_u8; 200]);
        let claim = child.claim();
        claim.scope().alloc_slice_fill_copy(5_000, 0xAA_u8);
        child.alloc_slice_fill_copy(5_000, 0xBB_u8);
    }
    s.alloc_slice_fill_copy(5_000, 0xCC_u8);
    for (n, bytes) in (0..).zip(kept) {
        assert_eq!(*bytes, [n; 100]);
    }
}

#[test]
fn claim_fails_in_a_buffer_without_a_spill() {
    let mut arena = StackArena::<100>::new();
    let s = arena.scope();
    assert!(s.try_claim().is_err());
    assert!(s.try_alloc([0_u8; 100]).is_ok());
}

#[test]
fn a_claim_over_a_buffer_takes_chunks_from_the_spill_and_returns_them() {
    let mut fixed = Fixed::new([std::mem::MaybeUninit::uninit(); 64]).or_spill(Heap);
    for _ in 0..3 {
        let s = fixed.scope();
        let claim = s.claim();
        assert_eq!(claim.scope().alloc([1_u8; 64]), s.alloc([1_u8; 64]));
        std::mem::forget(claim);
    }
    fixed.trim();
    assert_eq!(fixed.stats().held, 0);
}

/// What a claim may hold of the backing beside twice what was allocated in it: the rest of its
/// first chunk, and headers.
const PER_CLAIM: usize = 700;

#[test]
fn a_claim_costs_what_it_holds() {
    for bytes in [1, 16, 300, 400, 1_000, 10_000, 100_000] {
        let mut arena = Arena::new();
        let s = arena.scope();
        let before = s.stats().held;
        let count = (200_000 / bytes).clamp(5, 100);
        let claims: Vec<_> = (0..count).map(|_| s.claim()).collect();
        for claim in &claims {
            for _ in 0..bytes / 8 {
                claim.scope().alloc(0_u64);
            }
            claim.scope().alloc_slice_fill_copy(bytes % 8, 0_u8);
        }
        let each = (s.stats().held - before) / claims.len();
        assert!(each <= 2 * bytes + PER_CLAIM, "{each} bytes for {bytes}");
    }
}

#[test]
fn a_large_block_in_a_claim_costs_its_size() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let before = s.stats().held;
    let claims: Vec<_> = (0..20).map(|_| s.claim()).collect();
    for claim in &claims {
        claim.scope().alloc_slice_fill_copy(100_000, 1_u8);
    }
    let each = (s.stats().held - before) / claims.len();
    assert!(each <= 100_000 + 2 * PER_CLAIM, "{each} bytes");
}

#[test]
fn hundreds_of_nested_claims_cost_what_they_hold() {
    fn nest(s: &ebbtide::Scope<'_>, depth: usize) -> usize {
        let claim = s.claim();
        let kept = claim.scope().alloc([depth; 2]);
        let held = match depth {
            1 => s.stats().held,
            _ => nest(claim.scope(), depth - 1),
        };
        assert_eq!(*kept, [depth; 2]);
        held
    }
    let mut arena = Arena::new();
    let s = arena.scope();
    let before = s.stats().held;
    let each = (nest(&s, 300) - before) / 300;
    assert!(each <= 2 * 16 + PER_CLAIM, "{each} bytes");
}

#[test]
fn a_limit_has_room_for_many_small_claims() {
    let mut arena = Arena::new();
    arena.set_limit(Some(64 << 10));
    let s = arena.scope();
    let claims: Vec<_> = (0..64).map(|n: u8| (s.claim(), n)).collect();
    let kept: Vec<_> = claims.iter().map(|(claim, n)| claim.scope().alloc(*n)).collect();
    assert!(kept.iter().zip(0..).all(|(kept, n)| **kept == n));
}

#[test]
fn a_claim_takes_any_spare_chunk_if_the_backing_refuses() {
    let mut arena = Arena::new();
    {
        let s = arena.scope();
        s.alloc_zeroed_slice::<u8>(100_000);
    }
    arena.set_limit(Some(1));
    let s = arena.scope();
    let held = s.stats().held;
    let claim = s.claim();
    claim.scope().alloc_zeroed_slice::<u8>(50_000);
    assert_eq!(s.stats().held, held);
}

#[test]
fn small_claims_leave_large_chunks_to_their_parent() {
    let mut arena = Arena::new();
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut s = arena.scope();
        s.scope().alloc_zeroed_slice::<u8>(1_000_000);
        let claims: Vec<_> = (0..50).map(|_| s.claim()).collect();
        for claim in &claims {
            claim.scope().alloc(1_u64);
        }
        for _ in 0..1_000 {
            s.alloc([0_u8; 1_000]);
        }
        held.push(s.stats().held);
    }
    assert_eq!(held[1], held[19], "{held:?}");
}

#[test]
fn forgotten_claims_come_back_with_the_next_scope() {
    fn forget(s: &ebbtide::Scope<'_>) -> usize {
        let claim = s.claim();
        claim.scope().alloc_zeroed_slice::<u8>(1_000);
        std::mem::forget(claim);
        std::mem::forget(s.claim());
        s.alloc([0_u8; 100]);
        s.stats().held
    }
    let mut arena = Arena::new();
    let mut fixed = Fixed::new([std::mem::MaybeUninit::uninit(); 64]).or_spill(Heap);
    let (first, first_fixed) = (forget(&arena.scope()), forget(&fixed.scope()));
    for _ in 0..100 {
        assert_eq!(forget(&arena.scope()), first);
        assert_eq!(forget(&fixed.scope()), first_fixed);
        // A scope without claims in between takes the chunks back, too.
        let _ = arena.scope();
        assert_eq!(arena.chunks().count(), arena.stats().chunks);
    }
}

#[test]
fn forgotten_claims_of_a_kept_root_leave_its_allocations() {
    let mut arena = Arena::new();
    let address = std::ptr::from_ref(arena.root().alloc([7_u8; 1_000])).addr();
    let mut held = 0;
    for turn in 0..50 {
        let s = arena.scope();
        let claim = s.claim();
        let theirs = claim.scope().alloc_slice_fill_copy(3_000, turn);
        assert!(!(address..address + 1_000).contains(&theirs.as_ptr().addr()));
        std::mem::forget(claim);
        held = if turn == 0 { s.stats().held } else { held };
        assert_eq!(s.stats().held, held);
    }
    assert_eq!(arena.stats().used, 1_000);
}

#[test]
fn forgotten_claims_of_default_scopes_come_back() {
    fn forget(depth: usize) {
        ebbtide::scope(|s| {
            let kept = s.alloc(depth);
            for _ in 0..10 {
                std::mem::forget(s.claim());
            }
            if depth > 0 {
                forget(depth - 1);
            }
            assert_eq!(*kept, depth);
        });
    }
    forget(2);
    forget(2);
    let held = ebbtide::local::stats().held;
    for _ in 0..100 {
        forget(2);
        // The next scope is not nested and makes no claim.
        ebbtide::scope(|s| *s.alloc(1));
    }
    assert_eq!(ebbtide::local::stats().held, held);
    let twice = || ebbtide::scope(|s| std::mem::forget((s.claim(), s.claim())));
    for _ in 0..100 {
        twice();
    }
    assert_eq!(ebbtide::local::stats().held, held);
}
