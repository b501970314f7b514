//! What C and Rust both declare is the same on both sides: the structs of the header, and the size
//! of a thread's owner. The library writes to variables that C declares.

use std::{fs, path::Path};

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).expect("the file can be read")
}

/// The text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).expect("the start is there");
    rest.split_once(end).expect("the end is there").0
}

/// The name and the Rust type of each field of a struct in the header.
fn fields_in_c(header: &str, name: &str) -> Vec<(String, String)> {
    let body = between(header, &format!("typedef struct {name} {{"), &format!("}} {name};"));
    // Text after each comment, up to the next.
    let code: String = body.split("*/").map(|part| part.split("/*").next().unwrap_or("")).collect();
    let fields = code.split(';').map(|field| field.split("EBB_DEFAULT_").next().unwrap_or(""));
    let fields = fields.map(str::trim).filter(|field| !field.is_empty());
    let split = |field: &str| {
        let at = field.rfind([' ', '*']).expect("a type precedes the name") + 1;
        let of_rust = match field[..at].trim() {
            "size_t" => "usize",
            "uint32_t" => "u32",
            "uint64_t" => "u64",
            "const char *" => "*const c_char",
            other => other,
        };
        (field[at..].to_owned(), of_rust.to_owned())
    };
    fields.map(split).collect()
}

/// The name and the type of each field of a struct in Rust.
fn fields_in_rust(source: &str, name: &str) -> Vec<(String, String)> {
    let body = between(source, &format!("pub struct {name} {{"), "\n}");
    let fields = body.lines().filter_map(|line| line.trim().strip_prefix("pub "));
    let fields = fields.filter_map(|field| field.trim_end_matches(',').split_once(": "));
    fields.map(|(name, of_rust)| (name.to_owned(), of_rust.to_owned())).collect()
}

#[test]
fn the_structs_of_the_header_are_those_that_the_library_fills_and_reads() {
    let header = read("include/ebbtide_new.h");
    for (file, name) in [("src/report.rs", "ebb_figures"), ("src/scopes.rs", "ebb_scope_options")] {
        let (c, rust) = (fields_in_c(&header, name), fields_in_rust(&read(file), name));
        assert!(c.len() > 3, "{name}: {c:?}");
        assert_eq!(c, rust, "{name} in the header, and in {file}");
    }
}

#[test]
fn c_reserves_as_many_bytes_for_an_owner_as_the_library_checks() {
    let (c, rust) = (read("c/thread.h"), read("src/lib.rs"));
    assert_eq!(between(&c, "bytes[", "]"), between(&rust, "OWNER_BYTES: usize = ", ";"));
}
