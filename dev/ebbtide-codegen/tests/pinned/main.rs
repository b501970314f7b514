//! Detects changes that add an instruction to a fast path of the core or of the transparent
//! allocator.
//!
//! The assembly of each function of this crate, for x86-64 and for aarch64, is compared with the
//! files in `asm/`, for the compiler that `asm/compiler.txt` names; the counts are checked with
//! every compiler. `cargo xtask bless` records the current assembly; review the difference before
//! you commit it. A machine whose standard library is not installed is left out with a message.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "in a test, a panic reports the failure")]

mod compile;
mod machine;
mod paths;

use compile::{Functions, compiler, functions, peers};
use machine::{Machine, is_code};
use std::{env, fs};

/// Functions that are examined but not recorded.
const MOVED: &str = "moved_";
/// Slow paths, which are not recorded either.
const COLD: &str = "cold_";
/// A function that is compared with its twin instead.
const TWIN: &str = "try_alloc_str";

fn body<'f>(functions: &'f Functions, name: &str) -> &'f str {
    functions.get(name).unwrap_or_else(|| panic!("the assembly has no function {name}"))
}

/// The instructions that run when the block fits: up to the first return, labels not counted.
fn fast_path(machine: Machine, body: &str) -> usize {
    let lines = body.lines().filter_map(|line| line.strip_prefix('\t'));
    let to_return = lines.filter(|line| is_code(line)).position(|line| machine.is_return(line));
    to_return.expect("the function returns") + 1
}

fn alloc_through_a_reference_is_so_many_instructions(machine: Machine, functions: &Functions) {
    let (word, byte) = [(8, 7), (10, 9)][machine as usize];
    let words = ["alloc_u64", "try_alloc_u64", "root_alloc_u64", "bump_alloc_u64"];
    let words = words.map(|name| (name, word));
    for (name, expected) in words.into_iter().chain([("alloc_u8", byte)]) {
        let body = body(functions, name);
        assert_eq!(fast_path(machine, body), expected, "{name}:\n{body}");
    }
}

fn a_value_is_copied_once_from_where_it_is_to_its_block(machine: Machine, functions: &Functions) {
    let moved = functions.iter().filter(|(name, _)| name.starts_with(MOVED));
    let mut checked = 0;
    for (name, body) in moved {
        let fast = paths::fast_path(machine, body);
        assert!(!fast.is_empty(), "{name} has no fast path:\n{body}");
        let stores = paths::stack_stores(machine, body);
        assert_eq!(stores, [""; 0], "{name} stores to the stack:\n{body}");
        let copies = fast.iter().filter(|line| line.contains("memcpy") || line.contains("memmove"));
        assert!(copies.count() <= 1, "{name} copies twice:\n{body}");
        checked += 1;
    }
    assert!(checked >= 190, "{checked} functions");
}

fn a_slow_path_copies_a_value_once(_: Machine, functions: &Functions) {
    let cold = functions.iter().filter(|(name, _)| name.starts_with(COLD));
    let copies = |body: &str| body.lines().filter(|line| line.contains("memcpy")).count();
    let copies: Vec<usize> = cold.map(|(_, body)| copies(body)).collect();
    assert!(copies.contains(&1) && copies.iter().all(|&copies| copies <= 1), "{copies:?}");
}

fn a_loop_over_a_local_scope_rounds_nothing(machine: Machine, functions: &Functions) {
    let body = body(functions, "local_loop");
    let turn = paths::fast_path(machine, body);
    assert!(turn.len() < body.lines().count() / 2, "there is no loop:\n{body}");
    assert!(!turn.iter().any(|line| machine.is_rounding(line)), "the loop rounds:\n{turn:#?}");
}

fn a_slice_of_an_iterator_that_knows_its_length_takes_several_elements_a_turn(
    machine: Machine,
    functions: &Functions,
) {
    let body = body(functions, "collect_slice");
    let adds_several = body.lines().any(|line| machine.adds_several(line.trim()));
    assert!(adds_several, "one at a time:\n{body}");
}

fn many_clones_of_elements_that_are_copy_are_one_copy(machine: Machine, functions: &Functions) {
    let body = body(functions, "clone_many");
    let jumps = body.lines().filter(|line| machine.is_jump(line.trim())).count();
    assert!(body.contains("memcpy") && jumps <= 2, "a loop:\n{body}");
}

fn try_functions_have_no_way_to_a_panic(machine: Machine, functions: &Functions) {
    for (name, body) in functions.iter().filter(|(name, _)| name.starts_with("try_")) {
        for call in body.lines().filter(|line| machine.is_call(line.trim())) {
            let harmless =
                ["try_alloc_slow", "memcpy", "prefetch"].iter().any(|name| call.contains(name));
            assert!(harmless, "{name} calls something else: {call}");
        }
    }
}

fn a_string_that_may_fail_differs_by_its_slow_path_alone(_: Machine, functions: &Functions) {
    /// The body without the number of the function, which follows `LBB` in its labels.
    fn unnumbered(body: &str) -> String {
        let mut parts = body.split("LBB");
        let first = parts.next().unwrap_or_default().to_owned();
        let digit = |c: char| c.is_ascii_digit();
        parts.fold(first, |text, part| text + "LBB" + part.trim_start_matches(digit))
    }
    let twin = unnumbered(body(functions, TWIN)).replace("14try_alloc_slow", "10alloc_slow");
    assert_eq!(twin, unnumbered(body(functions, "alloc_str")));
}

fn the_transparent_calls_have_no_frame_and_leave_by_jumps(machine: Machine, functions: &Functions) {
    let calls = ["alloc", "alloc_u64", "alloc_zeroed", "dealloc", "realloc"];
    for call in calls {
        let body = body(functions, &format!("transparent_{call}"));
        let needs_frame = |line: &&str| machine.needs_frame(line.trim());
        assert_eq!(body.lines().find(needs_frame), None, "{call}:\n{body}");
    }
}

/// The instructions of a transparent call where no scope is open, or the block is not the engine's:
/// the first test, and what follows on it up to the jump to the inner allocator's function.
fn outside(machine: Machine, body: &str, inner: &str) -> usize {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let is_test = |line: &&str| machine.is_jump(line) && !machine.is_unconditional(line);
    let test = lines.iter().position(is_test).expect("a test");
    let leaves = |from: usize| {
        let jump = lines[from..].iter().position(|line| machine.is_unconditional(line))?;
        lines[from + jump].contains(inner).then_some(jump + 1)
    };
    let label = format!("{}:", machine.label(lines[test]));
    let target = lines.iter().position(|line| *line == label);
    let ways = [leaves(test + 1), target.and_then(|target| leaves(target + 1))];
    test + 1 + ways.into_iter().flatten().min().expect("a jump to the inner allocator")
}

/// On aarch64 the address of a thread-local takes four instructions, and that of a static two.
fn outside_of_scopes_a_call_costs_a_test_and_a_jump(machine: Machine, functions: &Functions) {
    let calls = [
        ("transparent_alloc", "malloc", [4, 8]),
        ("transparent_alloc_zeroed", "calloc", [5, 9]),
        ("transparent_dealloc", "free", [7, 8]),
        ("transparent_realloc", "realloc", [8, 9]),
    ];
    for (name, inner, most) in calls {
        let body = body(functions, name);
        assert!(outside(machine, body, inner) <= most[machine as usize], "{body}");
    }
}

fn assembly_is_as_recorded(machine: Machine, functions: &Functions) {
    let is_pinned = |name: &str| ![MOVED, COLD, TWIN].iter().any(|prefix| name.starts_with(prefix));
    let pinned = || functions.iter().filter(|(name, _)| is_pinned(name));
    let folder = machine.folder();
    let record = |name: &str| folder.join(format!("{name}.s"));
    // Of each machine, because `bless` records those that are installed.
    let compiler_record = folder.join("compiler.txt");
    if env::var_os("EBBTIDE_BLESS").is_some() {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).expect("the folder can be made");
        fs::write(compiler_record, compiler()).expect("the folder can be written");
        for (name, body) in pinned() {
            fs::write(record(name), body).expect("the folder can be written");
        }
        return;
    }
    let recorded = fs::read_to_string(compiler_record).expect("the record can be read");
    if recorded != compiler() {
        println!("the record is of {recorded}, this is {}: not compared", compiler());
        return;
    }
    for (name, body) in pinned() {
        let recorded = fs::read_to_string(record(name)).unwrap_or_default();
        assert_eq!(*body, recorded, "{name} has changed; `cargo xtask bless` records it");
    }
}

/// The number of instructions, and the same with a paired load counted as the two loads that it
/// replaces. ebbtide does not keep the two words adjacent, because loading both as a pair would
/// wait for the previous allocation's store to one of them.
fn counts(machine: Machine, name: &str, body: &str) -> (usize, usize) {
    let shortest = paths::shortest(machine, body);
    let (instructions, pairs) = shortest.unwrap_or_else(|| panic!("{name} has no fast path"));
    (instructions, instructions + pairs)
}

fn no_fast_path_is_longer_than_its_peers(machine: Machine, functions: &Functions) {
    let peers = peers(machine).expect("the standard library is installed");
    let mut checked = 0;
    for (name, body) in &peers {
        let (peer, function) = name.split_once("__").expect("a peer and a function");
        let ours = counts(machine, function, crate::body(functions, function));
        let theirs = counts(machine, name, body);
        println!("{function}: {} instructions, {peer} {}", ours.0, theirs.0);
        assert!(ours.1 <= theirs.1, "{function} {ours:?}, {peer} {theirs:?}:\n{body}");
        checked += 1;
    }
    assert_eq!(checked, 15, "four arenas, one of them without fallible methods");
}

/// The claims as tests of each machine.
macro_rules! tests {
    ($machine:expr => $module:ident) => {
        mod $module {
            use super::{Machine, functions};

            tests! {
                $machine =>
                alloc_through_a_reference_is_so_many_instructions
                a_value_is_copied_once_from_where_it_is_to_its_block
                a_slow_path_copies_a_value_once
                a_loop_over_a_local_scope_rounds_nothing
                a_slice_of_an_iterator_that_knows_its_length_takes_several_elements_a_turn
                many_clones_of_elements_that_are_copy_are_one_copy
                try_functions_have_no_way_to_a_panic
                a_string_that_may_fail_differs_by_its_slow_path_alone
                the_transparent_calls_have_no_frame_and_leave_by_jumps
                outside_of_scopes_a_call_costs_a_test_and_a_jump
                assembly_is_as_recorded
            }

            #[test]
            #[ignore = "gets other crates"]
            fn no_fast_path_is_longer_than_its_peers() {
                if let Some(functions) = functions($machine) {
                    super::no_fast_path_is_longer_than_its_peers($machine, functions);
                }
            }
        }
    };
    ($machine:expr => $($claim:ident)+) => {$(
        #[test]
        fn $claim() {
            if let Some(functions) = functions($machine) {
                super::$claim($machine, functions);
            }
        }
    )+};
}

tests! { Machine::X86_64 => x86_64 }
tests! { Machine::Aarch64 => aarch64 }
