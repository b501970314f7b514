//! Every name in backticks in ARCHITECTURE.md and CONTRIBUTING.md is declared in the sources, and
//! every path leads to a file. What a page says to be in a file is declared in that file. The
//! invariants that the lists of layers count are those of the module. Every name in backticks in
//! another page, or in a comment, is a word of the code.
//!
//! Declarations are read from the text: a word after a keyword such as `fn` or `struct`, a field, a
//! feature of a manifest, a function of C. Tests declare nothing. In a section about one library,
//! only that library's sources count.

use crate::layers::sources;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs,
    path::Path,
};

/// What languages and their customs name. The compiler defines `__rust_alloc` and its siblings.
const FOREIGN: [&str; 6] = ["&", "&mut", "Display", "Drop", "SAFETY", "delete"];

/// What comments and pages name that is of a system, a compiler, a tool or another library, or
/// absent on purpose, and in no code here.
const NOT_IN_CODE: [&str; 17] = [
    "CMAKE_PREFIX_PATH",
    "Ebbtide_jll",
    "GitSource",
    "LocalKey",
    "MEMORY_BASIC_INFORMATION",
    "MEM_RESET",
    "PkgConfigDeps",
    "UnsafeArray",
    "add_subdirectory",
    "arbitrary_precision",
    "may_dangle",
    "promote_rule",
    "pthread_cancel",
    "root_mut",
    "unsynchronized_pool_resource",
    "vcpkg_from_github",
    "write_copy_of_slice",
];

/// Pages about the names of other libraries, and of earlier times.
const OF_OTHERS: [&str; 4] = ["MIGRATING.md", "method_table.md", "dev/records/", "dev/decisions/"];

/// The sources that a section is about. Other sections are about all of them.
const SECTIONS: [(&str, &[&str]); 5] = [
    ("How the core works", &["crates/ebbtide/"]),
    ("How the transparent allocator works", &["crates/ebbtide-global/"]),
    ("How the C interface works", &["crates/ebbtide-capi/", "crates/ebbtide/"]),
    ("How the Julia package works", &["julia/Ebbtide/", "crates/ebbtide-capi/"]),
    ("How transparent arenas of C++ work", &["crates/ebbtide-new/", "crates/ebbtide-global/"]),
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The code of a line and the comment that follows it, without its marks.
pub(crate) fn comment<'a>(path: &str, line: &'a str) -> Option<(&'a str, &'a str)> {
    let mark = match path.rsplit('.').next()? {
        "rs" | "c" | "cpp" | "h" | "hpp" => "//",
        "jl" => "#",
        _ => return None,
    };
    let (code, comment) = line.split_once(mark)?;
    Some((code, comment.trim_start_matches(['/', '!', '#']).trim()))
}

/// The code of a file, with the examples of its comments, and the paragraphs of its prose.
pub(crate) fn code_and_prose(path: &str, text: &str) -> (String, Vec<String>) {
    let (mut code, mut prose, mut is_example) = (String::new(), vec![String::new()], false);
    for line in text.lines() {
        // As the condition of an example.
        if line.contains("doc = \"```") {
            is_example = true;
            continue;
        }
        let (before, said) = match comment(path, line) {
            Some((before, said)) => (before, Some(said)),
            None if path.ends_with(".md") => ("", Some(line.trim())),
            None => (line, None),
        };
        code.extend([before, "\n"]);
        is_example &= said.is_some();
        match said {
            Some(said) if said.starts_with("```") => is_example = !is_example,
            Some(said) if is_example => code.extend([said, "\n"]),
            None | Some("") => prose.push(String::new()),
            Some(said) => prose.last_mut().expect("the first is there").extend([said, " "]),
        }
    }
    (code, prose)
}

/// The names that a quoted text consists of, if it is a path, a type, a macro or a call: those with a capital
/// or an underscore.
fn path_of_names(quoted: &str) -> impl Iterator<Item = &str> {
    let path = quoted.trim_start_matches(['&', '*']).split(['<', '(', '!']).next();
    let is_path = |path: &&str| {
        path.split("::").all(|name| {
            name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let names = path.filter(is_path).into_iter().flat_map(|path| path.split("::"));
    // Registers, commands and functions of C are other words.
    let is_ours = |name: &str| name.contains(|c: char| c == '_' || c.is_ascii_uppercase());
    names.filter(move |name| is_ours(name) && !quoted.starts_with("__rust_"))
}

/// The name of the crate of a file; empty for a file that no package has.
fn crate_of(path: &str) -> &str {
    path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or_default()
}

/// The names in the prose of some files that are no word of any code. Those of constants are to be in
/// the code of their crate. A name may be the beginning or the end of others, as `try_` or `_in`.
fn not_in_code(files: &BTreeMap<String, String>) -> Vec<String> {
    let files = files.iter().filter(|(path, _)| !OF_OTHERS.iter().any(|o| path.contains(o)));
    let read: Vec<(&str, String, Vec<String>)> = files
        .map(|(path, text)| {
            let (code, prose) = code_and_prose(path, text);
            (path.as_str(), code, prose)
        })
        .collect();
    let (mut all, mut of_crates) = (HashSet::new(), HashMap::<&str, HashSet<&str>>::new());
    for (path, code, _) in &read {
        let words = [path, code.as_str()].into_iter().flat_map(|t| t.split(|c| !is_word(c)));
        of_crates.entry(crate_of(path)).or_default().extend(words.clone());
        all.extend(words);
    }
    let mut missing = Vec::new();
    for (path, _, prose) in &read {
        let quoted = prose.iter().flat_map(|text| text.split('`').skip(1).step_by(2));
        for name in quoted.flat_map(path_of_names).filter(|name| !NOT_IN_CODE.contains(name)) {
            let is_constant = name.len() > 2 && !name.contains(|c: char| c.is_lowercase());
            let there = match of_crates.get(crate_of(path)) {
                Some(near) if is_constant && path.ends_with(".rs") => near,
                _ => &all,
            };
            let is_part = |word: &&str| {
                name.starts_with('_') && word.ends_with(name)
                    || name.ends_with('_') && word.starts_with(name)
            };
            if !(there.contains(name) || there.iter().any(is_part)) {
                missing.push(format!("{name} in {path}"));
            }
        }
    }
    missing
}

#[test]
fn every_name_in_a_comment_or_a_page_is_a_word_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = BTreeMap::new();
    for folder in
        ["crates", "dev", "benches", "ci", "docs", "fuzz", "julia", "nostd", "packaging", "python"]
    {
        sources(&root, &root.join(folder), &mut files);
    }
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "RELEASING.md", "SECURITY.md"] {
        files.insert(page.to_owned(), fs::read_to_string(root.join(page)).expect("a page"));
    }
    files.remove(file!()).expect("it names what is in no code");
    let missing = not_in_code(&files);
    assert!(missing.is_empty(), "in no code: {missing:#?}");
}

#[test]
fn a_name_that_only_prose_has_is_missed() {
    let of = |text: &str| {
        let code = "const LEN: u8 = 1; fn try_grow() {}\n/// ```\n/// struct Path;\n/// ```\n";
        let files = [
            ("crates/a/src/b.rs", code),
            ("crates/c/src/d.rs", "fn f() {}"),
            ("crates/a/src/e.rs", text),
        ];
        not_in_code(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into())
    };
    let right =
        "// `LEN`, `a::LEN`, `try_grow()`, `&Path<'_>`, `try_`, `_grow`, `gone`, `1 + x`, `\n// f`";
    assert_eq!(of(right), [""; 0]);
    assert_eq!(
        of("/// The `Gone::f` of\n/// `GONE`."),
        ["Gone in crates/a/src/e.rs", "GONE in crates/a/src/e.rs"]
    );
    assert_eq!(of("// `GONE` is in the code of another crate.\n").len(), 1);
}

/// The names that a source declares.
fn declared(path: &str, source: &str) -> BTreeSet<String> {
    const KEYWORDS: [&str; 15] = [
        "fn",
        "struct",
        "enum",
        "union",
        "trait",
        "type",
        "const",
        "static",
        "mod",
        "macro_rules!",
        "macro",
        "function",
        "class",
        "namespace",
        "#define",
    ];
    let kind = path.rsplit('.').next().unwrap_or_default();
    let mut found = BTreeSet::new();
    for line in source.lines().map(|line| line.split("//").next().unwrap_or_default()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2).filter(|pair| KEYWORDS.contains(&pair[0])) {
            found.extend(pair[1].split(|c| !is_word(c)).next());
        }
        found.extend(match kind {
            // A field; `pub` or `pub(crate)` may precede its name.
            "rs" => words.iter().take(2).find_map(|word| word.strip_suffix(':')),
            "toml" => line.split_once(" = ").map(|(feature, _)| feature),
            "jl" => line.split("::").next().map(str::trim).filter(|l| l.chars().all(is_word)),
            // A function, or a typedef at the end of its struct.
            _ if line.starts_with(' ') => None,
            _ => line.split(['(', ';']).next().and_then(|start| start.rsplit([' ', '*']).next()),
        });
    }
    found.into_iter().map(str::to_owned).collect()
}

struct Source {
    path: String,
    text: String,
    names: BTreeSet<String>,
}

impl Source {
    fn declares(&self, name: &str) -> bool {
        let start = name.strip_suffix('_');
        let mut others = self.names.iter().filter(|_| start.is_some());
        self.names.contains(name) || others.any(|other| other.starts_with(name))
    }

    fn mentions(&self, name: &str) -> bool {
        self.text.split(|c| !is_word(c)).any(|word| word == name)
    }
}

/// The files that a path or the name of a module stands for: its first folders and `.rs` may be
/// missing. If there is no such file, the files in the folder of that name.
fn named<'a>(name: &str, sources: &[&'a Source]) -> Vec<&'a Source> {
    let (start, end) = name.split_once('*').unwrap_or((name, ""));
    let start = format!("/{start}");
    let is_file = |path: &str| match path.rsplit_once(&start) {
        Some((_, rest)) if name.contains('*') => rest.ends_with(end) && !rest.contains('/'),
        Some((_, rest)) => rest.is_empty() || rest == ".rs",
        None => false,
    };
    let files: Vec<_> = sources.iter().copied().filter(|source| is_file(&source.path)).collect();
    let folder = format!("{start}/");
    let inside = sources.iter().copied().filter(|source| source.path.contains(&folder));
    if files.is_empty() { inside.collect() } else { files }
}

/// Whether one of the sources declares a name, such as `down`, `Cursor::fit` or `run::find`, or is
/// the file of this name.
fn have(name: &str, sources: &[&Source]) -> bool {
    match name.rsplit_once("::") {
        Some((parent, name)) => {
            let module = named(parent, sources);
            let mut of_type = sources.iter().filter(|source| source.mentions(parent));
            module.iter().any(|source| source.declares(name))
                || of_type.any(|source| source.declares(name))
        }
        None => {
            !named(name, sources).is_empty() || sources.iter().any(|source| source.declares(name))
        }
    }
}

/// The parts of a quoted text that are names or paths: two in `low..top`, none in a command
/// or an option.
fn names(quoted: &str) -> impl Iterator<Item = &str> {
    let is_command = quoted.contains(' ') || quoted.starts_with("--");
    let is_foreign = FOREIGN.contains(&quoted) || quoted.starts_with("__rust_");
    let parts = quoted.split("..").filter(move |_| !is_command && !is_foreign);
    parts.map(|part| part.split('<').next().unwrap_or_default().trim_matches(['@', '!']))
}

/// What the page names and the sources lack.
fn missing(page: &str, sources: &[Source]) -> Vec<String> {
    let all: Vec<&Source> = sources.iter().collect();
    let mut missing = Vec::new();
    for section in page.split("\n## ") {
        let about = SECTIONS.iter().find(|(title, _)| section.starts_with(title));
        let folders = about.map_or([""].as_slice(), |(_, folders)| folders);
        let is_near = |source: &&Source| folders.iter().any(|f| source.path[1..].starts_with(f));
        let near: Vec<&Source> = all.iter().copied().filter(is_near).collect();
        // Without the blocks of code: text and quoted text take turns.
        let text: String = section.split("```").step_by(2).collect();
        let parts: Vec<&str> = text.split('`').collect();
        for (at, quoted) in parts.iter().enumerate().skip(1).step_by(2) {
            let is_in = parts[at + 1].split_whitespace().eq(["in"]);
            for name in names(quoted) {
                // A path may lead out of what the section is about.
                let is_path = name.contains(['/', '-', '.']) || name == "xtask";
                if !have(name, if is_path { &all } else { &near }) {
                    missing.push(name.to_owned());
                }
                let file = parts.get(at + 2).filter(|_| is_in);
                let Some(file) = file else { continue };
                let home = named(file, &near);
                let home = if home.is_empty() { named(file, &all) } else { home };
                if !have(name, &home) {
                    missing.push(format!("{name} in {file}"));
                }
            }
        }
    }
    missing
}

#[test]
fn every_name_in_the_pages_is_declared_where_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = BTreeMap::new();
    for folder in ["crates", "dev", "benches", "ci", "docs", "fuzz", "julia", "nostd"] {
        sources(&root, &root.join(folder), &mut files);
    }
    let sources: Vec<Source> = files.into_iter().map(source).collect();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let page = fs::read_to_string(root.join(name)).expect("the page can be read");
        let there = page.split("## Absent on purpose").next().unwrap_or_default();
        let mut missing = missing(there, &sources);
        // Files that are no sources.
        missing.retain(|name| !root.join(name).exists());
        assert!(missing.is_empty(), "named in {name}, but not declared: {missing:#?}");
    }
}

#[test]
fn the_invariants_that_a_layer_names_are_those_of_its_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page can be read");
    let (mut folder, mut checked) = ("", 0);
    for line in page.lines() {
        folder = if line.ends_with("/src") { line } else { folder };
        let Some((row, last)) = line.split_once("; the invariant") else { continue };
        let (module, _) = row.trim().split_once("  ").expect("a row has two columns");
        let last = last.rsplit(' ').next().expect("it names them");
        let (letter, number) = last.split_at(1);
        let number: u32 = number.parse().expect("an invariant has a number");
        let kind = if folder.starts_with("julia") { "jl" } else { "rs" };
        let path = root.join(folder).join(module).with_extension(kind);
        let source = fs::read_to_string(path).expect("the module is there");
        let head =
            source.lines().take_while(|line| line.starts_with("//!") || line.starts_with('#'));
        let head: String = head.flat_map(|line| [line, "\n"]).collect();
        let says =
            |number: u32| head.split(|c| !is_word(c)).any(|w| w == format!("{letter}{number}"));
        assert!(says(number), "{module} has no {last}");
        assert!(!says(number + 1), "{module} has more invariants than up to {last}");
        checked += 1;
    }
    assert!(checked > 10, "only {checked} rows name invariants");
}

#[test]
fn declarations_are_found_in_each_language() {
    let of = |path: &str, text: &str| declared(path, text).into_iter().collect::<Vec<_>>();
    let rust = "pub(crate) unsafe fn a<T>() {}\nstruct B(u8);\n    pub c: u8,\n// fn d\n    e(f);";
    assert_eq!(of("x.rs", rust), ["B", "a", "c"]);
    assert_eq!(of("x.c", "void *a(int b) {\n    c(1);\n} d;\n#define E(x)"), ["E", "a", "d"]);
    assert_eq!(of("x.jl", "@inline function a!(b::Int)\n    top::Ptr{Cvoid}"), ["a", "top"]);
    assert_eq!(of("Cargo.toml", "std = []"), ["std"]);
}

#[test]
fn a_name_is_missed_if_it_is_nowhere_or_elsewhere() {
    let files = [
        ("crates/ebbtide/src/a.rs", "impl Cursor {\n    fn fit() {}\n}\nfn low_end() {}"),
        ("crates/ebbtide/src/b/c.rs", "struct Cursor;"),
        ("crates/ebbtide/tests/d.rs", "fn only_tested() {}"),
        ("crates/ebbtide-global/src/e.rs", "fn of_another_library() {}"),
    ];
    let files = files.map(|(path, text)| source((path.to_owned(), text.to_owned())));
    let missing = |text: &str| missing(&format!("# A\n\n## How the core works\n\n{text}"), &files);
    let right = "`Cursor::fit`, `a::low_end`, `low_end` in `a`, `Cursor` in `b/c`, `b`, `src/a.rs`, \
                 `tests/d*.rs`, `low_`, `&`, `cargo run`, `Cursor<'_>`, `fit..low_end`";
    assert_eq!(missing(right), [""; 0]);
    for wrong in
        ["a::Cursor", "gone", "Gone::fit", "b/d", "low", "only_tested", "of_another_library"]
    {
        assert_eq!(missing(&format!("`{wrong}`")), [wrong]);
    }
    assert_eq!(missing("`low_end` in `b/c`"), ["low_end in b/c"]);
}

fn source((path, text): (String, String)) -> Source {
    let is_test = path.contains("/tests/") || path.contains("/test/");
    let names = if is_test { BTreeSet::new() } else { declared(&path, &text) };
    Source { path: format!("/{path}"), text, names }
}
