//! Claim: in every method that runs user code, that code may allocate from the same scope.
//!
//! Its allocations overlap neither the value being constructed nor anything else, whether the chunk
//! has space, is nearly full or is left halfway, and whether the method succeeds or fails.

#![cfg(feature = "std")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{Liar, assert_apart, extent};
use ebbtide::{Arena, Fixed, Heap, Scope, boxed::Box};
use std::{
    cell::{Cell, RefCell},
    fmt::{self, Display},
    mem::MaybeUninit,
};

/// What user code allocated and kept: the blocks and their contents.
struct Kept<'s, 'a> {
    s: &'s Scope<'a>,
    blocks: RefCell<Vec<(&'a [u8], u8)>>,
    /// The sizes of its allocations.
    sizes: [usize; 3],
    turn: Cell<u8>,
}

impl<'s, 'a> Kept<'s, 'a> {
    fn new(s: &'s Scope<'a>, sizes: [usize; 3]) -> Self {
        Kept { s, blocks: RefCell::default(), sizes, turn: Cell::new(1) }
    }

    /// Allocates from both ends, by a different method each time, and keeps the blocks.
    fn meddle(&self) {
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1).max(1));
        let [high, low, text] = self.sizes;
        let values = std::iter::repeat_n(turn, low).filter(|_| true);
        let letter = char::from(b'a' + turn % 26);
        let blocks: [(&'a [u8], u8); 4] = [
            (self.s.alloc_slice_fill_copy(high, turn), turn),
            (self.s.alloc_slice_from_iter(values), turn),
            (&self.s.alloc_with(|| [turn; 24])[..], turn),
            (
                self.s.alloc_fmt(format_args!("{}", letter.to_string().repeat(text))).as_bytes(),
                letter as u8,
            ),
        ];
        self.blocks.borrow_mut().extend(blocks);
        // Also fails, inside an outer method that fails or succeeds.
        let failed = self.s.alloc_slice_try_fill_with(5, |i| if i < 3 { Ok(i) } else { Err(i) });
        assert_eq!(failed, Err(3));
        assert_eq!(self.s.alloc_try_with(|| Err::<[u64; 9], _>(turn)), Err(turn));
    }

    /// Whether all kept blocks are intact and do not overlap `made`.
    #[track_caller]
    fn check(&self, made: &[u8]) {
        for (block, written) in self.blocks.borrow().iter() {
            assert!(block.iter().all(|byte| byte == written), "overwritten");
            assert_apart(*block, made);
        }
    }

    /// Whether no two kept blocks overlap.
    fn check_pairs(&self) {
        let mut extents: Vec<_> =
            self.blocks.borrow().iter().map(|(block, _)| extent(*block)).collect();
        extents.sort_by_key(|extent| extent.start);
        assert!(extents.windows(2).all(|pair| pair[0].end <= pair[1].start), "overlap");
    }

    fn count(&self) -> usize {
        self.blocks.borrow().len()
    }
}

/// The bytes of values without padding.
fn bytes_of<T>(values: &[T]) -> &[u8] {
    // SAFETY: the types in these tests have no padding, so all bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Runs a test in scopes whose chunk is empty, nearly full and full, and in fixed buffers.
fn everywhere(test: impl Fn(&Kept<'_, '_>)) {
    let run = |s: &Scope<'_>, sizes| {
        let kept = Kept::new(s, sizes);
        test(&kept);
        kept.check_pairs();
    };
    for sizes in [[1, 1, 1], [8, 30, 20], [400, 900, 100]] {
        for chunk_size in [16, 500, 4_096, 1 << 20] {
            let mut arena = Arena::with_chunk_size(chunk_size);
            for left in [0, 40, 100, usize::MAX] {
                let s = arena.scope();
                let stats = s.stats();
                let free = stats.capacity - stats.used;
                if left < free {
                    s.alloc_uninit_slice::<u8>(free - left);
                }
                run(&s, sizes);
            }
        }
        let mut fixed = Fixed::new([MaybeUninit::uninit(); 333]).or_spill(Heap);
        run(&fixed.scope(), sizes);
        run(&fixed.scope(), sizes);
    }
}

/// A value of `N` words whose `Clone` and `Default` allocate.
struct Meddler<'k, 's, 'a, const N: usize> {
    kept: &'k Kept<'s, 'a>,
    words: [u64; N],
}

impl<const N: usize> Clone for Meddler<'_, '_, '_, N> {
    fn clone(&self) -> Self {
        self.kept.meddle();
        Meddler { kept: self.kept, words: self.words }
    }
}

impl<const N: usize> Display for Meddler<'_, '_, '_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.words {
            write!(f, "{word}")?;
            self.kept.meddle();
        }
        Ok(())
    }
}

fn values<const N: usize>(kept: &Kept<'_, '_>) {
    let word = |i: usize| {
        kept.meddle();
        [i as u64 | 0x5A5A_0000; N]
    };
    let right = |slice: &[[u64; N]]| {
        kept.check(bytes_of(slice));
        slice.iter().enumerate().all(|(i, value)| *value == [i as u64 | 0x5A5A_0000; N])
    };
    let s = kept.s;

    let value = s.alloc_with(|| word(0));
    assert!(right(std::slice::from_ref(value)));
    let value = s.try_alloc_with(|| word(0)).unwrap();
    assert!(right(std::slice::from_ref(value)));
    let value = s.boxed_with(|| word(0));
    assert!(right(std::slice::from_ref(&*value)));
    let value = s.alloc_try_with(|| Ok::<_, [u8; 99]>(word(0))).unwrap();
    assert!(right(std::slice::from_ref(value)));
    let value = s.try_alloc_try_with(|| Ok::<_, [u8; 99]>(word(0))).unwrap();
    assert!(right(std::slice::from_ref(value)));
    assert!(right(s.alloc_slice_fill_with(7, word)));
    assert!(right(s.try_alloc_slice_fill_with(7, word).unwrap()));
    assert!(right(s.alloc_slice_try_fill_with(7, |i| Ok::<_, ()>(word(i))).unwrap()));
    assert!(right(s.try_alloc_slice_try_fill_with(7, |i| Ok::<_, ()>(word(i))).unwrap()));
    assert!(right(s.alloc_slice_fill_iter((0..7).map(word))));
    assert!(right(s.alloc_slice_from_iter((0..7).map(word))));
    assert!(right(s.alloc_slice_from_iter((0..7).map(word).filter(|_| true))));
    assert!(right(s.try_alloc_slice_from_iter((0..7).map(word).filter(|_| true)).unwrap()));
    assert!(right(s.alloc_slice_from_iter(Liar { values: (0..7).map(word), announced: 2 })));
    assert!(right(s.alloc_array::<_, 5>(word)));
    assert!(right(s.try_alloc_array::<_, 5>(word).unwrap()));
    assert!(right(&s.boxed_slice_fill_with(7, word)));
    assert!(right(&s.boxed_slice_from_iter((0..7).map(word).filter(|_| true))));

    let source: Vec<_> =
        (0..5).map(|i| Meddler { kept, words: [i as u64 | 0x5A5A_0000; N] }).collect();
    let cloned = s.alloc_slice_clone(&source);
    let owned = s.boxed_slice_clone(&source);
    let filled = s.alloc_slice_fill_clone(3, &source[0]);
    for (i, value) in cloned.iter().chain(owned.iter()).enumerate() {
        assert_eq!(value.words, source[i % 5].words);
        kept.check(bytes_of(&value.words));
    }
    assert!(filled.iter().all(|value| value.words == source[0].words));
    let text = s.alloc_fmt(format_args!("{}+{}", source[0], source[1]));
    let expected = |i: usize| format!("{}", i | 0x5A5A_0000).repeat(N);
    assert_eq!(*text, format!("{}+{}", expected(0), expected(1)));
    kept.check(text.as_bytes());
    assert!(kept.count() > 50);
}

#[test]
fn code_that_allocates_and_succeeds_with_small_values() {
    everywhere(values::<1>);
}

#[test]
fn code_that_allocates_and_succeeds_with_large_values() {
    everywhere(values::<70>);
}

#[test]
fn code_that_allocates_and_then_fails_keeps_what_it_allocated() {
    fn fail<const N: usize>(kept: &Kept<'_, '_>) {
        let s = kept.s;
        for at in 0..4 {
            let word = |i: usize| {
                kept.meddle();
                if i == at { Err(i) } else { Ok([i; N]) }
            };
            assert_eq!(s.alloc_slice_try_fill_with(4, word), Err(at));
            assert!(s.try_alloc_slice_try_fill_with(4, word).is_err());
            assert_eq!(s.alloc_try_with(|| word(at)), Err(at));
            assert!(s.try_alloc_try_with(|| word(at)).is_err());
            let later = s.alloc_slice_fill_copy(64, [0xEEu8; N]);
            kept.check(bytes_of(later));
        }
    }
    everywhere(fail::<1>);
    everywhere(fail::<200>);
}

#[test]
fn a_display_that_allocates_and_then_fails_keeps_what_it_allocated() {
    struct Failing<'k, 's, 'a>(&'k Kept<'s, 'a>);
    impl Display for Failing<'_, '_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("some of it, longer than the first room that is made for it")?;
            self.0.meddle();
            f.write_str("and some more")?;
            Err(fmt::Error)
        }
    }

    everywhere(|kept| {
        let failed = kept.s.try_alloc_fmt(format_args!("{}", Failing(kept)));
        assert_eq!(failed, Err(ebbtide::AllocOrInitError::Init(fmt::Error)));
        let message =
            crate::common::panic_of(|| kept.s.alloc_fmt(format_args!("{}", Failing(kept))).len());
        assert!(message.unwrap().contains("formatting"));
        let later = kept.s.alloc_slice_from_iter(std::iter::repeat_n(0xEEu8, 300));
        kept.check(later);
    });
}

#[test]
fn a_default_that_allocates() {
    thread_local! {
        static SCOPE: Cell<Option<&'static Kept<'static, 'static>>> = const { Cell::new(None) };
    }

    #[derive(Debug)]
    struct Meddling([u64; 3]);
    impl Default for Meddling {
        fn default() -> Self {
            SCOPE.get().unwrap().meddle();
            Meddling([0x5A; 3])
        }
    }

    everywhere(|kept| {
        let forever: *const Kept<'_, '_> = kept;
        // SAFETY: the thread-local is cleared before `kept` is dropped.
        SCOPE.set(Some(unsafe { &*forever.cast() }));
        let made = kept.s.alloc_slice_fill_default::<Meddling>(6);
        let tried = kept.s.try_alloc_slice_fill_default::<Meddling>(6).unwrap();
        SCOPE.set(None);
        for value in made.iter().chain(tried.iter()) {
            assert_eq!(value.0, [0x5A; 3]);
            kept.check(bytes_of(&value.0));
        }
    });
}

/// Allocates when it is dropped.
struct Dropping<'k, 's, 'a>(&'k Kept<'s, 'a>, #[allow(dead_code, reason = "takes room")] [u64; 4]);

impl Drop for Dropping<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.meddle();
    }
}

#[test]
fn a_destructor_that_allocates() {
    everywhere(|kept| {
        let s = kept.s;
        let new = || Dropping(kept, [1; 4]);
        drop(s.boxed(new()));
        drop(s.boxed_slice_fill_with(5, |_| new()));
        drop(s.boxed_slice_from_iter((0..5).map(|_| new()).filter(|_| true)));
        drop(s.boxed_vec(vec![new(), new()]));
        drop(Box::into_inner(s.boxed(new())));
        let later = s.alloc_slice_fill_copy(100, 0xEEu8);
        kept.check(later);
        assert!(kept.count() >= 14 * 4);
    });
}

#[test]
fn a_destructor_that_allocates_while_an_unfinished_slice_is_freed() {
    everywhere(|kept| {
        let s = kept.s;
        let values = |i: usize| {
            assert!(i < 4, "unfinished");
            Dropping(kept, [1; 4])
        };
        let message = crate::common::panic_of(|| s.boxed_slice_from_iter((0..9).map(values)).len());
        assert_eq!(message.as_deref(), Some("unfinished"));
        let message = crate::common::panic_of(|| s.boxed_slice_fill_with(9, values).len());
        assert_eq!(message.as_deref(), Some("unfinished"));
        let low = s.alloc_slice_from_iter(std::iter::repeat_n(0xEEu8, 500));
        kept.check(low);
        let high = s.alloc_slice_fill_copy(500, 0xEEu8);
        kept.check(high);
        assert!(kept.count() >= 8 * 4);
    });
}

#[test]
fn an_iterator_whose_length_and_hint_allocate() {
    struct Hinting<'k, 's, 'a>(&'k Kept<'s, 'a>, std::ops::Range<u64>);
    impl Iterator for Hinting<'_, '_, '_> {
        type Item = u64;

        fn next(&mut self) -> Option<u64> {
            self.1.next()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            self.0.meddle();
            self.1.size_hint()
        }
    }
    impl ExactSizeIterator for Hinting<'_, '_, '_> {}

    everywhere(|kept| {
        let known = kept.s.alloc_slice_fill_iter(Hinting(kept, 0..20));
        kept.check(bytes_of(known));
        let collected = kept.s.alloc_slice_from_iter(Hinting(kept, 0..20));
        kept.check(bytes_of(collected));
        assert!(known.iter().chain(collected.iter()).enumerate().all(|(i, n)| *n == i as u64 % 20));
    });
}
