//! Claim: the collections of a scope behave like those of std, whatever is allocated beside them,
//! and have no destructor if their elements have none.

#![cfg(all(feature = "std", feature = "hashbrown-017"))]
#![allow(clippy::cast_possible_truncation)]

use crate::common::{Census, assert_apart, assert_works, panic_of, watched};
use ebbtide::{
    Arena, Scope, StackArena,
    collections::{Map, OwnedMap, OwnedSet, Set, String as Text, Vec as List},
};
use std::{collections::HashSet, fmt::Write, mem::needs_drop};

const _: () =
    assert!(!needs_drop::<List<'_, '_, u8>>() && !needs_drop::<List<'_, '_, List<'_, '_, &u8>>>());
const _: () = assert!(
    !needs_drop::<Text<'_, '_>>()
        && !needs_drop::<Map<'_, '_, u8, u8>>()
        && needs_drop::<OwnedMap<'_, '_, u8, u8>>()
);
const _: () = assert!(!needs_drop::<Node<'_>>());

/// A node that owns a list of its children and a text: without drop glue it can be allocated.
#[derive(Debug, PartialEq)]
struct Node<'s> {
    name: Text<'s, 's>,
    children: List<'s, 's, &'s mut Node<'s>>,
}

fn tree<'s>(s: &'s Scope<'s>, depth: usize, count: &mut usize) -> &'s mut Node<'s> {
    let node = s.alloc(Node { name: s.string(), children: s.vec() });
    *count += 1;
    write!(node.name, "{depth}.{count}").unwrap();
    for _ in 0..if depth == 0 { 0 } else { 4 } {
        node.children.push(tree(s, depth - 1, count));
    }
    node
}

#[test]
fn nodes_with_vectors_of_children_are_allocated() {
    fn names(node: &Node<'_>, into: &mut Vec<String>) {
        into.push(node.name.to_string());
        node.children.iter().for_each(|child| names(child, into));
    }

    let mut arena = Arena::with_chunk_size(200);
    let s = arena.scope();
    let (mut one, mut other) = (0, 0);
    let root = tree(&s, 5, &mut one);
    assert_eq!(*root, *tree(&s, 5, &mut other));
    assert_eq!((one, other), (1_365, 1_365));
    root.children[2].children.pop();
    root.children.extend((0..3).map(|_| tree(&s, 1, &mut one)));
    let mut found = Vec::new();
    names(root, &mut found);
    assert_eq!(found.len(), 1_365 - 85 + 15);
    assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
}

#[test]
fn a_list_of_references_serves_where_shorter_ones_are_asked_for() {
    fn shorter<'short>(
        list: List<'static, 'static, &'static str>,
        _: &'short u8,
    ) -> List<'short, 'short, &'short str> {
        list
    }
    fn text<'short>(text: Text<'static, 'static>, _: &'short u8) -> Text<'short, 'short> {
        text
    }
    fn count<'x>(list: &List<'x, 'x, &'x str>, word: &'x str) -> usize {
        list.iter().filter(|&&found| found == word).count()
    }

    let _ = (shorter, text);
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut list: List<'_, '_, &'static str> = s.vec();
    list.extend(["ebb", "flow", "ebb"]);
    let word = String::from("ebb");
    assert_eq!(count(&list, &word), 2);
}

#[test]
fn a_list_becomes_a_slice_and_an_owning_one_gives_its_block_back() {
    let mut arena = Arena::with_chunk_size(1 << 12);
    let s = arena.scope();
    let mut list = s.vec();
    list.extend(0..10u64);
    let start = list.as_ptr();
    let slice = list.into_slice();
    assert_eq!((slice.as_ptr(), slice.len()), (start, 10));
    let mut owning = s.owned_vec();
    owning.reserve_exact(100);
    owning.push(1u64);
    let used = s.stats().used;
    owning.push(2);
    drop(owning);
    assert_eq!(s.stats().used, used - 800, "a vector with a destructor gives its block back");
    let mut list = s.vec();
    list.extend([1, 2, 3]);
    assert_eq!(list.into_iter().rev().collect::<Vec<_>>(), [3, 2, 1]);
    assert!(slice.iter().copied().eq(0..10));
}

#[test]
fn lists_and_texts_compare_hash_and_print_as_std_s() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let list = |values: &[u8]| {
        let mut list = s.vec();
        list.extend(values.iter().copied());
        list
    };
    assert_eq!(list(&[1, 2]), list(&[1, 2]));
    assert!(list(&[1, 2]) < list(&[1, 3]) && list(&[]) < list(&[0]));
    assert!(list(&[2]).cmp(&list(&[1, 3])).is_gt() && list(&[1]).cmp(&list(&[1])).is_eq());
    assert_eq!(format!("{:?}", list(&[1, 2])), "[1, 2]");
    let mut seen: Set<'_, '_, List<'_, '_, u8>> = s.set();
    assert!(seen.insert(list(&[7])) && !seen.insert(list(&[7])) && seen.contains(&list(&[7])));
    let mut text = s.string();
    text.extend(["e", "bb"]);
    text.extend(['!', '?']);
    assert_eq!((format!("{text:?}"), format!("{text:>7}")), ("\"ebb!?\"".into(), "  ebb!?".into()));
    let inside = panic_of(|| {
        let mut text = s.string();
        text.push('€');
        text.truncate(1);
    });
    assert_eq!(inside.as_deref(), Some("byte 1 is inside a character"));
    let mut lists = [list(&[1]), list(&[2])];
    for list in &mut lists {
        for value in &mut *list {
            *value *= 10;
        }
        assert_eq!((&*list).into_iter().count(), 1);
    }
    assert!(lists.iter().flatten().eq(&[10, 20]));
}

#[test]
fn maps_of_what_needs_drop_drop_it_once() {
    let census = Census::forever();
    let mut arena = Arena::with_chunk_size(100);
    let s = arena.scope();
    let mut map = s.owned_map();
    let mut set: OwnedSet<'_, '_, String> = s.owned_set();
    for i in 0..500 {
        map.insert(i % 200, census.make(i));
        set.insert((i % 90).to_string());
        s.alloc(i);
        if i % 3 == 0 {
            map.remove(&(i / 2));
            set.remove(&(i / 4).to_string());
        }
    }
    assert_eq!(census.live(), map.len());
    assert!(map.iter().all(|(key, value)| value.id() % 200 == *key));
    map.shrink_to_fit();
    let copy = map.clone();
    assert_eq!(census.live(), 2 * map.len());
    drop(map);
    let mut left: Vec<_> = copy.into_values().collect();
    left.truncate(10);
    assert_eq!(census.live(), 10);
    drop(left);
    assert_eq!(census.live(), 0);
    assert_works(&s);
}

#[test]
fn a_panic_in_hash_or_eq_leaves_a_map_whole() {
    use std::{
        cell::Cell,
        hash::{Hash, Hasher},
    };
    thread_local!(static FUSE: Cell<u32> = const { Cell::new(u32::MAX) });
    #[derive(PartialEq, Eq, Debug)]
    struct Key(u32);
    impl Hash for Key {
        fn hash<H: Hasher>(&self, state: &mut H) {
            FUSE.set(FUSE.get().checked_sub(1).expect("the fuse blew"));
            self.0.hash(state);
        }
    }

    let mut arena = Arena::with_chunk_size(64);
    let s = arena.scope();
    let mut map = s.map();
    for fuse in 0..200 {
        FUSE.set(fuse);
        let message =
            panic_of(|| (0..100).for_each(|i| map.insert(Key(i), s.alloc(i)).map_or((), drop)));
        FUSE.set(u32::MAX);
        assert!(message.is_some() || fuse >= 100);
        assert!(map.iter().all(|(key, value)| key.0 == **value));
        if fuse % 20 == 0 {
            map = s.map();
        }
    }
    assert_works(&s);
}

/// Allocates from the scope of the collection that runs it, and pushes to another one there.
#[derive(Debug)]
struct Meddler<'s>(&'s Scope<'s>, u8);

impl Clone for Meddler<'_> {
    fn clone(&self) -> Self {
        let low = self.0.alloc_slice_from_iter((0..self.1).filter(|_| true));
        let mut list = self.0.vec();
        list.extend(0..self.1);
        assert_apart(low, &*list);
        self.0.alloc_slice_fill_copy(usize::from(self.1), 1u8);
        Meddler(self.0, self.1)
    }
}

#[test]
fn elements_that_allocate_from_the_scope_while_they_are_cloned() {
    let mut arena = Arena::with_chunk_size(100);
    let s = arena.scope();
    let mut list = s.vec();
    for i in 0..50 {
        list.push(Meddler(&s, i));
        let doubled = [list.as_slice(), list.as_slice()].concat();
        list.extend_from_slice(&doubled[..usize::from(i % 4)]);
        list.extend(doubled.iter().take(2).cloned());
        list.truncate(usize::from(i) + 1);
        let copies: List<'_, '_, _> = {
            let mut copies = s.vec();
            copies.resize(7, list[0].clone());
            copies
        };
        assert!(copies.iter().all(|copy| copy.1 == 0));
    }
    assert!(list.iter().enumerate().all(|(i, value)| i == usize::from(value.1)));
    let mut map = s.map();
    for i in 0..100u8 {
        map.entry(i).or_insert_with(|| Meddler(&s, i).clone());
    }
    assert!(map.clone().iter().all(|(key, value)| *key == value.1));
}

#[test]
fn an_iterator_may_push_to_other_lists_of_the_scope() {
    let mut arena = Arena::with_chunk_size(100);
    let s = arena.scope();
    let mut seen = s.vec();
    let mut words = s.set();
    let mut log = s.string();
    let collected = s.alloc_slice_from_iter((0..500u32).filter(|i| {
        seen.push(*i);
        words.insert(&*s.alloc_fmt(format_args!("{}", i % 50)));
        write!(log, "{i},").unwrap();
        i % 2 == 0
    }));
    assert!(collected.iter().copied().eq((0..500).step_by(2)));
    assert!(seen.iter().copied().eq(0..500));
    assert_eq!((words.len(), log.split(',').count()), (50, 501));
}

#[test]
fn lists_grow_on_while_claims_of_their_scope_come_and_go() {
    let (backing, log) = watched();
    let mut arena = Arena::with_chunk_size_in(1 << 10, backing);
    let mut turn = || {
        let s = arena.scope();
        let mut results = s.vec();
        let mut kept = s.map();
        for i in 0..100u32 {
            let claim = s.claim();
            let mut scratch = claim.scope().vec();
            scratch.extend(0..i * 10);
            results.push(scratch.iter().sum::<u32>());
            let nested = scratch.scope().claim();
            kept.insert(i, nested.scope().alloc_str("gone").len());
        }
        assert!(results.iter().zip(0u32..).all(|(sum, i)| *sum == (0..i * 10).sum::<u32>()));
        assert_eq!(kept.len(), 100);
    };
    turn();
    turn();
    let calls = log.calls();
    (0..10).for_each(|_| turn());
    assert_eq!(log.calls(), calls);
}

#[test]
fn a_list_of_bytes_is_written_to() {
    use std::io::{self, Write};
    let mut stack = StackArena::<17>::new();
    let s = stack.scope();
    let mut bytes = s.vec();
    bytes.try_reserve_exact(16).unwrap();
    write!(bytes, "{}-{}", 1, 2).unwrap();
    assert_eq!(io::copy(&mut &b"abc"[..], &mut bytes).unwrap(), 3);
    bytes.flush().unwrap();
    let failed = bytes.write(b"eleven more").unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::OutOfMemory);
    assert_eq!(bytes.write(b"ten more..").unwrap(), 10);
    assert_eq!(bytes.into_slice(), b"1-2abcten more..");
}

#[test]
fn texts_compare_with_borrowed_ones() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let mut built = s.grow_string();
    built.push_str("ebb");
    assert_eq!([built == *"ebb", built == "ebb", *"ebb" == built, "ebb" == built], [true; 4]);
    assert_eq!([built == *"flow", built == "flow", *"flow" == built, "eb" == built], [false; 4]);
    let mut text = s.string();
    text.push_str("ebb");
    assert_eq!([text == *"ebb", text == "ebb", *"ebb" == text, "ebb" == text], [true; 4]);
    assert_eq!([text == *"flow", text == "flow", *"flow" == text, "eb" == text], [false; 4]);
    assert_eq!(text, "ebb");
}

#[test]
fn an_empty_collection_takes_nothing() {
    let mut stack = StackArena::<64>::new();
    let s = stack.scope();
    for _ in 0..1_000 {
        let (list, text, map, set) = (s.vec::<u64>(), s.string(), s.map::<u8, u8>(), s.set::<u8>());
        assert!(list.is_empty() && text.is_empty() && map.is_empty() && set.is_empty());
        assert_eq!((list.into_slice().len(), text.into_str()), (0, String::new().as_mut()));
    }
    let mut units = s.vec();
    units.extend([(); 1_000]);
    assert_eq!((units.len(), s.stats().used), (1_000, 0));
}

#[test]
fn a_table_beyond_any_memory_is_refused() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let hasher = std::hash::RandomState::new;
    for capacity in [usize::MAX, usize::MAX / 32] {
        let messages = [
            panic_of(|| s.map_with_capacity::<u64, u64>(capacity).len()),
            panic_of(|| s.map_with_capacity_and_hasher::<u64, u64, _>(capacity, hasher()).len()),
            panic_of(|| s.set_with_capacity::<[u64; 2]>(capacity).len()),
            panic_of(|| s.set_with_capacity_and_hasher::<[u64; 2], _>(capacity, hasher()).len()),
        ];
        let overflow = Some("Hash table capacity overflow".to_owned());
        assert!(messages.iter().all(|message| *message == overflow), "{messages:?}");
        assert!(s.map::<u64, u64>().try_reserve(capacity).is_err());
        assert!(s.set::<[u64; 2]>().try_reserve(capacity).is_err());
    }
    assert_works(&s);
}
