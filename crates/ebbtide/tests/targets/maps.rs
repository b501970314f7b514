//! Maps and sets, with and without destructors, edited by each method like those of the standard
//! library.
#![cfg(feature = "hashbrown-017")]

use super::input::Input;
use ebbtide::{
    Arena, Scope,
    collections::{CollectIn, Map, Set},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, hash_map::RandomState},
    hash::Hash,
};

/// A map of ours, of `hashbrown` or of the standard library: all have the same methods.
macro_rules! edit {
    ($map:expr, $model:expr, $input:expr) => {{
        let (map, model, input) = ($map, $model, $input);
        let (key, value) = (input.byte() / 2, input.byte());
        match input.below(17) {
            0 | 1 => assert_eq!(map.remove(&key), model.remove(&key)),
            2 => assert_eq!(map.remove_entry(&key), model.remove_entry(&key)),
            3 => assert_eq!(map.get(&key), model.get(&key)),
            4 => assert_eq!(map.contains_key(&key), model.contains_key(&key)),
            5 => assert_eq!(map.get_key_value(&key), model.get_key_value(&key)),
            6 => {
                let ours = map.entry(key).or_insert_with(|| value.into());
                let theirs = model.entry(key).or_insert_with(|| value.into());
                assert_eq!(ours, theirs);
            }
            7 => {
                map.retain(|other, _| other % 4 != key % 4);
                model.retain(|other, _| other % 4 != key % 4);
            }
            8 => {
                let entries = (0..input.size() % 256).map(|key| (key as u8, value.into()));
                map.extend(entries.clone());
                model.extend(entries);
            }
            9 => {
                let more = input.size();
                map.reserve(more);
                assert!(map.capacity() >= model.len() + more);
            }
            10 => assert!(map.try_reserve(input.size()).is_ok()),
            11 => map.shrink_to_fit(),
            12 => map.shrink_to(input.size()),
            13 => {
                for value in map.values_mut().chain(model.values_mut()) {
                    *value = (key ^ 1).into();
                }
            }
            14 if key == 0 => {
                let ours: BTreeMap<_, _> = map.drain().collect();
                assert!(ours.into_iter().eq(model.drain().collect::<BTreeMap<_, _>>()));
            }
            15 if key == 0 => {
                map.clear();
                model.clear();
            }
            _ => assert_eq!(map.insert(key, value.into()), model.insert(key, value.into())),
        }
        assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
        assert!(model.iter().all(|(key, value)| map.get(key) == Some(value)), "maps");
    }};
}

/// A value, with a destructor or without.
trait Value: From<u8> + Clone + Ord + std::fmt::Debug {}

impl Value for u64 {}

/// A value on the heap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Boxed(Box<u8>);

impl From<u8> for Boxed {
    fn from(value: u8) -> Self {
        Boxed(Box::new(value))
    }
}

impl Value for Boxed {}

fn map<'a>(s: &Scope<'a>, input: &mut Input<'_>) {
    let capacity = input.size();
    let mut map: Map<'_, 'a, u8, u64, RandomState> = match input.below(3) {
        0 => s.map_with_hasher(RandomState::new()),
        1 => s.map_with_capacity_and_hasher(capacity, RandomState::new()),
        _ => (0..capacity % 256).map(|key| (key as u8, key as u64)).collect_in(s),
    };
    let mut model: HashMap<u8, u64> = map.iter().map(|(key, value)| (*key, *value)).collect();
    while !input.is_empty() && input.below(24) != 0 {
        match input.below(12) {
            0 => {
                let copy = map.clone();
                assert_eq!(copy, map);
                map = copy;
            }
            1 => map = Map::from(map.into_inner()),
            2 => drop(s.try_alloc([0u8; 40])),
            _ => edit!(&mut map, &mut model, &mut *input),
        }
    }
    let entries: BTreeMap<u8, u64> = model.into_iter().collect();
    match input.below(4) {
        0 => {
            let ours: BTreeMap<u8, u64> = map.into_entries().iter().copied().collect();
            assert_eq!(ours, entries);
        }
        1 => assert!(map.into_keys().collect::<BTreeSet<u8>>().iter().eq(entries.keys())),
        2 => {
            let mut ours: Vec<u64> = map.into_values().collect();
            let mut theirs: Vec<u64> = entries.into_values().collect();
            ours.sort_unstable();
            theirs.sort_unstable();
            assert_eq!(ours, theirs);
        }
        _ => assert_eq!(map.into_iter().collect::<BTreeMap<u8, u64>>(), entries),
    }
}

fn owned_map(s: &Scope<'_>, input: &mut Input<'_>) {
    let (mut map, mut model) = (s.owned_map(), HashMap::<u8, Boxed>::new());
    while !input.is_empty() && input.below(24) != 0 {
        edit!(&mut map, &mut model, &mut *input);
    }
    if input.flag() {
        assert_eq!(map.into_iter().collect::<HashMap<u8, Boxed>>(), model);
    }
}

/// The elements of both, sorted, or an assertion that fails.
fn same<'x, T: Ord + Hash + std::fmt::Debug + 'x>(
    ours: impl Iterator<Item = &'x T>,
    theirs: impl Iterator<Item = &'x T>,
) {
    assert_eq!(ours.collect::<BTreeSet<_>>(), theirs.collect::<BTreeSet<_>>());
}

fn set<'a>(s: &Scope<'a>, input: &mut Input<'_>) {
    let capacity = input.size();
    let mut set: Set<'_, 'a, u8, RandomState> = match input.below(3) {
        0 => s.set_with_hasher(RandomState::new()),
        1 => s.set_with_capacity_and_hasher(capacity, RandomState::new()),
        _ => (0..capacity % 256).map(|key| key as u8).collect_in(s),
    };
    let mut model: HashSet<u8> = set.iter().copied().collect();
    let mut other: Set<'_, 'a, u8, RandomState> = s.set_with_hasher(RandomState::new());
    let mut other_model = HashSet::new();
    while !input.is_empty() && input.below(24) != 0 {
        let key = input.byte() / 2;
        match input.below(16) {
            0 => assert_eq!(set.remove(&key), model.remove(&key)),
            1 => assert_eq!(set.take(&key), model.take(&key)),
            2 => assert_eq!(set.replace(key), model.replace(key)),
            3 => assert_eq!(set.get(&key), model.get(&key)),
            4 => {
                set.retain(|other| other % 4 != key % 4);
                model.retain(|other| other % 4 != key % 4);
            }
            5 => {
                let values = (0..input.size() % 256).map(|key| key as u8);
                set.extend(values.clone());
                model.extend(values);
            }
            6 => {
                std::mem::swap(&mut set, &mut other);
                std::mem::swap(&mut model, &mut other_model);
            }
            7 => same(set.union(&other), model.union(&other_model)),
            8 => same(set.intersection(&other), model.intersection(&other_model)),
            9 => same(set.difference(&other), model.difference(&other_model)),
            10 => same(set.symmetric_difference(&other), model.symmetric_difference(&other_model)),
            11 => {
                assert_eq!(set.is_subset(&other), model.is_subset(&other_model));
                assert_eq!(set.is_superset(&other), model.is_superset(&other_model));
                assert_eq!(set.is_disjoint(&other), model.is_disjoint(&other_model));
            }
            12 => set.shrink_to_fit(),
            13 => set = set.clone(),
            _ => assert_eq!(set.insert(key), model.insert(key)),
        }
        same(set.iter(), model.iter());
    }
    match input.below(3) {
        0 => same(set.into_slice().iter(), model.iter()),
        1 => same(set.into_inner().iter(), model.iter()),
        _ => assert_eq!(set.into_iter().collect::<HashSet<u8>>(), model),
    }
}

/// Maps and sets with the default hasher.
fn default_hasher(s: &Scope<'_>, input: &mut Input<'_>) {
    let mut map = s.map_with_capacity(input.size());
    let mut sets = (s.set(), s.set_with_capacity(input.size()), s.owned_set());
    let (mut model, mut set_model) = (HashMap::new(), HashSet::new());
    for _ in 0..input.below(40) {
        let (key, value) = (input.byte() / 2, input.byte());
        assert_eq!(map.insert(key, value), model.insert(key, value));
        let is_new = set_model.insert(key);
        assert_eq!((sets.0.insert(key), sets.1.insert(key)), (is_new, is_new));
        assert_eq!(sets.2.insert(Boxed::from(key)), is_new);
    }
    assert!(model.iter().all(|(key, value)| map.get(key) == Some(value)), "a map");
    let entries: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    assert_eq!(format!("{map:?}"), format!("{{{}}}", entries.join(", ")));
    let elements: Vec<String> = sets.0.iter().map(ToString::to_string).collect();
    assert_eq!(format!("{:?}", sets.0), format!("{{{}}}", elements.join(", ")));
    same(sets.0.iter(), set_model.iter());
    same(sets.1.iter(), set_model.iter());
    assert_eq!(sets.2.len(), set_model.len());
}

/// Runs the operations encoded in `bytes`.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut arena = Arena::with_chunk_size(input.size());
    while !input.is_empty() {
        let s = arena.scope();
        for _ in 0..input.below(4) {
            match input.below(4) {
                0 => map(&s, &mut input),
                3 => default_hasher(&s, &mut input),
                1 => owned_map(&s, &mut input),
                _ => set(&s, &mut input),
            }
        }
        arena.reset();
    }
}
