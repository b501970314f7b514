//! Strings of both kinds, with and without a limit of memory, edited by each method like those of
//! the standard library.

use super::{
    in_scopes,
    input::{Input, boundary},
};
use ebbtide::{
    Scope,
    collections::{Memory, String as Text, Text as AnyText},
};
use std::{fmt::Write as _, ops::Range};

/// Longer texts are cut, so that each step is fast.
const MOST: usize = 800;

/// A place between two characters.
fn place(input: &mut Input<'_>, text: &str) -> usize {
    boundary(text, input.size() % (text.len() + 1))
}

/// A range between two such places.
fn range(input: &mut Input<'_>, text: &str) -> Range<usize> {
    let (one, two) = (place(input, text), place(input, text));
    one.min(two)..one.max(two)
}

/// One of the characters of texts, or of Latin-1.
fn letter(input: &mut Input<'_>) -> char {
    let byte = input.byte();
    ['a', 'ß', '€', '🦀'].get(usize::from(byte)).copied().unwrap_or(char::from(byte))
}

/// Bytes, some of which are not UTF-8.
fn bytes(input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = input.text().into_bytes();
    for _ in 0..input.below(4) {
        let at = input.size() % (bytes.len() + 1);
        bytes.insert(at, input.byte());
    }
    bytes
}

/// Units, some of which are unpaired surrogates.
fn units(input: &mut Input<'_>) -> Vec<u16> {
    let mut units: Vec<u16> = input.text().encode_utf16().collect();
    for _ in 0..input.below(3) {
        let at = input.size() % (units.len() + 1);
        units.insert(at, 0xD800 | u16::from(input.byte()) << 2);
    }
    units
}

/// One method that allocates nothing.
fn cut<M>(text: &mut AnyText<M>, model: &mut String, input: &mut Input<'_>) {
    match input.below(8) {
        0 => assert_eq!(text.pop(), model.pop()),
        1 => {
            let len = place(input, model);
            text.truncate(len);
            model.truncate(len);
        }
        2 => {
            let at = place(input, model);
            if at < model.len() {
                assert_eq!(text.remove(at), model.remove(at));
            }
        }
        3 => {
            let gone = letter(input);
            text.retain(|letter| letter != gone);
            model.retain(|letter| letter != gone);
        }
        4 => {
            let range = range(input, model);
            let (front, back) = (input.below(4), input.below(4));
            let (mut ours, mut theirs) = (text.drain(range.clone()), model.drain(range));
            assert!(ours.by_ref().take(front).eq(theirs.by_ref().take(front)), "drain");
            assert!(ours.by_ref().rev().take(back).eq(theirs.by_ref().rev().take(back)));
            assert_eq!(ours.as_str(), theirs.as_str());
        }
        5 => {
            text.clear();
            model.clear();
        }
        6 => {
            text.as_mut_str().make_ascii_uppercase();
            model.make_ascii_uppercase();
        }
        _ => {
            assert_eq!((text.as_bytes(), text.len()), (model.as_bytes(), model.len()));
            assert!(*text == **model && text.capacity() >= text.len());
        }
    }
}

/// One method that may allocate.
fn add<M: Memory>(text: &mut AnyText<M>, model: &mut String, input: &mut Input<'_>) {
    match input.below(13) {
        0 => {
            let (at, letter) = (place(input, model), letter(input));
            text.insert(at, letter);
            model.insert(at, letter);
        }
        1 => {
            let (at, piece) = (place(input, model), input.text());
            text.insert_str(at, &piece);
            model.insert_str(at, &piece);
        }
        2 => {
            let (range, piece) = (range(input, model), input.text());
            text.replace_range(range.clone(), &piece);
            model.replace_range(range, &piece);
        }
        3 => {
            let range = range(input, model);
            text.extend_from_within(range.clone());
            let piece = model[range].to_owned();
            model.push_str(&piece);
        }
        4 => {
            let more = input.size();
            text.reserve(more);
            assert!(text.capacity() >= model.len() + more);
        }
        5 => {
            let more = input.size();
            text.reserve_exact(more);
            assert!(text.capacity() >= model.len() + more);
        }
        6 => {
            let room = text.capacity();
            text.shrink_to_fit();
            assert!(text.capacity() <= room);
        }
        7 => {
            let (room, least) = (text.capacity(), input.size());
            text.shrink_to(least);
            assert!(text.capacity() >= room.min(least));
        }
        8 => {
            let piece = input.text();
            text.extend(piece.chars());
            model.push_str(&piece);
        }
        9 => {
            let piece = input.text();
            text.extend(piece.split('ß'));
            model.extend(piece.split('ß'));
        }
        10 => {
            let number = input.word();
            assert!(write!(text, "{number:>9x}").is_ok());
            model.push_str(&format!("{number:>9x}"));
        }
        11 => {
            let letter = letter(input);
            text.push(letter);
            model.push(letter);
        }
        _ => {
            let piece = input.text();
            *text += &piece;
            *model += &piece;
        }
    }
}

/// The fallible version of one method. If it fails, nothing changes.
fn try_add<M: Memory>(text: &mut AnyText<M>, model: &mut String, input: &mut Input<'_>) {
    match input.below(8) {
        0 => {
            let (at, letter) = (place(input, model), letter(input));
            if text.try_insert(at, letter).is_ok() {
                model.insert(at, letter);
            }
        }
        1 => {
            let (at, piece) = (place(input, model), input.text());
            if text.try_insert_str(at, &piece).is_ok() {
                model.insert_str(at, &piece);
            }
        }
        2 => {
            let (range, piece) = (range(input, model), input.text());
            if text.try_replace_range(range.clone(), &piece).is_ok() {
                model.replace_range(range, &piece);
            }
        }
        3 => {
            let range = range(input, model);
            if text.try_extend_from_within(range.clone()).is_ok() {
                let piece = model[range].to_owned();
                model.push_str(&piece);
            }
        }
        4 => {
            let more = input.size();
            let reserved = text.try_reserve(more);
            assert!(reserved.is_err() || text.capacity() >= model.len() + more);
        }
        5 => {
            let more = input.size();
            let reserved = text.try_reserve_exact(more);
            assert!(reserved.is_err() || text.capacity() >= model.len() + more);
        }
        6 => {
            let letter = letter(input);
            if text.try_push(letter).is_ok() {
                model.push(letter);
            }
        }
        _ => {
            let piece = input.text();
            if text.try_push_str(&piece).is_ok() {
                model.push_str(&piece);
            }
        }
    }
}

fn edit<M: Memory>(text: &mut AnyText<M>, model: &mut String, scarce: bool, input: &mut Input<'_>) {
    match input.below(8) {
        0..3 => cut(text, model, input),
        _ if scarce => try_add(text, model, input),
        _ => add(text, model, input),
    }
    let len = boundary(model, MOST);
    text.truncate(len);
    model.truncate(len);
    assert_eq!(text.as_str(), model);
}

/// A new string, and the one that the standard library makes of the same input. `None` if there is
/// no memory, or none should be made of what is not valid.
fn made<'s, 'a>(
    s: &'s Scope<'a>,
    scarce: bool,
    input: &mut Input<'_>,
) -> Option<(Text<'s, 'a>, String)> {
    Some(match input.below(8) {
        0 => {
            let model = input.text();
            (Text::try_from_str_in(&model, s).ok()?, model)
        }
        1 => {
            let bytes = bytes(input);
            let model = String::from_utf8_lossy(&bytes).into_owned();
            (Text::try_from_utf8_lossy_in(&bytes, s).ok()?, model)
        }
        2 => {
            let units = units(input);
            (Text::try_from_utf16_lossy_in(&units, s).ok()?, String::from_utf16_lossy(&units))
        }
        3 => {
            let units = units(input);
            let (ours, theirs) = (Text::try_from_utf16_in(&units, s), String::from_utf16(&units));
            assert!(scarce || ours.is_ok() == theirs.is_ok());
            (ours.ok()?, theirs.ok()?)
        }
        4 => {
            let bytes = bytes(input);
            let ours =
                Text::from_utf8(s.try_vec_with_capacity(bytes.len()).ok().map(|mut vec| {
                    vec.extend_from_slice(&bytes);
                    vec
                })?);
            let theirs = String::from_utf8(bytes);
            let valid = |error: std::str::Utf8Error| error.valid_up_to();
            assert_eq!(
                ours.as_ref().err().map(|error| valid(error.utf8_error())),
                theirs.as_ref().err().map(|error| valid(error.utf8_error())),
            );
            (ours.ok()?, theirs.ok()?)
        }
        5 if !scarce => {
            let (bytes, units, model) = (bytes(input), units(input), input.text());
            assert_eq!(*Text::from_utf8_lossy_in(&bytes, s), *String::from_utf8_lossy(&bytes));
            assert_eq!(*Text::from_utf16_lossy_in(&units, s), *String::from_utf16_lossy(&units));
            let (ours, theirs) = (Text::from_utf16_in(&units, s), String::from_utf16(&units));
            assert_eq!(ours.ok().as_deref(), theirs.ok().as_deref());
            assert_eq!(*Text::from_iter_in(model.chars(), s), *model);
            (Text::from_str_in(&model, s), model)
        }
        6 if !scarce => {
            assert!(s.string_with_capacity(input.size()).is_empty());
            (Text::with_capacity_in(input.size(), s), String::new())
        }
        _ => {
            assert!(s.try_string_with_capacity(input.size()).is_ok_and(|s| s.is_empty()) || scarce);
            (Text::try_with_capacity_in(input.size(), s).ok()?, String::new())
        }
    })
}

/// A string that shares its scope, with other values between its steps.
fn shared(s: &Scope<'_>, scarce: bool, input: &mut Input<'_>) {
    let Some((mut text, mut model)) = made(s, scarce, input) else { return };
    assert_eq!(text.as_str(), model);
    while !input.is_empty() && input.below(16) != 0 {
        match input.below(9) {
            0 => {
                let at = place(input, &model);
                let (mut tail, mut tail_model) = (text.split_off(at), model.split_off(at));
                edit(&mut tail, &mut tail_model, scarce, input);
                if text.try_push_str(&tail).is_ok() {
                    model.push_str(&tail_model);
                }
            }
            1 => drop(s.try_alloc(input.word())),
            2 => {
                let (start, len, capacity) = text.into_raw_parts();
                // SAFETY: the parts of a string in `s`, which is not used again.
                text = unsafe { Text::from_raw_parts_in(start, len, capacity, s) };
            }
            3 if !scarce => text = text.clone() + "ß",
            4 => {
                // SAFETY: the bytes of a string.
                text = unsafe { Text::from_utf8_unchecked(text.into_bytes()) };
                // SAFETY: an ASCII character.
                let bytes = unsafe { text.as_mut_vec() };
                // SAFETY: the bytes of a string.
                let text = unsafe { Text::from_utf8_unchecked_mut(bytes) };
                if text.try_push('x').is_ok() {
                    model.push('x');
                }
            }
            _ => edit(&mut text, &mut model, scarce, input),
        }
        if text.len() != model.len() {
            model += "ß";
        }
        assert_eq!(text.as_str(), model);
    }
    match input.below(3) {
        0 => assert_eq!(*text.into_str(), *model),
        1 => assert_eq!(*text.into_boxed_str(), *model),
        _ => assert_eq!(text.into_bytes()[..], *model.as_bytes()),
    }
}

/// A string that has its scope to itself.
fn exclusive(s: &mut Scope<'_>, scarce: bool, input: &mut Input<'_>) {
    let (mut text, mut model) = (s.grow_string(), String::new());
    while !input.is_empty() && input.below(16) != 0 {
        edit(&mut text, &mut model, scarce, input);
    }
    match input.below(3) {
        0 => assert_eq!(*text.into_str(), *model),
        1 => assert_eq!(*text.into_boxed_str(), *model),
        _ => {}
    }
}

/// Runs the operations encoded in `bytes`, with an optional limit.
pub fn run(bytes: &[u8]) {
    in_scopes(bytes, 32, |s, scarce, input| {
        if input.flag() {
            shared(s, scarce, input);
        } else {
            exclusive(s, scarce, input);
        }
    });
}
