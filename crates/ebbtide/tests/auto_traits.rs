//! Claim: each public type is `Send`, `Sync`, `Unpin` and unwind safe as documented, and has the
//! documented size.
//!
//! Everything is checked when this file is compiled.

#![cfg(feature = "std")]

use ebbtide::{
    AllocError, AllocOrInitError, Arena, Backing, Checkpoint, Chunk, Claim, DropArena, Fixed,
    GrowString, GrowVec, Heap, NoSpill, Owned, Pool, Pooled, PooledRoot, RawBytes, Retain, Scope,
    SpareCapacity, StackArena, StackBytes, Stats, TypedArena,
    boxed::{Box, Loan},
    local::InUse,
    typed_arena,
};
use std::{
    cell::{Cell, RefCell},
    marker::PhantomPinned,
    mem::MaybeUninit,
    panic::{RefUnwindSafe, UnwindSafe},
    path::PathBuf,
    rc::Rc,
    sync::MutexGuard,
};

/// Asserts that a type implements all of these traits.
macro_rules! is {
    ($type:ty: $($bound:path),+) => {
        const _: fn() = || {
            fn has<T: ?Sized $(+ $bound)+>() {}
            has::<$type>();
        };
    };
}

/// Asserts that a type implements none of these traits: otherwise two implementations would apply,
/// and the compiler could not infer `_`.
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

/// A backing that is `Send` and not `Sync`.
struct Unshared(#[allow(dead_code, reason = "for its auto traits")] Cell<u8>);

// SAFETY: never returns a block.
unsafe impl Backing for Unshared {
    fn allocate(&self, _: std::alloc::Layout) -> Result<std::ptr::NonNull<[u8]>, AllocError> {
        Err(AllocError)
    }

    unsafe fn release(&self, _: std::ptr::NonNull<u8>, _: std::alloc::Layout) {}
}

type Borrowed = Fixed<&'static mut [MaybeUninit<u8>]>;
type Shared = Rc<Cell<u8>>;

#[test]
fn an_arena_is_send_and_not_sync() {
    is!(Arena: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is!(Arena<Unshared>: Send);
    is_not!(Arena: Sync);
    is_not!(Arena<NoSpill>: Sync);
}

#[test]
fn a_scope_is_send_and_not_sync() {
    is!(Scope<'static>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is_not!(Scope<'static>: Sync);
    is_not!(&'static Scope<'static>: Send);
    is!(&'static mut Scope<'static>: Send);
}

/// The values of a typed arena move with it to another thread, and are dropped there.
#[test]
fn an_arena_of_values_is_send_if_they_all_are_and_not_sync() {
    is!(TypedArena<u8>: Send, Unpin, UnwindSafe, Default, std::fmt::Debug);
    is!(TypedArena<Cell<u8>>: Send);
    is_not!(TypedArena<Shared>: Send);
    is_not!(TypedArena<MutexGuard<'static, u8>>: Send);
    is_not!(TypedArena<u8>: Sync, Clone);
    is!(typed_arena::IterMut<'static, u8>: Send, Sync, Unpin, std::fmt::Debug);
    is!(typed_arena::Iter<'static, u8>: Send, Sync, Unpin, std::fmt::Debug);
    is_not!(typed_arena::IterMut<'static, Shared>: Send, Sync);
    is_not!(typed_arena::Iter<'static, Shared>: Send, Sync);
    is_not!(DropArena<'static>: Send, Sync, Clone);
    is!(DropArena<'static>: Unpin, Default, std::fmt::Debug);
}

/// It owns its arena, so only the value decides.
#[test]
fn an_arena_with_its_value_has_the_traits_of_the_value() {
    struct Holds<T>(T);
    impl<T: 'static> ebbtide::ForLifetime for Holds<T> {
        type Of<'a> = (&'a str, T);
    }
    is!(Owned<Holds<u8>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, std::fmt::Debug);
    is!(Owned<Holds<u8>, Unshared>: Send, Sync);
    is!(Owned<Holds<Cell<u8>>>: Send);
    is_not!(Owned<Holds<Cell<u8>>>: Sync);
    is!(Owned<Holds<MutexGuard<'static, u8>>>: Sync);
    is_not!(Owned<Holds<MutexGuard<'static, u8>>>: Send);
    is_not!(Owned<Holds<Shared>>: Send, Sync);
    is!(Owned<Holds<Cell<u8>>>: UnwindSafe);
    is_not!(Owned<Holds<u8>>: Clone);
}

/// Ending it changes the arena's list of chunks, which the parent uses too.
#[test]
fn a_claim_is_neither_send_nor_sync() {
    is_not!(Claim<'static>: Send, Sync, Clone);
    is_not!(&'static Claim<'static>: Send);
    is!(Claim<'static>: Unpin, std::fmt::Debug);
}

#[test]
fn a_scope_is_neither_clone_nor_copy() {
    is_not!(Scope<'static>: Clone, Copy);
    is_not!(Arena: Clone);
    is_not!(Box<'static, u8>: Clone);
}

#[test]
fn a_fixed_buffer_is_send_if_its_memory_is() {
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

/// Growing and dropping use the scope, which is not `Sync`.
#[cfg(all(feature = "allocator-api2-04", feature = "hashbrown-017"))]
#[test]
fn collections_are_neither_send_nor_sync() {
    use ebbtide::collections::{Map, Set, String, Vec};
    is_not!(Vec<'static, 'static, u8>: Send, Sync);
    is_not!(String<'static, 'static>: Send, Sync);
    is_not!(Map<'static, 'static, u8, u8>: Send, Sync);
    is_not!(Set<'static, 'static, u8>: Send, Sync);
    is_not!(<Vec<'static, 'static, u8> as IntoIterator>::IntoIter: Send, Sync);
    is_not!(ebbtide::allocator_api2_04::boxed::Box<u8, &'static Scope<'static>>: Send, Sync);
    is!(Vec<'static, 'static, u8>: Unpin, std::fmt::Debug);
    is!(String<'static, 'static>: Unpin, std::fmt::Debug);
}

/// A vector without a scope consists of its elements, and can be sent wherever they can.
#[test]
fn a_vector_without_a_scope_has_the_traits_of_its_elements() {
    use ebbtide::collections::{
        CollectIn, Drain, ExtractIf, FromIteratorIn, FromUtf8Error, IntoIter, Length, Memory,
        NoScope, NodeVec, Owning, ScopeMut, Splice, Text, TextDrain, Vector, WithScope,
    };
    is!(NodeVec<'static, u8>: Send, Sync, Unpin, Default, std::fmt::Debug);
    is!(NodeVec<'static, Cell<u8>>: Send);
    is_not!(NodeVec<'static, Cell<u8>>: Sync);
    is!(NodeVec<'static, MutexGuard<'static, u8>>: Sync);
    is_not!(NodeVec<'static, MutexGuard<'static, u8>>: Send);
    is_not!(NodeVec<'static, Shared>: Send, Sync);
    is_not!(NodeVec<'static, u8>: Clone, Copy);
    type Lent = WithScope<'static, 'static, 'static, u8>;
    is!(Lent: Unpin, std::fmt::Debug);
    is_not!(Lent: Send, Sync, Clone, Copy);
    is!(NoScope<'static>: Send, Sync, Copy);
    is!(ScopeMut<'static, 'static>: Send, Sync);
    is_not!(ScopeMut<'static, 'static>: Clone, Copy);

    // Draining iterators own or borrow elements.
    type There = NoScope<'static>;
    type Shares = &'static Scope<'static>;
    is!(IntoIter<u8, There>: Send, Sync);
    is_not!(IntoIter<Cell<u8>, There>: Sync);
    is_not!(IntoIter<Shared, There>: Send, Sync);
    is_not!(IntoIter<u8, Shares>: Send, Sync);
    is!(Drain<'static, u8>: Send, Sync);
    is!(Drain<'static, Cell<u8>>: Send);
    is_not!(Drain<'static, Cell<u8>>: Sync);
    is_not!(Drain<'static, Shared>: Send, Sync);
    is_not!(ExtractIf<'static, Shared, fn(&mut Shared) -> bool>: Send, Sync);
    is_not!(Splice<'static, std::vec::IntoIter<Shared>, Shares>: Send, Sync);
    is_not!(Splice<'static, std::vec::IntoIter<u8>, Shares>: Send, Sync);
    is_not!(Owning<u8, Shares>: Send, Sync);
    is!(Owning<u8, ScopeMut<'static, 'static>>: Send, Sync);
    is_not!(Owning<Shared, ScopeMut<'static, 'static>>: Send, Sync);
    is!(Vector<u8, There, u32>: Send, Sync);
    is_not!(Text<Shares>: Send, Sync);
    is_not!(TextDrain<'static, Shares>: Send, Sync);
    is_not!(FromUtf8Error<Shares>: Send, Sync);
    is!(FromUtf8Error<Shares>: std::error::Error);
    // Traits, and types that only they use.
    fn traits<'s, 'a: 's, T: Length, M: Memory, I: CollectIn, C: FromIteratorIn<'s, 'a, u8>>() {}
    fn named<F: ebbtide::ForLifetime>() {}
    let _ = named::<&str>;
    let _ = traits::<usize, Shares, std::ops::Range<u8>, NodeVec<'static, u8>>;
}

/// Threads share a pool, and its arenas can move between them.
#[test]
fn a_pool_is_sync_and_its_arenas_are_send() {
    is!(Pool: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Default, std::fmt::Debug);
    is!(Pooled<'static>: Send, Unpin, UnwindSafe, std::fmt::Debug);
    is_not!(Pooled<'static>: Sync, Clone);
    is_not!(Pool: Clone);
    is!(PooledRoot<'static>: Send, Unpin, UnwindSafe, std::fmt::Debug);
    is_not!(PooledRoot<'static>: Sync, Clone);
    is!(Pool<Unshared>: Send);
    is_not!(Pool<Unshared>: Sync);
}

#[cfg(feature = "huge-pages")]
#[test]
fn a_stateless_backing_has_every_auto_trait() {
    use ebbtide::HugePages;
    is!(HugePages: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Default, std::fmt::Debug);
    is!(Arena<HugePages>: Send, Unpin, UnwindSafe, RefUnwindSafe);
    is_not!(Arena<HugePages>: Sync);
}

/// It refers to plain values.
#[cfg(feature = "serde")]
#[test]
fn a_dynamic_value_has_every_auto_trait() {
    use ebbtide::dynamic::Value;
    is!(Value<'static>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Default);
}

/// They hold a reference to a scope, which is not `Sync`.
#[cfg(feature = "serde")]
#[test]
fn seeds_are_neither_send_nor_sync() {
    use ebbtide::serialize::{
        BorrowingSeed, BoxedSeed, BoxedSliceSeed, BoxedValueSeed, EntriesSeed, Seed, SliceSeed,
        ValueSeed,
    };
    type Unit = std::marker::PhantomData<u8>;
    macro_rules! stay {
        ($($seed:ty),+) => {
            $(
                is!($seed: Unpin, Copy, std::fmt::Debug);
                is_not!($seed: Send, Sync);
            )+
        };
    }
    stay!(Seed<'static, 'static, u8>, Seed<'static, 'static, [u8]>, Seed<'static, 'static, str>);
    stay!(BoxedSeed<'static, 'static, u8>, BorrowingSeed<'static, 'static, str>);
    stay!(ValueSeed<'static, 'static, Unit>, BoxedValueSeed<'static, 'static, Unit>);
    stay!(SliceSeed<'static, 'static, Unit>, BoxedSliceSeed<'static, 'static, Unit>);
    stay!(EntriesSeed<'static, 'static, Unit, Unit>, ebbtide::dynamic::AnySeed<'static, 'static>);
    stay!(ebbtide::deserialize::SeedIn<'static, 'static, 'static, u8>);
    #[cfg(feature = "allocator-api2-04")]
    {
        use ebbtide::serialize::{StringSeed, VecSeed};
        stay!(VecSeed<'static, 'static, Unit>, StringSeed<'static, 'static>);
    }
    #[cfg(feature = "hashbrown-017")]
    {
        use ebbtide::serialize::{MapSeed, SetSeed};
        stay!(MapSeed<'static, 'static, Unit, Unit>, SetSeed<'static, 'static, Unit>);
    }
}

/// Addresses, which no thread can follow without `unsafe`.
#[test]
fn the_words_of_a_scope_are_send_and_not_sync() {
    use ebbtide::front_end::Words;
    is!(Words: Send, Unpin, Copy, Eq, std::fmt::Debug);
    is_not!(Words: Sync);
}

#[cfg(target_os = "linux")]
#[test]
fn the_key_of_threads_can_be_a_static() {
    use ebbtide::front_end::ThreadKey;
    is!(ThreadKey: Send, Sync, Unpin);
}

#[test]
fn statistics_and_errors_have_every_auto_trait() {
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
    is!(InUse: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, Eq, std::error::Error);
    is!(Loan<'static>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
}

/// Its creator guarantees exclusive use of the bytes, but two threads could use them at once.
#[test]
fn raw_bytes_are_send_and_not_sync() {
    is!(RawBytes: Send, Unpin, UnwindSafe, std::fmt::Debug);
    is!(Fixed<RawBytes>: Send);
    is_not!(RawBytes: Sync, Clone);
}

#[test]
fn every_public_type_implements_debug() {
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

/// Fails for a public type that this file does not mention.
#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn every_public_type_is_asserted_here() {
    let this = include_str!("auto_traits.rs");
    let mut paths = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut found = 0;
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines() {
            let line = line.trim_start();
            let declared = ["pub struct ", "pub enum ", "pub union ", "pub trait "];
            let Some(rest) = declared.iter().find_map(|start| line.strip_prefix(start)) else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            found += 1;
            // Public for a signature alone and not exported, or for the code of the derive macro.
            const HIDDEN: [&str; 10] = [
                "Failure",
                "Grow",
                "Kind",
                "Names",
                "NeedsFeature",
                "Room",
                "Sealed",
                "SentToThreads",
                "SharedByThreads",
                "Used",
            ];
            // A trait of sized types.
            if HIDDEN.contains(&name) || name == "DeserializeIn" {
                continue;
            }
            let named = this.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
            assert!(named, "{name} is not asserted to be `Send` or not");
        }
    }
    assert!(found >= 35, "{found} types");
}

/// Types that borrow a scope exclusively are invariant in its lifetime and covariant in what they
/// own.
#[test]
fn types_that_borrow_are_covariant_in_the_borrow() {
    fn claim<'short>(c: Claim<'static>, _: &'short u8) -> Claim<'short> {
        c
    }
    fn pooled<'short>(p: Pooled<'static>, _: &'short u8) -> Pooled<'short> {
        p
    }
    fn builder<'short, 'a>(
        b: GrowVec<'static, 'a, &'static u8>,
        _: &'short u8,
    ) -> GrowVec<'short, 'a, &'short u8> {
        b
    }
    fn text<'short, 'a>(t: GrowString<'static, 'a>, _: &'short u8) -> GrowString<'short, 'a> {
        t
    }
    fn fixed(f: Borrowed, _: &u8) -> Fixed<&mut [MaybeUninit<u8>]> {
        f
    }
    fn root<'short>(r: PooledRoot<'static>, _: &'short u8) -> PooledRoot<'short> {
        r
    }
    let _ = (root, claim, pooled, builder, text, fixed);
    #[cfg(all(feature = "allocator-api2-04", feature = "hashbrown-017"))]
    {
        use ebbtide::collections::{Map, String, Vec};
        fn list<'short>(
            v: Vec<'static, 'static, &'static u8>,
            _: &'short u8,
        ) -> Vec<'short, 'short, &'short u8> {
            v
        }
        fn string<'short>(t: String<'static, 'static>, _: &'short u8) -> String<'short, 'short> {
            t
        }
        fn map<'short>(
            m: Map<'static, 'static, &'static u8, &'static u8>,
            _: &'short u8,
        ) -> Map<'short, 'short, &'short u8, &'short u8> {
            m
        }
        let _ = (list, string, map);
    }
}

/// `Scope<'long>` converts into `Scope<'short>`, and so does a box.
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
const _: () = assert!(size_of::<Checkpoint>() == 3 * WORD);
const _: () = assert!(size_of::<Claim<'_>>() == 3 * WORD);
const _: () = assert!(size_of::<GrowVec<'_, '_, u64>>() == 5 * WORD);
const _: () = assert!(size_of::<Pooled<'_>>() == 2 * WORD);
const _: () = assert!(size_of::<Option<Pooled<'_>>>() == 2 * WORD);
const _: () = assert!(align_of::<Box<'_, u128>>() == align_of::<usize>());
const _: () = assert!(size_of::<Option<Box<'_, [u64]>>>() == 2 * WORD);
const _: () = assert!(size_of::<Result<&mut u8, AllocError>>() == WORD);
const _: () = assert!(size_of::<AllocError>() == 0);
const _: () = assert!(size_of::<StackBytes<100>>() == 112 && align_of::<StackBytes<100>>() == 16);

#[test]
fn types_that_borrow_an_arena_have_no_destructor() {
    const { assert!(!std::mem::needs_drop::<Checkpoint>()) };
    const { assert!(!std::mem::needs_drop::<&mut RefCell<String>>()) };
    const { assert!(std::mem::needs_drop::<Box<'_, u8>>()) };
}

#[test]
fn empty_arenas_can_be_constants() {
    static EMPTY: std::sync::Mutex<Arena> = std::sync::Mutex::new(Arena::new());
    static STACK: std::sync::Mutex<StackArena<64>> = std::sync::Mutex::new(StackArena::new());
    static SIZED: std::sync::Mutex<Arena<NoSpill>> =
        std::sync::Mutex::new(Arena::with_chunk_size_in(100, NoSpill));
    if let (Ok(mut empty), Ok(mut stack)) = (EMPTY.lock(), STACK.lock()) {
        assert_eq!(*empty.scope().alloc(1) + *stack.scope().alloc(2), 3);
    }
    assert!(SIZED.lock().is_ok_and(|mut sized| sized.try_scope().is_err()));
}
