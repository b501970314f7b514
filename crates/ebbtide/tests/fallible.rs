//! A program of its own, because its global allocator refuses requests.
//!
//! Claim: whatever is refused, a `try_` method returns, and neither panics nor ends the process. A
//! request of no bytes needs no memory: nothing can refuse it.
//!
//! Each row of the table calls the method that it names. It runs again and again: once for each
//! request to the heap, which is refused, alone or with all that follow, and once with a limit of 0.
//! Rows are compared with the source: a method without a row, or a row without a method, fails. The
//! file is long because it has a row for each method.

#![cfg(all(feature = "std", not(miri)))]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "in a test, a panic is a failure")]

use ebbtide::{
    AllocError, Arena, DropArena, GrowString, GrowVec, Heap, Owned, Pool, Scope, TypedArena,
    collections::{
        CollectIn, Length, Memory, NodeVec, Owning, String as Text, Text as AnyText, Vec as List,
        Vector,
    },
};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    collections::BTreeSet,
    ffi::OsStr,
    fmt::Debug,
    fs,
    path::Path,
};

/// What the allocator refuses on this thread.
#[derive(Clone, Copy)]
struct Plan {
    /// The requests until the first one that is refused.
    until: usize,
    /// Whether all that follow are refused, too.
    lasts: bool,
    refused: usize,
}

const NOTHING: Plan = Plan { until: usize::MAX, lasts: false, refused: 0 };

thread_local!(static PLAN: Cell<Plan> = const { Cell::new(NOTHING) });

struct Refusing;

impl Refusing {
    fn refuses() -> bool {
        // A thread that is ending has no plan.
        PLAN.try_with(|plan| {
            let mut next = plan.get();
            if next.until == usize::MAX {
                return false;
            }
            let refuses = next.until == 0 && (next.lasts || next.refused == 0);
            next.until = next.until.saturating_sub(1);
            next.refused += usize::from(refuses);
            plan.set(next);
            refuses
        })
        .unwrap_or(false)
    }
}

// SAFETY: forwards to the system's allocator, or returns null; neither unwinds.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Refusing::refuses() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static GLOBAL: Refusing = Refusing;

/// Runs `f` while the heap serves everything.
fn calmly<R>(f: impl FnOnce() -> R) -> R {
    let plan = PLAN.replace(NOTHING);
    let result = f();
    PLAN.set(plan);
    result
}

/// Runs `row` with each request to the heap refused, alone and with all that follow.
fn with_each_refusal(name: &str, row: impl Fn()) {
    // If the process ends, `--nocapture` shows in which row.
    eprintln!("{name}");
    for lasts in [false, true] {
        for until in 0.. {
            PLAN.set(Plan { until, lasts, refused: 0 });
            row();
            let refused = PLAN.replace(NOTHING).refused;
            assert!(until < 1000, "{name} makes ever more requests");
            if refused == 0 {
                break;
            }
        }
    }
}

/// A request of no bytes was served.
#[track_caller]
fn none<T, E: Debug>(made: Result<T, E>) {
    if let Err(error) = made {
        PLAN.set(NOTHING);
        panic!("a request of no bytes was refused: {error:?}");
    }
}

/// A request of some bytes, which may have been refused.
fn some<T, E>(made: Result<T, E>) {
    drop(made);
}

/// Drops nothing, but has a destructor, and no size.
struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {}
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line;

#[derive(Clone, Copy)]
#[repr(align(8192))]
struct TwoPages(#[allow(dead_code, reason = "gives it a size")] u8);

/// A row, with the file of the method and its name.
struct Row<T> {
    file: &'static str,
    name: &'static str,
    run: T,
}

/// Rows of methods that take a `$type`, each with what it does.
macro_rules! rows {
    ($type:ty; $($file:literal $name:ident |$subject:ident| $body:block)*) => {
        [$({
            let body = stringify!($body).replace(char::is_whitespace, "");
            let mut calls = body.match_indices(stringify!($name)).map(|(at, name)| at + name.len());
            assert!(
                calls.any(|end| body[end..].starts_with(['(', ':'])),
                "the row of {} calls it",
                stringify!($name)
            );
            Row::<fn($type)> { file: $file, name: stringify!($name), run: |$subject| $body }
        }),*]
    };
}

/// Rows of methods of a `$type`: the arguments of each call.
macro_rules! methods {
    ($type:ty; $(
        $file:literal $name:ident: $($kind:ident $(::<$($of:tt),+>)? ($($arg:tt)*)),+;
    )*) => {
        [$(Row::<fn($type)> {
            file: $file,
            name: stringify!($name),
            run: |s| { $($kind(s.$name $(::<$($of),+>)? ($($arg)*));)+ },
        }),*]
    };
}

/// Rows of associated functions of another type: the arguments of each call.
macro_rules! functions {
    ($type:ty, $subject:ident; $(
        $file:literal $owner:ident::$name:ident: $($kind:ident $(::<$of:ty>)? ($($arg:tt)*)),+;
    )*) => {
        [$(Row::<fn($type)> {
            file: $file,
            name: stringify!($name),
            run: |$subject| { $($kind($owner $(::<$of>)? ::$name($($arg)*));)+ },
        }),*]
    };
}

/// A call of `$kind`, or 200 of `some`.
macro_rules! call {
    (many $call:expr) => {
        for _ in 0..200 {
            some($call);
        }
    };
    ($kind:ident $call:expr) => {
        $kind($call)
    };
}

/// Rows of methods that a scope and an arena both have.
macro_rules! shared {
    ($type:ty) => {
        methods! {
            $type;
            "value" try_alloc: none(()), none([0_u64; 0]), some([7_u8; 4000]), some(TwoPages(1));
            "value" try_alloc_leaked: none(Dropped), some(vec_of_nothing()), some([7_u8; 4000]);
            "value" try_alloc_with: none(|| Line), some(|| [7_u8; 4000]);
            "value" try_alloc_try_with: none(|| Ok::<(), ()>(())), some(|| Err::<(), u8>(7)),
                some(|| Ok::<_, ()>([7_u8; 4000])), some(|| Err::<[u8; 4000], u8>(7));
            "value" try_alloc_default: none::<()>(), some::<[u64; 32]>();
            "value" try_alloc_zeroed: none::<[u64; 0]>(), some::<[u64; 1000]>();
            "value" try_alloc_aligned: none((), 64), some((), 3), some((), usize::MAX / 2 + 1),
                some(1_u8, 1 << 16);
            "value" try_alloc_uninit: none::<()>(), some::<[u64; 1000]>();
            "value" try_alloc_layout: none(Layout::from_size_align(0, 1 << 20).unwrap()),
                some(Layout::from_size_align(1, 1 << 16).unwrap()),
                some(Layout::from_size_align(isize::MAX as usize, 1).unwrap());
            "slice" try_alloc_slice_copy: none(&[(); 3]), none::<u64>(&[]), none::<TwoPages>(&[]),
                some(&[7_u8; 4000]);
            "slice" try_alloc_slice_clone: none(&[(); 3]), none::<TwoPages>(&[]),
                some(&[7_u8; 4000]);
            "slice" try_alloc_slice_fill_copy: none(usize::MAX, ()), none(0, TwoPages(1)),
                some(4000, 7_u8), some(usize::MAX, 7_u16);
            "slice" try_alloc_slice_fill_clone: none(3, &()), none(0, &7_u64), some(4000, &7_u8);
            "slice" try_alloc_slice_fill_default: none::<()>(3), none::<u64>(0), some::<u8>(4000);
            "slice" try_alloc_slice_fill_with: none(3, |_| ()), none(0, |_| TwoPages(1)),
                some(4000, |_| 7_u8);
            "slice" try_alloc_slice_try_fill_with: none(3, |_| Ok::<(), ()>(())),
                none(0, |_| Err::<u64, ()>(())), none(0, |_| Ok::<_, ()>(TwoPages(1))),
                some(3, |_| Err::<(), ()>(())), some(4000, |_| Ok::<_, ()>(7_u8)),
                some(4000, |_| Err::<u8, ()>(()));
            "slice" try_alloc_slice_fill_iter: none([(); 3]), none([0_u64; 0]), some([7_u8; 4000]);
            "slice" try_alloc_slice_from_iter: none([(); 3]), none((0..9_u64).filter(|n| *n > 9)),
                some([7_u8; 4000]), some((0..4000_u32).filter(|n| n % 2 == 0)),
                some((0..1000_u32).map(|n| [n; 8]));
            "slice" try_alloc_slice_try_from_iter: none([Ok::<(), ()>(()); 3]),
                none([Ok::<u64, ()>(1); 0]), some([Err::<u64, ()>(()); 1]),
                some((0..4000_u32).map(Ok::<u32, ()>));
            "slice" try_alloc_array: none::<(), 3>(|_| ()), none::<u64, 0>(|_| 1),
                none::<TwoPages, 0>(|_| TwoPages(1)), some::<u8, 4000>(|_| 7);
            "slice" try_alloc_uninit_slice: none::<()>(3), none::<TwoPages>(0), some::<u8>(4000),
                some::<u16>(usize::MAX);
            "slice" try_alloc_zeroed_slice: none::<()>(3), none::<u64>(0), some::<u8>(4000);
            "slice" try_alloc_uninit_slice_aligned: none::<()>(3, 64), none::<u8>(0, 1 << 16),
                some::<u8>(0, 0), some::<u8>(4000, 64);
            "slice" try_alloc_boxed_slice: none(Box::<[u64]>::default()),
                none(vec![(); 3].into_boxed_slice()),
                some(calmly(|| vec![7_u8; 4000].into_boxed_slice()));
            "slice" try_alloc_vec: none(Vec::<u64>::new()),
                none(calmly(|| Vec::<u64>::with_capacity(10))), none(vec![(); 3]),
                some(calmly(|| vec![7_u8; 4000]));
            "string" try_alloc_str: none(""), some(LONG);
            "string" try_alloc_fmt: none(format_args!("")),
                none(format_args!("{}{:?}", "", Nothing)), some(format_args!("{}{}", LONG, 7)),
                some(format_args!("{}{}", 7, Nothing));
            "string" try_alloc_cstr: some(c""), some(c"ebb");
            "string" try_alloc_cstr_from_str: some(""), some(LONG);
            "string" try_alloc_os_str: none(OsStr::new("")), some(OsStr::new(LONG));
            "string" try_alloc_path: none(Path::new("")), some(Path::new(LONG));
            "boxed" try_boxed: none(Dropped), some([7_u8; 4000]);
            "boxed" try_boxed_with: none(|| ()), some(|| [7_u8; 4000]);
            "boxed" try_boxed_slice_fill_with: none(3, |_| Dropped), none(0, |_| 7_u64),
                some(4000, |_| 7_u8);
            "boxed" try_boxed_slice_clone: none::<String>(&[]), some(&[7_u8; 4000]);
            "boxed" try_boxed_slice_from_iter: none([(); 3]), none(std::iter::empty::<String>()),
                some((0..4000).filter(|n| n % 2 == 0));
            "boxed" try_boxed_vec: none(Vec::<String>::new()), some(calmly(|| vec![7_u8; 4000]));
            "boxed" try_boxed_str: none(""), some(LONG);
        }
    };
}

/// More than the first chunk of the arenas here holds.
const LONG: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\
                    0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A type that needs `Drop`, without memory.
fn vec_of_nothing() -> Vec<u64> {
    Vec::new()
}

/// Is formatted as nothing by `Debug`, and fails as `Display`.
struct Nothing;

impl Debug for Nothing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("")
    }
}

impl std::fmt::Display for Nothing {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Err(std::fmt::Error)
    }
}

/// Methods that only a scope has, and those of collections.
fn of_scopes() -> Vec<Row<fn(&mut Scope<'_>)>> {
    let mut rows = Vec::from(methods! {
        &mut Scope<'_>;
        "scope" try_reserve: none(0), some(4000), some(usize::MAX);
        "vector" try_vec_with_capacity: none::<u64>(0), none::<()>(usize::MAX), some::<u8>(4000),
            some::<u16>(usize::MAX);
        "text" try_string_with_capacity: none(0), some(4000);
    });
    rows.extend(functions! {
        &mut Scope<'_>, s;
        "vector" List::try_with_capacity_in: none::<u64>(0, s), some::<u8>(4000, s);
        "vector" List::try_from_iter_in: none([(); 3], s), none([0_u64; 0], s),
            some((0..4000).filter(|n| n % 2 == 0), s);
        "vector" List::try_from_array_in: none([0_u64; 0], s), some([7_u8; 4000], s);
        "vector" List::try_from_elem_in: none((), 3, s), none(7_u64, 0, s), some(7_u8, 4000, s);
        "text" Text::try_with_capacity_in: none(0, s), some(4000, s);
        "text" Text::try_from_str_in: none("", s), some(LONG, s);
        "text" Text::try_from_utf8_lossy_in: none(b"", s), some(&[0xFF; 400], s);
        "text" Text::try_from_utf16_in: none(&[], s), some(&[0xD800; 400], s), some(&[0x20; 400], s);
        "text" Text::try_from_utf16_lossy_in: none(&[], s), some(&[0xD800; 400], s);
    });
    rows.extend(rows! {
        &mut Scope<'_>;
        "scope" try_claim |s| {
            if let Ok(claim) = s.try_claim() {
                none(claim.scope().try_alloc(()));
                some(claim.scope().try_alloc([7_u8; 4000]));
                some(claim.scope().try_claim());
            }
        }
        "vector" try_split_off |s| {
            none(List::from_iter_in([(); 3], s).try_split_off(1));
            let mut list = s.vec();
            none(list.try_split_off(0));
            if list.try_extend(0..9).is_ok() {
                none(list.try_split_off(9));
                some(list.try_split_off(2));
                some(list.try_split_off(0));
            }
        }
        "vector" try_extend_from_within |s| {
            /// Twice as many numbers, if there is room for the first ones.
            fn double<M: Memory, L: Length>(list: &mut Vector<u64, M, L>) {
                none(list.try_extend_from_within(..));
                if list.try_extend(0..9).is_ok() {
                    none(list.try_extend_from_within(9..));
                    some(list.try_extend_from_within(..));
                }
            }
            none(List::from_iter_in([()], s).try_extend_from_within(..));
            double(&mut s.vec());
            let mut units = s.grow_vec();
            units.push(());
            none(units.try_extend_from_within(..));
            double(&mut s.grow_vec());
        }
        "text" try_extend_from_within |s| {
            fn double<M: Memory>(text: &mut AnyText<M>) {
                none(text.try_extend_from_within(..));
                if text.try_push_str(LONG).is_ok() {
                    some(text.try_extend_from_within(..));
                }
            }
            double(&mut s.string());
            double(&mut s.grow_string());
        }
        "vector/iter" try_finish |s| {
            let mut list = s.vec::<u64>();
            none(list.splice(.., []).try_finish());
            some(list.splice(.., 0..100).try_finish());
            some(list.splice(.., (0..1000).filter(|n| n % 2 == 0)).try_finish());
        }
        "vector/owning" try_split_off |s| {
            let mut list = calmly(|| s.owned_vec());
            if list.try_extend((0..9).map(|_| vec_of_nothing())).is_ok() {
                none(list.try_split_off(9));
                some(list.try_split_off(2));
            }
        }
        "vector/node" try_push |s| {
            let mut nodes = NodeVec::new();
            none(nodes.try_push(s, ()));
            let mut nodes = NodeVec::new();
            for n in 0..100_u64 {
                some(nodes.try_push(s, n));
            }
        }
        "vector/node" try_extend |s| {
            let mut nodes = NodeVec::new();
            none(nodes.try_extend(s, [0_u64; 0]));
            some(nodes.try_extend(s, 0..100_u64));
        }
    });
    rows.extend(of_vectors());
    rows.extend(of_strings());
    #[cfg(feature = "ndarray-017")]
    rows.extend(of_arrays());
    rows
}

/// Rows of methods of vectors, for a vector that shares its scope and one that does not: the
/// arguments of a call that pushes elements of no bytes, then of calls that push numbers.
macro_rules! of_vectors {
    ($(
        $file:literal $name:ident: ($($unit:tt)*), $($kind:ident ($($arg:tt)*)),+;
    )*) => {
        [$(Row::<fn(&mut Scope<'_>)> {
            file: $file,
            name: stringify!($name),
            run: |s| {
                none(s.vec::<()>().$name($($unit)*));
                none(s.grow_vec::<()>().$name($($unit)*));
                {
                    let mut list: List<'_, '_, u64> = s.vec();
                    $(call!($kind list.$name($($arg)*));)+
                }
                let mut list: GrowVec<'_, '_, u64> = s.grow_vec();
                $(call!($kind list.$name($($arg)*));)+
            },
        }),*]
    };
}

fn of_vectors() -> Vec<Row<fn(&mut Scope<'_>)>> {
    /// Elements in another arena.
    fn elsewhere<'a, T>(
        arena: &'a mut Arena,
        values: impl IntoIterator<Item = T>,
    ) -> NodeVec<'a, T> {
        calmly(|| values.into_iter().collect_in(&arena.scope()))
    }
    Vec::from(of_vectors! {
        "vector" try_push: (()), many(7);
        "vector" try_push_with: (|| ()), many(|| 7);
        "vector" try_push_mut: (()), many(7);
        "vector" try_reserve: (usize::MAX), none(0), some(usize::MAX), some(1000);
        "vector" try_reserve_exact: (usize::MAX), none(0), some(usize::MAX), some(1000);
        "vector" try_insert: (0, ()), many(0, 7);
        "vector" try_insert_mut: (0, ()), many(0, 7);
        "vector" try_extend_from_slice: (&[(); 3]), none(&[]), some(&[7; 1000]);
        "vector" try_extend_from_slice_copy: (&[(); 3]), none(&[]), some(&[7; 1000]);
        "vector" try_extend_from_slices_copy: (&[&[()]]), none(&[]), some(&[&[7; 1000][..], &[]]);
        "vector" try_resize: (3, ()), none(0, 7), some(1000, 7), some(usize::MAX, 7);
        "vector" try_resize_with: (3, || ()), none(0, || 7), some(1000, || 7);
        "vector" try_append: (&mut NodeVec::new()), none(&mut NodeVec::new()),
            some(&mut elsewhere(&mut calmly(Arena::new), 0..1000));
        "vector" try_extend: ([(); 3]), none([]), some((0..2000).filter(|n| n % 2 == 0)),
            some(0..1000);
    })
}

/// Rows of methods of strings, for both kinds: the arguments of each call.
macro_rules! of_strings {
    ($($file:literal $name:ident: $($kind:ident ($($arg:tt)*)),+;)*) => {
        [$(Row::<fn(&mut Scope<'_>)> {
            file: $file,
            name: stringify!($name),
            run: |s| {
                {
                    let mut text: Text<'_, '_> = s.string();
                    $(call!($kind text.$name($($arg)*));)+
                }
                let mut text: GrowString<'_, '_> = s.grow_string();
                $(call!($kind text.$name($($arg)*));)+
            },
        }),*]
    };
}

fn of_strings() -> Vec<Row<fn(&mut Scope<'_>)>> {
    Vec::from(of_strings! {
        "text" try_push_str: none(""), some(LONG);
        "text" try_push: many('é');
        "text" try_reserve: none(0), some(usize::MAX), some(4000);
        "text" try_reserve_exact: none(0), some(usize::MAX), some(4000);
        "text" try_insert: many(0, 'é');
        "text" try_insert_str: none(0, ""), some(0, LONG);
        "text" try_replace_range: none(.., ""), some(.., LONG);
    })
}

#[cfg(feature = "ndarray-017")]
fn of_arrays() -> Vec<Row<fn(&mut Scope<'_>)>> {
    use ebbtide::ndarray_017::ArrayView2;

    static NUMBERS: [u64; 400] = [7; 400];
    fn numbers() -> ArrayView2<'static, u64> {
        ArrayView2::from_shape((20, 20), &NUMBERS).unwrap()
    }
    fn nothing() -> ArrayView2<'static, u64> {
        ArrayView2::from_shape((0, 3), &[]).unwrap()
    }
    Vec::from(methods! {
        &mut Scope<'_>;
        "array" try_zeros: none::<u64, _>((0, 3)), some::<u64, _>((40, 30));
        "array" try_ones: none::<u64, _>((0, 3)), some::<u64, _>((40, 30));
        "array" try_array_from_elem: none((4, 3), ()), some((40, 30), 7_u64);
        "array" try_array_from_shape_fn: none((0, 3), |_| 7_u64), some((40, 30), |_| 7_u64);
        "array" try_array_uninit: none::<u64, _>((0, 3)), some::<u64, _>((40, 30));
        "array" try_array_from: none(&nothing()),
            some(&numbers());
        "array" try_array_map: none(&numbers(), |_| ()),
            some(&numbers(), |n| n + 1);
    })
}

/// Methods that need nothing, or whose subject makes requests to the heap itself.
fn of_owners() -> Vec<Row<fn(())>> {
    let mut owners = Vec::from(functions! {
        (), _none;
        "arena" Arena::try_with_capacity: none(0), some(4000), some(usize::MAX);
        "arena" Arena::try_with_capacity_in: none(0, Heap), some(4000, Heap);
        "owned" Owned::try_new: some::<&'static str>(|s| Ok::<_, AllocError>(s.try_alloc_str(LONG)?));
        "typed_arena" TypedArena::try_with_capacity: none::<u64>(0), none::<()>(usize::MAX),
            some::<u64>(4000), some::<u64>(usize::MAX);
    });
    owners.extend(rows! {
        ();
        "arena" try_scope |_none| { some(Arena::new().try_scope()); }
        "arena" try_root |_none| { some(Arena::new().try_root()); }
        "drop_arena" try_alloc |_none| {
            let arena = DropArena::new();
            none(arena.try_alloc(()));
            some(arena.try_alloc(Dropped));
            some(arena.try_alloc([7_u64; 4000]));
        }
        "drop_arena" try_alloc_pinned |_none| {
            let arena = DropArena::new();
            none(arena.try_alloc_pinned(()));
            some(arena.try_alloc_pinned(Dropped));
        }
        "drop_arena" try_alloc_slice_from_iter |_none| {
            let arena = DropArena::new();
            none(arena.try_alloc_slice_from_iter([(); 3]));
            none(arena.try_alloc_slice_from_iter(std::iter::empty::<String>()));
            some(arena.try_alloc_slice_from_iter([Dropped, Dropped]));
            some(arena.try_alloc_slice_from_iter((0..4000).map(|_| vec_of_nothing())));
        }
        "drop_arena" try_alloc_str |_none| {
            let arena = DropArena::new();
            none(arena.try_alloc_str(""));
            some(arena.try_alloc_str(LONG));
        }
        "owned" try_over |_none| {
            let arena = Arena::new();
            some(Owned::<&'static str, _>::try_over(arena, |s| s.try_alloc_str(LONG).map(|text| &*text)));
        }
        "owned" try_map |_none| {
            if let Ok(empty) = Owned::<&'static str>::try_new(|_| Ok::<_, AllocError>("")) {
                some(empty.try_map::<&'static str, AllocError>(|s, _| Ok(s.try_alloc_str(LONG)?)));
            }
        }
        "typed_arena" try_alloc |_none| {
            none(TypedArena::new().try_alloc(Dropped));
            let arena = TypedArena::new();
            for n in 0..1000_u64 {
                some(arena.try_alloc(n));
            }
        }
        "typed_arena" try_alloc_extend |_none| {
            none(TypedArena::new().try_alloc_extend([(); 3]));
            let arena = TypedArena::new();
            none(arena.try_alloc_extend([0_u64; 0]));
            some(arena.try_alloc_extend((0..1000).filter(|n| n % 2 == 0)));
            some(arena.try_alloc_extend(0..1000));
            some(arena.try_alloc_extend((0..9).flat_map(|n| arena.try_alloc(n).ok().copied())));
        }
        "typed_arena" try_alloc_try_extend |_none| {
            let arena = TypedArena::new();
            none(arena.try_alloc_try_extend([Ok::<u64, ()>(1); 0]));
            some(arena.try_alloc_try_extend((0..1000).map(Ok::<u64, ()>)));
            some(arena.try_alloc_try_extend((0..1000).map(|n| if n < 900 { Ok(n) } else { Err(n) })));
        }
        "typed_arena" try_reserve |_none| {
            none(TypedArena::<()>::new().try_reserve(usize::MAX));
            let arena = TypedArena::<u64>::new();
            none(arena.try_reserve(0));
            some(arena.try_reserve(4000));
            some(arena.try_reserve(usize::MAX));
        }
        "typed_arena" try_into_vec |_none| {
            none(TypedArena::<u64>::new().try_into_vec());
            let arena = calmly(|| {
                let arena = TypedArena::new();
                arena.alloc_extend(0..1000_u64);
                arena.alloc_extend(0..1000);
                arena
            });
            some(arena.try_into_vec());
        }
        "pool" try_get |_none| {
            let pool = Pool::new();
            if let Ok(mut arena) = pool.try_get() {
                some(arena.try_scope());
            }
        }
        "pool" try_scope |_none| {
            let pool = Pool::new();
            some(pool.try_scope(|s| s.try_alloc([7_u8; 40_000]).is_ok()));
        }
        "pool" try_map |_none| {
            let pool = Pool::new();
            some(pool.try_map(0..100_u8, |s, n| s.try_alloc([n; 400]).map(|block| block[0])));
        }
        "pool_root" try_root |_none| {
            let pool = Pool::new();
            some(pool.try_root());
            some(pool.try_root().map(|root| some(root.try_alloc([7_u8; 40_000]))));
        }
        "local" try_scope |_none| {
            some(ebbtide::try_scope(|s| s.try_alloc([7_u8; 40_000]).is_ok()));
            ebbtide::local::trim();
        }
    });
    owners
}

/// Runs a row in a scope of an arena with one small chunk.
fn in_scope(name: &str, limit: Option<usize>, run: impl Fn(&mut Scope<'_>)) {
    with_each_refusal(name, || {
        let mut arena = calmly(|| Arena::with_capacity(64));
        if limit.is_some() {
            arena.set_limit(limit);
        }
        run(&mut arena.scope());
        // Fills the chunk, so that the next request of no bytes finds no room either.
        let mut s = arena.scope();
        while s.try_alloc(0_u8).is_ok() && s.stats().capacity < 200 {}
        run(&mut s);
        PLAN.set(Plan { until: usize::MAX, ..PLAN.get() });
        arena.set_limit(None);
        assert_eq!(arena.scope().alloc_slice_fill_copy(300, 7_u8), [7; 300]);
    });
}

/// Runs a row in an arena without a chunk, and in one with a full chunk.
fn in_arena(name: &str, limit: Option<usize>, run: impl Fn(&Arena)) {
    with_each_refusal(name, || {
        let mut arena = Arena::with_chunk_size(64);
        arena.set_limit(limit);
        run(&arena);
        arena.reset();
        run(&arena);
        calmly(|| {
            arena.set_limit(None);
            // Withdraws the root.
            arena.scope().alloc(7_u8);
            arena.set_limit(limit);
        });
        run(&arena);
        while arena.try_alloc(0_u8).is_ok() && arena.stats().capacity < 200 {}
        run(&arena);
        PLAN.set(Plan { until: usize::MAX, ..PLAN.get() });
        arena.set_limit(None);
        assert_eq!(arena.alloc_slice_fill_copy(300, 7_u8), [7; 300]);
    });
}

#[test]
fn every_method_of_a_scope_returns() {
    for limit in [None, Some(0)] {
        for Row { name, run, .. } in of_scopes() {
            in_scope(name, limit, run);
        }
        for Row { name, run, .. } in shared!(&Scope<'_>) {
            in_scope(name, limit, |s| run(s));
        }
    }
}

#[test]
fn every_method_of_an_arena_returns() {
    for limit in [None, Some(0)] {
        for Row { name, run, .. } in shared!(&Arena) {
            in_arena(name, limit, run);
        }
    }
}

#[test]
fn every_method_of_another_owner_returns() {
    for Row { name, run, .. } in of_owners() {
        // Threads are given numbers, and the processors counted, once for the process.
        run(());
        with_each_refusal(name, || run(()));
    }
}

/// The vectors over an arena, which have no methods of their own but another kind of memory.
#[test]
fn every_vector_over_an_arena_returns() {
    in_arena("Owning", None, |arena| {
        let mut list = Owning::<(), &Arena>::over(arena);
        none(list.try_extend([(); 3]));
        let mut list = Owning::<u64, &Arena>::over(arena);
        none(list.try_reserve(0));
        none(list.try_extend([]));
        some(list.try_extend(0..100));
        some(list.try_push(7));
        some(list.try_reserve_exact(1000));
    });
}

/// An error of a deserialiser that takes no memory.
#[cfg(feature = "serde")]
#[derive(Debug)]
struct Unmade;

#[cfg(feature = "serde")]
impl std::fmt::Display for Unmade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unmade")
    }
}

#[cfg(feature = "serde")]
impl std::error::Error for Unmade {}

#[cfg(feature = "serde")]
impl serde::de::Error for Unmade {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Unmade
    }
}

/// What allocates by a trait: the collections of other crates, and deserialising.
#[test]
#[cfg(all(feature = "allocator-api2-02", feature = "hashbrown-017", feature = "serde"))]
fn every_trait_returns() {
    use allocator_api2_02::{alloc::Allocator, vec::Vec as OtherVec};
    use ebbtide::allocator_api2_02;
    use serde::de::{DeserializeSeed, value::SeqDeserializer};

    fn allocate(allocator: impl Allocator + Copy) {
        let empty = Layout::from_size_align(0, 64).unwrap();
        let made = allocator.allocate(empty);
        none(made);
        let Ok(block) = made else { return };
        // SAFETY: the block was just allocated with this layout; a failure leaves it as it is.
        if let Ok(grown) = unsafe { allocator.grow(block.cast(), empty, Layout::new::<Page>()) } {
            let grown = grown.cast();
            // SAFETY: the block was just grown to this layout.
            let shrunk = unsafe { allocator.shrink(grown, Layout::new::<Page>(), empty) };
            none(shrunk);
            // SAFETY: the block was just shrunk to this layout.
            unsafe { allocator.deallocate(shrunk.unwrap().cast(), empty) };
        } else {
            // SAFETY: the block was allocated with this layout.
            unsafe { allocator.deallocate(block.cast(), empty) };
        }
        let mut list = OtherVec::<u64, _>::new_in(allocator);
        none(list.try_reserve(0));
        some(list.try_reserve(1000));
        some(list.try_reserve(usize::MAX));
    }
    #[repr(align(4096))]
    struct Page(#[allow(dead_code, reason = "gives it a size")] [u8; 4096]);

    for limit in [None, Some(0)] {
        in_arena("Allocator", limit, |arena| allocate(arena));
        in_scope("Allocator", limit, |s| allocate(&*s));
        in_scope("Map", limit, |s| {
            let mut map = s.map::<u64, u64>();
            none(map.try_reserve(0));
            some(map.try_reserve(1000));
            some(map.try_reserve(usize::MAX));
        });
        in_scope("dynamic", limit, |s| {
            let numbers = SeqDeserializer::<_, Unmade>::new((0..100_u64).map(|n| n % 7));
            some(s.seed_any().deserialize(numbers));
            none(
                s.seed_any().deserialize(SeqDeserializer::<_, Unmade>::new([0_u64; 0].into_iter())),
            );
        });
    }
}

#[test]
fn a_request_of_no_bytes_makes_no_chunk() {
    for Row { name, run, .. } in shared!(&Arena) {
        let arena = Arena::with_chunk_size(64);
        arena.set_limit(Some(0));
        run(&arena);
        assert_eq!(arena.stats().held, 0, "{name}");
    }
    let arena = Arena::new();
    assert_eq!(arena.alloc_slice_from_iter([(), ()]).len(), 2);
    assert!(arena.alloc_slice_from_iter(std::iter::empty::<u64>()).is_empty());
    assert_eq!(arena.alloc_array::<(), 3>(|_| ()), &[(); 3]);
    assert_eq!(arena.alloc_fmt(format_args!("{}{}", "", "")), "");
    assert_eq!(arena.alloc_try_with(|| Ok::<(), u8>(())), Ok(&mut ()));
    assert_eq!(arena.alloc_slice_try_from_iter([Err::<u64, u8>(7)]), Err(7));
    arena.alloc_aligned((), 64);
    assert_eq!(arena.stats().held, 0);
    assert_eq!(arena.alloc_fmt(format_args!("{}{}", "", 7)), "7");
    assert_eq!(arena.alloc_slice_from_iter(1..4), [1, 2, 3]);
}

/// An iterator and a `Display` that use the arena themselves, which has no chunk before.
#[test]
fn what_runs_meanwhile_may_make_the_first_chunk() {
    let arena = Arena::new();
    let numbers = arena.alloc_slice_from_iter((0..5_u64).map(|n| *arena.alloc(n)));
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let arena = Arena::new();
    let text = arena.alloc_fmt(format_args!("{}{}", "", Inner(&arena)));
    assert_eq!(text, "inner");
    let arena = Arena::new();
    let made = arena.alloc_slice_try_from_iter((0..5_u64).map(|n| Ok::<_, ()>(*arena.alloc(n))));
    assert_eq!(made, Ok(&mut [0, 1, 2, 3, 4][..]));
}

struct Inner<'a>(&'a Arena);

impl std::fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.alloc_str("inner"))
    }
}

/// The methods of the source, with the files that they are in.
fn in_source(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            in_source(&path, &format!("{name}/"), found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            let line = line.trim_start();
            let method = line.strip_prefix("pub fn ").or(line.strip_prefix("pub unsafe fn "));
            // A row of the table of pairs begins with both names.
            let pair = line.split_once(", ").filter(|(name, rest)| {
                rest.strip_prefix("try_").is_some_and(|twin| twin.starts_with(&format!("{name}:")))
            });
            let method = method.or(pair.map(|(_, twin)| twin));
            let Some(method) = method.filter(|method| method.starts_with("try_")) else { continue };
            let end = method.find(['<', '(', ':']).unwrap();
            found.insert(format!("{name} {}", &method[..end]));
        }
    }
}

#[test]
fn every_method_has_a_row() {
    let mut found = BTreeSet::new();
    in_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    // Runs on other threads, whose requests nothing counts here.
    found.remove("pool try_par_map");
    let of_arena = shared!(&Arena);
    let mut rows: BTreeSet<String> =
        of_arena.iter().map(|row| format!("{} {}", row.file, row.name)).collect();
    rows.extend(of_scopes().iter().map(|row| format!("{} {}", row.file, row.name)));
    rows.extend(of_owners().iter().map(|row| format!("{} {}", row.file, row.name)));
    if cfg!(not(feature = "ndarray-017")) {
        found.retain(|name| !name.starts_with("array "));
    }
    // Those of an arena have the rows of a scope's methods.
    let names: BTreeSet<String> = of_arena.iter().map(|row| row.name.to_owned()).collect();
    let (of_root, found): (BTreeSet<_>, BTreeSet<_>) =
        found.into_iter().partition(|name| name.starts_with("in_root "));
    let of_root: BTreeSet<_> = of_root.iter().map(|name| name["in_root ".len()..].into()).collect();
    assert_eq!(of_root, names);
    assert_eq!(found, rows);
}
