//! Strings, and formatting with a `Display` that allocates in the same scope.

use super::input::{Input, boundary};
use ebbtide::{AllocOrInitError, Arena, Scope};
use std::{
    cell::RefCell,
    fmt::{self, Write as _},
};

/// Displays pieces, and uses the scope between them.
struct Meddling<'m, 'b, 'a> {
    s: &'m Scope<'a>,
    input: &'m RefCell<Input<'b>>,
    kept: &'m RefCell<Vec<(&'a str, String)>>,
    /// The displayed text, for comparison.
    printed: RefCell<String>,
    depth: usize,
}

impl fmt::Display for Meddling<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces = self.input.borrow_mut().below(5);
        for _ in 0..pieces {
            let piece = self.input.borrow_mut().text();
            f.write_str(&piece)?;
            self.printed.borrow_mut().push_str(&piece);
            let kind = self.input.borrow_mut().below(9);
            match kind {
                0 => {
                    let text = self.input.borrow_mut().text();
                    if let Ok(copy) = self.s.try_alloc_str(&text) {
                        self.kept.borrow_mut().push((copy, text));
                    }
                }
                1 if self.depth < 3 => format(self.s, self.input, self.kept, self.depth + 1),
                2 => {
                    let mut scratch = self.s.try_alloc_slice_fill_copy(300, 0xEEu8);
                    if let Ok(scratch) = &mut scratch {
                        scratch.fill(0xEF);
                    }
                }
                3 => return Err(fmt::Error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Formats, and keeps the text.
fn format<'a>(
    s: &Scope<'a>,
    input: &RefCell<Input<'_>>,
    kept: &RefCell<Vec<(&'a str, String)>>,
    depth: usize,
) {
    let display = Meddling { s, input, kept, printed: RefCell::default(), depth };
    let number = input.borrow_mut().byte();
    match s.try_alloc_fmt(format_args!("{number:>5}{display}{number:x}")) {
        Ok(text) => {
            let printed = display.printed.into_inner();
            let expected = format!("{number:>5}{printed}{number:x}");
            kept.borrow_mut().push((text, expected));
        }
        Err(AllocOrInitError::Alloc(_) | AllocOrInitError::Init(fmt::Error)) => {}
    }
}

fn check(kept: &RefCell<Vec<(&str, String)>>) {
    for (text, expected) in &*kept.borrow() {
        assert_eq!(text, expected);
    }
}

/// Builds a string in pieces, together with a `String`.
fn build<'a>(s: &mut Scope<'a>, input: &RefCell<Input<'_>>) -> (&'a str, String) {
    let input = &mut *input.borrow_mut();
    let mut built = s.grow_string();
    let mut model = String::new();
    for _ in 0..input.below(20) {
        match input.below(8) {
            0 => assert_eq!(built.pop(), model.pop()),
            1 => {
                let len = boundary(&model, input.size());
                built.truncate(len);
                model.truncate(len);
            }
            2 => {
                built.clear();
                model.clear();
            }
            3 => {
                let additional = input.size();
                if built.try_reserve(additional).is_ok() {
                    assert!(built.capacity() >= model.len() + additional);
                }
            }
            4 => {
                let character = char::from(input.byte());
                if built.try_push(character).is_ok() {
                    model.push(character);
                }
            }
            5 => {
                let number = input.word();
                if write!(built, "{number:#x}").is_ok() {
                    write!(model, "{number:#x}").unwrap_or_default();
                } else {
                    // As much as fits.
                    assert!(built.as_str().starts_with(&model));
                    built.truncate(model.len());
                }
            }
            _ => {
                let text = input.text();
                if built.try_push_str(&text).is_ok() {
                    model.push_str(&text);
                }
            }
        }
        assert_eq!(built.as_str(), model);
    }
    (built.into_str(), model)
}

fn level(s: &mut Scope<'_>, input: &RefCell<Input<'_>>, depth: usize) {
    let kept = RefCell::new(Vec::new());
    while !input.borrow().is_empty() {
        let kind = input.borrow_mut().below(8);
        match kind {
            0 if depth < 4 => level(&mut s.scope(), input, depth + 1),
            1 => break,
            2 => {
                let built = build(s, input);
                kept.borrow_mut().push(built);
            }
            3 => {
                let bytes = input.borrow_mut().text().into_bytes();
                let text = std::ffi::CString::new(bytes).unwrap_or_default();
                if let Ok(copy) = s.try_alloc_cstr(&text) {
                    assert_eq!(copy, text.as_c_str());
                }
            }
            4 => {
                let text = input.borrow_mut().text();
                if let Ok(copy) = s.try_alloc_str(&text) {
                    kept.borrow_mut().push((copy, text));
                }
            }
            _ => format(s, input, &kept, 0),
        }
        check(&kept);
    }
    check(&kept);
}

/// Runs the operations encoded in `bytes`, with an optional limit.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (size, limit) = (input.size(), input.byte());
    let mut arena = Arena::with_chunk_size(size);
    if limit > 0 {
        arena.set_limit(Some(usize::from(limit) * 128));
    }
    let input = RefCell::new(input);
    while !input.borrow().is_empty() {
        if let Ok(mut s) = arena.try_scope() {
            level(&mut s, &input, 0);
        } else {
            break;
        }
        if input.borrow_mut().flag() {
            arena.reset();
        }
    }
}
