//! The C and C++ interfaces compared with Rust and with the memory resources of libstdc++.
//!
//! All contestants are in one program, so that the batches of a row can be interleaved. `build.rs`
//! compiles those in C with GCC and with clang, and those in C++ with GCC.

use ebbtide::Arena;
use ebbtide_capi::{ebb_arena_free, ebb_arena_new, ebb_backing, ebb_options};
use harness::{Bench, Target, repeated};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    process::ExitCode,
    time::Duration,
};

#[path = "../../../crates/ebbtide-capi/examples/fast_paths.rs"]
mod fast_paths;
#[allow(dead_code, reason = "other benchmarks use the rest")]
#[path = "../../src/harness.rs"]
mod harness;
#[path = "../../src/machine.rs"]
mod machine;
#[path = "../../src/spread.rs"]
mod spread;

/// The rows of `fast_paths`, for C and Rust alike.
const FAST_PATHS: [&str; 6] = ["local", "reference", "open", "child", "string", "push"];
/// The number of elements pushed to a container.
const PUSHES: [usize; 3] = [10, 1_000, 100_000];
/// A chunk of this capacity has room for any batch.
const CAPACITY: usize = 64 << 20;

// SAFETY: the declarations agree with `tests/c/fast_paths.c`, `containers.cpp` and `fresh.cpp`.
unsafe extern "C" {
    fn fast_path_gcc(arena: *mut c_void, row: *const c_char, turns: u64) -> bool;
    fn fast_path_clang(arena: *mut c_void, row: *const c_char, turns: u64) -> bool;
    safe fn row_name(index: usize) -> *const c_char;
    safe fn run_row(index: usize, contestant: c_int, turns: usize) -> u64;
    safe fn run_by_type(contestant: c_int, turns: usize) -> u64;
    safe fn run_fresh(contestant: c_int, turns: usize, words: usize);
    safe fn run_push(is_ours: bool, contestant: c_int, turns: usize, count: usize) -> u64;
}

type InC = unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> bool;

fn main() -> ExitCode {
    harness::main(Duration::from_secs(4), Duration::from_millis(400), |bench| {
        fast_paths_of_c(bench);
        resources(bench);
        pushing(bench);
        fresh(bench);
    })
}

fn fast_paths_of_c(bench: &mut Bench) {
    let compilers: [(&str, InC); 2] = [("C, GCC", fast_path_gcc), ("C, clang", fast_path_clang)];
    for (name, in_c) in compilers {
        for row in FAST_PATHS {
            let mut rust = Arena::with_capacity(CAPACITY);
            let options = ebb_options {
                size: size_of::<ebb_options>(),
                first_chunk: CAPACITY,
                limit: 0,
                backing: ebb_backing::default(),
            };
            // SAFETY: valid options.
            let arena = unsafe { ebb_arena_new(&raw const options) };
            let row_in_c = CString::new(row).expect("no zero");
            let turns = |turns: usize| u64::try_from(turns).expect("64 bits");
            let (mut noting, mut is_open) = (Arena::with_capacity(CAPACITY), 0);
            let mut sides = vec![
                repeated(name, |count| {
                    // SAFETY: an arena without an open scope, and a string.
                    assert!(unsafe { in_c(arena.cast(), row_in_c.as_ptr(), turns(count)) });
                }),
                repeated("Rust", |count| fast_paths::fast_path(&mut rust, row, turns(count))),
            ];
            if row == "open" {
                sides.push(repeated(harness::LIMIT, |count| {
                    open_and_note(&mut noting, &mut is_open, turns(count));
                }));
            }
            let name = format!("{name}: {row}");
            bench.repeated_row(&name, sides, &[Target::AtMost(1.05, "Rust")]);
            // SAFETY: the arena from above, whose scopes are closed.
            unsafe { ebb_arena_free(arena) };
        }
    }
}

/// The work of Rust in the row "open", and a note that a scope is open. This is a lower bound for
/// C, which needs the note and also tests it.
fn open_and_note(arena: &mut Arena, is_open: &mut usize, turns: u64) {
    fast_paths::used(is_open);
    for value in 0..turns {
        *is_open = 1;
        let scope = arena.scope();
        fast_paths::used(scope.alloc(value));
        *is_open = 0;
    }
}

/// The numbers of the contestants in `containers.cpp`.
const THEIRS: &str = "monotonic_buffer_resource";
const GROWING: [(c_int, &str); 3] = [(0, "ebbtide"), (1, THEIRS), (HEAP, "new and delete")];
/// Over a buffer that is large enough for all blocks.
const BUFFERED: [(c_int, &str); 2] = [(2, "ebbtide"), (3, THEIRS)];
const HEAP: c_int = 4;
/// A virtual call that always returns the same block.
const NOTHING: (c_int, &str) = (5, harness::LIMIT);

/// The contestants of a row that `run` runs; their checksums are the same.
fn interleaved<'a>(
    sides: &[(c_int, &'static str)],
    run: impl Fn(c_int, usize) -> u64 + Copy + 'a,
) -> Vec<harness::Repeated<'a>> {
    let expected = run(HEAP, 3);
    let contestant = move |(number, name)| {
        assert_eq!(run(number, 3), expected, "{name}");
        repeated(name, move |turns| {
            std::hint::black_box(run(number, turns));
        })
    };
    sides.iter().copied().map(contestant).collect()
}

/// A row for resources that grow, and one for resources over a buffer.
fn both(
    bench: &mut Bench,
    name: &str,
    least: f64,
    more: &[(c_int, &'static str)],
    run: impl Fn(c_int, usize) -> u64 + Copy,
) {
    for (kind, sides) in [("memory_resource", &GROWING[..]), ("over a buffer", &BUFFERED)] {
        let sides = interleaved(&[sides, more].concat(), run);
        bench.repeated_row(&format!("{kind}: {name}"), sides, &[Target::AtLeast(least, THEIRS)]);
    }
}

fn resources(bench: &mut Bench) {
    for index in 0.. {
        let name = row_name(index);
        if name.is_null() {
            break;
        }
        // SAFETY: a string, which stays.
        let name = unsafe { CStr::from_ptr(name) }.to_str().expect("ASCII");
        let (least, more): (f64, &[_]) =
            if name.starts_with("allocate") { (1.5, &[NOTHING]) } else { (1.0, &[]) };
        both(bench, name, least, more, move |side, turns| run_row(index, side, turns));
    }
    both(bench, "allocate 8 bytes by its type", 1.5, &[], |side, turns| run_by_type(side, turns));
}

fn pushing(bench: &mut Bench) {
    for count in PUSHES {
        let run = move |side, turns| run_push(side == 0, side, turns, count);
        let pmr = "std::pmr::vector, large buffer";
        let sides = [(0, "ebbtide"), (1, "std::pmr::vector"), (3, pmr)];
        let targets = [Target::AtLeast(2.0, sides[1].1), Target::AtLeast(2.0, pmr)];
        let name = format!("ebbtide::vector: push {count}");
        bench.repeated_row(&name, interleaved(&sides, run), &targets);
    }
}

/// The bytes with which an arena is filled, and their name.
const FILLED: [(usize, &str); 6] = [
    (0, "nothing"),
    (8, "8 bytes"),
    (1 << 10, "1 KiB"),
    (64 << 10, "64 KiB"),
    (1 << 20, "1 MiB"),
    (16 << 20, "16 MiB"),
];
/// An arena of another library that is made anew, by its number in `fresh.cpp`.
const MADE_ANEW: [(c_int, &str); 3] = [(2, THEIRS), (3, "obstack"), (4, "APR pool")];

/// Arenas that are made, filled with words and dropped.
fn fresh(bench: &mut Bench) {
    let rivals = &MADE_ANEW[..if cfg!(has_apr) { 3 } else { 2 }];
    for (bytes, size) in FILLED {
        let (reset, heap) = ((1, "one ebb_arena, a scope each"), (5, "malloc and free"));
        let mut sides = [&[(0, "ebb_arena"), reset], rivals].concat();
        if bytes > 0 {
            sides.push(heap);
        }
        let least = if bytes < 1 << 20 { 1.0 } else { 2.0 };
        let mut targets = vec![Target::AtLeast(1.0 / 1.1, reset.1)];
        targets.extend(rivals.iter().map(|&(_, name)| Target::AtLeast(least, name)));
        let side =
            |(number, name)| repeated(name, move |turns| run_fresh(number, turns, bytes / 8));
        let sides = sides.into_iter().map(side).collect();
        bench.repeated_row(&format!("made anew: {size}"), sides, &targets);
    }
}
