//! `docs/UNSAFE.md` lists every `unsafe` of the core and of `ebbtide-global`, by file and function. This counts them in the source, so
//! that the list cannot fall behind: a new one without its line fails, and so does a line without its block.

#![allow(clippy::expect_used, reason = "in a test, a panic is how a failure is told")]

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

/// The folders, and what stands before their files' names on the page.
const SOURCES: [(&str, &str); 3] = [
    ("../ebbtide/src", ""),
    ("../ebbtide-global/src", "ebbtide-global/"),
    ("../ebbtide-global/src/engine", "ebbtide-global/engine/"),
];
const INVENTORY: &str = "../../docs/UNSAFE.md";

/// What follows the word `unsafe`.
const KINDS: [&str; 4] = ["block", "fn", "impl", "declaration"];

/// How often each kind occurs.
type Counts = [usize; KINDS.len()];

/// Counts by the name of the function, the trait that is implemented, or the item that is declared.
type ByName = BTreeMap<String, Counts>;

/// Names, numbers and punctuation, without comments and literals of text.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            text(rest)
        } else if first == '\'' {
            character(rest)
        } else if is_name(first) {
            let len = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            tokens.push(rest[..len].to_owned());
            len
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[len..];
    }
    tokens
}

/// The length of the string literal that `rest` begins with.
fn text(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |(end, _)| end + 1)
}

/// The length of the character that `rest` begins with, or of the quote that begins a lifetime.
fn character(rest: &str) -> usize {
    let inner = &rest[1..];
    match inner.chars().next() {
        Some('\\') => inner[2..].find('\'').map_or(rest.len(), |end| end + 4),
        Some(c) if inner[c.len_utf8()..].starts_with('\'') => c.len_utf8() + 2,
        _ => 1,
    }
}

/// Every `unsafe` of a source file.
fn count(source: &str) -> ByName {
    let tokens = tokens(source);
    let at = |index: usize| tokens.get(index).map_or("", String::as_str);
    let mut found = ByName::new();
    let mut function = "";
    for (index, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "fn" if at(index + 1) != "(" => function = at(index + 1),
            "macro_rules" => function = at(index + 2),
            "unsafe" => {
                let (kind, name) = match at(index + 1) {
                    "{" => (0, function),
                    "fn" if at(index + 2) != "(" => (1, at(index + 2)),
                    "impl" => {
                        let after = tokens[index..].iter().position(|token| token == "for");
                        (2, at(index + after.expect("a trait is implemented for a type") - 1))
                    }
                    "trait" => (3, at(index + 2)),
                    other => (3, other),
                };
                found.entry(name.to_owned()).or_default()[kind] += 1;
            }
            _ => {}
        }
    }
    found
}

/// What the source holds, by file.
fn in_source() -> BTreeMap<String, ByName> {
    let mut files = BTreeMap::new();
    for (folder, prefix) in SOURCES {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("its entries too").path();
            if SOURCES.iter().any(|(known, _)| path == Path::new(known)) {
                continue;
            }
            assert!(path.is_file(), "{} is a folder: read it too", path.display());
            let file = path.file_name().expect("a file has a name").to_string_lossy();
            let counts = count(&fs::read_to_string(&path).expect("it is text"));
            if !counts.is_empty() {
                files.insert(format!("{prefix}{file}"), counts);
            }
        }
    }
    files
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(row.split('|').map(str::trim).collect())
}

/// `2 blocks, 1 fn` as numbers.
fn counts(cell: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in cell.split(", ") {
        let (number, kind) = part.split_once(' ')?;
        let kind = KINDS.iter().position(|known| kind.trim_end_matches('s') == *known)?;
        counts[kind] += number.parse::<usize>().ok()?;
    }
    Some(counts)
}

fn in_words(counts: Counts) -> String {
    let mut words = String::new();
    for (number, kind) in counts.into_iter().zip(KINDS).filter(|(number, _)| *number > 0) {
        let comma = if words.is_empty() { "" } else { ", " };
        let plural = if number == 1 { "" } else { "s" };
        let _ = write!(words, "{comma}{number} {kind}{plural}");
    }
    words
}

/// What is between the first two backticks.
fn code(cell: &str) -> Option<&str> {
    cell.split('`').nth(1)
}

#[test]
fn the_inventory_of_unsafe_is_complete() {
    let inventory = fs::read_to_string(Path::new(INVENTORY)).expect("the inventory can be read");
    let mut listed: BTreeMap<String, ByName> = BTreeMap::new();
    let mut file = String::new();
    for line in inventory.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            file = code(heading).unwrap_or_default().to_owned();
        }
        let row = cells(line).filter(|_| !file.is_empty()).unwrap_or_default();
        let name = row.first().and_then(|cell| code(cell));
        let counts = row.get(1).and_then(|cell| counts(cell));
        if let (Some(name), Some(counts)) = (name, counts) {
            let sum = listed.entry(file.clone()).or_default().entry(name.to_owned()).or_default();
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }

    let source = in_source();
    let mut differences = String::new();
    let none = ByName::new();
    let mut files: Vec<&String> = source.keys().chain(listed.keys()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let (has, lists) = (source.get(file).unwrap_or(&none), listed.get(file).unwrap_or(&none));
        let mut names: Vec<&String> = has.keys().chain(lists.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of = |counts: &ByName| in_words(counts.get(name).copied().unwrap_or_default());
            let (has, lists) = (of(has), of(lists));
            if has != lists {
                let _ = writeln!(
                    differences,
                    "{file}, `{name}`: has {has:?}, is listed with {lists:?}"
                );
            }
        }
    }
    assert!(differences.is_empty(), "docs/UNSAFE.md is not what the source holds:\n{differences}");
}

#[test]
fn the_sums_of_the_inventory_are_right() {
    let inventory = fs::read_to_string(Path::new(INVENTORY)).expect("the inventory can be read");
    let mut expected: Vec<String> = Vec::new();
    let mut all = Counts::default();
    for (file, names) in in_source() {
        let mut sum = Counts::default();
        for counts in names.values() {
            for kind in 0..KINDS.len() {
                sum[kind] += counts[kind];
                all[kind] += counts[kind];
            }
        }
        expected.push(format!("| `{file}` | {} | {} | {} | {} |", sum[0], sum[1], sum[2], sum[3]));
    }
    expected.push(format!("| all | {} | {} | {} | {} |", all[0], all[1], all[2], all[3]));
    let missing: Vec<&String> = expected.iter().filter(|row| !inventory.contains(*row)).collect();
    assert!(missing.is_empty(), "the first table of docs/UNSAFE.md lacks:\n{missing:#?}");
}

#[test]
fn what_is_no_code_is_not_counted() {
    let source = r#"
        // unsafe { in a comment }
        /// unsafe impl Nothing for T
        const TEXT: &str = "unsafe fn in_a_text() { \" }";
        const QUOTE: (char, char) = ('"', '\'');
        struct Calls { call: unsafe fn(usize) }
        pub(crate) const unsafe fn with<'a>(text: &'a str) { unsafe { f() }; unsafe { g() } }
        unsafe impl<T: Send> Send for Holder<T> {}
    "#;
    let found = count(source);
    let words: Vec<_> =
        found.iter().map(|(name, counts)| (name.as_str(), in_words(*counts))).collect();
    let expected = [("Send", "1 impl"), ("fn", "1 declaration"), ("with", "2 blocks, 1 fn")]
        .map(|(n, w)| (n, w.to_owned()));
    assert_eq!(words, expected);
}
