//! Claim: a parent scope can keep the value that a child returns, and everything else that the
//! child allocated is free again. After an error or a panic, nothing is kept.

#![cfg(feature = "std")]

use crate::common::{address, fewer_under_miri, panic_of};
use ebbtide::{
    Arena, Fixed, ForLifetime, Scope,
    collections::{NodeVec, vec},
};
use std::{cell::Cell, mem::MaybeUninit};

fn numbers(len: usize, start: u64) -> impl Iterator<Item = u64> {
    (start..).take(len)
}

/// Keeps a slice that is made between two blocks of `scratch` bytes, at either end.
fn kept<'a>(s: &mut Scope<'a>, len: usize, scratch: [usize; 2], low_end: bool) -> &'a mut [u64] {
    s.keep_slice(|s| {
        s.alloc_zeroed_slice::<u8>(scratch[0]);
        let slice = if low_end {
            s.alloc_slice_from_iter(numbers(len, 7).filter(|_| true))
        } else {
            s.alloc_slice_fill_iter(numbers(len, 7).collect::<Vec<_>>())
        };
        s.alloc_zeroed_slice::<u8>(scratch[1]);
        slice
    })
}

#[test]
fn a_kept_value_takes_only_its_own_size_while_the_child_stays_in_the_chunk() {
    for low_end in [false, true] {
        for len in [0, 1, 2, 10, 100].map(fewer_under_miri) {
            for scratch in [[0, 0], [1000, 0], [0, 1000], [3, 5], [100, 100]] {
                let mut arena = Arena::with_capacity(4096);
                let mut s = arena.scope();
                let before = s.alloc(3_u64);
                let slice = kept(&mut s, len, scratch, low_end);
                assert_eq!(s.stats().used, 8 * (1 + len));
                let after = s.alloc([9_u64; 10]);
                assert_eq!(address(slice) % align_of::<u64>(), 0);
                assert!(slice.iter().copied().eq(numbers(len, 7)));
                assert_eq!((*before, *after), (3, [9; 10]));
            }
        }
    }
}

#[test]
fn a_kept_value_stays_when_the_child_enters_other_chunks() {
    const MUCH: usize = if cfg!(miri) { 1_200 } else { 20_000 };
    for low_end in [false, true] {
        for len in [1, 50, 1000].map(fewer_under_miri) {
            for scratch in [[MUCH, 0], [0, MUCH], [MUCH, 2 * MUCH], [500, 500], [MUCH / 4, 0]] {
                let mut arena = Arena::with_chunk_size(1000);
                let mut s = arena.scope();
                for turn in 0..if cfg!(miri) { 1 } else { 5 } {
                    let before = s.alloc([turn; 5]);
                    let slice = kept(&mut s, len, scratch, low_end);
                    let after = s.alloc([4_u8; 700]);
                    assert!(slice.iter().copied().eq(numbers(len, 7)));
                    assert_eq!(*before, [turn; 5]);
                    assert!(after.iter().all(|byte| *byte == 4));
                }
            }
        }
    }
}

#[test]
fn scratch_in_the_last_chunk_is_free_again() {
    let mut arena = Arena::with_chunk_size(1000);
    let mut s = arena.scope();
    // The child leaves the first chunk and fills half of the second.
    let slice = s.keep_slice(|s| {
        s.alloc_slice_fill_copy(900, 0_u8);
        s.alloc_slice_fill_copy(700, 0_u8);
        s.alloc_slice_fill_copy(100, 5_u8)
    });
    assert_eq!((slice, s.stats().used), (&mut [5; 100][..], 900 + 100));
}

#[test]
fn scratch_in_another_chunk_is_free_again_if_the_value_is_in_the_first() {
    let mut arena = Arena::with_capacity(1000);
    let mut s = arena.scope();
    let value = s.keep(|s| {
        let value = s.alloc(7_u64);
        s.alloc_zeroed_slice::<u8>(100_000);
        value
    });
    assert_eq!((*value, s.stats().used), (7, 8));
}

#[test]
fn a_loop_that_keeps_uses_what_it_keeps() {
    let mut arena = Arena::with_capacity(10_000);
    let mut s = arena.scope();
    let held = s.stats().held;
    let mut words = Vec::new();
    for i in 0..fewer_under_miri(100) {
        words.push(s.keep_str(|s| {
            let mut draft = s.string();
            for _ in 0..50 {
                draft.push_str("scratch");
            }
            s.alloc_fmt(format_args!("word {i}"))
        }));
    }
    assert!(words.iter().enumerate().all(|(i, word)| **word == format!("word {i}")));
    assert_eq!((s.stats().used, s.stats().held), (words.iter().map(|word| word.len()).sum(), held));
}

#[test]
fn a_buffer_of_the_callers_is_used_to_the_last_byte() {
    let mut buffer = [MaybeUninit::uninit(); 161];
    for offset in 0..16 {
        let mut fixed = Fixed::new(&mut buffer[offset..]);
        let mut s = fixed.scope();
        let slice = s.keep_slice(|s| {
            s.alloc_slice_fill_copy(50, 0_u8);
            s.alloc_slice_fill_copy(60, 3_u8)
        });
        let rest = s.try_alloc_slice_fill_copy(161 - offset - 60, 4_u8).unwrap();
        assert!(slice.iter().all(|byte| *byte == 3) && rest.iter().all(|byte| *byte == 4));
    }
}

#[test]
fn a_value_and_a_slice_keep_their_alignment() {
    #[derive(Clone, Copy)]
    #[repr(align(256))]
    struct Line(u8);
    let mut arena = Arena::new();
    let mut s = arena.scope();
    for turn in 0..10 {
        s.alloc(1_u8);
        let line = s.keep(|s| {
            s.alloc([0_u8; 100]);
            s.alloc(Line(turn))
        });
        assert_eq!((address(line) % 256, line.0), (0, turn));
        let lines = s.keep_slice_or::<_, ()>(|s| {
            s.alloc([0_u8; 100]);
            Ok(s.alloc_slice_fill_copy(2, Line(turn)))
        });
        let lines = lines.unwrap();
        assert_eq!((lines.as_ptr().addr() % 256, lines[0].0, lines[1].0), (0, turn, turn));
    }
}

#[test]
fn a_value_that_is_not_in_the_child_stays_where_it_is() {
    fn pick<'a>(s: &mut Scope<'a>, own: &'a mut [&'a u64]) -> &'a mut [&'a u64] {
        let mut own = Some(own);
        s.keep_slice(|s| {
            s.alloc([1_u64; 50]);
            own.take().unwrap()
        })
    }
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let seven = &*s.alloc(7_u64);
    let beside = s.alloc([5_u64; 4]);
    let own = s.alloc([seven; 3]);
    let place = address(own);
    let picked = pick(&mut s, own);
    assert_eq!((address(picked), &*picked), (place, &[&7; 3][..]));
    s.alloc([9_u64; 100]);
    assert_eq!((picked, beside), (&mut [&7; 3][..], &mut [5; 4]));
    let leaked = s.keep(|_| Box::leak(Box::new(4)));
    let empty: &mut [u64] = s.keep_slice(|s| s.alloc_slice_copy(&[]));
    assert_eq!((*leaked, empty.len()), (4, 0));
    // SAFETY: from a box, and not used again.
    drop(unsafe { Box::from_raw(leaked) });
}

#[test]
fn a_panic_keeps_nothing() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let kept = s.alloc(1_u64);
    let message = panic_of(|| {
        s.keep(|s| {
            s.alloc([2_u64; 100]);
            assert!(s.stats().used == 0, "asked for");
            s.alloc(3)
        });
    });
    assert_eq!(message.unwrap(), "asked for");
    assert_eq!((*kept, s.stats().used), (1, 8));
}

#[test]
fn another_scope_in_the_place_of_the_child_is_noticed() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let kept = s.alloc(1_u64);
    // The types accept only a scope that never ends.
    let other: &'static mut Arena = crate::common::leak(Arena::new());
    let mut other = Some(other.scope());
    let mut exchanged = |s: &mut Scope<'_>| {
        if let Some(other) = other.take() {
            *s = other;
        }
    };
    let message = panic_of(|| {
        s.keep(|s| {
            let value = s.alloc(2_u64);
            exchanged(s);
            value
        });
    });
    assert!(message.unwrap().starts_with("another scope"));
    let message = panic_of(|| {
        let other: &'static mut Arena = crate::common::leak(Arena::new());
        let _ = s.transaction::<&u64, ()>(|s| {
            *s = other.scope();
            Ok(s.alloc(3))
        });
    });
    assert!(message.unwrap().starts_with("another scope"));
    assert_eq!((*kept, s.stats().used), (1, 8));
}

struct Words;

impl ForLifetime for Words {
    type Of<'a> = &'a [&'a str];
}

struct List;

#[derive(Debug, PartialEq)]
struct Item<'a> {
    value: &'a mut u64,
    next: Option<&'a Item<'a>>,
}

impl ForLifetime for List {
    type Of<'a> = Option<&'a Item<'a>>;
}

fn list<'a>(s: &Scope<'a>, len: u64, fails_at: u64) -> Result<Option<&'a Item<'a>>, u64> {
    let mut list = None;
    for i in 0..len {
        if i == fails_at {
            return Err(i);
        }
        list = Some(&*s.alloc(Item { value: s.alloc(i), next: list }));
    }
    Ok(list)
}

#[test]
fn a_transaction_keeps_all_or_nothing() {
    for chunk in [500, 100_000] {
        let mut arena = Arena::with_chunk_size(chunk);
        let mut s = arena.scope();
        let first = s.transaction::<List, _>(|s| list(s, 40, 100)).unwrap();
        let used = s.stats().used;
        assert_eq!(s.transaction::<List, _>(|s| list(s, 100, 60)).unwrap_err(), 60);
        assert_eq!(s.stats().used, used);
        let second = s.transaction::<List, _>(|s| list(s, 40, 100)).unwrap();
        assert_eq!(first, second);
        assert_eq!(s.stats().used, 2 * used);
        s.alloc([0xFF_u8; 5000]);
        let (mut next, mut expected) = (first, 40);
        while let Some(item) = next {
            expected -= 1;
            assert_eq!(*item.value, expected);
            next = item.next;
        }
        assert_eq!(expected, 0);
        assert_eq!(s.transaction::<&str, ()>(|s| Ok(s.alloc_str("ebb"))), Ok("ebb"));
        assert_eq!(s.transaction::<&mut str, ()>(|s| Ok(s.alloc_str("ebb"))).unwrap(), "ebb");
    }
}

#[test]
fn a_transaction_may_use_children_and_others_of_its_own() {
    let mut arena = Arena::with_chunk_size(300);
    let mut s = arena.scope();
    let dropped = Cell::new(0);
    let words = s.transaction::<Words, ()>(|s| {
        let first = s.transaction::<&str, ()>(|s| Ok(s.alloc_str("first")))?;
        for _ in 0..10 {
            let failed = s.transaction::<&str, _>(|s| Err::<&str, _>(s.alloc([0; 50]).len()));
            dropped.set(dropped.get() + failed.unwrap_err());
        }
        let second = s.keep_str(|s| {
            s.alloc([0_u64; 50]);
            s.alloc_str("second")
        });
        Ok(s.alloc([first, &*second]))
    });
    assert_eq!((words, dropped.get()), (Ok(&["first", "second"][..]), 500));
}

/// Text of `len` bytes, which begins with a digit.
fn text<'a>(s: &Scope<'a>, digit: u8, len: usize) -> &'a str {
    let bytes = s.alloc_slice_fill_copy(len, b'x');
    bytes[0] = b'0' + digit;
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_string_or_another_value_is_kept_wherever_the_child_put_it() {
    for chunk in [200, 1000, 10_000] {
        for scratch in [[0, 0], [150, 0], [0, 150], [900, 900], [3000, 10], [10, 3000]] {
            let mut arena = Arena::with_chunk_size(chunk);
            let mut s = arena.scope();
            let mut texts = Vec::new();
            for turn in 0..fewer_under_miri(8) {
                let used = s.stats().used;
                let number = s.keep_str_or(|s| {
                    s.alloc_zeroed_slice::<u8>(scratch[0]);
                    text(s, 9, 50);
                    Err(turn)
                });
                assert_eq!((number, s.stats().used), (Err(turn), used));
                let kept = s.keep_str_or::<usize>(|s| {
                    s.alloc_zeroed_slice::<u8>(scratch[0]);
                    let kept = text(s, turn.try_into().unwrap(), 50);
                    s.alloc_zeroed_slice::<u8>(scratch[1]);
                    Ok(&kept[..turn + 10])
                });
                texts.push(kept.unwrap());
                s.alloc([0xFF_u8; 60]);
            }
            for (turn, text) in texts.iter().enumerate() {
                assert_eq!(text.len(), turn + 10);
                assert_eq!(*text.split_at(1).0, turn.to_string());
                assert!(text[1..].bytes().all(|byte| byte == b'x'));
            }
        }
    }
}

#[test]
fn a_slice_that_is_not_the_childs_stays_and_nothing_else_is_kept() {
    fn longer<'a>(s: &mut Scope<'a>, own: &'a [&'a u64], scratch: usize) -> &'a [&'a u64] {
        let kept = s.keep_slice_or::<_, ()>(|s| {
            s.alloc_zeroed_slice::<u8>(scratch);
            Ok(own)
        });
        kept.unwrap()
    }
    let mut arena = Arena::with_chunk_size(1000);
    let mut s = arena.scope();
    let seven = &*s.alloc(7_u64);
    let own = &*s.alloc([seven; 3]);
    for scratch in [0, 100, 900, 5000] {
        let used = s.stats().used;
        let stays = longer(&mut s, own, scratch);
        assert!(std::ptr::eq(stays, own));
        assert_eq!(s.stats().used, used);
        let literal = s.keep_str_or::<()>(|s| {
            s.alloc_zeroed_slice::<u8>(scratch);
            Ok("literal")
        });
        assert_eq!((literal, s.stats().used), (Ok("literal"), used));
        let none = s.keep_str_or::<()>(|s| {
            s.alloc_zeroed_slice::<u8>(scratch);
            Ok(&s.alloc_str("ebb")[3..])
        });
        assert_eq!((none, s.stats().used), (Ok(""), used));
    }
    let units = s.keep_slice_or::<_, ()>(|s| Ok(s.alloc_slice_copy(&[(); 3])));
    assert_eq!((units, own), (Ok(&[(); 3][..]), &[&7; 3]));
}

#[test]
fn a_slice_in_a_chunk_between_keeps_what_lies_around_it() {
    for last in [100, 900] {
        let mut arena = Arena::with_chunk_size(1000);
        let mut s = arena.scope();
        let before = s.alloc([1_u64; 10]);
        let kept = s.keep_slice_or::<_, ()>(|s| {
            s.alloc([2_u8; 900]);
            let kept = s.alloc([3_u64; 5]);
            for _ in 0..4 {
                s.alloc([4_u8; 900]);
            }
            s.alloc_zeroed_slice::<u8>(last);
            Ok(kept)
        });
        for _ in 0..20 {
            s.alloc([5_u8; 500]);
        }
        assert_eq!((kept, *before), (Ok(&[3; 5][..]), [1; 10]));
    }
}

#[test]
fn an_oversize_chunk_is_kept_with_its_slice() {
    let mut arena = Arena::with_chunk_size(1000);
    let mut s = arena.scope();
    s.alloc(1_u64);
    let large = s.alloc_slice_fill_copy(20_000, 1_u8);
    for _ in 0..3 {
        let kept = s.keep_slice_or::<_, ()>(|s| Ok(s.alloc_slice_fill_copy(20_000, 6_u8)));
        let small = s.keep_slice_or::<_, ()>(|s| {
            s.alloc_slice_fill_copy(20_000, 8_u8);
            Ok(s.alloc([7_u64; 4]))
        });
        s.alloc([9_u8; 500]);
        s.alloc_slice_fill_copy(20_000, 9_u8);
        assert!(kept.unwrap().iter().all(|byte| *byte == 6));
        assert_eq!(small, Ok(&[7; 4][..]));
    }
    assert!(large.iter().all(|byte| *byte == 1));
}

/// The closure may own vectors of the parent. The child then allocates from where they end.
#[test]
fn a_block_that_begins_in_a_vector_of_the_parent_is_kept() {
    // `T` contains `'a`, so the vector may have the child's lifetime.
    fn grown<'a>(
        s: &mut Scope<'a>,
        list: NodeVec<'a, &'a u64>,
        seven: &'a u64,
        len: usize,
    ) -> &'a mut [&'a u64] {
        s.keep_slice(|s| {
            let mut list = list;
            list.with(s).resize(len, seven);
            list.into_slice()
        })
    }
    for len in [1, 40, 100, 1000] {
        let mut arena = Arena::with_chunk_size(2000);
        let mut s = arena.scope();
        let seven = &*s.alloc(7);
        for turn in 0..4 {
            let list = s.vec_with_capacity(20).into_node_vec();
            let shrunk = s.keep_slice(|s| {
                let mut list: NodeVec<'_, u64> = list;
                list.with(s).shrink_to_fit();
                vec![in s; turn; len].into_slice()
            });
            let list = s.vec_with_capacity(20).into_node_vec();
            let grown = grown(&mut s, list, seven, len);
            let list = s.vec_with_capacity(20).into_node_vec();
            let copied = s.keep_slice_or::<_, ()>(|s| {
                let mut list: NodeVec<'_, u64> = list;
                list.with(s).shrink_to_fit();
                Ok(vec![in s; turn; len].into_slice())
            });
            let _ = vec![in s; 9_u64; 20].into_slice();
            s.alloc_slice_fill_copy(20, 9_u64);
            assert_eq!((shrunk.len(), grown.len()), (len, len));
            assert!(shrunk.iter().all(|number| *number == turn));
            assert!(copied.unwrap().iter().all(|number| *number == turn));
            // Not by value: what was overwritten is no reference.
            assert!(grown.iter().all(|number| std::ptr::eq(*number, seven)));
        }
    }
}

#[test]
fn a_panic_or_a_foreign_scope_keeps_no_string() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let used = s.stats().used;
    let message = panic_of(|| {
        let _ = s.keep_str_or::<()>(|s| panic!("{}", s.alloc_str("asked for")));
    });
    assert_eq!((&*message.unwrap(), s.stats().used), ("asked for", used));
    let message = panic_of(|| {
        let other: &'static mut Arena = crate::common::leak(Arena::new());
        let _ = s.keep_str_or::<()>(|s| {
            *s = other.scope();
            Ok(s.alloc_str("ebb"))
        });
    });
    assert!(message.unwrap().starts_with("another scope"));
    assert_eq!(s.stats().used, used);
}

#[test]
fn nested_results_are_free_again_in_each_parent() {
    fn join<'a>(s: &mut Scope<'a>, depth: u32) -> Result<&'a str, u32> {
        if depth == 0 {
            return Err(1);
        }
        s.keep_str_or(|s| {
            let [one, other] = [join(s, depth - 1), join(s, depth / 2)];
            match (one, other) {
                (Err(one), Err(other)) if one + other < 3 => Err(one + other),
                (one, other) => Ok(s.alloc_fmt(format_args!("{one:?} {other:?}"))),
            }
        })
    }
    fn expected(depth: u32) -> Result<String, u32> {
        if depth == 0 {
            return Err(1);
        }
        match (expected(depth - 1), expected(depth / 2)) {
            (Err(one), Err(other)) if one + other < 3 => Err(one + other),
            (one, other) => Ok(format!("{one:?} {other:?}")),
        }
    }
    for chunk in [200, 100_000] {
        let mut arena = Arena::with_chunk_size(chunk);
        let mut s = arena.scope();
        for depth in [1, 3, 7] {
            let used = s.stats().used;
            let joined = join(&mut s, depth);
            assert_eq!(joined.map(String::from), expected(depth));
            if chunk > 1000 {
                assert_eq!(s.stats().used - used, joined.map_or(0, str::len));
            }
        }
    }
}
