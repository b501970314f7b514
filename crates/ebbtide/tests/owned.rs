//! Claim: an arena and its value, as one value: the value is dropped exactly once, before the memory
//! that it refers to, which is freed exactly once, whatever panics, fails or moves.

#![cfg(feature = "std")]

use crate::common::{Log, Watched, panics, watched};
use ebbtide::{AllocError, Arena, ForLifetime, Heap, Owned, Scope, collections::NodeVec};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A list that owns something outside of the arena, and records when it is dropped.
#[derive(Debug)]
struct List<'a> {
    numbers: &'a mut [u64],
    name: &'a str,
    outside: Box<u64>,
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for List<'_> {
    fn drop(&mut self) {
        assert!(self.numbers.iter().all(|number| *number == *self.outside), "still there");
        assert_eq!(self.name, "ebb");
        self.drops.fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "asked for");
    }
}

struct AnyList;
impl ForLifetime for AnyList {
    type Of<'a> = List<'a>;
}

type Lists = Owned<AnyList, Watched>;

fn make<'a>(s: &Scope<'a>, drops: &Arc<AtomicUsize>, panics: bool) -> Result<List<'a>, AllocError> {
    Ok(List {
        numbers: s.try_alloc_slice_fill_copy(5_000, 7)?,
        name: s.try_alloc_str("ebb")?,
        outside: Box::new(7),
        drops: Arc::clone(drops),
        panics,
    })
}

/// An arena whose calls of the backing are counted, a list in it, and the number of its drops.
fn list(panics: bool) -> (Lists, Arc<Log>, Arc<AtomicUsize>) {
    let (backing, log) = watched();
    let drops = Arc::default();
    let arena = Arena::new_in(backing);
    let list = Lists::try_over(arena, |s| make(s, &drops, panics));
    (list.expect("there is memory"), log, drops)
}

#[test]
fn the_value_is_dropped_once_before_its_memory() {
    let (list, log, drops) = list(false);
    let moved = [Some(list)];
    assert!(log.live() > 0 && drops.load(Ordering::Relaxed) == 0);
    drop(moved);
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn a_panic_of_the_destructor_frees_the_memory() {
    let (owned, log, drops) = list(true);
    assert!(panics(|| drop(owned)));
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));

    let (owned, log, drops) = list(true);
    assert!(panics(|| owned.into_arena()));
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn a_panic_of_a_closure_frees_the_memory_or_keeps_the_value() {
    let (backing, log) = watched();
    assert!(panics(|| Lists::over(Arena::new_in(backing), |s| {
        s.alloc_slice_fill_copy(50_000, 0_u64);
        panic!("asked for")
    })));
    assert_eq!(log.live(), 0);

    let (owned, log, drops) = list(false);
    assert!(panics(|| owned.map::<AnyList>(|_, _list| panic!("asked for"))));
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));

    let (mut owned, log, drops) = list(false);
    assert!(panics(|| owned.with_mut(|s, list| {
        list.numbers = s.alloc_slice_fill_copy(60_000, 7);
        panic!("asked for")
    })));
    assert_eq!(owned.with(|list| list.numbers.len()), 60_000);
    drop(owned);
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));
}

/// Whatever request of the backing is refused, there is an error, and nothing is left.
#[test]
fn every_refusal_is_an_error() {
    let mut errors = 0;
    for refused in 1..10 {
        let (backing, log) = watched();
        log.refuse_nth(refused);
        let drops = Arc::default();
        let owned = Lists::try_over(Arena::new_in(backing), |s| make(s, &drops, false));
        errors += usize::from(owned.is_err());
        if let Ok(owned) = owned {
            log.refuse_all();
            // The new value does not fit in what the first one has left.
            let mapped = owned.try_map::<AnyBlock, AllocError>(|_, _| unreachable!("no room"));
            assert_eq!(mapped.err(), Some(AllocError));
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        }
        assert_eq!(log.live(), 0);
    }
    assert!(errors > 0, "none was noticed");

    let arena = Arena::new();
    arena.set_limit(Some(100));
    assert_eq!(Owned::<AnyList, _>::try_over(arena, |_| unreachable!()).err(), Some(AllocError));
}

struct AnyBlock;
impl ForLifetime for AnyBlock {
    type Of<'a> = [u64; 16_000];
}

#[test]
fn an_error_of_a_closure_is_returned() {
    #[derive(Debug, PartialEq)]
    enum Error {
        NoMemory,
        NotANumber,
    }
    impl From<AllocError> for Error {
        fn from(_: AllocError) -> Self {
            Error::NoMemory
        }
    }
    let parse = |text: &str| -> Result<Owned<&'static u32>, Error> {
        Owned::try_new(|s| {
            let number = text.parse().map_err(|_| Error::NotANumber)?;
            Ok(&*s.try_alloc(number)?)
        })
    };
    assert_eq!(parse("7").unwrap().with(|number| **number), 7);
    assert_eq!(parse("x").unwrap_err(), Error::NotANumber);

    let (owned, log, drops) = list(false);
    let mapped = owned.try_map::<AnyList, Error>(|_, _list| Err(Error::NotANumber));
    assert_eq!(mapped.unwrap_err(), Error::NotANumber);
    assert_eq!((log.live(), drops.load(Ordering::Relaxed)), (0, 1));
}

/// The arena was used before, and is used again afterwards; its chunks serve every value.
#[test]
fn an_arena_serves_one_value_after_the_other() {
    let (backing, log) = watched();
    let mut arena = Arena::new_in(backing);
    arena.alloc_slice_fill_copy(100, 1_u8);
    let drops = Arc::default();
    for round in 0..10 {
        let owned = Lists::over(arena, |s| make(s, &drops, false).unwrap());
        assert_eq!(owned.held(), log.held());
        arena = owned.into_arena();
        assert_eq!((arena.stats().used, drops.load(Ordering::Relaxed)), (0, round + 1));
    }
    assert!(log.calls() < 4, "{} calls", log.calls());
}

#[test]
fn a_map_keeps_what_the_old_value_referred_to() {
    let (owned, log, drops) = list(false);
    let name = owned.map::<&'static str>(|s, list| {
        let numbers = s.alloc_slice_fill_copy(10_000, 0);
        numbers[..5_000].copy_from_slice(list.numbers);
        list.name
    });
    assert_eq!((name.with(|name| *name), drops.load(Ordering::Relaxed)), ("ebb", 1));
    let nothing = name.map::<AnyNothing>(|_, _| [[0; 0]; 7]);
    assert_eq!(nothing.with(|nothing| nothing.len()), 7);
    drop(nothing);
    assert_eq!(log.live(), 0);
}

/// A value of no bytes, with a large alignment.
struct AnyNothing;
impl ForLifetime for AnyNothing {
    type Of<'a> = [[u128; 0]; 7];
}

/// Collections that hold no scope grow; what one grows out of stays where it is.
#[test]
fn a_value_grows_by_the_scope_that_is_lent() {
    struct AnyWords;
    impl ForLifetime for AnyWords {
        type Of<'a> = NodeVec<'a, &'a str>;
    }

    let mut words = [(); 3].map(|()| Owned::<AnyWords>::new(|_| NodeVec::new()));
    for number in 0..500 {
        for words in &mut words {
            words.with_mut(|s, words| {
                let claim = s.claim();
                let scratch = claim.scope().alloc_fmt(format_args!("{number}"));
                words.push(s, s.alloc_str(scratch));
            });
        }
    }
    for words in words {
        let sum =
            words.with(|words| words.iter().map(|word| word.parse::<u32>().unwrap()).sum::<u32>());
        assert_eq!(sum, 124_750);
    }
}

/// The new value lies where the old one was, if it fits there.
#[test]
fn maps_of_one_size_take_no_memory() {
    let mut owned = Owned::<AnyBlock>::new(|_| [1; 16_000]);
    let held = owned.held();
    for _ in 0..100 {
        owned = owned.map::<AnyBlock>(|_, block| block.map(|number| number + 1));
    }
    assert_eq!((owned.held(), owned.with(|block| block[15_999])), (held, 101));
}

#[test]
fn a_value_is_read_changed_and_dropped_by_other_threads() {
    let drops = Arc::default();
    let mut owned = Owned::<AnyList>::new(|s| make(s, &drops, false).unwrap());
    let owned = thread::spawn(move || {
        owned.with_mut(|s, list| list.numbers = s.alloc_slice_fill_copy(20_000, 7));
        owned
    });
    let owned = Arc::new(owned.join().unwrap());
    let sum = || owned.with(|list| list.numbers.iter().sum::<u64>());
    thread::scope(|threads| {
        let other = threads.spawn(sum);
        assert_eq!(sum() + other.join().unwrap(), 280_000);
    });
    assert!(owned.held() > 160_000);
    thread::spawn(move || drop(owned)).join().unwrap();
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn it_takes_two_words_and_no_call_of_its_own() {
    assert_eq!(size_of::<Owned<AnyList>>(), 2 * size_of::<usize>());
    let (backing, log) = watched();
    let owned = Owned::<&'static str, _>::over(Arena::new_in(backing), |s| s.alloc_str("ebb"));
    assert_eq!(log.calls(), 1);
    assert_eq!(format!("{owned:?}"), r#"Owned { value: "ebb", .. }"#);
    assert!(Arena::new_in(Heap).held() < owned.held());
}

struct AnyArray<const N: usize>;
impl<const N: usize> ForLifetime for AnyArray<N> {
    type Of<'a> = [u64; N];
}

#[derive(Debug)]
#[repr(align(512))]
struct Aligned(u8);
struct AnyAligned;
impl ForLifetime for AnyAligned {
    type Of<'a> = Aligned;
}

struct AnyUnit;
impl ForLifetime for AnyUnit {
    type Of<'a> = ();
}

#[test]
fn values_of_several_types_in_turn_share_a_block() {
    let (backing, log) = watched();
    let mut owned = Owned::<AnyArray<4>, _>::over(Arena::new_in(backing), |_| [7; 4]);
    let mut held = 0;
    for turn in 0..if cfg!(miri) { 4 } else { 4_000 } {
        let large = owned.map::<AnyArray<512>>(|_, small| [small[3]; 512]);
        let aligned =
            large.map::<AnyAligned>(|_, large| Aligned(u8::try_from(large[511]).unwrap()));
        assert_eq!(aligned.with(|value| std::ptr::from_ref(value).addr()) % 512, 0);
        let nothing = aligned.map::<AnyUnit>(|_, value| assert_eq!(value.0, 7));
        let large = nothing.try_map::<AnyArray<512>, AllocError>(|_, ()| Ok([7; 512])).unwrap();
        owned = large.map::<AnyArray<4>>(|_, large| [large[0]; 4]);
        if turn < 2 {
            held = log.held();
        }
    }
    assert_eq!((log.held(), owned.with(|value| *value)), (held, [7; 4]));
    assert!(log.calls() <= 2 && held < 40_000, "{held}");
}

#[test]
fn a_small_value_holds_what_the_page_says() {
    let text =
        |arena| Owned::<&'static str, Watched>::over(arena, |s| s.alloc_str("a short string"));
    let (usual, _) = watched();
    assert_eq!(text(Arena::new_in(usual)).held() * 10_000 / 1_000_000, 163);
    let (small, _) = watched();
    let small = text(Arena::with_chunk_size_in(192, small)).held() * 10_000;
    // The headers are larger with the feature `poison`.
    let most = if cfg!(feature = "poison") { 5_200_000 } else { 4_500_000 };
    assert!(small <= most, "{small}");
}
