//! Programs that must not compile fail at the expected line, with the expected error.
//!
//! Each file in `tests/refused/` is a program whose faulty lines end in `//~ ` and the start of the
//! compiler's message, usually just `error[CODE]`. Whole messages are not compared, because their
//! wording changes from one compiler to the next.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const FOLDER: &str = "tests/refused";

/// The core as a library that `rustc` can link, built once.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ebbtide-ui");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--quiet", "--package", "ebbtide", "--features", "full", "--target-dir"])
        .arg(&target)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "the core does not compile");
    target.join("debug")
});

/// The compiler's messages for a program of the folder.
fn messages(name: &str) -> Vec<String> {
    messages_of(name, &format!("{FOLDER}/{name}.rs"))
}

/// The compiler's messages for a file, one per line: `path:line:column: error[CODE]: message`.
///
/// Generates code too, because some of our errors appear only then.
fn messages_of(name: &str, file: &str) -> Vec<String> {
    let output = Command::new("rustc")
        .args(["--edition=2024", "--emit=obj", "--error-format=short", "--cap-lints=allow"])
        .arg(format!("-Ldependency={}", LIBRARY.join("deps").display()))
        .arg(format!("--extern=ebbtide={}", LIBRARY.join("libebbtide.rlib").display()))
        .arg("-o")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.o")))
        .arg(file)
        .output()
        .expect("rustc runs");
    assert!(!output.status.success(), "{file} compiles");
    let output = String::from_utf8(output.stderr).expect("rustc writes UTF-8");
    output.lines().map(str::to_owned).collect()
}

/// Compares the compiler's errors with the marks in the program.
fn check(name: &str) {
    let file = format!("{FOLDER}/{name}.rs");
    let program = fs::read_to_string(&file).expect("the program can be read");
    let messages = messages(name);
    let said = messages.join("\n");

    let mut places = Vec::new();
    for (index, line) in program.lines().enumerate() {
        if let Some((_, mark)) = line.split_once("//~ ") {
            let place = format!("{file}:{}:", index + 1);
            let found = messages.iter().any(|line| line.starts_with(&place) && line.contains(mark));
            assert!(found, "no message `{mark}` at {place}\n{said}");
            places.push(place);
        }
    }
    assert!(!places.is_empty(), "{file} does not mark an error");
    // Generated code that uses a field twice gets the same error twice.
    let errors = messages.iter().filter(|message| message.contains(": error"));
    let errors: BTreeSet<&String> = errors.collect();
    assert_eq!(errors.len(), places.len(), "one error for each mark\n{said}");
    let mut errors = errors.into_iter();
    let unmarked = errors.find(|message| !places.iter().any(|place| message.starts_with(place)));
    assert!(unmarked.is_none(), "an error that {file} does not mark: {unmarked:?}");
}

/// One test for each program, named after its file.
macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];
    };
}

programs! {
    arena_dropped_while_a_scope_lives
    arena_moved_while_a_scope_lives
    arena_reset_while_a_reference_lives
    arena_used_while_a_scope_lives
    b24_array_as_the_value_of_a_block
    b24_array_left_in_an_outer_variable
    b24_array_returned
    b24_array_returned_in_a_struct
    b24_array_returned_in_a_tuple
    b24_array_sent_to_a_thread
    b25_allocating_from_another_thread
    backing_that_is_not_send
    borrowing_value_outlives_its_input
    box_of_non_send_value_sent
    box_outlives_its_scope
    box_unsized_to_its_referent
    box_whose_destructor_reads_an_expired_borrow
    buffer_used_while_its_scope_lives
    builder_of_type_that_needs_drop_finished_as_slice
    checkpoint_rewound_in_safe_code
    child_memory_in_a_node_of_its_parent
    child_swapped_with_its_parent
    claim_outlives_its_parent
    claim_sent_to_another_thread
    derived_attribute_without_effect
    derived_field_that_cannot_be_deserialised
    deserialised_value_outlives_its_scope
    dropped_value_borrows_its_neighbour
    dropped_value_borrows_less_than_its_arena
    dropped_value_outlives_a_reset
    iterator_outlives_the_memory_of_its_elements
    kept_scope_exchanged_for_one_that_ends
    kept_slice_of_values_that_are_not_copy
    kept_string_or_value_outlives_its_arena
    kept_string_or_value_that_refers_to_its_child
    kept_value_outlives_its_arena
    kept_value_that_refers_to_its_child
    lent_node_vector
    lent_node_vector_sent_to_another_thread
    parent_used_while_its_child_lives
    pinned_value_over_another_backing
    reference_from_zeroed_memory
    reference_outlives_its_child_scope
    reference_stored_in_a_longer_lived_struct
    reference_to_non_sync_value_sent
    result_of_a_pool_outlives_its_reset
    scope_copied
    scope_lifetime_extended
    scope_of_a_pooled_root_outlives_the_loan
    scope_opened_while_the_root_is_used
    scope_sent_to_an_unscoped_thread
    scope_used_while_a_builder_lives
    slice_of_a_builder_outlives_its_scope
    slice_of_a_vector_outlives_its_arena
    stack_arena_outlived
    two_children_at_once
    typed_arena_shared_by_threads
    typed_value_outlives_its_arena
    typed_value_that_borrows_less_than_its_arena
    typed_value_whose_destructor_reads_its_neighbour
    value_outlives_its_claim
    value_outlives_its_owner
    vector_outlives_its_scope
    vector_sent_to_another_thread
    zeroable_field_named_like_a_constant
    zeroable_union
}

/// Errors of code generation. They are reported in the core, with a note that points to the line
/// here.
const DROP: &[(&str, usize, &[&str])] = &[
    ("alloc_of_type_that_needs_drop", 7, &["alloc_str", "boxed", "alloc_leaked"]),
    ("builder_of_type_that_needs_drop", 8, &["owned_grow_vec"]),
    ("map_of_type_that_needs_drop", 8, &["owned_map"]),
    ("node_vector_of_type_that_needs_drop", 8, &["owned_vec"]),
    ("vector_of_type_that_needs_drop", 8, &["owned_vec"]),
];

const CALLS: &str = "calls_with_types_that_need_drop";

#[test]
fn types_that_need_drop_are_rejected_with_alternatives() {
    for (name, line, ways_out) in DROP {
        let messages = messages(name);
        let place = format!("{name}.rs:{line}:");
        for expected in [&["error[E0080]", &*place], *ways_out].concat() {
            let said = messages.iter().any(|line| line.contains(expected));
            assert!(said, "no message `{expected}`\n{}", messages.join("\n"));
        }
    }
}

/// Each of them evaluates the assertion itself. Otherwise the note would point into the core.
#[test]
fn the_error_names_the_line_of_the_caller_whichever_call_it_was() {
    let name = CALLS;
    let file = format!("{FOLDER}/{name}.rs");
    let program = fs::read_to_string(&file).expect("the program can be read");
    let messages = messages(name);
    let lines = program.lines().enumerate().filter(|(_, line)| line.ends_with("//~ note"));
    for (index, line) in lines {
        let place = format!("{file}:{}:", index + 1);
        let named = messages.iter().any(|line| line.starts_with(&place) && line.contains("note"));
        assert!(named, "no note for {line}\n{}", messages.join("\n"));
    }
}

/// On stable, rustdoc does not compare the code of an error. A block without one fails by its lifetimes.
#[test]
fn refused_blocks_of_the_book_have_the_error_that_they_name() {
    let mut count = 0;
    for page in fs::read_dir("../../docs").expect("the folder can be read") {
        let path = page.expect("the entry can be read").path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        for block in text.split("```rust,compile_fail").skip(1) {
            let (code, program) = block.split_once('\n').expect("a line follows");
            let program = program.split("```").next().expect("it has a first part");
            let name = format!("block_{count}");
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.rs"));
            fs::write(&file, format!("fn main() {{\n{program}}}\n")).expect("it can be written");
            let expected = match code.strip_prefix(',') {
                Some(code) => format!("error[{code}]"),
                None => "error: lifetime may not live long enough".to_owned(),
            };
            let messages = messages_of(&name, &file.to_string_lossy());
            let said = messages.iter().any(|message| message.contains(&expected));
            assert!(said, "{}: no {expected}\n{}", path.display(), messages.join("\n"));
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} blocks were found");
}

#[test]
fn every_program_in_the_folder_is_a_test() {
    let mut found: Vec<String> = fs::read_dir(FOLDER)
        .expect("the folder can be read")
        .map(|entry| entry.expect("the entry can be read").path())
        .map(|path| path.file_stem().expect("it has a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut tested = PROGRAMS.to_vec();
    tested.extend(DROP.iter().map(|(name, ..)| *name));
    tested.push(CALLS);
    tested.sort_unstable();
    assert_eq!(found, tested);
}
