//! Claim: the collections survive user code that panics, lies, allocates or moves values while a
//! vector grows. Sanitizers detect more faults in these tests.
#![cfg(feature = "full")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a test: small numbers, and it may panic"
)]

use crate::common::{Liar, ZeroSized};
use ebbtide::{
    AllocError, Arena, Backing, Fixed, Heap, Scope,
    collections::{CollectIn, NodeVec, Owning, Vec as ScopeVec},
};
use std::{
    alloc::Layout,
    cell::{Cell, RefCell},
    fmt::{self, Display, Write},
    mem::{self, MaybeUninit},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

/// Counts its drops, and owns heap memory, so that a second drop is detected.
#[derive(Clone)]
struct Counted<'c> {
    dropped: &'c Cell<usize>,
    bomb: bool,
    _heap: Box<u64>,
}

impl<'c> Counted<'c> {
    fn new(dropped: &'c Cell<usize>, bomb: bool) -> Self {
        Counted { dropped, bomb, _heap: Box::new(1) }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
        assert!(!self.bomb || std::thread::panicking(), "a destructor panics");
    }
}

/// Runs `change` on vectors of six elements. In each run, the destructor of another element panics.
fn with_a_bomb(change: impl Fn(&mut Owning<Counted<'_>, &Scope<'_>>)) {
    for bomb in 0..=6 {
        let dropped = Cell::new(0);
        let made = {
            let mut arena = Arena::new();
            let s = arena.scope();
            let mut list = s.owned_vec();
            list.extend((0..6).map(|at| Counted::new(&dropped, at == bomb)));
            let mut other = s.owned_vec();
            other.push(Counted::new(&dropped, false));
            let _ = catch_unwind(AssertUnwindSafe(|| change(&mut list)));
            for value in list.iter_mut() {
                value.bomb = false;
            }
            7
        };
        assert!(dropped.get() <= made + 3, "no destructor ran twice: {}", dropped.get());
        assert!(dropped.get() >= made, "bomb {bomb}: all were dropped: {}", dropped.get());
    }
}

#[test]
fn a_panicking_destructor_drops_every_element_once() {
    let turn = Cell::new(0);
    let odd = || {
        turn.set(turn.get() + 1);
        turn.get() % 2 == 1
    };
    with_a_bomb(|list| list.retain(|_| odd()));
    with_a_bomb(|list| list.dedup_by(|_, _| odd()));
    with_a_bomb(|list| list.truncate(2));
    with_a_bomb(|list| drop(list.drain(1..4)));
    with_a_bomb(|list| drop(list.drain(1..5).nth(2)));
    with_a_bomb(|list| list.extract_if(1..5, |_| odd()).for_each(drop));
    with_a_bomb(|list| list.clear());
    with_a_bomb(|list| {
        let new = [Counted::new(list[0].dropped, false)];
        drop(list.splice(1..5, new));
    });
}

/// A generator of random numbers below a bound.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 88_172_645_463_325_252;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0) % below
    }
}

#[test]
fn hints_that_lie_cost_no_element_and_no_memory_of_others() {
    for hint in [0, 1, 7, 100, 1 << 20, usize::MAX] {
        for count in [0usize, 1, 5, 50, 5000] {
            let mut arena = Arena::new();
            let mut s = arena.scope();
            let expected: Vec<usize> = (0..count).collect();
            let lying = |from: usize| Liar { values: from..from + count, announced: hint };
            {
                let kept = s.alloc_slice_fill_copy(10, 0xAAu8);
                let list: ScopeVec<usize> = lying(0).collect_in(&s);
                let node: NodeVec<usize> = lying(0).collect_in(&s);
                let slice: &mut [usize] = lying(0).collect_in(&s);
                let mut spliced = ebbtide::collections::vec![in s; 7, 8, 9];
                let between = s.alloc(0x55u64);
                drop(spliced.splice(1..2, lying(0)));
                spliced.try_extend(lying(0)).unwrap();
                assert_eq!(spliced[1..=count], expected);
                assert_eq!((spliced[0], spliced[count + 1]), (7, 9));
                assert_eq!(spliced[count + 2..], expected);
                assert!(list == expected && node == expected && *slice == *expected);
                assert!(kept.iter().all(|b| *b == 0xAA) && *between == 0x55);
            }
            let mut built = s.grow_vec();
            built.extend(lying(0));
            drop(built.splice(..0, lying(9)));
            assert_eq!(built[count..], expected);
            assert_eq!(built.into_slice()[count..], expected);
        }
    }
}

#[test]
fn buffers_side_by_side_keep_a_node_vector_apart() {
    let mut memory = [MaybeUninit::<u8>::uninit(); 40_099];
    for cut in [64usize, 65, 77, 1000, 1003] {
        let (low, high) = memory.split_at_mut(cut);
        let (mut low, mut high) = (Fixed::new(low), Fixed::new(high));
        let (one, other) = (low.scope(), high.scope());
        let mut list: NodeVec<u8> = NodeVec::new();
        while list.len() < cut && {
            let n = list.len();
            list.try_push(&one, n as u8).is_ok()
        } {}
        let full = list.len();
        let mut second: NodeVec<u8> = NodeVec::new();
        let place = list.as_ptr();
        list.push(&other, 2);
        assert!(
            full == cut - 1 && list.as_ptr() != place,
            "a block does not grow into another buffer"
        );
        second.push(&other, 1);
        second.push(&one, 3);
        list.with(&one).shrink_to_fit();
        list.with(&other).shrink_to_fit();
        second.with(&one).shrink_to_fit();
        let mut third = NodeVec::new();
        third.extend(&other, [0xFFu8; 300]);
        let _ = third.try_extend(&one, [0xFFu8; 30]);
        list.push(&other, 4);
        assert!(list[..full].iter().enumerate().all(|(i, b)| *b == i as u8));
        assert_eq!((list[full], list[full + 1], second.as_slice()), (2, 4, &[1, 3][..]));
    }
}

#[test]
fn node_vectors_of_many_scopes_do_not_overlap() {
    // A model: many vectors, which grow and shrink through any of the scopes; each keeps its
    // contents.
    let mut random = random(0);
    for _ in 0..60 {
        let mut memory = [MaybeUninit::<u8>::uninit(); 6007];
        let (low, high) = memory.split_at_mut(random(3000) + 100);
        let (mut low, mut high) = (Fixed::new(low).or_spill(Heap), Fixed::new(high).or_spill(Heap));
        let mut arena = Arena::new();
        let (one, two, three) = (low.scope(), high.scope(), arena.scope());
        let claim = three.claim();
        let claim2 = one.claim();
        let scopes: [&Scope; 5] = [&one, &two, &three, claim.scope(), claim2.scope()];
        let mut lists: [NodeVec<u16>; 6] = Default::default();
        let mut models: [Vec<u16>; 6] = Default::default();
        let mut values: Vec<(&mut u64, u64)> = Vec::new();
        for step in 0..3000u64 {
            let (at, scope) = (random(6), scopes[random(5)]);
            let (list, model) = (&mut lists[at], &mut models[at]);
            match random(9) {
                0..=3 => {
                    list.push(scope, step as u16);
                    model.push(step as u16);
                }
                4 => {
                    let more = random(20);
                    list.extend(
                        scope,
                        (0..more).map(|i| {
                            if i % 7 == 0 {
                                values.push((scope.alloc(step), step));
                            }
                            i as u16
                        }),
                    );
                    model.extend((0..more).map(|i| i as u16));
                }
                5 => list.with(scope).shrink_to_fit(),
                6 => {
                    let len = random(model.len() + 1);
                    list.truncate(len);
                    model.truncate(len);
                }
                7 => {
                    let mut vec = mem::take(list).into_vec(scope);
                    vec.shrink_to(random(20));
                    vec.extend([1, 2, 3]);
                    model.extend([1, 2, 3]);
                    *list = vec.into_node_vec();
                }
                _ => values.push((scope.alloc(step), step)),
            }
            if step % 16 == 0 {
                assert!(values.iter().all(|(place, value)| **place == *value));
                assert!(lists.iter().zip(&models).all(|(list, model)| list == model));
            }
        }
    }
}

#[test]
fn a_failing_initialiser_around_vectors_keeps_what_they_hold() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list = ebbtide::collections::vec![in s; 1u64, 2, 3];
    let mut kept = None;
    let failed: Result<&mut [u64; 4], _> = s.try_alloc_try_with(|| {
        list.clear();
        list.shrink_to_fit();
        kept = Some(ebbtide::collections::vec![in s; 7u64, 8, 9]);
        Err::<[u64; 4], ()>(())
    });
    assert!(failed.is_err());
    s.alloc_slice_fill_copy(100, 0u64);
    let more = ebbtide::collections::vec![in s; 5u64; 50];
    list.extend([4, 5, 6, 7, 8]);
    assert_eq!((kept.unwrap().as_slice(), more.len()), (&[7, 8, 9][..], 50));
}

#[test]
fn a_growing_text_takes_what_its_parts_format_into_the_same_scope() {
    struct Nested<'s, 'a>(&'s Scope<'a>, u32, &'s RefCell<Vec<&'a mut str>>);
    impl Display for Nested<'_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("<")?;
            if self.1 > 0 {
                let inner = ebbtide::collections::format!(in self.0, "{}", Nested(self.0, self.1 - 1, self.2));
                f.write_str(&inner)?;
                let mut list = self.0.owned_vec();
                list.push(inner.as_str().to_string());
                self.2.borrow_mut().push(inner.into_str());
            }
            f.write_str(">")
        }
    }
    let mut arena = Arena::new();
    let s = arena.scope();
    let parts = RefCell::new(Vec::new());
    let mut text = s.string();
    for depth in 0..8 {
        write!(text, "{}", Nested(&s, depth, &parts)).unwrap();
    }
    let expected: String = (1..9).map(|n| "<".repeat(n) + &">".repeat(n)).collect();
    assert_eq!(text, *expected);
    for part in parts.into_inner() {
        assert_eq!(part.len() % 2, 0);
        assert!(part[..part.len() / 2].bytes().all(|b| b == b'<'));
    }
}

#[test]
fn a_builder_with_large_alignment_and_odd_ends() {
    #[repr(align(256))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Wide(u8);
    let mut memory = [MaybeUninit::<u8>::uninit(); 3001];
    for start in 0..40 {
        for end in 2960..3000 {
            let mut fixed = Fixed::new(&mut memory[start..end]).or_spill(Heap);
            let mut s = fixed.scope();
            s.alloc(1u8);
            if end % 3 == 0 {
                s.alloc_zeroed_slice::<u8>(20_000);
            }
            let first = s.alloc(0x1111u64);
            let mut built = s.grow_vec();
            let mut pushed = 0u32;
            for n in 0..40u8 {
                built.push(Wide(n));
                pushed += 1;
            }
            assert_eq!(pushed, 40);
            if start % 2 == 0 {
                let _ = built;
            } else {
                let slice = built.into_slice();
                assert!(slice.iter().enumerate().all(|(i, w)| w.0 == i as u8));
            }
            let mut bytes = s.grow_vec();
            bytes.extend((0..5000u32).map(|n| n as u8));
            let bytes = bytes.into_slice();
            let others = s.alloc_slice_fill_copy(5000, 0xEEu8);
            assert!(bytes.iter().enumerate().all(|(i, b)| *b == i as u8));
            assert!(others.iter().all(|b| *b == 0xEE) && *first == 0x1111);
        }
    }
}

#[test]
fn zero_sized_elements_count_their_destructors() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list = s.owned_vec();
    list.extend((0..100).map(|_| ZeroSized));
    drop(list.drain(10..20));
    list.truncate(88);
    drop(list.pop());
    let mut turn = 0;
    list.retain(|_| {
        turn += 1;
        turn % 2 == 0
    });
    drop(list.splice(5..10, (0..3).map(|_| ZeroSized)));
    let rest = list.len();
    let mut iter = list.into_iter();
    iter.next_back();
    iter.nth(3);
    drop(iter);
    assert_eq!((rest, ZeroSized::dropped()), (41, 103));
}

#[test]
fn zero_sized_elements_are_spliced_up_to_the_largest_length() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for spare in 0..20 {
        for count in [0, 1, 2, 5, 18] {
            for is_announced in [true, false] {
                let mut list = s.vec::<()>();
                // SAFETY: a value without a size needs no initialisation, and the capacity of a
                // vector of such values is `usize::MAX`.
                unsafe { list.set_len(usize::MAX - spare) };
                let values = (0..count).map(|_| ());
                let splice = AssertUnwindSafe(|| match is_announced {
                    true => drop(list.splice(7..7, values)),
                    false => drop(list.splice(7..7, values.filter(|()| true))),
                });
                let fits = catch_unwind(splice).is_ok();
                assert_eq!(fits, count <= spare, "{count} elements in {spare} places");
                let added = list.len().checked_sub(usize::MAX - spare).unwrap();
                assert!(added <= spare && (!fits || added == count));
            }
        }
    }
}

#[test]
fn an_owning_vector_swapped_out_of_its_shell_leaks_or_drops_once() {
    let dropped = Cell::new(0);
    let mut arena = Arena::new();
    let s = arena.scope();
    let (mut one, mut two) = (s.owned_vec(), s.owned_vec());
    one.push(Counted::new(&dropped, false));
    mem::swap(&mut *one, &mut *two);
    one.push(Counted::new(&dropped, false));
    one.append(&mut *two);
    drop(two);
    assert_eq!((dropped.get(), one.len()), (0, 2));
    drop(one);
    assert_eq!(dropped.get(), 2);
}

/// A backing that sometimes refuses a request, or panics.
struct Moody {
    turn: Cell<u32>,
    panics: bool,
}

// SAFETY: blocks are those of `Heap`.
unsafe impl Backing for Moody {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.turn.set(self.turn.get() + 1);
        if self.turn.get() % 3 == 0 {
            assert!(!self.panics, "moody");
            return Err(AllocError);
        }
        Heap.allocate(layout)
    }

    unsafe fn release(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { Heap.release(block, layout) };
    }
}

#[test]
fn builders_between_other_blocks_overlap_none_whatever_the_backing_does() {
    for round in 0..8u64 {
        let mut random = random(round + 1);
        let mut memory = [MaybeUninit::<u8>::uninit(); 3000];
        let (start, end) = (random(64), 3000 - random(1500));
        let moody = Moody { turn: Cell::new(0), panics: round % 2 == 0 };
        let mut fixed = Fixed::new(&mut memory[start..end]).or_spill(moody);
        let mut scope = fixed.scope();
        let mut kept: Vec<(&mut [u8], u8)> = Vec::new();
        descend(&mut scope, &mut random, &mut kept, 3);
    }
}

fn descend<'a>(
    s: &mut Scope<'a>,
    random: &mut impl FnMut(usize) -> usize,
    kept: &mut Vec<(&'a mut [u8], u8)>,
    depth: usize,
) {
    for turn in 0..40u8 {
        let len = if random(8) == 0 { random(60_000) } else { random(300) };
        let what = random(7);
        // A panic loses nothing.
        let block = catch_unwind(AssertUnwindSafe(|| match what {
            0 => s.try_alloc_slice_fill_copy(len, turn).ok(),
            1 | 2 => {
                let mut built = s.grow_vec::<u8>();
                let taken = built.try_extend((0..len).map(|_| turn));
                (taken.is_ok() && what == 1).then(|| built.into_slice())
            }
            3 => {
                let mut built = s.grow_vec::<[u64; 9]>();
                let _ = built.try_extend(
                    (0..len / 72).map(|_| [0x0101_0101_0101_0101 * u64::from(turn); 9]),
                );
                let _ = built.try_reserve(random(1000));
                for word in built.into_slice().as_flattened() {
                    assert_eq!(*word as u8, turn);
                }
                None
            }
            4 => {
                let mut list = s.vec::<u8>();
                let mut other = s.vec::<u8>();
                for n in 0..len {
                    let _ = if n % 5 == 0 { other.try_push(1) } else { list.try_push(turn) };
                }
                assert!(other.iter().all(|byte| *byte == 1));
                Some(list.into_slice())
            }
            5 => s
                .try_alloc_slice_try_fill_with(len, |n| if n < 250 { Ok(turn) } else { Err(()) })
                .ok(),
            _ => s
                .try_alloc_slice_from_iter(
                    Liar { values: 0..len, announced: random(500) }.map(|_| turn),
                )
                .ok(),
        }));
        kept.extend(block.ok().flatten().map(|block| (block, turn)));
        if depth > 0 && random(10) == 0 {
            let mut child = s.scope();
            descend(&mut child, random, &mut Vec::new(), depth - 1);
        }
        assert!(kept.iter().all(|(block, value)| block.iter().all(|byte| byte == value)));
    }
}

/// The parts of a split vector lie side by side in one block. Each may grow, shrink and be split
/// again.
#[test]
fn parts_of_a_split_vector_never_touch_each_other() {
    fn attack<T: Copy + PartialEq + fmt::Debug>(s: &Scope<'_>, make: impl Fn(u32) -> T) {
        let mut state = 1u32;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        let mut parts: Vec<(ScopeVec<'_, '_, T>, Vec<T>)> = vec![(s.vec(), Vec::new())];
        for turn in 0..3_000u32 {
            let which = random(parts.len());
            let (list, model) = &mut parts[which];
            match random(9) {
                0 | 1 => {
                    let at = random(list.len() + 1);
                    let tail = (list.split_off(at), model.split_off(at));
                    parts.push(tail);
                }
                2 => {
                    list.push(make(turn));
                    model.push(make(turn));
                }
                3 => {
                    let values = [make(turn); 7];
                    list.extend_from_slice(&values);
                    model.extend(values);
                }
                4 => {
                    list.shrink_to_fit();
                    list.reserve(random(5));
                }
                5 => {
                    let len = random(list.len() + 1);
                    list.truncate(len);
                    model.truncate(len);
                    list.shrink_to_fit();
                }
                6 => {
                    let at = random(list.len() + 1);
                    list.insert(at, make(turn));
                    model.insert(at, make(turn));
                }
                7 => {
                    let range = random(list.len() + 1)..list.len();
                    let values = (0..random(9)).map(|_| make(turn));
                    drop(list.splice(range.clone(), values.clone()));
                    drop(model.splice(range, values));
                }
                _ => {
                    s.alloc_slice_fill_copy(3, turn);
                }
            }
            if parts.len() > 12 {
                parts.swap_remove(random(12));
            }
            for (list, model) in &parts {
                assert_eq!(list.as_slice(), model, "turn {turn}");
            }
        }
    }

    let mut arena = Arena::new();
    attack(&arena.scope(), |n| n);
    attack(&arena.scope(), |n| n as u8);
    attack(&arena.scope(), |n| [u64::from(n); 5]);
    attack(&arena.scope(), |_| ());
    let mut fixed = ebbtide::StackArena::<300>::new().or_spill(Heap);
    attack(&fixed.scope(), |n| n as u16);
}
