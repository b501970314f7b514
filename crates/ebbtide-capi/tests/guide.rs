//! Claim: the code of the guides compiles and runs: the examples of the book, two programs that
//! docs/C.md names, every new call in the tables of docs/C-MIGRATING.md, and the C++ example of the
//! README. Every public function of the headers has a comment.

#![cfg(target_os = "linux")]

use crate::common::{Program, compilers};
use std::fs;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// How the examples of a language begin.
const C_EXAMPLE: &str = "```c\n";
const CPP_EXAMPLE: &str = "```cpp\n";

/// Writes a file to compile.
fn written(name: &str, text: &str) -> String {
    let file = format!("{SCRATCH}/{name}");
    fs::write(&file, text).unwrap();
    file
}

/// The examples of a language in the chapters of the book, without those of `ebbtide-new`, which that
/// crate's tests run.
fn examples(start: &str) -> Vec<String> {
    let docs = format!("{CRATE}/../../docs");
    let summary = fs::read_to_string(format!("{docs}/SUMMARY.md")).unwrap();
    let chapters = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let pages = chapters.map(|name| fs::read_to_string(format!("{docs}/{name}")).unwrap());
    let examples = pages.flat_map(|page| {
        let blocks = page.split(start).skip(1).map(|rest| rest.split("```").next().unwrap());
        blocks.map(str::to_owned).collect::<Vec<_>>()
    });
    examples.filter(|example| !example.contains("<ebbtide_new.hpp>")).collect()
}

/// Compiles a file with every compiler, and compares what it prints.
fn prints(language: &str, file: &str, flags: &[&str], expected: &str) {
    for compiler in compilers(language) {
        let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsanitize=address"];
        let run = Program::compile(compiler, file, &[&strict, flags].concat()).run(&[]);
        assert_eq!((run.succeeded, run.output.as_str()), (true, expected));
    }
}

#[test]
fn the_examples_of_the_book_run() {
    let in_c = ["the sum is 14\n", "out of the tide \n", "the tide goes out\n"];
    let in_cpp = ["2 numbers, the first is 2"];
    for (start, compiler, ending, standard, expected) in [
        (C_EXAMPLE, "cc", "c", "-std=c11", &in_c[..]),
        (CPP_EXAMPLE, "c++", "cpp", "-std=c++17", &in_cpp[..]),
    ] {
        let examples = examples(start);
        assert_eq!(examples.len(), expected.len(), "examples in {ending}");
        for (number, (example, expected)) in examples.iter().zip(expected).enumerate() {
            let file = written(&format!("example{number}.{ending}"), example);
            prints(compiler, &file, &[standard], expected);
        }
    }
}

#[test]
fn the_example_of_a_tree_and_a_pool_runs() {
    let file = format!("{CRATE}/examples/containers/count.cpp");
    prints("c++", &file, &["-std=c++17"], "3 li\n1 ul\n");
}

#[test]
fn the_example_of_a_coroutine_runs() {
    let words = "THE AND\nTIDE COMES\nGOES BACK\nOUT IN\n";
    let file = format!("{CRATE}/examples/coroutine/words.cpp");
    prints("c++", &file, &["-std=c++20", "-O1"], words);
}

/// The code spans in a cell of a row, without compiler options.
fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).filter(|piece| !piece.starts_with('-'))
}

/// The new calls of the tables, in C and in C++.
fn new_calls(guide: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut c, mut cpp) = (Vec::new(), Vec::new());
    for section in guide.split("\n## From ").skip(1) {
        let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            match cells[..] {
                [_, new] => c.extend(code(new)),
                [_, new, in_c] => {
                    cpp.extend(code(new));
                    c.extend(code(in_c));
                }
                _ => panic!("two or three cells: {row}"),
            }
        }
    }
    (c, cpp)
}

/// A function with each piece of code in a block of its own, after declarations of the names that
/// they use.
fn function(start: &str, calls: &[&str]) -> String {
    let blocks: String = calls.iter().map(|call| format!("    {{ {call}; }}\n")).collect();
    format!("{start}{blocks}}}\n")
}

const C: &str = "
#include <ebbtide_hooks.h>
typedef struct type { int field; } type;
void rows(ebb_arena *arena, ebb_scope s, ebb_position position, ebb_arena_storage storage,
          ebb_options options, ebb_backing backing, ebb_stats stats, ebb_bytes bytes, void *buffer,
          void *block, const void *from, const char *text, char *to, size_t size, size_t align,
          size_t n, type value, va_list values, const char *const *strings,
          void (*function)(void *));
void rows(ebb_arena *arena, ebb_scope s, ebb_position position, ebb_arena_storage storage,
          ebb_options options, ebb_backing backing, ebb_stats stats, ebb_bytes bytes, void *buffer,
          void *block, const void *from, const char *text, char *to, size_t size, size_t align,
          size_t n, type value, va_list values, const char *const *strings,
          void (*function)(void *)) {
    EBB_ARRAY(type) array = {0};
    ebb_heap heap;
    ebb_heap_init(&heap, &s);
";

const CPP: &str = "
#include <ebbtide.hpp>
#include <set>
#include <string>
struct type { int field; };
void rows(ebbtide::scope &scope, ebbtide::memory_resource &resource, void *buffer, void *block,
          ebbtide::pool &pool, ebbtide::pool_resource &nodes, std::size_t size, std::size_t align,
          std::pmr::memory_resource *upstream) {
";

#[test]
fn the_example_of_the_package_runs() {
    let page = fs::read_to_string(format!("{CRATE}/README.md")).unwrap();
    let example = page.split(C_EXAMPLE).nth(1).unwrap().split("```").next().unwrap();
    let file = written("readme.c", example);
    for compiler in compilers("cc") {
        let run = Program::compile(compiler, &file, &["-std=c11", "-Wall", "-Wextra"]).run(&[]);
        assert_eq!((run.succeeded, run.output.as_str()), (true, ""));
    }
}

#[test]
fn the_example_of_the_project_runs() {
    let page = fs::read_to_string(format!("{CRATE}/../../README.md")).unwrap();
    let example = page.split(CPP_EXAMPLE).nth(1).unwrap().split("```").next().unwrap();
    let file = written("project.cpp", example);
    for compiler in compilers("c++") {
        let run = Program::compile(compiler, &file, &["-std=c++17", "-Wall", "-Wextra"]).run(&[]);
        assert_eq!((run.succeeded, run.output.as_str()), (true, "0 1 2 "));
    }
}

#[test]
fn every_new_call_of_the_tables_compiles() {
    let page = fs::read_to_string(format!("{CRATE}/../../docs/C-MIGRATING.md")).unwrap();
    let (c, cpp) = new_calls(&page);
    assert!(c.len() > 90 && cpp.len() > 15, "{} {}", c.len(), cpp.len());
    let flags = "-fsyntax-only -Wall -Werror -Wno-unused -Wno-unused-result -Wno-format-security";
    for (language, standard, file) in [
        ("cc", "-std=c11", written("rows.c", &function(C, &c))),
        ("c++", "-std=c++17", written("rows.cpp", &function(CPP, &cpp))),
    ] {
        let flags: Vec<&str> = flags.split(' ').chain([standard]).collect();
        for compiler in compilers(language) {
            Program::check(compiler, &file, &flags).unwrap();
        }
    }
}

/// The name of the function or macro that is declared on a line of a header, if any.
fn declared(line: &str) -> Option<&str> {
    let (start, _) = line.split_once('(')?;
    let name = start.rsplit([' ', '*', '&']).next()?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !name.ends_with('_')).then_some(name)
}

/// Whether a line begins a declaration, because the line before it ends one.
fn begins(before: &str) -> bool {
    before.is_empty()
        || before.ends_with([';', '}', '{', ':', '/'])
        || before.trim_start().starts_with(['#', '/'])
}

/// The public functions and macros of a header in C without a comment before their first
/// declaration.
fn bare_in_c(header: &str) -> (Vec<&str>, usize) {
    let lines: Vec<&str> = header.lines().collect();
    let (mut bare, mut commented) = (Vec::new(), Vec::new());
    for pair in lines.windows(2) {
        let (before, line) = (pair[0], pair[1]);
        let line = line.strip_prefix("#define ").unwrap_or(line);
        if line.starts_with([' ', '#', '}', '/', '*']) || !begins(before) {
            continue;
        }
        let Some(name) = declared(line.trim_end_matches('\\').trim_end()) else { continue };
        if !name.starts_with("ebb_") && !name.starts_with("EBB_") {
            continue;
        }
        if before.ends_with("*/") {
            commented.push(name);
        } else if !commented.contains(&name) {
            bare.push(name);
        }
    }
    let count = commented.len() + bare.len();
    (bare, count)
}

/// Members that mean the same as in the standard library.
const STANDARD: &[&str] = &[
    "data",
    "size",
    "length",
    "max_size",
    "capacity",
    "empty",
    "begin",
    "end",
    "cbegin",
    "cend",
    "rbegin",
    "rend",
    "crbegin",
    "crend",
    "front",
    "back",
    "at",
    "push_back",
    "pop_back",
    "clear",
    "append",
    "assign",
    "insert",
    "erase",
    "resize",
    "swap",
    "find",
    "rfind",
    "find_first_of",
    "find_last_of",
    "find_first_not_of",
    "find_last_not_of",
    "starts_with",
    "ends_with",
    "contains",
    "compare",
    "allocate",
    "deallocate",
    "upstream_resource",
];

/// The public functions of `ebbtide.hpp` without a comment before them, except constructors,
/// destructors, operators, and members that the standard library has.
fn bare_in_cpp(header: &str) -> (Vec<&str>, usize) {
    let (mut bare, mut count) = (Vec::new(), 0);
    let (mut before, mut class, mut is_public, mut is_internal) = ("", "", true, false);
    let is_start_only =
        |line: &&str| line.trim_start().starts_with("template ") && line.ends_with('>');
    for line in header.lines().filter(|line| !is_start_only(line)) {
        let unindented = line.strip_prefix("template <typename T> ").unwrap_or(line);
        if line.ends_with("namespace detail {") || line.ends_with("namespace detail") {
            is_internal = line.starts_with("namespace");
        } else if let Some(rest) = unindented.strip_prefix("class ") {
            class = rest.split([' ', ';']).next().unwrap_or_default();
            is_public = false;
        } else if let Some(access) = line.strip_suffix(':') {
            is_public = access == "public";
        }
        let is_member = line.starts_with("    ") && !line.starts_with("     ");
        if is_member && is_public && !is_internal && begins(before) && !line.contains("operator") {
            let text = line.trim_start().trim_start_matches("explicit ");
            if let Some(name) = declared(text).filter(|_| !text.starts_with(['/', '}', ':', '~'])) {
                count += 1;
                let has_comment = before.trim_start().starts_with("///");
                let is_known = name == class || STANDARD.contains(&name);
                if !has_comment && !is_known {
                    bare.push(name);
                }
            }
        }
        before = line;
    }
    (bare, count)
}

#[test]
fn every_public_function_of_the_headers_has_a_comment() {
    let read = |file: &str| fs::read_to_string(format!("{CRATE}/include/{file}")).unwrap();
    let in_c: fn(&str) -> (Vec<&str>, usize) = bare_in_c;
    for (file, find, least) in
        [("ebbtide.h", in_c, 40), ("ebbtide_hooks.h", in_c, 15), ("ebbtide.hpp", bare_in_cpp, 40)]
    {
        let header = read(file);
        let (bare, count) = find(&header);
        assert!(count >= least, "{file}: {count}");
        assert!(bare.is_empty(), "{file}: {bare:?}");
    }
}
