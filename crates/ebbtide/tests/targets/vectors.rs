//! Vectors of every kind, with and without a limit of memory, edited by each method like those of
//! the standard library. The file is long because all of it shares `edit`.

use super::{in_scopes, input::Input};
use ebbtide::{
    AllocError, Arena, Scope,
    collections::{CollectIn, Length, Memory, Owning, Vec as List, Vector},
};
use std::{fmt::Debug, mem::ManuallyDrop, ops::Range, ptr::NonNull};

/// Longer vectors are cut, so that each step is fast.
const MOST: usize = 600;

/// An element that is made from a number.
trait Item: Clone + Debug + Ord {
    fn of(number: u8) -> Self;
    fn number(&self) -> u8;
}

impl Item for u8 {
    fn of(number: u8) -> Self {
        number
    }

    fn number(&self) -> u8 {
        *self
    }
}

impl Item for u32 {
    fn of(number: u8) -> Self {
        u32::from(number) * 0x01_01_01
    }

    fn number(&self) -> u8 {
        *self as u8
    }
}

impl<const N: usize> Item for [u64; N] {
    fn of(number: u8) -> Self {
        [u64::from(number); N]
    }

    fn number(&self) -> u8 {
        self[0] as u8
    }
}

impl Item for () {
    fn of(_: u8) -> Self {}

    fn number(&self) -> u8 {
        0
    }
}

impl Item for String {
    fn of(number: u8) -> Self {
        number.to_string()
    }

    fn number(&self) -> u8 {
        self.parse().unwrap_or(0)
    }
}

/// Clones of `value` and its successors.
fn items<T: Item>(input: &mut Input<'_>) -> impl Iterator<Item = T> + Clone + use<T> {
    let (first, count) = (input.byte(), input.size().min(MOST));
    (0..count).map(move |index| T::of(first.wrapping_add(index as u8)))
}

/// A range within `len`.
fn range(input: &mut Input<'_>, len: usize) -> Range<usize> {
    let start = input.size() % (len + 1);
    start..start + input.size() % (len - start + 1)
}

/// What `extract_if` of a range takes if it stops after `most` elements.
fn extracted<T: Item>(model: &mut Vec<T>, range: Range<usize>, odd: u8, most: usize) -> Vec<T> {
    let mut taken = Vec::new();
    let mut index = 0;
    model.retain(|item| {
        let goes = range.contains(&index) && item.number() % 2 == odd && taken.len() < most;
        if goes {
            taken.push(item.clone());
        }
        index += 1;
        !goes
    });
    taken
}

/// One method that allocates nothing.
fn cut<T: Item, M, L: Length>(
    vec: &mut Vector<T, M, L>,
    model: &mut Vec<T>,
    input: &mut Input<'_>,
) {
    let (len, odd, value) = (model.len(), input.byte() % 2, input.byte());
    match input.below(16) {
        0 => assert_eq!(vec.pop(), model.pop()),
        1 => {
            let popped = vec.pop_if(|item| item.number() % 2 == odd);
            let goes = model.last().is_some_and(|item| item.number() % 2 == odd);
            assert_eq!(popped, if goes { model.pop() } else { None });
        }
        2 => {
            let len = input.size();
            vec.truncate(len);
            model.truncate(len);
        }
        3 if len > 0 => {
            let index = input.size() % len;
            assert_eq!(vec.remove(index), model.remove(index));
        }
        4 if len > 0 => {
            let index = input.size() % len;
            assert_eq!(vec.swap_remove(index), model.swap_remove(index));
        }
        5 => {
            vec.retain(|item| item.number() % 2 == odd);
            model.retain(|item| item.number() % 2 == odd);
        }
        6 => {
            let mut turn = |item: &mut T| {
                *item = T::of(item.number().wrapping_add(1));
                item.number() % 3 != odd
            };
            vec.retain_mut(&mut turn);
            model.retain_mut(turn);
        }
        7 => {
            vec.dedup();
            model.dedup();
        }
        8 => {
            vec.dedup_by_key(|item| item.number() / 4);
            model.dedup_by_key(|item| item.number() / 4);
        }
        9 => {
            vec.dedup_by(|one, kept| one.number() > kept.number());
            model.dedup_by(|one, kept| one.number() > kept.number());
        }
        10 => {
            let range = range(input, len);
            let (front, back) = (input.below(4), input.below(4));
            let (mut ours, mut theirs) = (vec.drain(range.clone()), model.drain(range));
            assert!(ours.by_ref().take(front).eq(theirs.by_ref().take(front)), "drain");
            assert!(ours.by_ref().rev().take(back).eq(theirs.by_ref().rev().take(back)));
            assert_eq!((ours.as_slice(), ours.len()), (theirs.as_slice(), theirs.len()));
        }
        11 => {
            let (range, most) = (range(input, len), input.below(8));
            let takes = |item: &mut T| item.number() % 2 == odd;
            let ours: Vec<T> = vec.extract_if(range.clone(), takes).take(most).collect();
            assert_eq!(ours, extracted(model, range, odd, most));
        }
        12 => {
            vec.clear();
            model.clear();
        }
        13 => {
            vec.as_mut_slice().sort_unstable();
            model.sort_unstable();
        }
        14 => {
            for item in vec.iter_mut().chain(model) {
                *item = T::of(item.number() ^ value);
            }
        }
        _ => {
            let room = vec.spare_capacity_mut().len();
            assert_eq!(room, vec.capacity() - len);
            assert!(vec.as_ptr().is_aligned() && vec.as_ptr() == vec.as_mut_ptr());
            if room > 0 && len < MOST {
                vec.spare_capacity_mut()[0].write(T::of(value));
                // SAFETY: there is room for one more, which was just written.
                unsafe { vec.set_len(len + 1) };
                model.push(T::of(value));
            }
        }
    }
}

/// One method that may allocate.
fn add<T: Item, M: Memory, L: Length>(
    vec: &mut Vector<T, M, L>,
    model: &mut Vec<T>,
    input: &mut Input<'_>,
) {
    let (value, len) = (input.byte(), model.len());
    let index = input.size() % (len + 1);
    match input.below(16) {
        0 => {
            vec.insert(index, T::of(value));
            model.insert(index, T::of(value));
        }
        1 => {
            assert_eq!(vec.insert_mut(index, T::of(value)), &T::of(value));
            model.insert(index, T::of(value));
        }
        2 => {
            *vec.push_mut(T::of(0)) = T::of(value);
            model.push(T::of(value));
        }
        3 => {
            vec.push_with(|| T::of(value));
            model.push(T::of(value));
        }
        4 => {
            let more = input.size();
            vec.reserve(more);
            assert!(vec.capacity() >= len + more);
        }
        5 => {
            let more = input.size();
            vec.reserve_exact(more);
            assert!(vec.capacity() >= len + more);
        }
        6 => {
            let items: Vec<T> = items(input).collect();
            vec.extend(items.iter().cloned());
            model.extend(items);
        }
        7 => {
            let items = items(input).filter(|item: &T| item.number() % 3 != 0);
            vec.extend(items.clone());
            model.extend(items);
        }
        8 => {
            let items = items(input).chain([T::of(value)]);
            vec.extend(items.clone());
            model.extend(items);
        }
        9 => {
            let items: Vec<T> = items(input).collect();
            vec.extend_from_slice(&items);
            model.extend(items);
        }
        10 => {
            let range = range(input, len);
            vec.extend_from_within(range.clone());
            model.extend_from_within(range);
        }
        11 => {
            let len = input.size().min(MOST);
            vec.resize(len, T::of(value));
            model.resize(len, T::of(value));
        }
        12 => {
            let len = input.size().min(MOST);
            let mut next = value;
            let mut make = || {
                next = next.wrapping_add(1);
                T::of(next)
            };
            vec.resize_with(len, &mut make);
            next = value;
            model.resize_with(len, || {
                next = next.wrapping_add(1);
                T::of(next)
            });
        }
        13 => {
            let room = vec.capacity();
            vec.shrink_to_fit();
            assert!(vec.capacity() <= room);
        }
        14 => {
            let (room, least) = (vec.capacity(), input.size());
            vec.shrink_to(least);
            assert!(vec.capacity() >= room.min(least));
        }
        _ => {
            vec.push(T::of(value));
            model.push(T::of(value));
        }
    }
}

/// The fallible version of one method. If it fails, nothing changes.
fn try_add<T: Item, M: Memory, L: Length>(
    vec: &mut Vector<T, M, L>,
    model: &mut Vec<T>,
    input: &mut Input<'_>,
) {
    let (value, len) = (input.byte(), model.len());
    let index = input.size() % (len + 1);
    match input.below(13) {
        0 => {
            if vec.try_insert(index, T::of(value)).is_ok() {
                model.insert(index, T::of(value));
            }
        }
        1 => {
            if let Ok(item) = vec.try_insert_mut(index, T::of(0)) {
                *item = T::of(value);
                model.insert(index, T::of(value));
            }
        }
        2 => {
            if let Ok(item) = vec.try_push_mut(T::of(0)) {
                *item = T::of(value);
                model.push(T::of(value));
            }
        }
        3 => {
            if vec.try_push_with(|| T::of(value)).is_ok() {
                model.push(T::of(value));
            }
        }
        4 => {
            let more = input.size();
            let reserved = vec.try_reserve(more);
            assert!(reserved.is_err() || vec.capacity() >= len + more);
        }
        5 => {
            let more = input.size();
            let reserved = vec.try_reserve_exact(more);
            assert!(reserved.is_err() || vec.capacity() >= len + more);
        }
        6 => {
            let items = items(input);
            let outcome = vec.try_extend(items.clone());
            let count = if outcome.is_ok() { MOST } else { vec.len() - len };
            model.extend(items.take(count));
        }
        7 => {
            let items = items(input).filter(|item: &T| item.number() % 3 != 0);
            let outcome = vec.try_extend(items.clone());
            let count = if outcome.is_ok() { MOST } else { vec.len() - len };
            model.extend(items.take(count));
        }
        8 => {
            let items: Vec<T> = items(input).collect();
            if vec.try_extend_from_slice(&items).is_ok() {
                model.extend(items);
            }
        }
        9 => {
            let range = range(input, len);
            if vec.try_extend_from_within(range.clone()).is_ok() {
                model.extend_from_within(range);
            }
        }
        10 => {
            let len = input.size().min(MOST);
            if vec.try_resize(len, T::of(value)).is_ok() {
                model.resize(len, T::of(value));
            }
        }
        11 => {
            let len = input.size().min(MOST);
            if vec.try_resize_with(len, || T::of(value)).is_ok() {
                model.resize(len, T::of(value));
            }
        }
        _ => {
            if vec.try_push(T::of(value)).is_ok() {
                model.push(T::of(value));
            }
        }
    }
}

/// One method for elements that are `Copy`.
fn copy<T: Item + Copy, M: Memory, L: Length>(
    vec: &mut Vector<T, M, L>,
    model: &mut Vec<T>,
    input: &mut Input<'_>,
) {
    let (one, two): (Vec<T>, Vec<T>) = (items(input).collect(), items(input).collect());
    let slices = [&one[..], &two, &one[..one.len() / 2]];
    let all = slices.concat();
    let added = match input.below(4) {
        0 => vec.try_extend_from_slice_copy(&one).map(|()| one),
        1 => vec.try_extend_from_slices_copy(&slices).map(|()| all),
        2 => vec.try_reserve(one.len()).map(|()| {
            vec.extend_from_slice_copy(&one);
            one
        }),
        _ => vec.try_reserve(all.len()).map(|()| {
            vec.extend_from_slices_copy(&slices);
            all
        }),
    };
    model.extend(added.unwrap_or_default());
}

/// Edits a vector that holds its scope.
fn edit<T: Item, M: Memory, L: Length>(
    vec: &mut Vector<T, M, L>,
    model: &mut Vec<T>,
    scarce: bool,
    input: &mut Input<'_>,
) {
    match input.below(8) {
        0..3 => cut(vec, model, input),
        3 => {
            let (range, value) = (range(input, model.len()), input.byte());
            let items = items(input).filter(|item: &T| item.number() % 5 != value % 5);
            let (front, back) = (input.below(4), input.below(4));
            let (kept, before) = (range.clone(), model.clone());
            let mut ours = vec.splice(range.clone(), items.clone());
            let mut theirs = model.splice(range, items.clone());
            assert!(ours.by_ref().take(front).eq(theirs.by_ref().take(front)), "splice");
            assert!(ours.by_ref().rev().take(back).eq(theirs.by_ref().rev().take(back)));
            drop(theirs);
            let failed = scarce && ours.try_finish().is_err();
            drop(ours);
            if failed {
                // What is around the range is there, and in between, some of the new elements.
                let behind = &before[kept.end..];
                let added = vec.len() - kept.start - behind.len();
                model.truncate(0);
                model.extend(before[..kept.start].iter().cloned());
                model.extend(items.take(added));
                model.extend(behind.iter().cloned());
            }
        }
        _ if scarce => try_add(vec, model, input),
        _ => add(vec, model, input),
    }
    vec.truncate(MOST);
    model.truncate(MOST);
    assert_eq!(vec[..], model[..]);
}

/// A vector from one of the constructors.
fn made<'s, 'a, T: Item + Copy + 'a>(
    s: &'s Scope<'a>,
    scarce: bool,
    input: &mut Input<'_>,
) -> Result<List<'s, 'a, T>, AllocError> {
    let value = T::of(input.byte());
    match input.below(8) {
        0 => List::try_with_capacity_in(input.size(), s),
        1 => List::try_from_array_in([value; 5], s),
        2 => List::try_from_elem_in(value, input.size().min(MOST), s),
        3 => List::try_from_iter_in(items(input), s),
        4 if !scarce => Ok(List::from_array_in([value; 5], s)),
        5 if !scarce => Ok(List::from_elem_in(value, input.size().min(MOST), s)),
        6 if !scarce => Ok(List::with_capacity_in(input.size(), s)),
        _ => Ok(List::new_in(s)),
    }
}

/// A vector that shares its scope, with another vector and values between its steps.
fn shared<'a, T: Item + Copy + 'a>(s: &Scope<'a>, scarce: bool, input: &mut Input<'_>) {
    let Ok(mut vec) = made::<T>(s, scarce, input) else { return };
    let mut model = vec.to_vec();
    while !input.is_empty() && input.below(16) != 0 {
        match input.below(12) {
            0 => {
                let at = input.size() % (model.len() + 1);
                let split =
                    if input.flag() { Ok(vec.split_off(at)) } else { vec.try_split_off(at) };
                let mut tail = split.expect("it takes no memory");
                let mut tail_model = model.split_off(at);
                edit(&mut tail, &mut tail_model, scarce, input);
                if vec.try_append(&mut tail).is_ok() {
                    model.append(&mut tail_model);
                }
                assert_eq!(tail[..], tail_model[..]);
            }
            1 => drop(s.try_alloc(T::of(input.byte()))),
            2 => copy(&mut vec, &mut model, input),
            3 => {
                let (start, len, capacity) = vec.into_node_vec().into_vec(s).into_raw_parts();
                // SAFETY: the parts of a vector in `s`, which is not used again.
                vec = unsafe { List::from_raw_parts_in(start, len, capacity, s) };
            }
            4 if !scarce => {
                let mut copy = vec.clone();
                assert!(copy == vec && copy.cmp(&vec).is_eq());
                edit(&mut copy, &mut model, scarce, input);
                vec = copy;
            }
            5 if !scarce => {
                let skipped = input.below(4);
                model.drain(..skipped.min(model.len()));
                vec = vec.into_iter().skip(skipped).collect_in(s);
            }
            _ => edit(&mut vec, &mut model, scarce, input),
        }
    }
    finish(vec, model, input);
}

/// Ends a vector in one of the ways there are.
fn finish<'a, T: Item + Copy + 'a>(vec: List<'_, 'a, T>, model: Vec<T>, input: &mut Input<'_>) {
    match input.below(5) {
        0 => assert_eq!(vec.into_slice(), model),
        1 => assert_eq!(vec.into_boxed_slice()[..], model[..]),
        2 => assert_eq!(Vec::from(vec), model),
        3 => assert_eq!(<[T; 7]>::try_from(vec).ok(), <[T; 7]>::try_from(model).ok()),
        _ => assert!(vec.into_iter().rev().eq(model.into_iter().rev()), "into_iter"),
    }
}

/// A vector that is passed its scope, or lent together with it.
fn node<'a, T: Item + Copy + 'a>(s: &Scope<'a>, scarce: bool, input: &mut Input<'_>) {
    let Ok(made) = made::<T>(s, scarce, input) else { return };
    let mut model = made.to_vec();
    let mut vec = made.into_node_vec();
    while !input.is_empty() && input.below(16) != 0 {
        match input.below(12) {
            0 => {
                let at = input.size() % (model.len() + 1);
                let mut tail = vec.split_off(at);
                let mut tail_model = model.split_off(at);
                edit(&mut tail.with(s), &mut tail_model, scarce, input);
                if vec.with(s).try_append(&mut tail).is_ok() {
                    model.append(&mut tail_model);
                }
                assert_eq!(tail[..], tail_model[..]);
            }
            1 => drop(s.try_alloc(T::of(input.byte()))),
            2 => copy(&mut vec.with(s), &mut model, input),
            3 => {
                let value = T::of(input.byte());
                if !scarce {
                    vec.push(s, value);
                    model.push(value);
                } else if vec.try_push(s, value).is_ok() {
                    model.push(value);
                }
            }
            4 => {
                let (items, len) = (items(input), model.len());
                if scarce {
                    let _ = vec.try_extend(s, items.clone());
                } else {
                    vec.extend(s, items.clone());
                }
                model.extend(items.take(vec.len() - len));
            }
            5 => {
                let mut other = List::new_in(s).into_node_vec();
                let mut lent = vec.with(s);
                std::mem::swap(&mut *lent, &mut *other.with(s));
                if input.flag() {
                    std::mem::forget(lent);
                    assert!(vec.is_empty() && other[..] == model[..]);
                } else {
                    drop(lent);
                }
                vec = other;
            }
            6..8 => cut(&mut vec, &mut model, input),
            _ => edit(&mut vec.with(s), &mut model, scarce, input),
        }
        vec.truncate(MOST);
        model.truncate(MOST);
        assert_eq!(vec[..], model[..]);
    }
    if input.flag() {
        assert_eq!(vec.into_slice(), model);
    } else {
        finish(vec.into_vec(s), model, input);
    }
}

/// A vector with exclusive use of its scope.
fn exclusive<'a, T: Item + Copy + 'a>(s: &mut Scope<'a>, scarce: bool, input: &mut Input<'_>) {
    let (mut vec, mut model) = (s.grow_vec::<T>(), Vec::new());
    while !input.is_empty() && input.below(16) != 0 {
        if input.below(8) == 0 {
            copy(&mut vec, &mut model, input);
        }
        edit(&mut vec, &mut model, scarce, input);
    }
    match input.below(3) {
        0 => assert_eq!(vec.into_slice(), model),
        1 => assert_eq!(vec.into_boxed_slice()[..], model[..]),
        _ => {}
    }
}

/// Vectors whose elements have a destructor.
fn owned(s: &mut Scope<'_>, scarce: bool, input: &mut Input<'_>) {
    let mut model: Vec<String> = Vec::new();
    if input.flag() {
        let mut vec = s.owned_grow_vec();
        while !input.is_empty() && input.below(16) != 0 {
            edit(&mut vec, &mut model, scarce, input);
        }
        if input.flag() {
            assert_eq!(vec.into_boxed_slice()[..], model[..]);
        }
        return;
    }
    let mut vec = s.owned_vec();
    while !input.is_empty() && input.below(16) != 0 {
        match input.below(8) {
            0 => {
                let at = input.size() % (model.len() + 1);
                let split =
                    if input.flag() { Ok(vec.split_off(at)) } else { vec.try_split_off(at) };
                let mut tail = split.expect("it takes no memory");
                if vec.try_append(&mut tail).is_err() {
                    model.truncate(at);
                }
            }
            1 if !scarce => vec = vec.clone(),
            _ => edit(&mut vec, &mut model, scarce, input),
        }
    }
    match input.below(4) {
        0 => assert_eq!(vec.into_boxed_slice()[..], model[..]),
        1 => assert_eq!(Vec::from(vec), model),
        2 => assert_eq!(<[String; 7]>::try_from(vec).ok(), <[String; 7]>::try_from(model).ok()),
        _ => drop(vec),
    }
}

/// Two vectors over one arena, which also allocates values.
fn rooted(input: &mut Input<'_>) {
    let arena = Arena::with_chunk_size(200);
    let (mut vec, mut model) = (Owning::over(&arena), Vec::new());
    let (mut other, mut values) = (Owning::over(vec.memory()), Vec::new());
    while !input.is_empty() && input.below(16) != 0 {
        match input.below(8) {
            0 => values.push(arena.alloc(values.len())),
            1 => other.push(String::of(input.byte())),
            2 => {
                let at = input.size() % (model.len() + 1);
                other = vec.split_off(at);
                assert_eq!(other[..], model.split_off(at)[..]);
            }
            3 => {
                let mut parts = ManuallyDrop::new(vec);
                let start = NonNull::new(parts.as_mut_ptr()).unwrap();
                // SAFETY: the parts of a vector that was forgotten.
                vec = unsafe { Owning::from_parts(start, parts.len(), parts.capacity(), &arena) };
            }
            _ => edit(&mut vec, &mut model, false, input),
        }
    }
    assert!(values.iter().map(|value| **value).eq(0..values.len()));
    assert_eq!(vec.into_boxed_slice()[..], model[..]);
}

/// Arrays, flattened.
fn flattened(s: &Scope<'_>, input: &mut Input<'_>) {
    let model: Vec<[u8; 3]> = items(input).map(|byte| [byte; 3]).collect();
    let Ok(vec) = List::try_from_iter_in(model.iter().copied(), s) else { return };
    let mut model = model.into_flattened();
    if input.flag() {
        let mut vec = vec.into_flattened();
        if vec.try_push(1).is_ok() {
            model.push(1);
        }
        assert_eq!(vec[..], model[..]);
    } else {
        let mut vec = vec.into_node_vec().into_flattened();
        if vec.try_push(s, 1).is_ok() {
            model.push(1);
        }
        assert_eq!(vec[..], model[..]);
    }
}

/// One vector of one kind.
fn one<'a, T: Item + Copy + 'a>(s: &mut Scope<'a>, scarce: bool, input: &mut Input<'_>) {
    match input.below(3) {
        0 => shared::<T>(s, scarce, input),
        1 => node::<T>(s, scarce, input),
        _ => exclusive::<T>(s, scarce, input),
    }
}

/// Runs the operations encoded in `bytes`, with an optional limit.
pub fn run(bytes: &[u8]) {
    in_scopes(bytes, 64, |s, scarce, input| match input.below(8) {
        0 => one::<u8>(s, scarce, input),
        1 => one::<u32>(s, scarce, input),
        2 => one::<[u64; 3]>(s, scarce, input),
        3 => one::<()>(s, scarce, input),
        4 => flattened(s, input),
        5 => rooted(input),
        6 => one::<[u64; 40]>(s, scarce, input),
        _ => owned(s, scarce, input),
    });
}
