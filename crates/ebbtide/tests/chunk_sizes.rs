//! Claims: except for the first chunk and chunks of one large request, no chunk is larger than 4
//! MiB, whatever the size of the first one; and chunks that were released do not make later ones
//! larger. The first request of an arena, at any alignment, makes a chunk of about its size.

#![cfg(feature = "std")]

use ebbtide::{Arena, DropArena, Fixed, Heap, Pool, Retain, Scope, collections::Owning};
use std::alloc::Layout;

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
    let _ = arena.scope();
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

/// Calls each method with a first request of `len` values of `T`, and returns the bytes held then.
fn held_after_first<T: Copy>(value: T, len: usize) -> Vec<(&'static str, usize)> {
    type Method<T> = fn(&Arena, T, usize);
    let methods: [(&str, Method<T>); 14] = [
        ("alloc_layout", |arena, _, len| {
            arena.alloc_layout(Layout::array::<T>(len).unwrap());
        }),
        ("alloc_uninit_slice", |arena, _, len| {
            arena.alloc_uninit_slice::<T>(len);
        }),
        ("alloc_uninit_slice_aligned", |arena, _, len| {
            arena.alloc_uninit_slice_aligned::<u8>(len * size_of::<T>(), align_of::<T>());
        }),
        ("alloc_slice_copy", |arena, value, len| {
            arena.alloc_slice_copy(&vec![value; len]);
        }),
        ("alloc_slice_fill_copy", |arena, value, len| {
            arena.alloc_slice_fill_copy(len, value);
        }),
        ("alloc_slice_fill_with", |arena, value, len| {
            arena.alloc_slice_fill_with(len, |_| value);
        }),
        ("alloc_slice_fill_iter", |arena, value, len| {
            arena.alloc_slice_fill_iter((0..len).map(|_| value));
        }),
        ("alloc_slice_from_iter", |arena, value, len| {
            arena.alloc_slice_from_iter((0..len).map(|_| value));
        }),
        ("alloc_vec", |arena, value, len| {
            arena.alloc_vec(vec![value; len]);
        }),
        ("alloc_boxed_slice", |arena, value, len| {
            arena.alloc_boxed_slice(vec![value; len].into());
        }),
        ("boxed_slice_fill_with", |arena, value, len| {
            arena.boxed_slice_fill_with(len, |_| value);
        }),
        ("Owning", |arena, value, len| {
            Owning::over(arena).extend_from_slice(&vec![value; len]);
        }),
        ("root", |arena, _, len| {
            arena.root().alloc_uninit_slice::<T>(len);
        }),
        ("vec_with_capacity", |arena, _, len| {
            assert!(arena.root().vec_with_capacity::<T>(len).is_empty());
        }),
    ];
    let mut held = Vec::new();
    for (name, method) in methods {
        let arena = Arena::new();
        method(&arena, value, len);
        held.push((name, arena.stats().held));
    }
    let mut arena = Arena::new();
    arena.scope().alloc_uninit_slice::<T>(len);
    held.push(("scope", arena.stats().held));
    let arena = DropArena::new();
    arena.alloc_slice_from_iter(vec![value; len]);
    held.push(("DropArena", arena.stats().held));
    held
}

#[test]
fn a_first_request_makes_a_chunk_of_about_its_size_at_any_alignment() {
    #[derive(Clone, Copy)]
    #[repr(align(128))]
    struct At128(u8);
    #[derive(Clone, Copy)]
    #[repr(align(1024))]
    struct At1024(u8);
    #[derive(Clone, Copy)]
    #[repr(align(4096))]
    struct At4096(u8);
    assert_eq!((At128(1).0, At1024(1).0, At4096(1).0), (1, 1, 1));
    /// The size of an ordinary first chunk, and of the one after it.
    const FIRST: usize = 16 << 10;
    let check = |size: usize, align: usize, held: Vec<(&str, usize)>| {
        for (name, held) in held {
            let only = size + size / 4 + 2 * align.max(4096);
            // A scope, and a root, has the first chunk before the request is known.
            let has_first = ["root", "vec_with_capacity", "scope"].contains(&name);
            let most = if has_first { (FIRST + only).max(3 * FIRST) } else { only.max(FIRST) };
            assert!(held <= most, "{name}: {held} bytes held for {size} at {align}");
        }
    };
    for size in [100, 5_000, 16_500, 20_000, 100_000, 1_000_000, 4_000_000] {
        check(size, 1, held_after_first([1_u8], size));
        check(size, 16, held_after_first([1_u128], size / 16));
        check(size, 128, held_after_first(At128(1), size / 128));
        check(size, 1024, held_after_first(At1024(1), size / 1024));
        check(size, 4096, held_after_first(At4096(1), size / 4096));
    }
    // Layouts whose size is no multiple of the alignment, up to large alignments.
    for size in [1, 100, 5_000, 99_999, 5_000_000] {
        for align in (0..=21).map(|shift| 1 << shift) {
            let layout = Layout::from_size_align(size, align).unwrap();
            let arena = Arena::new();
            // So that it does not begin in the block of a dropped one.
            arena.set_limit(None);
            arena.alloc_layout(layout);
            let stats = arena.stats();
            let most = (size + size / 4 + align + 4096).max(FIRST);
            assert!(stats.held <= most && stats.chunks == 1, "{layout:?}: {stats:?}");
            let arena = Arena::new();
            arena.set_limit(Some(most));
            assert!(arena.try_alloc_layout(layout).is_ok(), "{layout:?} within {most}");
        }
    }
}

/// Unused chunks that are a little too small must not pile up.
#[test]
fn large_requests_that_grow_hold_a_few_times_the_largest() {
    const FIRST: usize = 5_000_000;
    const STEPS: usize = 400;
    const MOST: usize = 4 * (FIRST + 16 * STEPS) + (1 << 16);
    let mut arena = Arena::new();
    {
        let s = arena.scope();
        (0..STEPS).for_each(|i| s.reserve(FIRST + 16 * i));
        assert!(s.stats().held <= MOST, "reserved: {}", s.stats());
    }
    arena.reset_with(Retain::Bytes(0));
    for i in 0..STEPS {
        arena.scope().alloc_uninit_slice::<u8>(FIRST + 16 * i);
    }
    assert!(arena.held() <= MOST, "allocated: {}", arena.stats());
    arena.reset_with(Retain::Bytes(0));
    for i in 0..STEPS {
        assert!(arena.scope().vec_with_capacity::<u8>(FIRST + 16 * i).is_empty());
    }
    assert!(arena.held() <= MOST, "vectors: {}", arena.stats());
    arena.reset_with(Retain::Bytes(0));
    {
        let s = arena.scope();
        let claim = s.claim();
        (0..STEPS).for_each(|i| claim.scope().reserve(FIRST + 16 * i));
        assert!(s.stats().held <= MOST, "reserved in a claim: {}", s.stats());
    }
    // In one scope, where all of them live, nothing is added.
    arena.reset_with(Retain::Bytes(0));
    let s = arena.scope();
    for i in 0..10 {
        s.alloc_uninit_slice::<u8>(FIRST + 16 * i);
    }
    assert!(s.stats().held <= 10 * (FIRST + 4096) + (1 << 16), "alive: {}", s.stats());
}
