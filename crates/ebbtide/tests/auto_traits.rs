//! Claim: each public type is `Send`, `Sync`, `Unpin` and unwind safe exactly as documented, and as small.
//!
//! Checked when this file is compiled; the tests are there to be listed.

#![cfg(feature = "std")]

use ebbtide::{
    AllocError, AllocOrInitError, Arena, Backing, Box, Checkpoint, Chunk, Claim, Fixed, GrowString,
    GrowVec, Heap, NoSpill, Retain, Scope, SpareCapacity, StackArena, StackBytes, Stats,
};
use std::{
    cell::{Cell, RefCell},
    marker::PhantomPinned,
    mem::MaybeUninit,
    panic::{RefUnwindSafe, UnwindSafe},
    rc::Rc,
    sync::MutexGuard,
};

/// Asserts that a type has all the traits named.
macro_rules! is {
    ($type:ty: $($bound:path),+) => {
        const _: fn() = || {
            fn has<T: ?Sized $(+ $bound)+>() {}
            has::<$type>();
        };
    };
}

/// Asserts that a type has none of the traits named: were there one, two implementations would apply, and
/// the compiler could not tell which `_` stands for.
macro_rules! is_not {
    ($type:ty: $($bound:path),+) => {
        $(
            const _: fn() = || {
                trait Ambiguous<A> {
                    fn applies() {}
                }
                impl<T: ?Sized> Ambiguous<()> for T {}
                impl<T: ?Sized + $bound> Ambiguous<u8> for T {}
                <$type as Ambiguous<_>>::applies();
            };
        )+
    };
}

/// `Sync` follows from `Send` nowhere here: this backing is `Send` only.
struct Unshared(#[allow(dead_code, reason = "for its auto traits")] Cell<u8>);

// SAFETY: it never returns a block.
unsafe impl Backing for Unshared {
    fn allocate(&self, _: std::alloc::Layout) -> Result<std::ptr::NonNull<[u8]>, AllocError> {
        Err(AllocError)
    }

    unsafe fn release(&self, _: std::ptr::NonNull<u8>, _: std::alloc::Layout) {}
}

type Borrowed = Fixed<&'static mut [MaybeUninit<u8>]>;
type Shared = Rc<Cell<u8>>;

#[test]
fn an_arena_moves_between_threads_and_is_not_shared() {
    is!(Arena: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is!(Arena<Unshared>: Send);
    is_not!(Arena: Sync);
    is_not!(Arena<NoSpill>: Sync);
}

#[test]
fn a_scope_moves_between_threads_and_is_not_shared() {
    is!(Scope<'static>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is_not!(Scope<'static>: Sync);
    is_not!(&'static Scope<'static>: Send);
    is!(&'static mut Scope<'static>: Send);
}

/// Its end touches the arena's list of chunks, which the parent uses too.
#[test]
fn a_claim_stays_on_its_thread() {
    is_not!(Claim<'static>: Send, Sync, Clone);
    is_not!(&'static Claim<'static>: Send);
    is!(Claim<'static>: Unpin, std::fmt::Debug);
}

#[test]
fn a_scope_is_neither_cloned_nor_copied() {
    is_not!(Scope<'static>: Clone, Copy);
    is_not!(Arena: Clone);
    is_not!(Box<'static, u8>: Clone);
}

#[test]
fn a_fixed_buffer_moves_if_its_memory_does() {
    is!(Borrowed: Send, Unpin);
    is!(Fixed<SpareCapacity>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is!(Fixed<[MaybeUninit<u8>; 100], Heap>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is!(StackArena<100>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is_not!(Borrowed: Sync);
    is_not!(StackArena<100>: Sync);
    is_not!(Fixed<Rc<[MaybeUninit<u8>]>>: Send);
    is_not!(Fixed<PhantomPinned>: Unpin);
}

#[test]
fn a_box_has_the_traits_of_its_value() {
    is!(Box<'static, u8>: Send, Sync, Unpin, UnwindSafe);
    is!(Box<'static, [u8]>: Send, Sync);
    is!(Box<'static, dyn Send>: Send);
    is!(Box<'static, Cell<u8>>: Send);
    is!(Box<'static, MutexGuard<'static, u8>>: Sync);
    is_not!(Box<'static, Cell<u8>>: Sync);
    is_not!(Box<'static, MutexGuard<'static, u8>>: Send);
    is_not!(Box<'static, Shared>: Send, Sync);
    is_not!(Box<'static, dyn Send>: Sync);
    is_not!(Box<'static, dyn Sync>: Send);
}

#[test]
fn a_builder_has_the_traits_of_its_elements() {
    is!(GrowVec<'static, 'static, u8>: Send, Sync, Unpin, std::fmt::Debug);
    is!(GrowString<'static, 'static>: Send, Sync, Unpin, std::fmt::Debug);
    is!(GrowVec<'static, 'static, Cell<u8>>: Send);
    is_not!(GrowVec<'static, 'static, Cell<u8>>: Sync);
    is!(GrowVec<'static, 'static, MutexGuard<'static, u8>>: Sync);
    is_not!(GrowVec<'static, 'static, MutexGuard<'static, u8>>: Send);
    is_not!(GrowVec<'static, 'static, Shared>: Send, Sync, Clone);
    is_not!(GrowString<'static, 'static>: Clone);
}

/// Growing and dropping touch the scope, which is not `Sync`.
#[cfg(all(feature = "allocator-api2", feature = "hashbrown"))]
#[test]
fn collections_stay_on_the_thread_of_their_scope() {
    use ebbtide::collections::{Map, Set, String, Vec};
    is_not!(Vec<'static, u8>: Send, Sync);
    is_not!(String<'static>: Send, Sync);
    is_not!(Map<'static, u8, u8>: Send, Sync);
    is_not!(Set<'static, u8>: Send, Sync);
    is_not!(<Vec<'static, u8> as IntoIterator>::IntoIter: Send, Sync);
    is_not!(allocator_api2::boxed::Box<u8, &'static Scope<'static>>: Send, Sync);
    is!(Vec<'static, u8>: Unpin, std::fmt::Debug);
    is!(String<'static>: Unpin, std::fmt::Debug);
}

#[test]
fn plain_figures_and_errors_are_everything() {
    is!(Stats: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Default, Eq);
    is!(Chunk: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Eq);
    is!(Retain: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Eq);
    is!(AllocError: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Eq, Ord, std::error::Error);
    is!(AllocOrInitError<u8>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Eq);
    is!(AllocOrInitError<std::fmt::Error>: std::error::Error);
    is!(Heap: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Default);
    is!(NoSpill: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Default);
    is!(SpareCapacity: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Default);
    is!(StackBytes<7>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
    is!(Checkpoint: Send, Sync, Unpin, Copy);
    is!(dyn Backing: Send);
}

#[test]
fn everything_prints_itself_for_debugging() {
    use std::fmt::Debug;
    is!(Arena: Debug);
    is!(Scope<'static>: Debug);
    is!(Borrowed: Debug);
    is!(StackArena<1>: Debug);
    is!(StackBytes<1>: Debug);
    is!(Box<'static, u8>: Debug);
    is!(Checkpoint: Debug);
    is!(Heap: Debug);
}

/// `Scope<'long>` serves as `Scope<'short>`, and so does a box.
#[test]
fn scopes_and_boxes_are_covariant() {
    fn scope<'short>(s: Scope<'static>, _: &'short u8) -> Scope<'short> {
        s
    }
    fn reference<'s, 'short>(s: &'s Scope<'static>, _: &'short u8) -> &'s Scope<'short> {
        s
    }
    fn boxed<'short>(b: Box<'static, &'static u8>, _: &'short u8) -> Box<'short, &'short u8> {
        b
    }
    let _ = (scope, reference, boxed);
}

const WORD: usize = size_of::<usize>();

const _: () = assert!(size_of::<Scope<'_>>() == 3 * WORD);
const _: () = assert!(align_of::<Scope<'_>>() == align_of::<usize>());
const _: () = assert!(!std::mem::needs_drop::<Scope<'_>>());
const _: () = assert!(size_of::<Box<'_, u64>>() == WORD);
const _: () = assert!(size_of::<Option<Box<'_, u64>>>() == WORD);
const _: () = assert!(size_of::<Box<'_, [u64]>>() == 2 * WORD);
const _: () = assert!(size_of::<Box<'_, dyn Send>>() == 2 * WORD);
const _: () = assert!(size_of::<Option<Box<'_, dyn Send>>>() == 2 * WORD);
const _: () = assert!(size_of::<Option<Box<'_, str>>>() == 2 * WORD);
const _: () = assert!(size_of::<Result<&mut u8, AllocError>>() == WORD);
const _: () = assert!(size_of::<AllocError>() == 0);
const _: () = assert!(size_of::<StackBytes<100>>() == 112 && align_of::<StackBytes<100>>() == 16);

#[test]
fn what_borrows_an_arena_has_no_destructor() {
    const { assert!(!std::mem::needs_drop::<Checkpoint>()) };
    const { assert!(!std::mem::needs_drop::<&mut RefCell<String>>()) };
    const { assert!(std::mem::needs_drop::<Box<'_, u8>>()) };
}

#[test]
fn empty_arenas_are_made_in_constants() {
    static EMPTY: std::sync::Mutex<Arena> = std::sync::Mutex::new(Arena::new());
    static STACK: std::sync::Mutex<StackArena<64>> = std::sync::Mutex::new(StackArena::new());
    static SIZED: std::sync::Mutex<Arena<NoSpill>> =
        std::sync::Mutex::new(Arena::with_chunk_size_in(100, NoSpill));
    if let (Ok(mut empty), Ok(mut stack)) = (EMPTY.lock(), STACK.lock()) {
        assert_eq!(*empty.scope().alloc(1) + *stack.scope().alloc(2), 3);
    }
    assert!(SIZED.lock().is_ok_and(|mut sized| sized.try_scope().is_err()));
}
