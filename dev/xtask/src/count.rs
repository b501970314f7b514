//! `cargo xtask count`: the size of the project on one screen: lines of code and of tests, public
//! functions, the fields of the owner's states, words of the pages.
//!
//! Read from the text. A line is code if it is neither blank nor a comment; it belongs to the tests
//! if it lies in a folder of tests or examples, or in an item behind `#[cfg(test)]`.

use crate::Failure;
use std::{
    collections::BTreeMap,
    fs, io,
    ops::AddAssign,
    path::{Path, PathBuf},
};

/// What is counted as one, besides each folder in `crates`.
const OTHERS: [&str; 4] = ["julia/Ebbtide", "benches", "fuzz", "nostd"];

/// The files and folders of the states that an owner is made of.
const STATES: [&str; 4] = ["owner.rs", "scope", "policy", "memory/cache.rs"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::Usage(format!("unknown arguments: count {}", arguments.join(" "))));
    }
    report(Path::new(".")).map(|text| println!("{text}")).map_err(|error| {
        eprintln!("{error}");
        Failure::Work
    })
}

fn report(root: &Path) -> io::Result<String> {
    let all = files(root)?;
    let mut folders: BTreeMap<PathBuf, Size> = BTreeMap::new();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut sum, mut pages) = (Size::default(), 0);
    for file in &all {
        let path = file.strip_prefix(root).unwrap_or(file);
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        if kind == "md" {
            let words_here = words_by_hand(&fs::read_to_string(file)?);
            *words.entry(section(path)).or_default() += words_here;
            pages += words_here;
        }
        let unit = match path.strip_prefix("crates").or_else(|_| path.strip_prefix("dev")) {
            Ok(rest) => rest.iter().next().map(PathBuf::from),
            Err(_) => OTHERS.iter().map(PathBuf::from).find(|folder| path.starts_with(folder)),
        };
        let (Some(unit), true) = (unit, KINDS.contains(&kind)) else { continue };
        let mut size = size(kind, &fs::read_to_string(file)?);
        if path.iter().any(|part| part == "tests" || part == "test" || part == "examples") {
            size = Size { tests: size.code + size.tests, ..Size::default() };
        }
        *folders.entry(unit).or_default() += size;
        sum += size;
    }
    let row = |name: &str, size: Size| {
        format!("{name:<22}{:>8}{:>8}{:>8}\n", size.code, size.tests, size.functions)
    };
    let mut text = format!("{:<22}{:>8}{:>8}{:>8}\n", "lines", "code", "tests", "pub fn");
    for (name, size) in folders {
        text += &row(&name.display().to_string(), size);
    }
    text += &row("all", sum);

    let mut all_fields = 0;
    text += "\nfields of the owner's states\n";
    for state in STATES {
        let folder = root.join("crates/ebbtide-global/src").join(state);
        let mut count = 0;
        for file in all.iter().filter(|file| file.starts_with(&folder)) {
            count += fields(&fs::read_to_string(file)?);
        }
        all_fields += count;
        text += &format!("{state:<22}{count:>8}\n");
    }
    text += &format!("{:<22}{all_fields:>8}\n\nwords of pages, without generated tables\n", "all");
    for (name, count) in words {
        text += &format!("{name:<22}{count:>8}\n");
    }
    Ok(text + &format!("{:<22}{pages:>8}", "all"))
}

/// The endings of the files that are counted as code.
const KINDS: [&str; 6] = ["rs", "c", "cpp", "h", "hpp", "jl"];

/// Every file below a folder, without links, hidden files and what was built.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let (kind, entry) = entry.and_then(|entry| Ok((entry.file_type()?, entry)))?;
        let name = entry.file_name();
        if name == "target" || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            found.extend(files(&entry.path())?);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The group that a page is counted in.
fn section(page: &Path) -> &'static str {
    const FOLDERS: [&str; 5] = ["docs/decisions", "docs/records", "docs", "crates", "julia"];
    FOLDERS.into_iter().find(|folder| page.starts_with(folder)).unwrap_or("root and others")
}

/// The words outside of what `cargo xtask bench`, `unsafe` and `test --record` write.
pub(crate) fn words_by_hand(page: &str) -> usize {
    let mut parts = page.split("<!-- table ");
    let first = parts.next().unwrap_or_default();
    let others = parts.filter_map(|part| part.split_once("<!-- end -->").map(|(_, rest)| rest));
    [first].into_iter().chain(others).map(|part| part.split_whitespace().count()).sum()
}

/// Lines of code, with their public functions, and lines of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    code: usize,
    tests: usize,
    functions: usize,
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        self.code += other.code;
        self.tests += other.tests;
        self.functions += other.functions;
    }
}

/// The lines of a source that are neither blank nor comments.
fn lines<'a>(kind: &str, source: &'a str) -> impl Iterator<Item = &'a str> {
    // Comments of several lines: of C, and the documentation of Julia.
    let (start, end, line_comment) =
        if kind == "jl" { ("\"\"\"", "\"\"\"", "#") } else { ("/*", "*/", "//") };
    let mut is_comment = false;
    source.lines().filter(move |line| {
        let line = line.trim();
        let begins = !is_comment && line.starts_with(start);
        let was_comment = is_comment || begins;
        let rest = if begins { &line[start.len()..] } else { line };
        is_comment = was_comment && !rest.contains(end);
        !was_comment && !line.is_empty() && !line.starts_with(line_comment)
    })
}

/// Whether an attribute leaves its item to tests.
fn is_for_tests(line: &str) -> bool {
    let condition = line.trim().strip_prefix("#[cfg(");
    condition
        .is_some_and(|condition| condition.starts_with("test") || condition.starts_with("all(test"))
}

fn is_public_function(line: &str) -> bool {
    const BETWEEN: [&str; 5] = ["const", "async", "unsafe", "extern", "\"C\""];
    let mut words = line.trim().strip_prefix("pub ").unwrap_or_default().split(' ');
    words.find(|word| !BETWEEN.contains(word)) == Some("fn")
}

fn size(kind: &str, source: &str) -> Size {
    let mut size = Size::default();
    // The line that ends the item of tests.
    let mut end: Option<String> = None;
    let mut is_start = false;
    for line in lines(kind, source) {
        if end.is_none() && is_for_tests(line) {
            let indent = &line[..line.len() - line.trim_start().len()];
            (end, is_start) = (Some(format!("{indent}}}")), true);
        }
        if let Some(last) = &end {
            size.tests += 1;
            // Only the first line of an item can be all of it.
            let is_attribute = line.trim().starts_with("#[");
            if line == last || is_start && !is_attribute && line.ends_with([';', ',', '}']) {
                end = None;
            }
            is_start &= is_attribute;
        } else {
            size.code += 1;
            size.functions += usize::from(is_public_function(line));
        }
    }
    size
}

/// The named fields of a source's structs.
fn fields(source: &str) -> usize {
    let (mut count, mut is_struct) = (0, false);
    for line in lines("rs", source).take_while(|line| !is_for_tests(line)) {
        let mut words = line.split_whitespace().filter(|word| !word.starts_with("pub"));
        if line.ends_with(" {") && !line.starts_with(' ') {
            is_struct = words.next() == Some("struct");
        } else if is_struct && line.starts_with("    ") && !line.starts_with("     ") {
            count += usize::from(words.next().is_some_and(|word| word.ends_with(':')));
        } else {
            is_struct &= line != "}";
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_are_no_code() {
        let rust = "//! Head.\n\nfn f() {\n    // Why.\n    g() // here\n}\n";
        assert_eq!(size("rs", rust), Size { code: 3, tests: 0, functions: 0 });
        let c = "/* One. */\n/* Two\n   lines. */\nint x; /* behind */\n";
        assert_eq!(size("c", c).code, 1);
        let julia = "# A.\n\"\"\"\n    f()\n\"\"\"\nf() = 1\n\"\"\"One line.\"\"\"\ng() = 2\n";
        assert_eq!(size("jl", julia).code, 2);
    }

    #[test]
    fn items_for_tests_are_no_code() {
        let rust = "#[cfg(test)]\nmod tests {\n    fn f() {\n    }\n}\nfn g() {}\n\
                    #[cfg(test)]\nmod h;\nstruct A {\n    #[cfg(test)]\n    b: u8,\n    c: u8,\n}\n\
                    #[cfg(all(test, not(miri)))]\n#[allow(x)]\nmod d {\n}\n#[cfg(not(test))]\nuse e;\n";
        assert_eq!(size("rs", rust), Size { code: 6, tests: 13, functions: 0 });
    }

    #[test]
    fn only_functions_for_everyone_are_public() {
        let rust = "pub fn a() {}\n    pub const unsafe fn b() {}\npub extern \"C\" fn c() {}\n\
                    pub(crate) fn d() {}\nfn e() {}\npub struct F;\npub f: fn(),\n";
        assert_eq!(size("rs", rust).functions, 3);
    }

    #[test]
    fn fields_are_those_of_structs() {
        let rust = "pub(crate) struct A {\n    /// Its use.\n    pub(crate) a: u8,\n    b: fn(),\n}\n\
                    enum B {\n    C { c: u8 },\n}\nfn f() {\n    let x: u8 = 1;\n}\nstruct D(u8);\n";
        assert_eq!(fields(rust), 2);
    }

    #[test]
    fn generated_tables_have_no_words() {
        let page = "One two.\n<!-- table a -->\n| 1 | 2 |\n<!-- end -->\nthree\n";
        assert_eq!(words_by_hand(page), 3);
    }
}
