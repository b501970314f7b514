//! Counts the words of its arguments: Rust opens a scope, C allocates in it, Rust reads the result
//! and allocates more.

use ebbtide::Arena;
use ebbtide_capi::ebb_scope;
use shared::{split_text, words};
use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let text = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let mut arena = Arena::new();
    let mut shared = ebb_scope::lend(arena.scope());

    // SAFETY: the scope is open, and the text has so many bytes and outlives it.
    let pieces = unsafe { split_text(&raw mut shared, text.as_ptr(), text.len()) };
    // SAFETY: they were just returned. C has not closed the scope, which ends with `arena`.
    let pieces = unsafe { pieces.get() };
    // SAFETY: C has returned and keeps nothing, and `arena` is not used below.
    let (Some(pieces), Ok(scope)) = (pieces, unsafe { shared.scope() }) else {
        eprintln!("C has no memory");
        return ExitCode::FAILURE;
    };
    let Ok(words) = words(scope, pieces) else {
        eprintln!("Rust has no memory");
        return ExitCode::FAILURE;
    };
    for word in words {
        let text = String::from_utf8_lossy(word.text.bytes());
        println!("{}", scope.alloc_fmt(format_args!("{} {text}", word.count)));
    }
    ExitCode::SUCCESS
}
