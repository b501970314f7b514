//! Vectors, strings and maps in one scope and in claims, compared with the standard library's.
#![cfg(feature = "hashbrown-017")]

use super::input::{Input, boundary};
use ebbtide::{
    Arena, Fixed, Heap, Scope,
    collections::{Map, String, Vec},
};
use std::{collections::HashMap, mem::MaybeUninit};

/// Our collection, and the standard library's that it is compared with.
type Beside<Ours, Theirs> = (Ours, Theirs);

type Line = [u8; 48];

type Entry = [u64; 3];

/// Collections of a scope, with their expected contents.
struct Shelf<'s> {
    s: &'s Scope<'s>,
    words: std::vec::Vec<(Vec<'s, 's, u32>, std::vec::Vec<u32>)>,
    lines: std::vec::Vec<Beside<Vec<'s, 's, Line>, std::vec::Vec<Line>>>,
    texts: std::vec::Vec<(String<'s, 's>, std::string::String)>,
    maps: std::vec::Vec<Beside<Map<'s, 's, u16, Entry>, HashMap<u16, Entry>>>,
    left: std::vec::Vec<(&'s [u32], std::vec::Vec<u32>)>,
}

impl<'s> Shelf<'s> {
    fn new(s: &'s Scope<'s>) -> Self {
        let (words, lines, texts) = Default::default();
        Shelf { s, words, lines, texts, maps: std::vec::Vec::new(), left: std::vec::Vec::new() }
    }

    fn check(&self) {
        assert!(self.words.iter().all(|(vec, model)| vec[..] == model[..]), "words");
        assert!(self.lines.iter().all(|(vec, model)| vec[..] == model[..]), "lines");
        assert!(self.texts.iter().all(|(text, model)| text.as_str() == model), "texts");
        assert!(self.left.iter().all(|(slice, model)| *slice == &model[..]), "left");
        for (map, model) in &self.maps {
            assert_eq!(map.len(), model.len());
            assert!(model.iter().all(|(key, value)| map.get(key) == Some(value)), "maps");
        }
    }

    fn words(&mut self, input: &mut Input<'_>) {
        let which = input.below(256) % self.words.len().max(1);
        let kind = input.below(21);
        let Some((vec, model)) = self.words.get_mut(which).filter(|_| kind > 0) else {
            let capacity = input.size();
            self.words.push((self.s.vec_with_capacity(capacity), std::vec::Vec::new()));
            return;
        };
        let value = u32::from(input.byte()) * 0x01_01_01;
        let index = input.below(256) % model.len().max(1);
        match kind {
            1 => assert_eq!(vec.pop(), model.pop()),
            2 => {
                vec.truncate(index);
                model.truncate(index);
            }
            3 if !model.is_empty() => assert_eq!(vec.remove(index), model.remove(index)),
            4 if !model.is_empty() => {
                vec.insert(index, value);
                model.insert(index, value);
            }
            5 => vec.shrink_to_fit(),
            6 => vec.reserve(input.size()),
            7 => {
                let values = (0..input.size() as u32).map(|i| i ^ value);
                vec.extend(values.clone());
                model.extend(values);
            }
            8 => {
                vec.retain(|item| item % 3 != value % 3);
                model.retain(|item| item % 3 != value % 3);
            }
            9 => {
                let (vec, model) = self.words.swap_remove(which);
                self.left.push((vec.into_slice(), model));
            }
            10 => {
                self.words.swap_remove(which);
            }
            11 => {
                let mut picked = vec.extract_if(index.., |item| *item % 3 == value % 3);
                let (taken, first) = (input.below(5), picked.next());
                let mut ours: std::vec::Vec<u32> = first.into_iter().collect();
                ours.extend(picked.by_ref().take(taken));
                drop(picked);
                // Elements that it did not reach stay.
                let mut left = 1 + taken;
                let mut theirs = std::vec::Vec::new();
                let mut place = 0..;
                model.retain(|item| {
                    let at = place.next().unwrap_or_default();
                    let goes = at >= index && left > 0 && item % 3 == value % 3;
                    if goes {
                        theirs.push(*item);
                        left -= 1;
                    }
                    !goes
                });
                assert_eq!(ours, theirs);
            }
            12 => {
                let end = index + input.below(256) % (model.len() - index).max(1);
                assert!(vec.drain(index..end).eq(model.drain(index..end)), "drain");
            }
            13 => {
                let end = index + input.below(256) % (model.len() - index).max(1);
                let values = (0..input.size() as u32).filter(|item| item % 5 != value % 5);
                let out: std::vec::Vec<u32> = vec.splice(index..end, values.clone()).collect();
                assert!(model.splice(index..end, values).eq(out), "splice");
            }
            14 => {
                let tail = vec.split_off(index);
                let tail = (tail, model.split_off(index));
                self.words.push(tail);
            }
            15 => {
                vec.dedup_by_key(|item| *item % 7);
                model.dedup_by_key(|item| *item % 7);
            }
            16 => {
                let len = input.size();
                vec.resize(len, value);
                model.resize(len, value);
            }
            17 => {
                vec.extend_from_within(index..);
                model.extend_from_within(index..);
                vec.truncate(600);
                model.truncate(600);
            }
            18 => {
                let mut node = vec.clone().into_node_vec();
                node.extend(self.s, (0..index as u32).chain([value]));
                model.extend((0..index as u32).chain([value]));
                *vec = node.into_vec(self.s);
            }
            19 if !model.is_empty() => assert_eq!(vec.swap_remove(index), model.swap_remove(index)),
            _ => {
                vec.push(value);
                model.push(value);
            }
        }
    }

    fn lines(&mut self, input: &mut Input<'_>) {
        let kind = input.below(8);
        let Some((vec, model)) = self.lines.last_mut().filter(|_| kind > 0) else {
            return self.lines.push((self.s.vec(), std::vec::Vec::new()));
        };
        match kind {
            1 => assert_eq!(vec.pop(), model.pop()),
            2 => vec.shrink_to_fit(),
            3 => {
                self.lines.pop();
            }
            _ => {
                let line = [input.byte(); 48];
                let count = input.below(9);
                vec.extend_from_slice(&[line; 8][..count.min(8)]);
                model.extend_from_slice(&[line; 8][..count.min(8)]);
            }
        }
    }

    fn texts(&mut self, input: &mut Input<'_>) {
        let kind = input.below(14);
        let Some((text, model)) = self.texts.last_mut().filter(|_| kind > 0) else {
            return self.texts.push((self.s.string(), std::string::String::new()));
        };
        match kind {
            1 => assert_eq!(text.pop(), model.pop()),
            2 => {
                let len = boundary(model, input.size());
                text.truncate(len);
                model.truncate(len);
            }
            3 => text.reserve(input.size()),
            4 => {
                let at = boundary(model, input.size());
                let piece = input.text();
                text.insert_str(at, &piece);
                model.insert_str(at, &piece);
            }
            5 => {
                let (start, piece) = (boundary(model, input.size()), input.text());
                let end = boundary(model, start + input.below(64)).max(start);
                text.replace_range(start..end, &piece);
                model.replace_range(start..end, &piece);
            }
            6 => {
                let end = boundary(model, input.size());
                assert!(text.drain(..end).eq(model.drain(..end)), "drain");
            }
            7 => {
                text.retain(|letter| letter != 'ß');
                model.retain(|letter| letter != 'ß');
            }
            8 => {
                let at = boundary(model, input.size());
                let tail = text.split_off(at);
                let tail = (tail, model.split_off(at));
                self.texts.push(tail);
            }
            _ => {
                let piece = input.text();
                text.push_str(&piece);
                model.push_str(&piece);
            }
        }
    }

    fn maps(&mut self, input: &mut Input<'_>) {
        let which = input.below(256) % self.maps.len().max(1);
        let kind = input.below(10);
        let Some((map, model)) = self.maps.get_mut(which).filter(|_| kind > 0) else {
            return self.maps.push((self.s.map(), HashMap::new()));
        };
        let (key, value) = (u16::from(input.byte()), [u64::from(input.byte()); 3]);
        match kind {
            1 | 2 => assert_eq!(map.remove(&key), model.remove(&key)),
            3 => map.shrink_to_fit(),
            4 => {
                for key in 0..key * 4 {
                    assert_eq!(map.insert(key, value), model.insert(key, value));
                }
            }
            5 => {
                map.retain(|other, _| other % 4 != key % 4);
                model.retain(|other, _| other % 4 != key % 4);
            }
            6 => {
                self.maps.swap_remove(which);
            }
            _ => assert_eq!(map.insert(key, value), model.insert(key, value)),
        }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(8) {
            0..3 => self.words(input),
            3 => self.lines(input),
            4 | 5 => self.texts(input),
            _ => self.maps(input),
        }
        self.check();
    }
}

/// Runs operations in one scope until the input ends it, in claims of it, and meanwhile on what the outer
/// scopes have.
fn level<'s>(
    s: &'s Scope<'s>,
    input: &mut Input<'_>,
    depth: usize,
    outer: &mut dyn FnMut(&mut Input<'_>),
) {
    let mut shelf = Shelf::new(s);
    while !input.is_empty() {
        match input.below(16) {
            0 if depth < 4 => {
                let claim = s.claim();
                let mut outer = |input: &mut Input<'_>| {
                    if input.below(4) == 0 { outer(input) } else { shelf.step(input) }
                };
                level(claim.scope(), input, depth + 1, &mut outer);
                if input.below(8) == 0 {
                    std::mem::forget(claim);
                }
            }
            1 => break,
            2 => {
                let size = input.size();
                let model = std::vec![size as u32; size];
                shelf.left.push((s.alloc_slice_copy(&model), model));
            }
            3 | 4 => outer(input),
            _ => shelf.step(input),
        }
        shelf.check();
    }
}

/// Runs the operations encoded in `bytes`.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut arena = Arena::with_chunk_size(input.size());
    let mut memory = std::vec![MaybeUninit::uninit(); input.size()];
    let mut fixed = Fixed::new(memory.as_mut_slice()).or_spill(Heap);
    let mut nobody = |_: &mut Input<'_>| ();
    while !input.is_empty() {
        match input.below(4) {
            0 => level(arena.root(), &mut input, 0, &mut nobody),
            1 => level(&fixed.scope(), &mut input, 0, &mut nobody),
            2 => level(&arena.scope().scope(), &mut input, 0, &mut nobody),
            _ => level(&arena.scope(), &mut input, 0, &mut nobody),
        }
        if input.flag() {
            arena.reset();
        }
    }
}
