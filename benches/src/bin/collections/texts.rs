//! Strings.

use crate::{Rows, contestants};
use ebbtide_benches::harness::{hidden, observe, repeated};
use std::{fmt::Write, hint::black_box};

/// The contestants of a row of strings. Each iteration runs the body with a new string; the
/// arguments say how to create ours.
macro_rules! strings {
    (|$s:ident| $ours:expr, |$text:ident| $body:expr) => {
        contestants!(
            |$s| {
                let mut $text = $ours;
                $body;
                observe::<str>(&mut $text);
            },
            {
                let mut $text = String::new();
                $body;
                observe::<str>(&mut $text);
            },
            |bump| {
                let mut $text = bumpalo::collections::String::new_in(bump);
                $body;
                observe::<str>(&mut $text);
            },
            |bump| {
                let mut $text = bump_scope::BumpString::new_in(bump);
                $body;
                observe::<str>(&mut $text);
            }
        )
    };
}

/// A row of strings.
macro_rules! texts {
    ($rows:ident, $name:expr, |$text:ident| $body:expr) => {
        $rows.row(&$name, strings!(|s| s.string(), |$text| $body))
    };
}

/// The same, plus a row of `GrowString`, which is also compared with bump-scope's exclusive string.
macro_rules! growing {
    ($rows:ident, $what:expr, $with:expr, |$text:ident| $body:expr) => {{
        texts!($rows, format!("{}, {}", $what, $with), |$text| $body);
        let mut contestants = strings!(|s| s.grow_string(), |$text| $body);
        let mut bump: bump_scope::Bump = bump_scope::Bump::new();
        contestants.push(repeated("bump-scope, exclusive", move |turns| {
            for _ in 0..turns {
                {
                    let mut $text = bump_scope::MutBumpString::new_in(&mut bump);
                    $body;
                    observe::<str>(&mut $text);
                }
                bump.reset();
            }
        }));
        $rows.row(&format!("GrowString, {}, {}", $what, $with), contestants);
    }};
}

#[allow(clippy::string_extend_chars, reason = "it is what is measured")]
pub fn run(rows: &mut Rows<'_>, len: usize) {
    let long = "ebb and flow ".repeat(len / 13 + 1);
    let long = &long[..len];
    let words: Vec<&str> = long.split(' ').collect();
    let words = &words[..];
    let with = &format!("{len} characters");

    growing!(rows, "push_str once", with, |text| text.push_str(black_box(long)));
    growing!(rows, "push_str of words", with, |text| {
        for word in black_box(words) {
            text.push_str(word);
        }
    });
    growing!(rows, "push", with, |text| {
        for n in 0..hidden(len) {
            text.push(if n % 16 == 15 { 'é' } else { 'e' });
        }
    });
    growing!(rows, "extend of characters", with, |text| text.extend(black_box(long).chars()));
    growing!(rows, "extend of words", with, |text| {
        text.extend(black_box(words).iter().copied());
    });
    growing!(rows, "join", with, |text| {
        for (n, word) in black_box(words).iter().enumerate() {
            if n > 0 {
                text.push_str(", ");
            }
            text.push_str(word);
        }
    });
    growing!(rows, "format numbers", with, |text| {
        for n in 0..hidden(len) / 4 {
            write!(text, "{n}, ").expect("there is memory");
        }
    });
    growing!(rows, "format words", with, |text| {
        for word in black_box(words) {
            write!(text, "<{word}>").expect("there is memory");
        }
    });
    growing!(rows, "insert_str in front", with, |text| {
        for word in black_box(words).iter().take(64) {
            text.insert_str(0, word);
        }
    });
    texts!(rows, format!("clone, {with}"), |text| {
        text.push_str(black_box(long));
        observe::<str>(&mut text.clone());
    });
    texts!(rows, format!("pop, {with}"), |text| {
        text.push_str(black_box(long));
        while let Some(character) = text.pop() {
            black_box(character);
        }
    });
    texts!(rows, format!("remove from the front, {with}"), |text| {
        text.push_str(black_box(long));
        for _ in 0..hidden(len).min(64) {
            black_box(text.remove(0));
        }
    });
    texts!(rows, format!("retain, {with}"), |text| {
        text.push_str(black_box(long));
        text.retain(|character| character != ' ');
    });
    texts!(rows, format!("drain, {with}"), |text| {
        text.push_str(black_box(long));
        black_box(text.drain(..len / 2).fold(0, |sum, character| sum + character as usize));
    });
}
