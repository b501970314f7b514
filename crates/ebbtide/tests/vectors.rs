//! Claim: every method of our vectors and strings behaves like that of the standard library,
//! whatever is allocated in between, panics or is forgotten. A vector never uses the memory of
//! another scope.
//!
//! `targets/vectors.rs` and `strings.rs` have the random operations; these are single claims. The
//! file is long because they share elements and helpers.

#![cfg(feature = "std")]
#![allow(clippy::string_extend_chars, reason = "it is what is tested")]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{
    Census, Counted, address, assert_apart, assert_works, extent, panic_of, watched,
};
use ebbtide::{
    AllocError, AllocOrInitError, Arena, Fixed, Heap, Scope, StackArena,
    collections::{CollectIn, NodeVec, OwnedVec, String as Text, Vec as List},
    front_end, local,
};
use std::{
    cell::Cell,
    fmt::Debug,
    marker::PhantomData,
    mem::{self, MaybeUninit, needs_drop},
};

const _: () =
    assert!(!needs_drop::<NodeVec<'_, u8>>() && !needs_drop::<ebbtide::GrowVec<'_, '_, u8>>());
const _: () =
    assert!(!needs_drop::<ebbtide::GrowString<'_, '_>>() && needs_drop::<OwnedVec<'_, '_, u8>>());
/// 16 bytes where addresses have 64 bits.
const NODE_VEC: usize = size_of::<usize>() + 8;
const _: () = assert!(
    size_of::<NodeVec<'_, u64>>() == NODE_VEC && size_of::<Option<NodeVec<'_, u64>>>() == NODE_VEC
);

#[test]
fn a_parser_over_a_shared_scope_returns_what_lives_as_long_as_the_arena() {
    /// Nested lists of numbers; every level has a vector that grows while those of inner levels do.
    #[derive(Debug, PartialEq)]
    enum Tree<'a> {
        Number(u32),
        List(&'a [Tree<'a>]),
    }
    fn parse<'a>(s: &Scope<'a>, input: &mut std::str::Chars<'_>) -> &'a [Tree<'a>] {
        let mut list = s.vec();
        while let Some(character) = input.next() {
            match character {
                '(' => list.push(Tree::List(parse(s, input))),
                ')' => break,
                digit => list.push(Tree::Number(digit.to_digit(10).unwrap())),
            }
        }
        list.into_slice()
    }
    fn by_value<'a>(s: Scope<'a>) -> &'a mut [u32] {
        let mut list = s.vec();
        list.extend(0..1_000);
        list.into_slice()
    }

    let mut arena = Arena::with_chunk_size(100);
    let tree = {
        let s = arena.scope();
        parse(&s, &mut "1(2(3)4)(((5)))".chars())
    };
    let Tree::List(inner) = &tree[1] else { panic!("{tree:?}") };
    assert_eq!((tree.len(), inner[0..1].len(), &inner[2]), (3, 1, &Tree::Number(4)));
    assert!(by_value(arena.scope()).iter().copied().eq(0..1_000));
}

#[test]
fn the_last_vector_grows_in_place_and_gives_its_room_back() {
    let mut arena = Arena::with_chunk_size(1 << 16);
    let s = arena.scope();
    let used = s.stats().used;
    let mut list = s.vec();
    list.push(1u64);
    let start = address(&list[0]);
    for i in 0..1_000 {
        list.push(i);
        s.alloc(7u8);
    }
    list.extend(0..1_000);
    assert_eq!(address(&list[0]), start);
    list.truncate(3);
    list.shrink_to_fit();
    assert_eq!((s.stats().used, list.capacity()), (used + 1_024, 3));
    list.reserve_exact(500);
    assert_eq!(list.into_slice().len(), 3);
    assert_eq!(s.stats().used, used + 1_024, "what was reserved and not needed is free again");
}

#[test]
fn an_abandoned_builder_gives_its_room_back_also_of_a_buffer() {
    // A later builder can use what an earlier one took of the next chunk.
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1_000, backing);
    let mut s = arena.scope();
    let used = s.stats().used;
    for _ in 0..50 {
        let mut list = s.grow_vec();
        list.extend((0..2_000u32).filter(|_| true));
        assert_eq!(list.len(), 2_000);
    }
    let calls = log.calls();
    assert_eq!(s.stats().used, used);
    s.alloc([0u8; 500]);
    assert_eq!(log.calls(), calls, "the first chunk is as it was");

    // After a spill, the buffer itself is usable again, not only the chunk.
    let mut memory = [MaybeUninit::uninit(); 100];
    let buffer = memory.as_ptr_range();
    let buffer = buffer.start.addr()..buffer.end.addr();
    let mut fixed = Fixed::new(&mut memory[..]).or_spill(ebbtide::Heap);
    let mut s = fixed.scope();
    let mut list = s.grow_vec();
    list.extend((0..200u8).filter(|_| true));
    assert!(!buffer.contains(&address(&list[0])));
    let again = s.alloc([1u8; 90]);
    assert!(buffer.contains(&address(again)), "the buffer is lost to an abandoned builder");
    let mut kept = s.grow_vec();
    kept.extend((0..200u8).filter(|_| true));
    let kept = kept.into_slice();
    assert_apart(kept, again);
    assert_works(&s);
    assert!(kept.iter().copied().eq(0..200) && *again == [1; 90]);
}

#[test]
fn a_node_holds_a_builder_of_another_scope() {
    let (mut one, mut other) = (Arena::new(), Arena::new());
    let (nodes, mut low) = (one.scope(), other.scope());
    let node = nodes.alloc((1, low.grow_vec::<u8>(), nodes.vec::<u8>(), nodes.string()));
    node.1.extend_from_slice(b"built in a node");
    assert_eq!(node.1, b"built in a node");
}

/// The vector ends where the free bytes of the buffer's scope begin.
#[test]
fn a_vector_does_not_grow_into_the_buffer_behind_it() {
    let mut arena = Arena::new();
    let outer = arena.scope();
    let mut list = List::from_iter_in([1u8; 64], &outer).into_node_vec();
    let mut buffer = Fixed::new(low_buffer(&outer, 256));
    let inner = buffer.scope();
    list.push(&inner, 2);
    assert!(inner.contains(list.as_ptr()));
    assert_eq!((&list[..64], list[64]), (&[1; 64][..], 2));
}

/// Two adjacent buffers: one ends where the other starts.
#[test]
fn a_vector_never_grows_from_one_buffer_into_the_next() {
    let mut memory = [MaybeUninit::<u8>::uninit(); 64];
    let (left, right) = memory.split_at_mut(32);
    let (mut left, mut right) = (Fixed::new(left), Fixed::new(right));
    let (left, right) = (left.scope(), right.scope());
    let mut list = NodeVec::new();
    list.with(&left).extend_from_slice(&[1u8; 31]);
    assert_eq!(list.capacity(), 31);
    assert!(list.try_push(&left, 2).is_err());
    let old = extent(&list[..]);
    // It ends as close to the free part of `right` as a block of `left` can.
    list.with(&right).shrink_to_fit();
    assert_eq!(right.stats().used, 0);
    list.truncate(8);
    list.with(&right).shrink_to_fit();
    let mut list: NodeVec<_> = list.iter().copied().chain([3; 20]).collect_in(&right);
    assert!(extent(&list[..]).start >= old.end);
    assert_eq!(list[..9], [1, 1, 1, 1, 1, 1, 1, 1, 3]);
    list.clear();

    let mut memory = [MaybeUninit::<u8>::uninit(); 64];
    let (left, right) = memory.split_at_mut(32);
    let (mut left, mut right) = (Fixed::new(left), Fixed::new(right));
    let (left, right) = (left.scope(), right.scope());
    let mut list = left.vec_with_capacity(31).into_node_vec();
    list.extend(&left, 0..31u8);
    let start = address(&list[0]);
    assert!(list.with(&right).try_reserve(1).is_err(), "32 bytes are not free in the right buffer");
    assert_eq!(address(&list[0]), start);
    // With the lifetime of the right scope, the vector may shrink there; the right buffer does not
    // change.
    list.truncate(4);
    list.with(&right).shrink_to_fit();
    list.with(&right).reserve(20);
    let all = right.alloc([7u8; 8]);
    assert_apart(all, &list[..]);
    assert!(extent(&list[..]).start > start);
    assert_eq!(list, [0, 1, 2, 3]);
}

#[test]
fn a_vector_of_a_parent_grows_in_its_child_and_ends_with_it() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    let mut parent = arena.scope();
    let kept = parent.alloc_slice_from_iter((0..9u8).filter(|_| true));
    let list: NodeVec<_> = (0..100u8).filter(|_| true).collect_in(&parent);
    let behind = parent.alloc([5u8; 16]);
    let start = address(&list[0]);
    {
        let child = parent.scope();
        let mut list = list; // its lifetime is the child's from here on
        for i in 100..200 {
            list.push(&child, i);
            child.alloc(i);
        }
        assert_eq!(address(&list[0]), start, "it is the last block there too");
        list.truncate(10);
        list.with(&child).shrink_to_fit();
        let reused = child.alloc_slice_from_iter((0..200u8).filter(|_| true));
        assert_apart(&list[..], reused);
        assert!(list.iter().copied().eq(0..10));
    }
    let next = parent.alloc_slice_from_iter((0..200u8).filter(|_| true));
    assert_apart(next, kept);
    assert_apart(next, behind);
    assert!(kept.iter().copied().eq(0..9) && *behind == [5; 16]);
    assert_works(&parent);
}

/// Vectors of two scopes with one lifetime are lent at once.
#[test]
fn a_lent_vector_may_be_exchanged_or_forgotten() {
    fn exchange<'a>(left: &Scope<'a>, right: &Scope<'a>) {
        let (mut one, mut other) = (NodeVec::<'a, u64>::new(), NodeVec::<'a, u64>::new());
        one.extend(left, 0..30);
        other.extend(right, 30..32);
        for turn in 0..20 {
            let (mut first, mut second) = (one.with(left), other.with(right));
            mem::swap(&mut *first, &mut *second);
            first.push(turn);
            second.shrink_to_fit();
            drop(first);
            drop(second);
            other.with(right).shrink_to_fit();
            let kept = [left, right].map(|s| s.alloc_slice_from_iter([9u64; 5]));
            assert_apart(kept[0], &one[..]);
            assert_apart(kept[0], &other[..]);
            assert_apart(kept[1], &one[..]);
            assert_apart(kept[1], &other[..]);
            assert_apart(&one[..], &other[..]);
        }
        assert_eq!(one.len() + other.len(), 52);
        mem::forget(one.with(left));
        let message = panic_of(|| other.with(right).push_with(|| panic!("in between")));
        assert_eq!(message.as_deref(), Some("in between"));
        assert_eq!((one.len(), one.capacity(), other.len()), (0, 0, 12));
        one.push(left, 1);
        assert_eq!(one, [1]);
    }
    let mut arenas = [Arena::with_chunk_size(300), Arena::with_chunk_size(400)];
    let scopes = arenas.each_mut().map(|arena| arena.scope());
    exchange(&scopes[0], &scopes[1]);
    let claim = scopes[0].claim();
    exchange(claim.scope(), &scopes[0]);
    exchange(&scopes[1], &scopes[1]);
}

#[test]
fn a_tree_without_scopes_in_it_goes_to_other_threads() {
    struct Node<'a> {
        children: NodeVec<'a, Node<'a>>,
        weight: u64,
    }
    fn tree<'a>(s: &Scope<'a>, depth: u64) -> Node<'a> {
        let mut node = Node { children: NodeVec::new(), weight: depth };
        for _ in 0..if depth == 0 { 0 } else { 3 } {
            node.children.push(s, tree(s, depth - 1));
        }
        node
    }
    fn weight(node: &Node<'_>) -> u64 {
        node.weight + node.children.iter().map(weight).sum::<u64>()
    }

    let mut arena = Arena::with_chunk_size(300);
    let s = arena.scope();
    let mut root = tree(&s, 6);
    let expected = weight(&root);
    let grown = std::thread::scope(|threads| {
        let root = &mut root;
        // Moved together with its scope, which the other thread uses from now on.
        let thread = threads.spawn(move || {
            root.children.push(&s, tree(&s, 2));
            weight(root)
        });
        thread.join().unwrap()
    });
    assert_eq!((grown, weight(&root)), (expected + 2 + 3, expected + 5));
}

/// Panics at the `fuse`th use, whatever uses it.
struct Fuse(Cell<usize>);

impl Fuse {
    fn burn(&self) {
        self.0.set(self.0.get().checked_sub(1).expect("the fuse blew"));
    }
}

/// Counts itself, and uses a fuse when it is cloned.
struct Fragile<'c>(Counted<'c>, &'c Fuse);

impl Clone for Fragile<'_> {
    fn clone(&self) -> Self {
        self.1.burn();
        Fragile(self.0.clone(), self.1)
    }
}

/// Whatever panics, every element is dropped once, and the remaining elements of the vector are
/// initialised.
#[test]
fn a_panic_in_the_middle_drops_every_element_once() {
    type Action = for<'c> fn(&mut OwnedVec<'_, '_, Fragile<'c>>, &'c Census, &'c Fuse);
    let actions: &[(&str, Action)] = &[
        ("retain", |list, _, fuse| {
            list.retain(|value| {
                fuse.burn();
                value.0.id() % 3 != 0
            });
        }),
        ("dedup_by", |list, _, fuse| {
            list.dedup_by(|one, other| {
                fuse.burn();
                one.0.id() / 2 == other.0.id() / 2
            });
        }),
        ("extract_if", |list, _, fuse| {
            list.extract_if(1.., |value| {
                fuse.burn();
                value.0.id() % 3 == 0
            })
            .for_each(drop);
        }),
        ("extend", |list, census, fuse| {
            list.extend((0..5).map(|id| {
                fuse.burn();
                Fragile(census.make(id), fuse)
            }));
        }),
        ("extend of unknown length", |list, census, fuse| {
            list.extend((0..9).filter(|id| id % 2 == 0).map(|id| {
                fuse.burn();
                Fragile(census.make(id), fuse)
            }));
        }),
        ("extend_from_slice", |list, census, fuse| {
            let values: Vec<_> = (0..4).map(|id| Fragile(census.make(id), fuse)).collect();
            list.extend_from_slice(&values);
        }),
        ("extend_from_within", |list, _, _| list.extend_from_within(1..4)),
        ("resize", |list, census, fuse| list.resize(12, Fragile(census.make(1), fuse))),
        ("resize_with", |list, census, fuse| {
            list.resize_with(12, || {
                fuse.burn();
                Fragile(census.make(1), fuse)
            });
        }),
        ("clone", |list, _, _| drop(list.clone())),
        ("splice", |list, census, fuse| {
            let values = (0..6).map(|id| {
                fuse.burn();
                Fragile(census.make(id), fuse)
            });
            list.splice(2..4, values.filter(|_| true));
        }),
        ("drain", |list, _, fuse| {
            for value in list.drain(1..5) {
                fuse.burn();
                drop(value);
            }
        }),
    ];
    for (name, action) in actions {
        for count in 0..12 {
            let census = Census::forever();
            let fuse = &Fuse(Cell::new(usize::MAX));
            let mut arena = Arena::with_chunk_size(100);
            let s = arena.scope();
            let mut list = s.owned_vec();
            list.extend((0..8).map(|id| Fragile(census.make(id), fuse)));
            fuse.0.set(count);
            panic_of(|| action(&mut list, census, fuse));
            fuse.0.set(usize::MAX);
            assert_eq!(census.live(), list.len(), "{name}, {count}");
            assert!(list.iter().all(|value| value.0.id() < 9), "{name}, {count}");
            list.push(Fragile(census.make(0), fuse));
            drop(list);
            assert_eq!(census.live(), 0, "{name}, {count}");
            assert_works(&s);
        }
    }
}

#[test]
fn forgetting_leaks_and_does_nothing_worse() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let fill = |list: &mut List<'_, '_, u32>| {
        list.clear();
        list.extend(0..10);
    };
    let mut list = s.vec();
    fill(&mut list);
    mem::forget(list.drain(3..5));
    assert_eq!(list, [0, 1, 2]);
    fill(&mut list);
    let mut drained = list.drain(3..5);
    drained.next();
    mem::forget(drained);
    assert_eq!(list, [0, 1, 2]);
    fill(&mut list);
    mem::forget(list.extract_if(2.., |n| *n % 2 == 0));
    assert!(list.is_empty());
    fill(&mut list);
    mem::forget(list.splice(4.., [7]));
    assert_eq!(list, [0, 1, 2, 3]);
    fill(&mut list);
    mem::forget(list.clone().into_iter());
    assert_eq!(list.len(), 10);
    let mut text = s.string();
    text.push_str("ebb and flow");
    mem::forget(text.drain(3..));
    assert_eq!(text, "ebb and flow", "a string is cut when the iterator goes");
    // Elements with a destructor that own no memory, so that a leak checker does not report them.
    #[derive(Debug, PartialEq)]
    struct Owner(u32);
    impl Drop for Owner {
        fn drop(&mut self) {
            assert_ne!(self.0, 1, "it was forgotten");
        }
    }
    let mut owners = s.owned_vec();
    owners.push(Owner(1));
    mem::forget(owners.drain(..));
    owners.push(Owner(2));
    assert_eq!(owners, [Owner(2)]);
}

#[test]
fn an_iterator_that_allocates_from_the_scope_disturbs_nothing() {
    let mut arena = Arena::with_chunk_size(64);
    let s = arena.scope();
    let mut list: List<'_, '_, &u32> = s.vec();
    let mut inner = s.vec();
    for exact in [false, true] {
        let values = (0..300u32).map(|n| {
            inner.push(n);
            s.alloc_slice_from_iter((0..n % 5).filter(|_| true));
            &*s.alloc(n)
        });
        if exact {
            list.extend(values);
        } else {
            list.extend(values.filter(|n| **n % 2 == 0));
        }
    }
    assert_eq!((list.len(), inner.len()), (450, 600));
    assert!(list[150..].iter().map(|n| **n).eq(0..300));
    list.splice(10..20, (0..50u32).map(|n| &*s.alloc(n)).filter(|_| true));
    assert!(list[10..60].iter().map(|n| **n).eq(0..50));
    let mut copies = list.clone();
    copies.retain(|n| s.alloc(**n) == *n);
    assert_eq!(copies, list);
}

/// An iterator of `2 + N` words: how it is run depends on its size. It yields `next..end`, panics
/// at `fails`, and its size hint may lie.
struct Wide<T, const N: usize> {
    next: u8,
    end: u8,
    fails: u8,
    announced: usize,
    _words: [usize; N],
    _values: PhantomData<T>,
}

impl<T: From<u8>, const N: usize> Iterator for Wide<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let value = self.next;
        if value == self.end {
            return None;
        }
        assert_ne!(value, self.fails, "here");
        self.next += 1;
        Some(T::from(value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.announced, Some(self.announced))
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Nothing;

impl From<u8> for Nothing {
    fn from(_: u8) -> Self {
        Nothing
    }
}

#[test]
fn an_iterator_of_any_size_that_lies_or_panics_adds_what_it_yielded() {
    fn check<T: From<u8> + Clone + Debug + PartialEq, const N: usize>(s: &Scope<'_>) {
        assert_eq!(size_of::<Wide<T, N>>(), (2 + N) * size_of::<usize>());
        for end in [0, 1, 7, 40] {
            for announced in [0, 1, 6, 7, 8, 100, usize::MAX] {
                for fails in [0, 1, 5, 6, 39, 50] {
                    let values = || Wide {
                        next: 0,
                        end,
                        fails,
                        announced,
                        _words: [0; N],
                        _values: PhantomData,
                    };
                    let expected: Vec<T> = (0..end.min(fails)).map(T::from).collect();
                    let mut list = s.owned_vec();
                    list.push(T::from(9));
                    let panicked = panic_of(|| list.extend(values())).is_some();
                    assert_eq!(panicked, fails < end);
                    assert_eq!(list[1..], expected);
                    list.push(T::from(3));
                    let _ = panic_of(|| list.try_extend(values()).unwrap());
                    assert_eq!(list[1..=expected.len()], expected);
                    assert_eq!(list[expected.len() + 2..], expected);
                }
            }
        }
    }
    fn all<T: From<u8> + Clone + Debug + PartialEq>() {
        let mut arena = Arena::with_chunk_size(500);
        let s = arena.scope();
        check::<T, 0>(&s);
        check::<T, 1>(&s);
        check::<T, 2>(&s);
        check::<T, 5>(&s);
    }
    all::<u8>();
    all::<u64>();
    all::<Box<u8>>();
    all::<Nothing>();
}

thread_local! {
    /// The number of `Words` that live.
    static LIVING: Cell<usize> = const { Cell::new(0) };
}

/// `N` words, which are counted while they live.
#[derive(Debug, PartialEq)]
struct Words<const N: usize>([usize; N]);

impl<const N: usize> From<u8> for Words<N> {
    fn from(value: u8) -> Self {
        LIVING.set(LIVING.get() + 1);
        Words([usize::from(value); N])
    }
}

impl<const N: usize> Drop for Words<N> {
    fn drop(&mut self) {
        LIVING.set(LIVING.get() - 1);
    }
}

#[test]
fn a_slice_of_an_iterator_of_any_size_that_lies_or_panics_has_what_it_yielded() {
    fn check<T: From<u8> + Debug + PartialEq, const N: usize>(chunk_size: usize) {
        let mut arena = Arena::with_chunk_size(chunk_size);
        for end in [0, 1, 7, 40] {
            for announced in [0, 1, 6, 7, 8, 40, 41, 100, usize::MAX] {
                for fails in [0, 1, 6, 39, 50] {
                    let s = arena.scope();
                    let values = Wide {
                        next: 0,
                        end,
                        fails,
                        announced,
                        _words: [0; N],
                        _values: PhantomData::<T>,
                    };
                    let mut slice = None;
                    let panicked = panic_of(|| slice = Some(s.boxed_slice_from_iter(values)));
                    assert_eq!(panicked.is_some(), fails < end);
                    assert_eq!(slice.is_none(), fails < end);
                    if let Some(slice) = slice {
                        assert!(slice.iter().eq(&(0..end).map(T::from).collect::<Vec<_>>()));
                    }
                    assert_eq!(LIVING.get(), 0, "{end} elements, {announced}, panic at {fails}");
                    assert!(fails >= end || s.stats().used == 0, "not all was given back");
                }
            }
        }
    }
    fn all<T: From<u8> + Debug + PartialEq>() {
        // Room for all elements, for a few, and for none.
        for chunk_size in [64 * 40, 500, 16] {
            check::<T, 0>(chunk_size);
            check::<T, 1>(chunk_size);
            check::<T, 2>(chunk_size);
            check::<T, 5>(chunk_size);
        }
    }
    all::<Words<1>>();
    all::<Words<2>>();
    all::<Words<4>>();
    all::<Words<6>>();
    all::<u8>();
}

/// A buffer of `len` bytes at the low end of a scope.
fn low_buffer<'a>(s: &Scope<'a>, len: usize) -> &'a mut [MaybeUninit<u8>] {
    ebbtide::collections::vec![in s; MaybeUninit::uninit(); len].into_slice()
}

/// Each change asks `outer` to resize a vector that lies in a buffer of `outer`, as close to the
/// buffer's end as a vector can.
#[test]
fn a_scope_does_not_take_back_a_buffer_through_a_vector_inside() {
    type Change = for<'a> fn(NodeVec<'a, u8>, &Scope<'a>);
    let changes: [Change; 5] = [
        |mut list, outer| list.with(outer).shrink_to_fit(),
        |mut list, outer| list.with(outer).shrink_to(1),
        |list, outer| list.into_vec(outer).shrink_to_fit(),
        |mut list, outer| list.extend(outer, [0xEE; 300]),
        |mut list, outer| list.with(outer).reserve_exact(300),
    ];
    for change in changes {
        for capacity in 250..=256 {
            let mut arena = Arena::new();
            let outer = arena.scope();
            let mut fixed = Fixed::new(low_buffer(&outer, 256));
            let numbers = {
                let inner = fixed.scope();
                let Ok(list) = inner.try_vec_with_capacity(capacity) else { continue };
                change(list.into_node_vec(), &outer);
                outer.alloc_slice_from_iter(std::iter::repeat_n(1u8, 256))
            };
            let inner = fixed.scope();
            let names = inner.alloc_slice_fill_copy(256, 2u8);
            assert_apart(names, numbers);
            assert!(numbers.iter().all(|byte| *byte == 1));
        }
    }
}

/// Shrinks vectors in `buffer` through another scope, which must not get their bytes. That scope
/// enters no other chunk.
fn take_back(scope: &Scope<'_>, buffer: &mut Fixed<&mut [MaybeUninit<u8>]>, len: usize) {
    front_end::set_limit(scope, Some(0));
    for capacity in 180..len {
        let Some(kept) = ({
            let inner = buffer.scope();
            let mut list = inner.vec_with_capacity::<u8>(capacity).into_node_vec();
            list.with(scope).shrink_to_fit();
            scope.try_alloc_slice_fill_copy(16, 1u8).ok()
        }) else {
            continue;
        };
        let inner = buffer.scope();
        inner.alloc_slice_fill_copy(len, 2u8);
        assert_eq!(kept, [1; 16]);
    }
}

/// The top of a nearly full scope is rounded, which passes the end of a buffer.
#[test]
fn a_full_scope_does_not_take_back_a_buffer_when_its_top_is_rounded() {
    type Buffer<'b> = Fixed<&'b mut [MaybeUninit<u8>]>;
    let ways: [fn(&mut Scope<'_>, &mut Buffer<'_>, usize); 4] = [
        |outer, buffer, len| take_back(&outer.scope(), buffer, len),
        |outer, buffer, len| {
            local::with(outer, || local::scope(|child| take_back(&child, buffer, len)));
        },
        |outer, buffer, len| {
            outer.alloc_slice_copy::<u128>(&[]);
            take_back(outer, buffer, len);
        },
        |outer, buffer, len| {
            // Takes a chunk of its own, as a whole.
            outer.alloc_uninit_slice::<u128>(10_000);
            take_back(outer, buffer, len);
        },
    ];
    for way in ways {
        for (len, free) in [(200, 4), (200, 1), (207, 15), (193, 8)] {
            let mut memory = [MaybeUninit::<u8>::uninit(); 512 + 15];
            let start = memory.as_ptr().align_offset(16);
            let mut fixed = Fixed::new(&mut memory[start..][..512]).or_spill(Heap);
            let mut outer = fixed.scope();
            let mut buffer = Fixed::new(low_buffer(&outer, len));
            let stats = outer.stats();
            outer.alloc_uninit_slice::<u8>(stats.capacity - stats.used - free);
            way(&mut outer, &mut buffer, len);
        }
    }
}

#[test]
fn impossible_requests_are_refused_and_change_nothing() {
    let mut stack = StackArena::<65>::new();
    let s = stack.scope();
    let mut list = s.vec();
    list.extend(0..8u32);
    let refused = |result: Result<(), AllocError>| assert_eq!(result, Err(AllocError));
    for _ in 0..2 {
        refused(list.try_reserve(100));
        refused(list.try_reserve(usize::MAX));
        refused(list.try_reserve_exact(usize::MAX / 4));
        refused(list.try_extend_from_slice(&[9; 20]));
        refused(list.try_extend_from_slice_copy(&[9; 20]));
        refused(list.try_resize(100, 9));
        refused(list.try_resize_with(100, || panic!("it ran")));
        refused(list.try_append(&mut List::from_iter_in([1; 40], &Arena::new().scope())));
        refused(list.try_extend_from_slices_copy(&[&[9; 2], &[9; 20]]));
        assert!(List::try_from_array_in([1; 40], &s).is_err());
        assert!(List::try_from_elem_in(1, 40, &s).is_err());
        assert!(s.try_vec_with_capacity::<u64>(9).is_err());
        assert!(List::try_from_iter_in(0..99u32, &s).is_err());
        assert!(s.try_string_with_capacity(usize::MAX).is_err());
        assert_eq!(list, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    refused(list.try_extend_from_within(..).and_then(|()| list.try_extend_from_within(..)));
    assert_eq!(list.len(), 16);
    refused(list.try_insert(0, 1));
    refused(list.try_push(1));
    refused(list.try_push_with(|| panic!("it ran")));
    refused(list.try_push_mut(1).map(|_| ()));
    refused(list.try_insert_mut(0, 1).map(|_| ()));
    let tail = list.try_split_off(12).expect("it takes no memory");
    assert_eq!((list.len(), tail.len()), (12, 4));
    for overflow in [usize::MAX, usize::MAX / 2, usize::MAX / 4] {
        let message = panic_of(|| list.reserve(overflow)).unwrap();
        assert!(message.contains("capacity overflow"), "{message}");
    }
}

#[test]
fn a_node_vec_that_cannot_grow_is_unchanged() {
    let mut stack = StackArena::<65>::new();
    let s = stack.scope();
    let mut list = NodeVec::new();
    list.try_extend(&s, 0..8u32).unwrap();
    let refused = |result: Result<(), AllocError>| assert_eq!(result, Err(AllocError));
    for _ in 0..2 {
        refused(list.with(&s).try_reserve(100));
        refused(list.with(&s).try_reserve_exact(usize::MAX / 4));
        refused(list.with(&s).try_extend_from_slice(&[9; 20]));
        refused(list.with(&s).try_resize(100, 9));
        refused(list.with(&s).try_append(&mut List::from_iter_in([1; 40], Arena::new().root())));
        assert_eq!(list, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    list.with(&s).try_extend_from_within(..).unwrap();
    refused(list.with(&s).try_insert(0, 1));
    refused(list.try_push(&s, 1));
    refused(list.try_extend(&s, [1]));
    assert_eq!(list[8..], list[..8]);
    list.truncate(4);
    list.with(&s).try_append(&mut List::from_iter_in([7, 9], Arena::new().root())).unwrap();
    assert_eq!(list, [0, 1, 2, 3, 7, 9]);
    let most = u32::MAX as usize;
    let mut units = NodeVec::new();
    // SAFETY: elements without bytes are there.
    unsafe { units.set_len(most) };
    refused(units.with(&s).try_push(()));
    assert!(panic_of(|| units.with(&s).insert(0, ())).is_some());
    assert_eq!((units.len(), units.capacity()), (most, most));
}

#[test]
fn a_text_that_cannot_be_made_takes_nothing() {
    let mut stack = StackArena::<65>::new();
    let s = stack.scope();
    let before = s.stats();
    for _ in 0..2 {
        // The second input of each kind does not fit after replacement characters have expanded it.
        for bytes in [&[b'a'; 65][..], &[0xFF; 40]] {
            assert!(Text::try_from_utf8_lossy_in(bytes, &s).is_err());
        }
        for units in [&[0x61; 65][..], &[0xD800; 40]] {
            assert!(Text::try_from_utf16_lossy_in(units, &s).is_err());
        }
        let too_long = Text::try_from_utf16_in(&[0x20AC; 40], &s);
        assert!(matches!(too_long, Err(AllocOrInitError::Alloc(AllocError))));
        let unpaired = Text::try_from_utf16_in(&[0x61, 0xD800], &s);
        assert!(matches!(unpaired, Err(AllocOrInitError::Init(_))));
        assert!(Text::from_utf16_in(&[0x61, 0xD800], &s).is_err());
        assert!(Text::try_from_str_in(&"a".repeat(65), &s).is_err());
        assert!(Text::try_with_capacity_in(65, &s).is_err());
        assert_eq!(s.stats().used, before.used);
    }
    let mut text = Text::try_from_str_in(&"ab".repeat(30), &s).unwrap();
    assert!(text.try_extend_from_within(..5).is_err());
    assert_eq!(text.len(), 60);
    text.try_extend_from_within(..4).unwrap();
    assert_eq!(text, *"ab".repeat(32));
}

#[test]
fn indices_out_of_bounds_are_refused_where_the_caller_is() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list = ebbtide::collections::vec![in s; 1, 2, 3];
    let mut text = ebbtide::collections::format!(in s, "aé");
    let message = |run: &mut dyn FnMut()| panic_of(run).expect("it panics");
    assert_eq!(message(&mut || list.insert(4, 0)), "the index is 4, and the length is 3");
    assert_eq!(message(&mut || _ = list.remove(3)), "the index is 3, and the length is 3");
    assert_eq!(message(&mut || _ = list.swap_remove(3)), "the index is 3, and the length is 3");
    assert!(message(&mut || drop(list.drain(2..5))).contains("2..5"));
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = message(&mut || drop(list.drain(3..2)));
    assert!(reversed.contains("3..2"));
    assert!(message(&mut || list.extend_from_within(..=usize::MAX)).contains("usize::MAX"));
    assert!(message(&mut || drop(list.split_off(4))).contains('4'));
    assert_eq!(message(&mut || text.insert(2, 'x')), "byte 2 is inside a character");
    assert_eq!(message(&mut || text.insert(4, 'x')), "the index is 4, and the length is 3");
    assert!(message(&mut || _ = text.remove(3)).contains("no character"));
    assert!(message(&mut || text.replace_range(..2, "")).contains("inside"));
    assert!(message(&mut || drop(text.drain(2..))).contains("inside"));
    assert_eq!(
        (list, text),
        (ebbtide::collections::vec![in s; 1, 2, 3], ebbtide::collections::format!(in s, "aé"))
    );
}

#[test]
fn boxes_are_iterated_cast_and_polled() {
    use ebbtide::{boxed::Box, unsize};
    use std::{
        any::Any,
        future::Future,
        pin::Pin,
        task::{Context, Poll, Waker},
    };
    let census = Census::forever();
    let mut arena = Arena::new();
    let s = arena.scope();
    let boxed = s.boxed_slice_fill_with(5, |id| census.make(id));
    let mut left = boxed.into_iter();
    assert_eq!((left.next().unwrap().id(), left.next_back().unwrap().id(), left.len()), (0, 4, 3));
    assert_eq!(census.live(), 3);
    drop(left);
    assert_eq!(census.live(), 0);
    assert_eq!((&s.boxed_slice_clone(&[1, 2])).into_iter().sum::<i32>(), 3);

    let array: Box<'_, [u8; 2]> = s.boxed_slice_clone(&[1, 2]).try_into().unwrap();
    assert_eq!(*array, [1, 2]);
    assert_eq!(*Box::<[u8; 3]>::try_from(unsize!(array => [u8])).unwrap_err(), [1, 2]);
    assert!(Box::<[u8]>::default().is_empty() && Box::<str>::default().is_empty());

    let mut numbers = s.boxed(0..5);
    assert_eq!((numbers.next_back(), numbers.len()), (Some(4), 4));
    let any: Box<'_, dyn Any> = unsize!(s.boxed(census.make(7)));
    let any = any.downcast::<u8>().unwrap_err();
    assert_eq!(any.downcast::<Counted<'static>>().unwrap().id(), 7);
    assert_eq!(census.live(), 0);

    let mut future: Box<'_, dyn Future<Output = u32> + Unpin> =
        unsize!(s.boxed(std::future::ready(3)));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(3));
}

#[test]
fn vectors_of_nodes_are_flattened_and_split_in_place() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let list = List::from_array_in([[1, 2], [3, 4], [5, 6]], &s).into_node_vec();
    let start = list.as_ptr().addr();
    let mut list = list.into_flattened();
    assert_eq!((list.as_ptr().addr(), list.capacity()), (start, 6));
    let mut tail = list.split_off(4);
    assert_eq!((tail.as_ptr().addr(), tail.capacity()), (start + 16, 2));
    assert_eq!(list.capacity(), 4);
    // Only the tail ends where the free memory begins.
    tail.push(&s, 7);
    list.push(&s, 8);
    assert_eq!(tail.as_ptr().addr(), start + 16);
    assert_ne!(list.as_ptr().addr(), start);
    assert_eq!((&*list, &*tail), (&[1, 2, 3, 4, 8][..], &[5, 6, 7][..]));
    assert!(List::from_elem_in([0u64; 0], 3, &s).into_node_vec().into_flattened().is_empty());
    let units = List::from_elem_in([(); 3], 5, &s).into_node_vec().into_flattened();
    assert_eq!(units.len(), 15);
    let mut shared = List::from_array_in([[1u8, 2], [3, 4]], &s);
    shared.reserve_exact(3);
    let start = shared.as_ptr().addr();
    let flat = shared.into_flattened();
    assert_eq!((flat.as_ptr().addr(), flat.capacity()), (start, 10));
    assert!(s.vec::<[u64; 3]>().into_flattened().as_ptr().is_aligned());
    let mut most = NodeVec::<'_, [(); 2]>::new();
    // SAFETY: elements without bytes are there.
    unsafe { most.set_len(1 << 31) };
    let message = panic_of(|| most.into_flattened()).unwrap();
    assert!(message.contains("at most"), "{message}");
    let message = panic_of(|| List::from_array_in([1], &s).into_node_vec().split_off(2)).unwrap();
    assert!(message.contains("the index is 2, and the length is 1"), "{message}");
}

#[test]
fn slices_of_too_many_elements_together_leave_a_vector_as_it_was() {
    static MOST: [(); usize::MAX] = [(); usize::MAX];
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut vec = s.vec();
    assert!(vec.try_extend_from_slices_copy(&[&MOST, &MOST]).is_err());
    assert_eq!(vec.len(), 0);
    vec.try_extend_from_slices_copy(&[&MOST]).unwrap();
    assert_eq!(vec.len(), usize::MAX);
}

#[test]
#[allow(clippy::manual_repeat_n, reason = "both iterators are tested")]
fn a_repeated_element_is_added_as_often_as_announced() {
    let mut arena = Arena::new();
    let s = arena.scope();
    for count in [0, 1, 2, 15, 16, 17, 1_000, 70_000] {
        let mut bytes = s.vec();
        bytes.extend(std::iter::repeat_n(7u8, count));
        bytes.extend(std::iter::repeat(8u8).take(count));
        assert_eq!(bytes, [vec![7u8; count], vec![8; count]].concat());
        let mut words = s.vec();
        words.extend(std::iter::repeat_n(7u64, count));
        assert_eq!(words, vec![7u64; count]);
    }
}
