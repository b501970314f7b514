//! Claim: what bumpalo documents holds, also where ebbtide itself does something else: failures are
//! panics, nothing is dropped but in boxes and collections, chunks are listed from the newest one.
//! The tests of bumpalo itself run in `ci/others/same.sh`.

#![cfg(all(feature = "boxed", feature = "collections"))]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is a failure")]

use bumpalo::{
    AllocErr, Bump,
    boxed::Box,
    collections::{CollectIn, CollectionAllocErr, String, Vec, vec::IntoIter},
};
use std::{
    alloc::Layout,
    fmt::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
};

fn address<T: ?Sized>(value: &T) -> usize {
    std::ptr::from_ref(value).cast::<u8>().addr()
}

#[test]
fn failures_are_panics_that_can_be_caught() {
    let bump = Bump::new();
    bump.set_allocation_limit(Some(100));
    let panics = |allocate: &dyn Fn()| catch_unwind(AssertUnwindSafe(allocate)).is_err();
    assert!(panics(&|| *bump.alloc([0; 1000]) = [1; 1000]));
    assert!(panics(&|| bump.alloc_str(&"x".repeat(1000)).make_ascii_lowercase()));
    assert!(panics(&|| bump.alloc_slice_fill_copy(usize::MAX, 0).reverse()));
    assert!(panics(&|| drop(Vec::<u8>::with_capacity_in(1000, &bump))));
    assert!(panics(&|| (0..1000).collect_in::<Vec<_>>(&bump).clear()));
    assert!(panics(&|| write!(String::new_in(&bump), "{:1000}", "").unwrap()));
    assert!(panics(&|| drop(Box::new_in([0; 1000], &bump))));
    assert_eq!(bump.try_alloc([0; 1000]), Err(AllocErr));
    let mut vec = Vec::<u16>::new_in(&bump);
    assert_eq!(vec.try_reserve(usize::MAX), Err(CollectionAllocErr::CapacityOverflow));
    assert_eq!(vec.try_reserve(1000), Err(CollectionAllocErr::AllocErr));
    assert!(bump.allocated_bytes() <= 100 && bump.allocation_limit() == Some(100));
    bump.set_allocation_limit(None);
    assert_eq!(bump.alloc([7; 1000])[999], 7);
}

/// So the header of the first chunk does not count, whatever its size.
#[test]
fn a_limit_allows_a_first_request_of_as_many_bytes() {
    for limit in (16..9_000).step_by(16) {
        let bump = Bump::new();
        bump.set_allocation_limit(Some(limit));
        assert_eq!(bump.allocation_limit(), Some(limit));
        assert!(bump.try_alloc_layout(Layout::from_size_align(limit, 1).unwrap()).is_ok());
        assert_eq!(bump.allocated_bytes(), limit);
        assert_eq!(bump.try_alloc(1_u8), Err(AllocErr));
    }
    for limit in (0..9_000).chain([usize::MAX - 1_000, usize::MAX]) {
        let bump = Bump::new();
        bump.set_allocation_limit(Some(limit));
        assert_eq!(bump.allocation_limit(), Some(limit));
    }
}

#[test]
fn only_boxes_and_collections_drop() {
    let (counted, mut bump) = (Rc::new(()), Bump::new());
    bump.alloc(counted.clone());
    bump.alloc_with(|| counted.clone());
    bump.alloc_slice_fill_clone(3, &counted);
    bump.alloc_slice_fill_iter([counted.clone()]);
    assert_eq!(Rc::strong_count(&counted), 7);
    bump.reset();
    assert_eq!(Rc::strong_count(&counted), 7);
    {
        let mut list = bumpalo::vec![in &bump; counted.clone(); 5];
        list.truncate(4);
        list.drain_filter(|_| true).next();
        assert_eq!(Rc::strong_count(&counted), 7);
        list.push(counted.clone());
        let boxed = list.into_boxed_slice();
        assert_eq!((boxed.len(), Rc::strong_count(&counted)), (1, 8));
        drop(boxed);
        drop(Box::into_inner(Box::new_in(counted.clone(), &bump)));
        assert_eq!(Rc::strong_count(&counted), 7);
        assert_eq!(bumpalo::vec![in &bump; counted.clone()].into_iter().count(), 1);
    }
    assert_eq!(Rc::strong_count(&counted), 7);
}

/// The limits of a chunk are met by many sizes, so several chunks are in use.
#[test]
fn chunks_are_listed_from_the_newest_one_with_both_parts() {
    let mut bump = Bump::new();
    for n in 0..1000_u64 {
        bump.alloc(n);
    }
    // SAFETY: the memory is not used.
    let raw: std::vec::Vec<_> = unsafe { bump.iter_allocated_chunks_raw() }.collect();
    let parts: std::vec::Vec<_> = bump.iter_allocated_chunks().collect();
    assert!(parts.len() > 1);
    assert!(
        parts
            .iter()
            .map(|part| (part.as_ptr().addr(), part.len()))
            .eq(raw.iter().map(|part| (part.0.addr(), part.1)))
    );
    let values = parts.into_iter().flat_map(|part| {
        // SAFETY: the arena has values of this type only.
        let (before, values, after) = unsafe { part.align_to::<u64>() };
        assert!(before.is_empty() && after.is_empty());
        values
    });
    assert!(values.copied().eq((0..1000).rev()));

    bump.reset();
    bump.alloc(1_u8);
    assert_eq!(Vec::from_iter_in([2_u8, 3], &bump).into_bump_slice(), [2, 3]);
    let parts = bump.iter_allocated_chunks().map(|part| {
        // SAFETY: the arena has bytes only, all of them initialised.
        part.iter().map(|byte| unsafe { byte.assume_init() }).collect()
    });
    assert_eq!(parts.collect::<std::vec::Vec<std::vec::Vec<u8>>>(), [&[1][..], &[2, 3]]);
}

#[test]
fn a_reset_keeps_the_largest_chunk() {
    let mut bump = Bump::new();
    for round in 0..5 {
        for n in 0..1000_u64 {
            bump.alloc(n);
        }
        let held = bump.allocated_bytes_including_metadata();
        bump.reset();
        assert!(bump.allocated_bytes_including_metadata() <= held);
        assert!(round < 2 || bump.allocated_bytes_including_metadata() == held, "it settles");
        assert_eq!(bump.iter_allocated_chunks().count(), 0);
    }
    assert!(bump.allocated_bytes() >= 8000);
}

#[test]
fn every_allocation_has_the_minimum_alignment() {
    fn check<const ALIGN: usize>() {
        let bump = Bump::<ALIGN>::with_min_align();
        let layout = Layout::from_size_align(3, 1).unwrap();
        for _ in 0..10 {
            let slices = [
                address(bump.alloc_slice_copy(&[1_u8, 2, 3])),
                address(bump.alloc_slice_fill_iter([1_u8; 3])),
                address(bump.alloc_slice_try_fill_with(3, u8::try_from).unwrap()),
                address(bump.alloc_str("ebb")),
            ];
            let values = [
                address(bump.alloc(1_u8)),
                address(bump.alloc_with(|| [1_u8; 3])),
                address(bump.alloc_try_with(|| Ok::<_, ()>(1_u16)).unwrap()),
                address(bump.alloc(1_u64)),
                bump.alloc_layout(layout).addr().get(),
            ];
            assert!(slices.iter().chain(&values).all(|start| start % ALIGN == 0), "{ALIGN}");
        }
        assert_eq!((bump.alloc(258_u16), &*bump.alloc_str("flow")), (&mut 258, "flow"));
    }
    check::<1>();
    check::<2>();
    check::<4>();
    check::<8>();
    check::<16>();
    assert!(catch_unwind(Bump::<32>::with_min_align).is_err());
}

#[test]
fn scopes_give_their_memory_back() {
    let mut bump = Bump::with_capacity(1000);
    let kept: *const u32 = bump.alloc(1);
    for n in 0..100 {
        let s = bump.scope();
        s.alloc_slice_fill_copy(100, n);
    }
    // SAFETY: the arena was not reset.
    assert_eq!(unsafe { kept.read() }, 1);
    assert!(bump.allocated_bytes() < 2000);
    assert_eq!(bump.as_scope().alloc_fmt(format_args!("{}", 1)), "1");
}

/// One vector grows in place, also when other things are allocated, and gives its memory back.
#[test]
fn the_last_vector_grows_in_place() {
    let bump = Bump::with_capacity(10_000);
    let mut list = Vec::with_capacity_in(1, &bump);
    let start = list.as_ptr();
    for n in 0..500_u64 {
        list.push(n);
        bump.alloc(n);
    }
    assert_eq!((list.as_ptr(), list.len()), (start, 500));
    drop(list);
    assert_eq!(bumpalo::vec![in &bump; 1_u8].as_ptr(), start.cast());
}

/// The smaller ones would stay unused: what grows takes the largest chunk.
#[test]
fn a_reset_keeps_the_chunks_that_later_ones_do_not_exceed() {
    let mut bump = Bump::new();
    let mut fill = || {
        for _ in 0..150 {
            bump.alloc_slice_fill_copy(100_000, 1_u8);
        }
        bump.reset();
        let chunks = bump.as_ref().chunks().map(|chunk| chunk.capacity);
        chunks.collect::<std::vec::Vec<_>>()
    };
    let kept = fill();
    assert!(kept.len() > 1 && kept.iter().all(|capacity| *capacity > 4_000_000), "{kept:?}");
    fill();
    assert_eq!(fill(), fill(), "nothing is requested or released");
}

/// Otherwise a syntax tree, in which many vectors have one element, takes 14 % more memory than with
/// bumpalo.
#[test]
fn a_vector_of_one_large_element_has_room_for_one() {
    let bump = Bump::new();
    let mut list = Vec::new_in(&bump);
    list.push([1_u64; 8]);
    assert_eq!((list.capacity(), &*list), (1, &[[1; 8]][..]));
    list.push([2; 8]);
    assert_eq!(list, [[1; 8], [2; 8]]);
    let mut units = Vec::new_in(&bump);
    units.push(());
    assert_eq!(units, [()]);
}

#[cfg(feature = "allocator-api2")]
/// Generic code over these types relies on it, without a bound of its own: this compiles, or it does not.
#[test]
fn types_of_elements_imply_that_the_elements_outlive_the_arena() {
    fn outlives<'a, T: 'a>() {}
    fn boxed<'a, T>(_: Box<'a, T>) {
        outlives::<'a, T>();
    }
    fn vec<'a, T>(_: Vec<'a, T>) {
        outlives::<'a, T>();
    }
    fn into_iter<'a, T>(_: IntoIter<'a, T>) {
        outlives::<'a, T>();
    }
    let bump = Bump::new();
    boxed(Box::new_in(1, &bump));
    vec(bumpalo::vec![in &bump; 1]);
    into_iter(bumpalo::vec![in &bump; 1].into_iter());
}

#[test]
fn a_reference_is_an_allocator() {
    use allocator_api2::vec::Vec;
    let bump = Bump::<8>::with_min_align();
    let mut list = Vec::new_in(&bump);
    list.extend(0..100_u8);
    assert_eq!(list.as_ptr().addr() % 8, 0);
    list.shrink_to_fit();
    assert!(list.into_iter().eq(0..100));
}

ebbtide::__std_allocator! {
    #[test]
    fn a_reference_is_an_allocator_of_the_standard_library() {
        let bump = Bump::<8>::with_min_align();
        let mut list = std::vec::Vec::new_in(&bump);
        list.extend(0..100_u8);
        assert_eq!(list.as_ptr().addr() % 8, 0);
        list.shrink_to_fit();
        let text = std::boxed::Box::new_in([1_u8, 2], &bump);
        assert_eq!(std::ptr::from_ref(&*text).addr() % 8, 0);
        assert!(list.into_iter().eq(0..100));
    }
}

/// bumpalo exports `alloc` under this name without documenting it, and dioxus-core imports a trait from it.
#[test]
fn the_undocumented_name_of_alloc_is_exported() {
    let bump = Bump::new();
    let mut text = String::new_in(&bump);
    bumpalo::core_alloc::fmt::Write::write_fmt(&mut text, format_args!("{} and {}", "ebb", "flow"))
        .unwrap();
    assert_eq!(text, "ebb and flow");
}

#[cfg(feature = "serde")]
#[test]
fn boxes_and_collections_are_serialised() {
    let bump = Bump::new();
    let list = bumpalo::vec![in &bump; bumpalo::format!(in &bump, "{}", 1)];
    assert_eq!(serde_json::to_string(&Box::new_in(list, &bump)).unwrap(), r#"["1"]"#);
}

/// Drops nothing, but has a destructor, and no size.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {}
}

/// A request of no bytes was served.
#[track_caller]
fn none<T, E>(made: Result<T, E>) {
    assert!(made.is_ok(), "a request of no bytes needs no memory");
}

/// A request of some bytes, which may have been refused.
fn some<T, E>(made: Result<T, E>) {
    drop(made);
}

/// The fallible methods, in a `Bump` with any minimum alignment.
macro_rules! tries {
    ($align:literal) => {{
        let rows: [(&str, fn(&Bump<$align>)); 13] = [
            ("try_alloc", |b| {
                none(b.try_alloc(()));
                none(b.try_alloc(Dropped));
                some(b.try_alloc([7_u8; 900]));
            }),
            ("try_alloc_with", |b| {
                none(b.try_alloc_with(|| ()));
                some(b.try_alloc_with(|| [7_u8; 900]));
            }),
            ("try_alloc_try_with", |b| {
                none(b.try_alloc_try_with(|| Ok::<(), ()>(())));
                some(b.try_alloc_try_with(|| Err::<(), ()>(())));
                some(b.try_alloc_try_with(|| Ok::<_, ()>([7_u8; 900])));
            }),
            ("try_alloc_layout", |b| {
                none(b.try_alloc_layout(Layout::from_size_align(0, 1 << 16).unwrap()));
                some(b.try_alloc_layout(Layout::from_size_align(9, 1 << 16).unwrap()));
                some(b.try_alloc_layout(Layout::from_size_align(isize::MAX as usize, 1).unwrap()));
            }),
            ("try_alloc_slice_copy", |b| {
                none(b.try_alloc_slice_copy::<u8>(&[]));
                none(b.try_alloc_slice_copy(&[(); 3]));
                some(b.try_alloc_slice_copy(&[7_u8; 900]));
            }),
            ("try_alloc_slice_clone", |b| {
                none(b.try_alloc_slice_clone::<Rc<()>>(&[]));
                some(b.try_alloc_slice_clone(&[7_u8; 900]));
            }),
            ("try_alloc_slice_fill_with", |b| {
                none(b.try_alloc_slice_fill_with(3, |_| Dropped));
                none(b.try_alloc_slice_fill_with(0, |_| 7_u8));
                some(b.try_alloc_slice_fill_with(900, |_| 7_u8));
            }),
            ("try_alloc_slice_fill_copy", |b| {
                none(b.try_alloc_slice_fill_copy(0, 7_u64));
                some(b.try_alloc_slice_fill_copy(900, 7_u8));
                some(b.try_alloc_slice_fill_copy(usize::MAX, 7_u8));
            }),
            ("try_alloc_slice_fill_clone", |b| {
                none(b.try_alloc_slice_fill_clone(0, &7_u64));
                some(b.try_alloc_slice_fill_clone(900, &7_u8));
            }),
            ("try_alloc_slice_fill_iter", |b| {
                none(b.try_alloc_slice_fill_iter([(); 3]));
                none(b.try_alloc_slice_fill_iter([7_u8; 0]));
                some(b.try_alloc_slice_fill_iter([7_u8; 900]));
            }),
            ("try_alloc_slice_fill_default", |b| {
                none(b.try_alloc_slice_fill_default::<u64>(0));
                some(b.try_alloc_slice_fill_default::<u8>(900));
            }),
            ("try_alloc_str", |b| {
                none(b.try_alloc_str(""));
                some(b.try_alloc_str(&"x".repeat(900)));
            }),
            ("try_with_min_align_and_capacity", |_| {
                none(Bump::<$align>::try_with_min_align_and_capacity(0));
                some(Bump::<$align>::try_with_min_align_and_capacity(900));
                some(Bump::<$align>::try_with_min_align_and_capacity(usize::MAX));
            }),
        ];
        for limit in LIMITS {
            for (_, row) in rows {
                let mut bump = Bump::<$align>::with_min_align();
                bump.set_allocation_limit(limit);
                row(&bump);
                row(&bump);
                bump.reset();
                row(&bump);
                bump.set_allocation_limit(None);
                assert_eq!(bump.alloc([7_u8; 5000]), &[7; 5000]);
            }
        }
        rows.map(|(name, _)| name)
    }};
}

/// With each, another of the requests to the heap is the first one that is refused.
const LIMITS: [Option<usize>; 7] =
    [Some(0), Some(1), Some(368), Some(1000), Some(1500), Some(3000), None];

fn tries_of_collections() -> [&'static str; 2] {
    type Row = (&'static str, fn(&Bump));
    let rows: [Row; 2] = [
        ("try_reserve", |b| {
            none(Vec::<()>::new_in(b).try_reserve(usize::MAX));
            let mut list = Vec::<u64>::new_in(b);
            none(list.try_reserve(0));
            for size in [1, 20, 50, 90, usize::MAX] {
                some(list.try_reserve(size));
            }
        }),
        ("try_reserve_exact", |b| {
            let mut list = Vec::<u64>::new_in(b);
            none(list.try_reserve_exact(0));
            for size in [1, 20, 50, 90, usize::MAX] {
                some(list.try_reserve_exact(size));
            }
        }),
    ];
    for limit in LIMITS {
        for (_, row) in rows {
            let bump = Bump::new();
            bump.set_allocation_limit(limit);
            row(&bump);
        }
    }
    rows.map(|(name, _)| name)
}

#[test]
fn every_fallible_method_returns_whatever_is_refused() {
    let mut rows = std::vec::Vec::from(tries!(1));
    assert_eq!(rows, tries!(16));
    rows.extend(tries_of_collections());
    none(Bump::try_new());
    none(Bump::try_with_capacity(0));
    some(Bump::try_with_capacity(900));
    rows.extend(["try_new", "try_with_capacity"]);
    rows.sort_unstable();
    let source =
        [include_str!("../src/lib.rs"), include_str!("../src/collections/vec.rs")].concat();
    let methods = source.split("pub fn ").filter(|method| method.starts_with("try_"));
    let mut methods: std::vec::Vec<&str> =
        methods.map(|method| method.split(['<', '(']).next().unwrap()).collect();
    methods.sort_unstable();
    assert_eq!(rows, methods);
}

#[test]
fn a_request_of_no_bytes_needs_no_memory() {
    let bump = Bump::new();
    bump.set_allocation_limit(Some(0));
    bump.alloc(());
    assert_eq!(bump.alloc_try_with(|| Ok::<(), u8>(())), Ok(&mut ()));
    assert_eq!(bump.alloc_try_with(|| Err::<(), u8>(7)), Err(7));
    assert_eq!(bump.alloc_slice_try_fill_with(0, |_| Err::<u64, u8>(7)), Ok(&mut [][..]));
    assert_eq!(bump.alloc_slice_fill_iter([(); 2]), [(); 2]);
    assert_eq!(bump.alloc_str(""), "");
    assert_eq!(*Box::new_in((), &bump), ());
    drop(Box::new_in(Dropped, &bump));
    assert_eq!(*Box::from_iter_in([(); 2], &bump), [(); 2]);
    assert_eq!(bumpalo::format!(in &bump, "{}", ""), "");
    let mut list = bumpalo::vec![in &bump; (); 3];
    assert_eq!(list.split_off(1).len(), 2);
    assert_eq!(bump.allocated_bytes(), 0);
    let panics = |allocate: &dyn Fn()| catch_unwind(AssertUnwindSafe(allocate)).is_err();
    assert!(panics(&|| drop(Box::new_in(1_u32, &bump))));
    assert!(panics(&|| drop(Box::pin_in(1_u32, &bump))));
    assert!(panics(&|| drop(bump.alloc_try_with(|| Ok::<_, ()>(1)))));
    assert!(panics(&|| drop(bump.alloc_slice_try_fill_with(9, |_| Ok::<_, ()>(1)))));
    assert!(panics(&|| drop(Vec::from_iter_in([1, 2], &bump))));
    assert!(panics(&|| drop(Vec::new_in(&bump).splice(.., [1, 2]))));
}

#[cfg(feature = "allocator-api2")]
#[test]
fn the_allocator_serves_a_block_of_no_bytes_without_memory() {
    use allocator_api2::alloc::Allocator;
    let bump = Bump::new();
    bump.set_allocation_limit(Some(0));
    let (empty, some) = (Layout::from_size_align(0, 64).unwrap(), Layout::new::<u64>());
    let allocator = &bump;
    let block = allocator.allocate(empty).unwrap().cast();
    // SAFETY: the block was just allocated with this layout; a failure leaves it as it is.
    assert!(unsafe { allocator.grow(block, empty, some) }.is_err());
    // SAFETY: the same.
    let block = unsafe { allocator.shrink(block, empty, Layout::new::<()>()) }.unwrap().cast();
    // SAFETY: the block was just shrunk to this layout.
    unsafe { allocator.deallocate(block, Layout::new::<()>()) };
    assert_eq!(bump.allocated_bytes(), 0);
    bump.set_allocation_limit(None);
    let block = allocator.allocate(some).unwrap().cast();
    // SAFETY: the block was just allocated with this layout.
    unsafe { allocator.deallocate(block, some) };
}

/// As with bumpalo, which takes the layout of the first request for the first chunk.
#[test]
fn a_first_request_makes_a_chunk_of_about_its_size() {
    #[derive(Clone, Copy)]
    #[repr(align(128))]
    struct Line(u8);

    fn check<const ALIGN: usize>() {
        type Method<const ALIGN: usize> = fn(&Bump<ALIGN>, usize);
        let methods: [(&str, Method<ALIGN>); 9] = [
            ("alloc_layout at 1", |bump, size| {
                bump.alloc_layout(Layout::from_size_align(size, 1).unwrap());
            }),
            ("alloc_layout at 256", |bump, size| {
                bump.alloc_layout(Layout::from_size_align(size, 256).unwrap());
            }),
            ("alloc_layout at 4096", |bump, size| {
                bump.alloc_layout(Layout::from_size_align(size, 4096).unwrap());
            }),
            ("alloc_str", |bump, size| {
                bump.alloc_str(&"x".repeat(size));
            }),
            ("alloc_slice_copy", |bump, size| {
                bump.alloc_slice_copy(&vec![1_u8; size]);
            }),
            ("alloc_slice_fill_with", |bump, size| {
                bump.alloc_slice_fill_with(size / 2, |_| 1_u16);
            }),
            ("alloc_slice_fill_iter", |bump, size| {
                bump.alloc_slice_fill_iter(vec![1_u32; size / 4]);
            }),
            ("alloc_slice_fill_copy of lines", |bump, size| {
                bump.alloc_slice_fill_copy(size / 128, Line(1));
            }),
            ("alloc_slice_try_fill_with", |bump, size| {
                bump.alloc_slice_try_fill_with(size, |_| Ok::<_, ()>(1_u8)).unwrap();
            }),
        ];
        for (name, method) in methods {
            for size in [200, 1_000, 5_000, 100_000, 128_000, 5_000_000] {
                // What is outside the capacity of a large first chunk takes 320 bytes.
                let most = size + size / 4 + 4096 + 320;
                let bump = Bump::<ALIGN>::with_min_align();
                // So that it does not begin in the block of a dropped one.
                bump.set_allocation_limit(None);
                method(&bump, size);
                let held = bump.allocated_bytes_including_metadata();
                assert!(held <= most, "{name} of {size} at {ALIGN}: {held}");
                let bump = Bump::<ALIGN>::with_min_align();
                bump.set_allocation_limit(Some(most));
                method(&bump, size);
            }
        }
    }
    check::<1>();
    check::<8>();
    check::<16>();
    assert_eq!(Line(1).0, 1);
    for size in [200, 5_000, 100_000, 5_000_000] {
        let most = size + size / 4 + 4096;
        let alone = || {
            let bump = Bump::new();
            bump.set_allocation_limit(None);
            bump
        };
        let bump = alone();
        assert!(Vec::<u64>::with_capacity_in(size / 8, &bump).is_empty());
        assert!(bump.allocated_bytes_including_metadata() <= most, "a vector of {size} bytes");
        let bump = alone();
        assert!(String::with_capacity_in(size, &bump).is_empty());
        assert!(bump.allocated_bytes_including_metadata() <= most, "a string of {size} bytes");
    }
    let bump = Bump::new();
    bump.set_allocation_limit(Some(190_000));
    assert!(bump.try_alloc_layout(Layout::from_size_align(100_000, 4096).unwrap()).is_ok());
}
