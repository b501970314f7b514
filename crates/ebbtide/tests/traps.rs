//! Claim: safe programs are safe from every known trap of this design.
//!
//! Each test is an attack that worked on a prototype, or that an invariant in `src/raw.rs`
//! prevents. They are independent of each other; the file is long because there are many.

#![cfg(feature = "std")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{
    Adjacent, Generous, Reentrant, Skewed, Watched, address, assert_apart, assert_works, end,
    extent, panic_of, watched,
};
use ebbtide::{AllocError, Arena, Backing, Fixed, Heap, Scope};
use std::{
    alloc::Layout,
    cell::{Cell, RefCell},
    fmt,
    mem::MaybeUninit,
    rc::Rc,
};

#[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
mod low_addresses {
    //! The comparison of the fast path is exact as long as a subtraction cannot wrap. A region near
    //! address zero and a request larger than its address is where it would.

    use super::{AllocError, Arena, Backing, Fixed, Heap, Layout, MaybeUninit, assert_apart};
    use std::{
        ptr::NonNull,
        sync::atomic::{AtomicBool, Ordering::SeqCst},
    };

    /// Pages at the lowest address that the system allows.
    struct LowPages {
        start: NonNull<u8>,
        given: AtomicBool,
    }

    impl LowPages {
        const BYTES: usize = 16 * 4096;

        fn map() -> Option<Self> {
            // Several tests map pages at the same time, each the lowest that are free.
            (1..200).find_map(|slot| Self::map_at(slot * Self::BYTES))
        }

        fn map_at(address: usize) -> Option<Self> {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            let hint = std::ptr::without_provenance_mut(address);
            // SAFETY: new private pages; with MAP_FIXED_NOREPLACE nothing mapped is touched.
            let pages = unsafe {
                libc::mmap(hint, Self::BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
            };
            if pages == libc::MAP_FAILED {
                return None;
            }
            let this =
                LowPages { start: NonNull::new(pages.cast())?, given: AtomicBool::new(false) };
            // An old kernel treats the address as a hint.
            (pages.addr() == address).then_some(this)
        }
    }

    impl Drop for LowPages {
        fn drop(&mut self) {
            // SAFETY: mapped by `map_at` with this size, and no longer used.
            unsafe { libc::munmap(self.start.as_ptr().cast(), Self::BYTES) };
        }
    }

    // SAFETY: the pages are owned.
    unsafe impl Send for LowPages {}

    // SAFETY: serves a single block, which is no larger than the pages.
    unsafe impl Backing for LowPages {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            if layout.size() > Self::BYTES || self.given.swap(true, SeqCst) {
                return Err(AllocError);
            }
            Ok(NonNull::slice_from_raw_parts(self.start, layout.size()))
        }

        unsafe fn release(&self, _block: NonNull<u8>, _layout: Layout) {}
    }

    impl AsMut<[MaybeUninit<u8>]> for LowPages {
        fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
            // SAFETY: the pages are mapped, owned by this value, and borrowed as long as the slice.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), Self::BYTES) }
        }
    }

    fn attack(s: &ebbtide::Scope<'_>) {
        let kept = s.alloc_slice_fill_copy(100, 0xA5u8);
        for bytes in [1 << 20, 1 << 32, 8 << 30, 1 << 40, 1 << 47, isize::MAX as usize - 4096] {
            assert!(s.try_alloc_uninit_slice::<u8>(bytes).is_err(), "{bytes} bytes were granted");
            assert!(s.try_alloc_uninit_slice_aligned::<u8>(bytes, 64).is_err());
            let lied = common_liar(bytes);
            assert_eq!(s.alloc_slice_from_iter(lied), [1, 2, 3]);
        }
        for align in [1 << 16, 1 << 20, 1 << 33, 1 << 46] {
            if let Ok(value) = s.try_alloc_aligned(1u8, align) {
                assert_eq!(std::ptr::from_mut(value).addr() % align, 0);
                assert_apart(value, kept);
            }
        }
        assert!(s.try_alloc([0u8; 4096]).is_err() || s.stats().capacity > 4096);
        // Until the region is full, every block is inside it and overlaps no other.
        let mut last = std::ptr::from_ref(&kept[0]).addr();
        while let Ok(block) = s.try_alloc([0u64; 3]) {
            assert!(std::ptr::from_ref(block).addr() + 24 <= last);
            last = std::ptr::from_ref(block).addr();
        }
        assert!(kept.iter().all(|byte| *byte == 0xA5));
    }

    fn common_liar(announced: usize) -> impl Iterator<Item = u8> {
        crate::common::Liar { values: [1, 2, 3].into_iter(), announced }
    }

    #[test]
    fn a_chunk_at_a_low_address_refuses_8_gib() {
        let Some(pages) = low_pages() else { return };
        let mut arena = Arena::new_in(pages);
        attack(&arena.scope());
    }

    #[test]
    fn a_buffer_at_a_low_address_refuses_8_gib() {
        let Some(pages) = low_pages() else { return };
        let mut fixed = Fixed::new(pages);
        attack(&fixed.scope());
    }

    /// The lowest available pages; prints a note if the system allows none.
    fn low_pages() -> Option<LowPages> {
        let pages = LowPages::map();
        if pages.is_none() {
            eprintln!("not tried: the system gives no pages below 13 MiB");
        }
        pages
    }

    /// A type that is larger than its region's address, and one with a larger alignment: if the
    /// fast path compared addresses, the subtraction would wrap and the allocation succeed.
    #[test]
    fn a_type_larger_than_the_address_of_its_region_is_refused() {
        #[repr(align(1048576))]
        #[expect(dead_code, reason = "only its layout counts")]
        struct Aligned(u8);

        let Some(mut pages) = low_pages() else { return };
        let start = pages.start.addr().get();
        if start >= 1 << 20 {
            eprintln!("not tried: the lowest pages that the system gives begin at {start:#x}");
            return;
        }
        let bytes = pages.as_mut();
        let start = NonNull::from(&mut *bytes).cast();
        // SAFETY: the pages are owned by this test, and mapped until it ends.
        let mut fixed = unsafe { Fixed::from_raw_parts(start, LowPages::BYTES) };
        let s = fixed.scope();
        let kept = s.alloc([0xA5_u8; 100]);
        let used = s.stats().used;
        for _ in 0..2 {
            assert!(s.try_alloc_uninit::<[u8; 1 << 20]>().is_err(), "by its size, of alignment 1");
            assert!(s.try_alloc_uninit::<[u64; 1 << 17]>().is_err(), "by its size");
            assert!(s.try_alloc_uninit::<[u8; 1 << 30]>().is_err(), "by its size, a GiB");
            assert!(s.try_alloc_uninit::<Aligned>().is_err(), "by its alignment");
            assert!(s.try_alloc_with(|| [0_u8; 1 << 19]).is_err(), "made in place");
            assert_eq!((s.stats().used, *kept), (used, [0xA5; 100]));
        }
        assert!(s.try_alloc([1_u8; 4096]).is_ok());
    }

    /// The comparison of the fast path requires regions at address 8,192 or above.
    #[test]
    fn a_buffer_below_address_8192_counts_as_full() {
        let Some(mut page) = LowestPage::map() else { return };
        let start = NonNull::from(page.as_mut()).cast();
        // SAFETY: the page is owned by this test, and mapped until it ends.
        let mut fixed = unsafe { Fixed::from_raw_parts(start, LowestPage::BYTES) };
        let s = fixed.scope();
        assert_eq!(s.stats().capacity, 0);
        assert!(s.try_alloc(1_u8).is_err());
        assert!(s.try_alloc_uninit::<[u8; 4096]>().is_err());
        assert!(s.try_alloc_fmt(format_args!("{}", 1)).is_err());
        assert_eq!(s.alloc_str(""), "");
    }

    #[test]
    fn a_buffer_below_address_8192_spills() {
        let Some(mut page) = LowestPage::map() else { return };
        let mut fixed = Fixed::new(page.as_mut()).or_spill(Heap);
        for _ in 0..3 {
            super::assert_works(&fixed.scope());
        }
        assert_eq!(fixed.stats().chunks, 2);
    }

    /// A `Fixed` without a usable buffer must not use its own address as its region.
    #[test]
    fn a_fixed_below_address_8192_has_no_region_there() {
        type Empty = Fixed<[MaybeUninit<u8>; 0], Heap>;
        let Some(mut page) = LowestPage::map() else { return };
        let empty = Fixed::new([]).or_spill(Heap);
        let place = page.as_mut().as_mut_ptr().cast::<Empty>();
        const { assert!(size_of::<Empty>() <= LowestPage::BYTES) };
        // SAFETY: the page is writable, large enough and aligned for it.
        unsafe { place.write(empty) };
        // SAFETY: just written, and used only through this reference.
        let fixed = unsafe { &mut *place };
        assert!(std::ptr::from_ref(fixed).addr() < 8192);
        assert_eq!(fixed.scope().stats().capacity, 0);
        for _ in 0..3 {
            let mut s = fixed.scope();
            let first = s.alloc([0xA5_u8; 4096]);
            super::assert_works(&s.scope());
            assert_eq!(*first, [0xA5; 4096]);
        }
        // SAFETY: written above, and not used again.
        unsafe { place.drop_in_place() };
    }

    /// The lowest valid address of a chunk.
    #[test]
    fn a_chunk_at_address_8192_works() {
        let Some(pages) = LowestPage::at([8192]) else { return };
        let start = NonNull::from(&mut *pages.bytes).cast();
        let mut arena = Arena::new_in(OneBlock(start, AtomicBool::new(false)));
        let s = arena.try_scope().expect("it is high enough");
        let block = s.alloc([0xA5_u8; 100]);
        assert!((8192..8192 + LowestPage::BYTES).contains(&std::ptr::from_ref(block).addr()));
        assert!(s.try_alloc_uninit::<[u8; 4096]>().is_err());
        while s.try_alloc(7_u64).is_ok() {}
        assert_eq!(*block, [0xA5; 100]);
    }

    /// A backing of one block.
    struct OneBlock(NonNull<u8>, AtomicBool);

    // SAFETY: the page is owned by the test and outlives the arena.
    unsafe impl Send for OneBlock {}

    // SAFETY: the page is aligned and has the only size that is served, and the arena requests one
    // chunk.
    unsafe impl Backing for OneBlock {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            if layout.size() > LowestPage::BYTES || self.1.swap(true, SeqCst) {
                return Err(AllocError);
            }
            Ok(NonNull::slice_from_raw_parts(self.0, layout.size()))
        }

        unsafe fn release(&self, _block: NonNull<u8>, _layout: Layout) {}
    }

    /// Memory below address 8,192, as low as the system allows; for one test at a time.
    struct LowestPage {
        bytes: &'static mut [MaybeUninit<u8>],
        mapped: usize,
        _turn: std::sync::MutexGuard<'static, ()>,
    }

    impl LowestPage {
        const BYTES: usize = 2048;

        /// Only privileged processes may map the page at 0.
        fn map() -> Option<Self> {
            Self::at([0, 4096])
        }

        fn at<const N: usize>(addresses: [usize; N]) -> Option<Self> {
            static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
            let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let Some(mapped) = addresses.into_iter().find(|at| Self::map_at(*at)) else {
                eprintln!("not tried: vm.mmap_min_addr forbids pages at {addresses:?}");
                return None;
            };
            // Nothing may be at address 0.
            let start = std::ptr::with_exposed_provenance_mut(mapped.max(256));
            // SAFETY: mapped above, and owned by this value until it is dropped.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, Self::BYTES) };
            Some(LowestPage { bytes, mapped, _turn: turn })
        }

        fn map_at(address: usize) -> bool {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
            let hint = std::ptr::without_provenance_mut(address);
            // SAFETY: new private pages; with MAP_FIXED_NOREPLACE nothing mapped is touched.
            let page =
                unsafe { libc::mmap(hint, 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
            if page != libc::MAP_FAILED && page.expose_provenance() != address {
                // An old kernel treated the address as a hint.
                // SAFETY: just mapped, and not used.
                unsafe { libc::munmap(page, 4096) };
            }
            page.addr() == address
        }
    }

    impl Drop for LowestPage {
        fn drop(&mut self) {
            let page = std::ptr::with_exposed_provenance_mut(self.mapped);
            // SAFETY: mapped by `map`, and no longer used.
            unsafe { libc::munmap(page, 4096) };
        }
    }

    impl AsMut<[MaybeUninit<u8>]> for LowestPage {
        fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
            self.bytes
        }
    }

    #[test]
    fn a_buffer_adjacent_to_another_is_not_left() {
        let (Some(mut low), Some(high)) = (low_pages(), low_pages()) else { return };
        let mut arena = Fixed::new(low.as_mut());
        let other = Fixed::new(high);
        let s = arena.scope();
        assert!(s.try_alloc_uninit_slice::<u8>(LowPages::BYTES + 1).is_err());
        assert!(s.try_alloc_uninit_slice::<u8>(LowPages::BYTES).is_ok());
        drop(other);
    }
}

/// An address below the minimum for a region is rejected, not trusted.
#[test]
fn a_block_at_an_address_too_low_for_the_fast_path_is_rejected() {
    #[derive(Default)]
    struct TooLow {
        released: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    }
    // SAFETY: the block meets the request except for its address, and is never read or written.
    unsafe impl Backing for TooLow {
        fn allocate(&self, layout: Layout) -> Result<std::ptr::NonNull<[u8]>, AllocError> {
            let start = std::ptr::NonNull::new(std::ptr::without_provenance_mut(4096)).unwrap();
            Ok(std::ptr::NonNull::slice_from_raw_parts(start, layout.size()))
        }

        unsafe fn release(&self, block: std::ptr::NonNull<u8>, _layout: Layout) {
            assert_eq!(block.addr().get(), 4096);
            self.released.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }

    let backing = TooLow::default();
    let released = backing.released.clone();
    let mut arena = Arena::new_in(backing);
    assert!(arena.try_scope().is_err());
    assert!(arena.try_root().is_err());
    assert_eq!(released.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_eq!(arena.stats().held, 0);
}

/// An arena that a thread-local or a closure can reach while its backing runs: leaked, and freed at
/// the end of the test.
fn with_reachable<R>(
    chunk_size: usize,
    test: impl FnOnce(&'static Scope<'static>, &Rc<Cell<bool>>) -> R,
) -> R {
    let arena = Box::leak(Box::new(Arena::with_chunk_size_in(chunk_size, Reentrant)));
    let address = std::ptr::from_mut(arena);
    let armed = Rc::new(Cell::new(false));
    // SAFETY: just leaked, and used only through this reference until the end of the function.
    let arena: &'static mut Arena<Reentrant> = unsafe { &mut *address };
    let scope: &'static Scope<'static> = Box::leak(Box::new(arena.scope()));
    let result = test(scope, &armed);
    Reentrant::clear();
    // SAFETY: the leaked scope; neither the hook nor the test uses it any more.
    drop(unsafe { Box::from_raw(std::ptr::from_ref(scope).cast_mut()) });
    // SAFETY: the leaked arena; its only scope has been dropped.
    drop(unsafe { Box::from_raw(address) });
    result
}

#[test]
fn a_backing_that_requests_a_chunk_from_its_own_arena_gets_an_error() {
    with_reachable(1 << 10, |s, armed| {
        let answers = Rc::new(RefCell::new(Vec::new()));
        let (heard, on) = (Rc::clone(&answers), Rc::clone(armed));
        Reentrant::set(move || {
            if on.replace(false) {
                let mut heard = heard.borrow_mut();
                heard.push(s.try_alloc_slice_fill_copy(50_000, 1u8).is_err());
                heard.push(s.try_alloc([0u8; 50_000]).is_err());
                heard.push(s.try_alloc_slice_from_iter(0..9_000u64).is_err());
                heard.push(s.try_alloc_fmt(format_args!("{:>50000}", 1)).is_err());
            }
        });
        for bytes in [3_000, 9_000, 700, 700, 20_000] {
            armed.set(true);
            let before = s.alloc([0xA5u8; 100]);
            let block = s.alloc_slice_fill_copy(bytes, 0x5Au8);
            let after = s.alloc([0xC3u8; 100]);
            assert_apart(before, after);
            assert_apart(before, block);
            assert_apart(block, after);
            assert_eq!((*before, *after), ([0xA5; 100], [0xC3; 100]));
            assert!(block.iter().all(|byte| *byte == 0x5A));
        }
        assert!(answers.borrow().len() >= 8);
        assert!(answers.borrow().iter().all(|refused| *refused));
    });
}

#[test]
fn a_backing_gets_no_free_memory_of_its_own_arena() {
    with_reachable(1 << 10, |s, armed| {
        let (answers, on) = (Rc::new(Cell::new(0)), Rc::clone(armed));
        let heard = Rc::clone(&answers);
        Reentrant::set(move || {
            if on.replace(false) {
                assert!(s.try_alloc(7_u64).is_err(), "the high end");
                assert!(s.try_alloc_fmt(format_args!("{}", 7)).is_err(), "the low end");
                assert!(s.try_claim().is_err(), "a claim");
                heard.set(heard.get() + 1);
            }
        });
        for bytes in [100_000, 5_000, 300_000] {
            let before = s.alloc(0xA5A5_u16);
            armed.set(true);
            // Oversize, so the free memory here stays, and would be enough for the inner request.
            let big = s.alloc_slice_fill_copy(bytes, 0x5A_u8);
            let after = s.alloc(0xC3C3_u16);
            assert_apart(before, after);
            assert_apart(big, after);
        }
        assert_eq!(answers.get(), 3);
    });
}

#[test]
fn a_backing_gets_no_warm_chunk_of_its_own_arena() {
    with_reachable(1 << 10, |s, armed| {
        {
            // Leaves chunks behind the scope's that fit any request of up to 4,000 bytes.
            let start = s.checkpoint();
            s.alloc_slice_fill_copy(4_000, 0_u8);
            s.alloc_slice_fill_copy(4_000, 0_u8);
            // SAFETY: created by this scope above, and the slices are not used again.
            unsafe { s.rewind(start) };
        }
        let (answers, on) = (Rc::new(Cell::new(0)), Rc::clone(armed));
        let heard = Rc::clone(&answers);
        Reentrant::set(move || {
            if on.replace(false) {
                assert!(s.try_alloc([0_u8; 2_000]).is_err(), "the high end");
                assert!(s.try_alloc_slice_from_iter(0..300_u64).is_err(), "the low end");
                heard.set(heard.get() + 1);
            }
        });
        armed.set(true);
        let big = s.alloc_slice_fill_copy(200_000, 0x5A_u8);
        let next = s.alloc([0xA5_u8; 2_000]);
        assert_apart(big, next);
        assert_eq!(answers.get(), 1);
    });
}

#[test]
fn a_backing_that_reserves_in_its_own_arena_releases_no_spare_chunks_for_that() {
    with_reachable(1_000, |s, _| {
        s.alloc_slice_fill_copy(900, 0_u8);
        drop((0..12).map(|_| s.claim()).collect::<Vec<_>>());
        // Room for a new chunk, and for a larger one only without the spare ones.
        ebbtide::front_end::set_limit(s, Some(s.stats().held + 1_500));
        let inner = Rc::new(Cell::new(None));
        let got = Rc::clone(&inner);
        Reentrant::set(move || {
            let reserved = s.try_reserve(5_500).is_ok();
            got.set(Some((reserved, s.try_alloc([1_u8; 900]).is_ok())));
        });
        assert_eq!(*s.alloc([2_u8; 1_000]), [2; 1_000]);
        assert_eq!(inner.take(), Some((false, false)));
    });
}

#[test]
fn a_backing_that_takes_spare_chunks_back_may_end_claims() {
    with_reachable(1_000, |s, _| {
        s.alloc_slice_fill_copy(900, 0_u8);
        let open = RefCell::new((0..12).map(|_| s.claim()).collect::<Vec<_>>());
        drop((0..12).map(|_| s.claim()).collect::<Vec<_>>());
        ebbtide::front_end::set_limit(s, Some(s.stats().held + 100));
        let ended = Rc::new(Cell::new(0));
        let count = Rc::clone(&ended);
        Reentrant::set(move || {
            if open.borrow_mut().pop().is_some() {
                count.set(count.get() + 1);
            }
        });
        assert_eq!(*s.alloc([2_u8; 3_000]), [2; 3_000]);
        assert!(ended.get() > 5, "{}", ended.get());
    });
}

#[test]
fn rewinding_finds_an_arena_that_moved_meanwhile() {
    let arena = Box::new(Arena::with_chunk_size(256));
    let start = arena.root().checkpoint();
    // Enough for the root to be in another chunk when the arena is used at its new address.
    arena.root().alloc_slice_fill_copy(1_000, 1_u8);
    let arena = *arena;
    // SAFETY: created by this root, and later allocations are not used again.
    unsafe { arena.root().rewind(start) };
    for n in 0..100_u64 {
        assert_eq!(*arena.root().alloc([n; 20]), [n; 20]);
    }
}

/// For Miri: the pointer that a rewound scope keeps must also be valid for the backing beside its
/// target.
#[test]
fn a_rewound_scope_can_call_its_backing() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(64, backing);
    let s = arena.scope();
    let start = s.checkpoint();
    s.alloc([1_u8; 100]);
    // SAFETY: created by this scope, and later allocations are not used again.
    unsafe { s.rewind(start) };
    let calls = log.calls();
    assert_eq!(*s.alloc([2_u8; 1000]), [2; 1000]);
    assert_eq!(log.calls(), calls + 1);
}

#[test]
fn a_display_may_format_into_its_own_scope() {
    struct Nested<'s, 'a> {
        s: &'s Scope<'a>,
        depth: usize,
        kept: &'s RefCell<Vec<&'a mut str>>,
    }

    impl fmt::Display for Nested<'_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "<{}", self.depth)?;
            if self.depth > 0 {
                let inner = Nested { depth: self.depth - 1, ..*self };
                let text = self.s.alloc_fmt(format_args!("{inner} {:100}", self.depth));
                f.write_str(text.trim_end())?;
                self.kept.borrow_mut().push(text);
            }
            f.write_str(">")
        }
    }

    for chunk_size in [64, 300, 4096, 1 << 16] {
        let mut arena = Arena::with_chunk_size(chunk_size);
        let s = arena.scope();
        let kept = RefCell::new(Vec::new());
        let text = s.alloc_fmt(format_args!("{}", Nested { s: &s, depth: 6, kept: &kept }));
        assert!(text.starts_with("<6<5<4<3<2<1<0>"), "{text}");
        assert_eq!(text.matches('>').count(), 7);
        let kept = kept.into_inner();
        for (i, inner) in kept.iter().enumerate() {
            assert!(inner.starts_with(&format!("<{i}")));
            assert_apart(&**inner, &*text);
            for other in &kept[..i] {
                assert_apart(&**inner, &**other);
            }
        }
    }
}

/// A buffer owner that returns different memory each time, as safe code may.
struct Fickle {
    buffers: Vec<Vec<MaybeUninit<u8>>>,
    asked: usize,
}

impl AsMut<[MaybeUninit<u8>]> for Fickle {
    fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        self.asked += 1;
        let turn = self.asked % 5;
        match turn {
            0 => &mut [],
            1 => {
                self.buffers[0] = vec![MaybeUninit::uninit(); 100 + self.asked];
                &mut self.buffers[0]
            }
            2 => &mut self.buffers[1][1..],
            3 => {
                self.buffers.rotate_left(1);
                let len = self.buffers[0].len();
                &mut self.buffers[0][len / 2..]
            }
            _ => {
                self.buffers[1].resize(10_000 + self.asked, MaybeUninit::uninit());
                self.buffers[1].shrink_to_fit();
                &mut self.buffers[1]
            }
        }
    }
}

#[test]
fn an_owner_of_bytes_may_return_other_memory_at_each_scope() {
    let buffers = vec![vec![MaybeUninit::uninit(); 50], vec![MaybeUninit::uninit(); 60]];
    let mut fixed = Fixed::new(Fickle { buffers, asked: 0 });
    for turn in 1..=40u8 {
        let s = fixed.scope();
        let capacity = s.stats().capacity;
        let mut blocks = Vec::new();
        while let Ok(block) = s.try_alloc([turn; 7]) {
            blocks.push(block);
        }
        assert_eq!(blocks.len(), capacity / 7);
        assert!(blocks.iter().all(|block| **block == [turn; 7]));
        assert_eq!(fixed.stats().capacity, capacity);
    }
    assert_eq!(fixed.into_memory().asked, 40);
}

#[test]
fn an_owner_of_bytes_may_return_other_memory_while_the_spill_keeps_its_chunks() {
    let (backing, log) = watched();
    let buffers = vec![vec![MaybeUninit::uninit(); 50], vec![MaybeUninit::uninit(); 60]];
    let mut fixed = Fixed::new(Fickle { buffers, asked: 0 }).or_spill(backing);
    for turn in 1..=40u8 {
        {
            let mut s = fixed.scope();
            let outer = s.alloc_slice_fill_copy(usize::from(turn) * 40, turn);
            {
                let inner = s.scope();
                let block = inner.alloc_slice_fill_copy(3_000, 0u8);
                assert_apart(block, outer);
            }
            assert_works(&s);
            assert!(outer.iter().all(|byte| *byte == turn));
        }
        assert_eq!(fixed.stats().held, log.held());
        // A move between scopes moves the buffer's header too.
        let moved = std::hint::black_box(fixed);
        fixed = moved;
    }
    let calls = log.calls();
    fixed.trim();
    assert_eq!((log.live(), fixed.stats().held), (0, 0));
    assert_works(&fixed.scope());
    assert!(log.calls() > calls && log.live() > 0);
    drop(fixed.into_memory());
    assert_eq!(log.live(), 0);
}

#[test]
fn an_owner_of_bytes_that_panics_leaves_the_arena_as_it_was() {
    struct Panicking(Vec<MaybeUninit<u8>>, bool);
    impl AsMut<[MaybeUninit<u8>]> for Panicking {
        fn as_mut(&mut self) -> &mut [MaybeUninit<u8>] {
            self.1 = !self.1;
            assert!(self.1, "the owner panics");
            &mut self.0
        }
    }

    let mut fixed = Fixed::new(Panicking(vec![MaybeUninit::uninit(); 64], false));
    for _ in 0..3 {
        assert!(fixed.scope().try_alloc([1u8; 64]).is_ok());
        assert_eq!(panic_of(|| fixed.scope().stats()).as_deref(), Some("the owner panics"));
    }
}

const NOTHING: [MaybeUninit<u8>; 0] = [];

#[test]
fn an_empty_buffer_spills() {
    let (backing, log) = watched();
    let mut fixed = Fixed::new(NOTHING).or_spill(backing);
    assert_works(&fixed.scope());
    let calls = log.calls();
    assert_works(&fixed.scope());
    assert_eq!(log.calls(), calls, "the spill's chunks stay for the next scope");
    fixed.set_limit(Some(log.held()));
    assert!(fixed.scope().try_alloc_uninit_slice::<u8>(1 << 20).is_err());
    drop(fixed);
    assert_eq!(log.live(), 0);
}

#[test]
fn a_backing_that_panics_leaves_the_arena_as_it_was() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(256, backing);

    log.panic_nth(1);
    assert_eq!(panic_of(|| arena.scope().stats()).as_deref(), Some("the backing panics"));
    log.panic_nth(1);
    assert_eq!(panic_of(|| arena.try_root().is_ok()).as_deref(), Some("the backing panics"));
    assert_eq!(arena.stats().held, 0);

    let mut outer = arena.scope();
    let kept = outer.alloc([0xA5u8; 100]);
    let stats = outer.stats();
    {
        let s = outer.scope();
        let attempts: [&dyn Fn(); 8] = [
            &|| end(s.alloc([1u8; 300])),
            &|| end(s.try_alloc([1u8; 300])),
            &|| end(s.alloc_with(|| [1u8; 300])),
            &|| end(s.alloc_slice_fill_copy(300, 1u8)),
            &|| end(s.try_alloc_slice_copy(&[1u8; 300])),
            &|| end(s.boxed([1u8; 300])),
            &|| end(s.try_alloc_aligned(1u8, 4096)),
            &|| end(s.alloc_uninit::<[u64; 100]>()),
        ];
        // A block of 16 bytes would still fit, so each of these has to call the backing.
        while s.stats().capacity - s.stats().used >= 16 {
            s.alloc([0u8; 16]);
        }
        let stats = s.stats();
        for attempt in attempts {
            log.panic_nth(1);
            assert_eq!(panic_of(attempt).as_deref(), Some("the backing panics"));
            assert_eq!(s.stats(), stats);
        }
        // No longer busy: the next call succeeds.
        assert_eq!(*s.alloc([2u8; 300]), [2; 300]);
        assert_works(&s);
    }
    assert_eq!((*kept, outer.stats().used), ([0xA5; 100], stats.used));
    drop(arena);
    assert_eq!(log.live(), 0);
}

/// A value with two bytes of padding, and one that consists of a pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Padded {
    narrow: u8,
    wide: u32,
    last: u8,
}

#[test]
fn small_copies_are_exact_for_every_length_up_to_80_bytes() {
    let mut arena = Arena::new();
    let bytes: Vec<u8> = (0..=255).cycle().skip(1).take(200).collect();
    let targets = [10u32, 20, 30];
    for len in 0..=80 {
        for offset in 0..4 {
            let s = arena.scope();
            let source = &bytes[offset..offset + len];
            let below = s.alloc([0xEEu8; 16]);
            let copy = s.alloc_slice_copy(source);
            let above = s.alloc([0xEEu8; 16]);
            assert_eq!(copy, source);
            assert_eq!((*below, *above), ([0xEE; 16], [0xEE; 16]));

            let text: String = source.iter().map(|byte| char::from(b'a' + byte % 26)).collect();
            assert_eq!(s.alloc_str(&text), text.as_str());
            let shorts: Vec<u16> = source.iter().map(|byte| u16::from(*byte) * 257).collect();
            assert_eq!(s.alloc_slice_copy(&shorts), shorts);
        }

        let s = arena.scope();
        let padded: Vec<Padded> = (0..len)
            .map(|i| Padded { narrow: bytes[i], wide: u32::MAX - bytes[i] as u32, last: bytes[i] })
            .collect();
        assert_eq!(s.alloc_slice_copy(&padded), padded);
        assert_eq!(s.alloc_slice_clone(&padded), padded);

        // Under Miri, a pointer copied as integers would have lost its provenance.
        let pointers: Vec<(&u32, u8)> = (0..len / 8).map(|i| (&targets[i % 3], bytes[i])).collect();
        let copy = s.alloc_slice_copy(&pointers);
        assert!(copy.iter().enumerate().all(|(i, (p, byte))| {
            std::ptr::eq(*p, &targets[i % 3]) && **p == targets[i % 3] && *byte == bytes[i]
        }));

        // Uninitialised bytes may be copied, and stay uninitialised.
        let mut partly = vec![MaybeUninit::<u16>::uninit(); len];
        for (i, value) in partly.iter_mut().enumerate().step_by(2) {
            value.write(u16::from(bytes[i]));
        }
        let copy = s.alloc_slice_copy(&partly);
        for (i, value) in copy.iter().enumerate().step_by(2) {
            // SAFETY: every second one was written above.
            assert_eq!(unsafe { value.assume_init() }, u16::from(bytes[i]));
        }
    }
}

/// Fills adjacent chunks from both ends, up to the last byte.
fn work_back_to_back<B: Backing>(arena: &mut Arena<B>) {
    for turn in 0..3u8 {
        let mut outer = arena.scope();
        let mut kept: Vec<&mut [u8]> = Vec::new();
        for size in [1, 16, 100, 176, 300, 40, 1_000, 7] {
            kept.push(outer.alloc_slice_fill_copy(size, turn));
            kept.push(outer.alloc_slice_from_iter(std::iter::repeat_n(turn, size)));
            // Up to the last byte of the chunk, which the high end takes: the next chunk begins
            // behind it.
            let stats = outer.stats();
            let free = (stats.capacity - stats.used) % 4_000;
            let low = free.saturating_sub(1);
            kept.push(outer.alloc_slice_from_iter(std::iter::repeat_n(turn, low)));
            kept.push(outer.alloc_slice_fill_copy(free - low, turn));
            {
                let inner = outer.scope();
                let high = inner.alloc_slice_fill_copy(size * 2, 0xFFu8);
                let low = inner.alloc_fmt(format_args!("{:>size$}{:>size$}", "x", "y"));
                assert_apart(high, low);
                assert!(low.ends_with('y') && high.iter().all(|byte| *byte == 0xFF));
            }
            // A block that grows while its iterator fills the same chunk.
            let values = (0..size).map(|i| {
                if i % 50 == 0 {
                    outer.alloc_slice_fill_copy(30, 0xEEu8);
                }
                turn
            });
            kept.push(outer.alloc_slice_from_iter(values.filter(|_| true)));
        }
        for (i, block) in kept.iter().enumerate() {
            assert!(block.iter().all(|byte| *byte == turn));
            for other in &kept[..i] {
                assert_apart(&**block, &**other);
            }
        }
    }
}

#[test]
fn adjacent_chunks_are_never_mistaken_for_one() {
    for downwards in [false, true] {
        let (backing, log) = Watched::over(Adjacent::new(1 << 20, downwards));
        let mut arena = Arena::with_chunk_size_in(128, backing);
        work_back_to_back(&mut arena);
        assert!(log.calls() > 3);
        drop(arena);
        assert_eq!(log.live(), 0);
    }
}

#[test]
fn a_buffer_adjacent_to_its_spill_chunks_is_never_mistaken_for_one_of_them() {
    for downwards in [false, true] {
        let pool = Adjacent::new(1 << 20, downwards);
        // Descending, the first chunk ends where this buffer starts; ascending, it starts where the
        // buffer ends.
        let start = pool.take(128).unwrap();
        // SAFETY: bytes of the pool, used only here; the pool lives in the arena, beside the
        // buffer.
        let mut fixed = unsafe { Fixed::from_raw_parts(start, 128) }.or_spill(pool);
        for turn in 0..4u8 {
            let mut s = fixed.scope();
            // The chunk serves only this request; the buffer remains the region.
            let spilled = s.alloc_slice_fill_copy(100_000, turn);
            assert_eq!(s.stats().oversize, 1);
            let first = s.alloc_slice_from_iter(std::iter::repeat_n(turn, 20));
            {
                let inner = s.scope();
                let block = inner.alloc_slice_from_iter(std::iter::repeat_n(0xFF, 90));
                assert_apart(block, first);
                assert_apart(block, spilled);
                inner.alloc_slice_from_iter(std::iter::repeat_n(0xFFu8, 9_000));
            }
            let values = (0..100).map(|i| {
                if i % 10 == 0 {
                    s.alloc([0xEEu8; 9]);
                }
                turn
            });
            let grown = s.alloc_slice_from_iter(values.filter(|_| true));
            for block in [&*spilled, &*first, &*grown] {
                assert!(block.iter().all(|byte| *byte == turn));
            }
            assert_apart(grown, first);
            assert_apart(grown, spilled);
        }
        drop(fixed);
    }
}

#[test]
fn a_backing_may_return_more_bytes_without_a_larger_alignment() {
    fn claim<B: Backing>(backing: B) {
        let (backing, log) = Watched::over(backing);
        let mut arena = Arena::with_chunk_size_in(128, backing);
        work_back_to_back(&mut arena);
        {
            let s = arena.scope();
            for align in [1, 2, 16, 32, 64, 128, 4096, 1 << 14, 1 << 17] {
                for bytes in [0, 1, 15, 16, 17, 100, 4096, 70_000] {
                    let block = s.alloc_uninit_slice_aligned::<u8>(bytes, align);
                    assert_eq!(block.as_ptr().addr() % align, 0);
                    block.fill(MaybeUninit::new(1));
                }
            }
        }
        assert_eq!(arena.stats().held, log.held(), "what was asked counts, not the surplus");
        assert!(log.sizes().iter().all(|size| size % 16 == 0));
        drop(arena);
        assert_eq!(log.live(), 0);
    }
    claim(Generous);
    claim(Skewed);
    claim(Heap);
}

#[test]
fn both_ends_of_regions_of_every_size_are_aligned() {
    // A buffer may start and end at any address; a chunk ends at any multiple of 16.
    let mut bytes = vec![MaybeUninit::<u8>::uninit(); 4096 + 200];
    for offset in 0..20 {
        for len in (0..200).chain([1_000, 4_095, 4_096, 4_097]) {
            let buffer = &mut bytes[offset..][..len];
            let range = extent(&*buffer);
            let mut fixed = Fixed::new(buffer);
            for align in [1usize, 2, 4, 8, 16, 32, 64, 128, 256, 4096] {
                for size in [1, 3, 8, align, len / 2, len] {
                    let mut outer = fixed.scope();
                    check_block(&outer, &range, size, align);
                    // A child starts at its parent's cursor.
                    check_block(&outer.scope(), &range, size, align);
                    check_block(&outer, &range, size, align);
                }
            }
        }
    }
}

fn check_block(s: &Scope<'_>, range: &std::ops::Range<usize>, size: usize, align: usize) {
    let before = s.stats().used;
    let Ok(block) = s.try_alloc_uninit_slice_aligned::<u8>(size, align) else {
        assert_eq!(s.stats().used, before);
        return;
    };
    assert_eq!(address(block) % align, 0);
    if size > 0 {
        let block = extent(&*block);
        assert!(range.start <= block.start && block.end <= range.end);
    }
}

#[test]
fn an_oversize_request_costs_the_current_chunk_nothing() {
    let mut arena = Arena::with_chunk_size(4096);
    let s = arena.scope();
    let first = s.alloc([1u8; 96]);
    let big = s.alloc_slice_fill_copy(100_000, 2u8);
    let next = s.alloc([3u8; 16]);
    assert_eq!(address(next) + 16, address(first), "right below what came before");
    let aligned = s.alloc_uninit_slice_aligned::<u8>(200_000, 1024);
    let last = s.alloc([4u8; 16]);
    assert_eq!(address(last) + 16, address(next), "even where it asks for a large alignment");
    assert_eq!(s.stats().oversize, 2);
    assert_eq!(address(aligned) % 1024, 0);
    assert!(big.iter().all(|byte| *byte == 2));
}

/// Rounding the top down for the next block of that alignment would move it below the low end.
#[test]
fn an_oversize_request_leaves_a_nearly_full_region_intact() {
    for gap in 0..40 {
        for odd in [1, 4, 8, 12] {
            let mut arena = Arena::with_chunk_size(1024);
            let mut s = arena.scope();
            let high = s.alloc_slice_fill_copy(odd, 1_u8);
            let stats = s.stats();
            let free = stats.capacity - stats.used;
            let low = s.alloc_slice_from_iter(std::iter::repeat_n(2_u8, free - gap.max(1)));
            if gap == 0 {
                s.alloc(1_u8);
            }
            let big = s.alloc([3_u128; 1 << 12]);
            let stats = s.stats();
            assert!(stats.used <= stats.capacity && stats.oversize == usize::from(gap > 0));
            {
                let child = s.scope();
                child.alloc_slice_fill_copy(7, 0xEE_u8);
                child.alloc_slice_from_iter(std::iter::repeat_n(0xEE_u8, 7));
                assert_works(&child);
            }
            for _ in 0..20 {
                let (one, other) = (s.alloc(4_u8), s.alloc_slice_from_iter([5_u8; 2]));
                for block in [&*low, &*high] {
                    assert_apart(block, &*one);
                    assert_apart(block, &*other);
                }
                assert_apart(big, one);
                assert_apart(big, other);
            }
            assert!(high.iter().all(|byte| *byte == 1) && low.iter().all(|byte| *byte == 2));
            assert_eq!(*big, [3; 1 << 12]);
        }
    }
}
