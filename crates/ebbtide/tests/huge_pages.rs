//! Claim: huge pages serve an arena like the heap; mappings are aligned, advised and returned.
#![cfg(all(feature = "huge-pages", unix))]

use crate::common::{Watched, assert_works};
use ebbtide::{Arena, Backing, Fixed, HugePages, Retain};
use std::{alloc::Layout, mem::MaybeUninit};
#[cfg(all(target_os = "linux", not(miri)))]
use {
    crate::common::{address, role, start, this_test},
    ebbtide::Heap,
    std::{ops::Range, ptr::NonNull},
};

const MIB: usize = 1 << 20;
const HUGE: usize = 2 * MIB;

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 16).unwrap()
}

/// The mappings of this process, with their attributes.
#[cfg(all(target_os = "linux", not(miri)))]
fn mappings() -> Vec<(Range<usize>, String)> {
    let mut mappings: Vec<(Range<usize>, String)> = Vec::new();
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let bounds =
            line.split(' ').next().unwrap().split_once('-').map(|(start, end)| {
                (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
            });
        if let Some((Ok(start), Ok(end))) = bounds {
            mappings.push((start..end, String::new()));
        } else {
            let (_, text) = mappings.last_mut().unwrap();
            text.push_str(line);
            text.push('\n');
        }
    }
    mappings
}

/// Whether every byte of the range is mapped.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_mapped(range: &Range<usize>) -> bool {
    let mut from = range.start;
    for (mapping, _) in mappings() {
        if mapping.contains(&from) {
            from = mapping.end;
        }
    }
    from >= range.end
}

#[test]
fn the_whole_method_set_works_in_huge_pages() {
    let (backing, log) = Watched::over(HugePages);
    let mut arena = Arena::with_chunk_size_in(3 * MIB, backing);
    for _ in 0..3 {
        let mut s = arena.scope();
        assert_works(&s);
        let large = s.alloc_zeroed_slice::<u64>(MIB);
        let text = s.alloc_fmt(format_args!("{:>1$}", "at the end", 5000));
        let odd = s.alloc_slice_from_iter((0..400_000u64).filter(|n| n % 2 == 1));
        let boxed = s.boxed(vec![String::from("dropped")]);
        for _ in 0..100 {
            let inner = s.scope();
            assert_works(&inner);
            inner.alloc_uninit_slice::<u8>(MIB / 2);
        }
        assert_works(s.claim().scope());
        assert!(large.iter().all(|n| *n == 0) && text.ends_with(" at the end"));
        assert!(odd.iter().enumerate().all(|(i, n)| *n == 2 * i as u64 + 1));
        assert_eq!(*boxed, ["dropped"]);
    }
    assert_eq!(log.held(), arena.stats().held);
    arena.trim();
    assert_eq!(log.live(), 1);
    arena.root().alloc([7u8; 100]);
    arena.reset_with(Retain::OneChunk);
    assert_works(&arena.scope());
    drop(arena);
    assert_eq!((log.live(), log.releases()), (0, log.calls()));
}

#[test]
fn a_small_arena_reaches_huge_pages_by_doubling() {
    let (backing, log) = Watched::over(HugePages);
    let arena = Arena::new_in(backing);
    let mut kept = Vec::new();
    for i in 0..3 * MIB as u64 {
        kept.push(arena.root().alloc(i));
    }
    assert!(kept.iter().enumerate().all(|(i, n)| **n == i as u64));
    assert!(log.sizes().iter().any(|size| *size < 100_000));
    assert!(log.sizes().iter().any(|size| *size > 3 * MIB));
    drop(arena);
    assert_eq!(log.live(), 0);
}

/// A byte to fill a block of `size` bytes with.
fn mark(size: usize) -> u8 {
    size.to_le_bytes()[0]
}

#[test]
fn blocks_are_aligned_disjoint_and_whole() {
    let sizes =
        [1, 16, 4096, 7 * HUGE / 8 - 1, 7 * HUGE / 8, HUGE - 32, HUGE, HUGE + 1, 5 * MIB + 7];
    for align in [1, 16, 4096, HUGE, 4 * HUGE] {
        let mut blocks = Vec::new();
        for size in sizes {
            let layout = Layout::from_size_align(size, align).unwrap();
            let block = HugePages.allocate(layout).unwrap();
            let start = block.addr().get();
            assert_eq!(start % align, 0);
            assert!(block.len() >= size);
            assert!(size < 7 * HUGE / 8 || start % HUGE == 0, "{size}");
            // SAFETY: the block is owned by this test and has that many bytes.
            unsafe { block.cast::<u8>().write_bytes(mark(size), size) };
            blocks.push((block.cast::<u8>(), layout));
        }
        for (block, layout) in blocks {
            for at in [0, layout.size() / 2, layout.size() - 1] {
                // SAFETY: within the block.
                let byte = unsafe { block.add(at) };
                // SAFETY: written above.
                assert_eq!(unsafe { byte.read() }, mark(layout.size()));
            }
            // SAFETY: allocated above with this layout, and not used again.
            unsafe { HugePages.release(block, layout) };
        }
    }
}

// In 32 bits, the largest request is two gibibytes, which may succeed.
#[cfg(target_pointer_width = "64")]
#[test]
fn requests_beyond_any_memory_are_refused() {
    // A sanitizer or an emulator may abort where the system only refuses.
    for size in [isize::MAX as usize & !15, (isize::MAX as usize & !15) - 2 * HUGE, 1 << 62] {
        assert!(HugePages.allocate(layout(size)).is_err());
        assert!(Arena::try_with_capacity_in(size - 4096, HugePages).is_err());
    }
    let wide = Layout::from_size_align(HUGE, 1 << 62).unwrap();
    assert!(HugePages.allocate(wide).is_err());
    assert!(HugePages.allocate(Layout::new::<()>()).is_err());
    let mut arena = Arena::new_in(HugePages);
    let s = arena.scope();
    assert!(s.try_alloc_uninit_slice::<u8>(1 << 62).is_err());
    assert_works(&s);
}

#[test]
fn a_limit_counts_requested_bytes_exactly() {
    let mut arena = Arena::with_chunk_size_in(4 * MIB, HugePages);
    let _ = arena.scope();
    let held = arena.stats().held;
    assert!((4 * MIB..4 * MIB + 4096).contains(&held));
    arena.set_limit(Some(held));
    let s = arena.scope();
    assert!(s.try_alloc_uninit_slice::<u8>(4 * MIB).is_ok());
    assert!(s.try_alloc_uninit_slice::<u8>(1).is_err());
    arena.set_limit(Some(held + 8 * MIB));
    let s = arena.scope();
    assert!(s.try_alloc_uninit_slice::<u8>(8 * MIB).is_err(), "its header goes beyond");
    assert!(s.try_alloc_uninit_slice::<u8>(8 * MIB - 4096).is_ok());
    assert_eq!(s.stats().chunks, 2);
}

#[test]
fn a_buffer_may_spill_to_huge_pages() {
    let mut fixed = Fixed::new([MaybeUninit::uninit(); 256]).or_spill(HugePages);
    let s = fixed.scope();
    let first = s.alloc([1u8; 256]);
    let second = s.alloc_slice_fill_copy(HUGE, 2u8);
    assert_eq!((first[255], second[HUGE - 1]), (1, 2));
}

#[test]
fn an_arena_of_huge_pages_can_move_between_threads() {
    let mut arena = Arena::with_capacity_in(HUGE, HugePages);
    arena.root().alloc(1);
    let mut arena = std::thread::spawn(move || {
        assert_works(&arena.scope());
        arena
    })
    .join()
    .unwrap();
    assert_works(&arena.scope());
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn mappings_are_advised_and_unmapped() {
    // Large, so that nothing else in this process can reuse all of their addresses.
    for size in [64 * MIB, 64 * MIB + 5000, 64 * MIB - 32] {
        let block = HugePages.allocate(layout(size)).unwrap().cast::<u8>();
        let range = block.addr().get()..block.addr().get() + size;
        assert!(is_mapped(&range));
        let has_huge_pages = std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap();
        for (mapping, text) in mappings() {
            if has_huge_pages && mapping.start < range.end && range.start < mapping.end {
                let flags = text.lines().find(|line| line.starts_with("VmFlags:")).unwrap();
                assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
            }
        }
        // SAFETY: allocated above with this layout, and not used again.
        unsafe { HugePages.release(block, layout(size)) };
        assert!(
            !mappings()
                .iter()
                .any(|(mapping, _)| { mapping.start <= range.start && range.end <= mapping.end })
        );
    }

    let mut arena = Arena::with_chunk_size_in(64 * MIB, HugePages);
    let place = address(arena.scope().alloc([0u8; 64]));
    let range = place - 32 * MIB..place;
    assert!(is_mapped(&range));
    arena.reset_with(Retain::Bytes(0));
    assert!(!is_mapped(&range));
}

/// The parts of the range that were advised to use huge pages.
#[cfg(all(target_os = "linux", not(miri)))]
fn advised(range: &Range<usize>) -> Vec<Range<usize>> {
    let is_advised = |text: &str| {
        let flags = text.lines().find(|line| line.starts_with("VmFlags:"));
        flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hg"))
    };
    mappings()
        .into_iter()
        .filter(|(_, text)| is_advised(text))
        .map(|(mapping, _)| mapping.start.max(range.start)..mapping.end.min(range.end))
        .filter(|part| !part.is_empty())
        .collect()
}

/// The huge pages that are entirely inside the range.
#[cfg(all(target_os = "linux", not(miri)))]
fn whole_pages(range: &Range<usize>) -> Range<usize> {
    range.start.next_multiple_of(HUGE)..range.end / HUGE * HUGE
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn the_heap_advises_the_huge_pages_in_large_blocks_and_nothing_else() {
    if !std::fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap() {
        return;
    }
    // The heap reuses memory of other tests, some of which is advised.
    if role().is_none() {
        let child = start(this_test!(), "alone");
        let output = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && output.contains("1 passed"), "{output}");
        return;
    }
    let allocate = |size| {
        let block = Heap.allocate(layout(size)).unwrap().cast::<u8>();
        (block, block.addr().get()..block.addr().get() + size)
    };
    let release = |blocks: Vec<(NonNull<u8>, Range<usize>)>| {
        for (block, range) in blocks {
            // SAFETY: allocated with this layout, and not used again.
            unsafe { Heap.release(block, layout(range.len())) };
        }
    };
    // So large that the heap maps each of them, and of different sizes, so that they end at
    // different offsets in a page.
    let blocks: Vec<_> = [64 * MIB, 65 * MIB, 64 * MIB + 5000, 67 * MIB].map(allocate).into();
    for (_, range) in &blocks {
        assert_eq!(advised(range), [whole_pages(range)]);
    }
    release(blocks);
    // Some may reuse addresses of a larger block that was advised, but not all of them.
    let blocks: Vec<_> = [2 * HUGE - 64 * 1024; 16].map(allocate).into();
    let is_spared =
        |range: &Range<usize>| !whole_pages(range).is_empty() && advised(range).is_empty();
    assert!(blocks.iter().any(|(_, range)| is_spared(range)));
    release(blocks);
}
