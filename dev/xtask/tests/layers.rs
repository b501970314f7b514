//! The lists of layers in ARCHITECTURE.md run bottom up: a module comes after every module that it
//! imports. So there are no import cycles. Every name in the lists exists. A file of more than 600
//! lines says why at its head.
//!
//! Imports are read from the text: `use` declarations, also in functions, and paths in expressions
//! that begin with `crate`, `super` or a child module. So are the calls of a type's own methods,
//! which need no import: where its methods are spread over several modules, none calls one of a
//! module that stands above.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Known violations, as `folder: importer -> imported`.
const EXCEPTIONS: &[&str] = &[];

const FOLDERS: [&str; 8] = [
    "crates/ebbtide/src",
    "crates/ebbtide-derive/src",
    "crates/ebbtide-global/src",
    "crates/ebbtide-capi/src",
    "crates/ebbtide-new/src",
    "crates/ebbtide-bumpalo/src",
    "crates/ebbtide-typed-arena/src",
    "crates/cargo-ebbtide/src",
];

/// The modules below the line that names the folder, in the order of the page.
fn layers<'a>(page: &'a str, folder: &str) -> Vec<&'a str> {
    let rows = page.lines().skip_while(|line| *line != folder).skip(1);
    let rows = rows.map_while(|line| line.strip_prefix("  ")).filter(|row| !row.starts_with(' '));
    rows.flat_map(|row| row.split("  ").next().unwrap_or_default().split(", ")).collect()
}

/// The source of each module of a folder. A module in a folder of its own is named `parent/child`.
fn modules(folder: &Path, prefix: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let stem = path.file_stem().expect("it has a name").to_string_lossy();
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            found.extend(modules(&path, &format!("{name}/")));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.insert(name, fs::read_to_string(&path).expect("it is text"));
        }
    }
    found
}

/// The construct that an open brace began.
enum Brace {
    Code,
    Module,
    /// The braces of a `use`, after this path.
    Paths(Vec<String>),
}

/// Every path in the source, with the number of inline modules around it.
fn paths(source: &str) -> Vec<(Vec<String>, usize)> {
    let code: String =
        source.lines().flat_map(|l| [l.split("//").next(), Some("\n")]).flatten().collect();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let name = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let len = if rest.starts_with("::") { 2 } else { name.max(first.len_utf8()) };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    let (mut found, mut path, mut braces) = (Vec::new(), Vec::new(), Vec::new());
    for (index, &token) in tokens.iter().enumerate() {
        let before = |n: usize| index.checked_sub(n).map_or("", |at| tokens[at]);
        match token {
            "{" if before(1) == "::" => braces.push(Brace::Paths(path.clone())),
            "{" if before(2) == "mod" => braces.push(Brace::Module),
            "{" => braces.push(Brace::Code),
            "}" => drop(braces.pop()),
            _ if !token.starts_with(is_name) => {}
            // To declare a module is not to import it.
            _ if before(1) == "mod" => {}
            _ => {
                if before(1) != "::" {
                    path = match braces.last() {
                        Some(Brace::Paths(start)) => start.clone(),
                        _ => Vec::new(),
                    };
                }
                // A macro's `$crate` is for other crates.
                path.push(if before(1) == "$" { "$".to_owned() } else { token.to_owned() });
                if tokens.get(index + 1) != Some(&"::") {
                    let depth =
                        braces.iter().filter(|brace| matches!(brace, Brace::Module)).count();
                    found.push((path.clone(), depth));
                }
            }
        }
    }
    found
}

/// The module that a path of `module` leads to, if that is another one. `exports` maps the items
/// that `lib.rs` exports to their modules.
fn target(
    module: &str,
    path: &[String],
    inline: usize,
    all: &BTreeMap<String, String>,
    exports: &BTreeMap<String, String>,
) -> Option<String> {
    let supers = path.iter().take_while(|name| *name == "super").count();
    let is_absolute = path[0] == "crate";
    if !is_absolute && supers == 0 && !all.contains_key(&format!("{module}/{}", path[0])) {
        return None;
    }
    let parents: Vec<&str> = module.split('/').collect();
    let up = supers.saturating_sub(inline).min(parents.len());
    let base = if is_absolute { &[] } else { &parents[..parents.len() - up] };
    let names = &path[supers + usize::from(is_absolute)..];
    if names.is_empty() {
        // The `super` of `pub(super)`.
        return None;
    }
    let full: Vec<&str> = base.iter().copied().chain(names.iter().map(String::as_str)).collect();
    let mut prefixes = (1..=full.len()).rev().map(|len| full[..len].join("/"));
    let target = prefixes.find(|name| all.contains_key(name));
    target.or_else(|| exports.get(*full.first()?).cloned()).filter(|name| name != module)
}

/// Every import between modules, as importer and imported.
fn imports(all: &BTreeMap<String, String>) -> BTreeSet<(String, String)> {
    let root = paths(all.get("lib").map_or("", String::as_str)).into_iter();
    let exports = root.filter(|(path, _)| path.len() > 1 && all.contains_key(&path[0]));
    let exports =
        exports.map(|(path, _)| (path[path.len() - 1].clone(), path[0].clone())).collect();
    let mut found = BTreeSet::new();
    for (module, source) in all.iter().filter(|(module, _)| *module != "lib") {
        for (path, inline) in paths(source) {
            let target = target(module, &path, inline, all, &exports);
            found.extend(target.map(|target| (module.clone(), target)));
        }
    }
    found
}

/// The blocks `impl Type` of a module outside of its tests, without comments.
fn inherent_impls(source: &str) -> Vec<(String, String)> {
    let code = source.lines().take_while(|line| !line.starts_with("mod tests"));
    let code: Vec<&str> = code.filter(|line| !line.trim_start().starts_with("//")).collect();
    let starts = code.iter().enumerate().filter(|(_, line)| line.starts_with("impl"));
    let header = |start: usize| {
        let end = code[start..].iter().position(|line| line.ends_with('{'));
        code[start..=start + end.unwrap_or(0)].join(" ")
    };
    let inherent = starts.map(|(start, _)| (start, header(start)));
    let inherent = inherent.filter(|(_, header)| !header.contains(" for "));
    let block = |(start, header): (usize, String)| {
        // Behind the parameters of the block, which are the first brackets.
        let mut depth = 0;
        let parameters = header.find(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0 && (c == '>' || c == ' ')
        });
        let name = header[parameters.unwrap_or(0) + 1..].trim_start();
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        let body: Vec<&str> =
            code[start..].iter().take_while(|line| **line != "}").copied().collect();
        (name.unwrap_or_default().to_owned(), body.join("\n"))
    };
    inherent.map(block).collect()
}

/// Every call of a method of a type by another of its methods, if one module each has them: the
/// calling module, the called one, and the names of type and method.
fn calls(all: &BTreeMap<String, String>) -> BTreeSet<(String, String, String)> {
    let mut blocks = Vec::new();
    let mut homes: BTreeMap<(String, String), BTreeSet<&String>> = BTreeMap::new();
    for (module, source) in all {
        for (name, body) in inherent_impls(source) {
            for line in body.lines().filter(|line| line.starts_with("    ")) {
                let Some((before, rest)) = line.split_once("fn ") else { continue };
                let is_method = before.starts_with("    ") && !before.starts_with("     ");
                let method = rest.split(['(', '<']).next().unwrap_or_default().to_owned();
                if is_method {
                    homes.entry((name.clone(), method)).or_default().insert(module);
                }
            }
            blocks.push((module, name, body));
        }
    }
    let mut found = BTreeSet::new();
    for (module, name, body) in blocks {
        for receiver in ["self.", "Self::", &format!("{name}::")] {
            for call in body.split(receiver).skip(1) {
                let end = call.find(|c: char| !c.is_alphanumeric() && c != '_');
                let (method, rest) = call.split_at(end.unwrap_or(call.len()));
                let is_call = rest.starts_with('(') || rest.starts_with("::<");
                let home = homes.get(&(name.clone(), method.to_owned()));
                let home = home.filter(|home| is_call && home.len() == 1);
                for other in home.into_iter().flatten().filter(|other| **other != module) {
                    found.insert((module.clone(), (*other).clone(), format!("{name}::{method}")));
                }
            }
        }
    }
    found
}

#[test]
fn no_module_imports_one_that_stands_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page can be read");
    let mut wrong = BTreeSet::new();
    for folder in FOLDERS {
        let (layers, all) = (layers(&page, folder), modules(&root.join(folder), ""));
        let named: BTreeSet<&str> = layers.iter().copied().chain(["lib"]).collect();
        let there: BTreeSet<&str> = all.keys().map(String::as_str).collect();
        let differ: Vec<_> = named.symmetric_difference(&there).collect();
        assert!(differ.is_empty(), "{folder}: in the list or in the folder, not both: {differ:?}");
        let place = |name: &str| layers.iter().position(|layer| *layer == name);
        let upward = imports(&all).into_iter().filter(|(from, to)| place(from) < place(to));
        wrong.extend(upward.map(|(from, to)| format!("{folder}: {from} -> {to}")));
        let upward = calls(&all).into_iter().filter(|(from, to, _)| place(from) < place(to));
        wrong
            .extend(upward.map(|(from, to, method)| format!("{folder}: {from} -> {to}, {method}")));
    }
    let exceptions: BTreeSet<String> = EXCEPTIONS.iter().map(|line| (*line).to_owned()).collect();
    let new: Vec<_> = wrong.difference(&exceptions).collect();
    assert!(new.is_empty(), "imports of a module that stands above: {new:#?}");
    let gone: Vec<_> = exceptions.difference(&wrong).collect();
    assert!(gone.is_empty(), "no longer needed in EXCEPTIONS: {gone:#?}");
}

#[test]
fn imports_are_found_in_groups_functions_inline_modules_and_child_modules() {
    let source = "
        // use crate::comment;
        use crate::{Item, a::{self, X}, b::{c::{Y, Z}, W}};
        use c::V;
        fn f() { crate::d::g(); std::e::h() }
        macro_rules! m { () => { $crate::e::f() }; }
        mod inline { use super::{f, super::d}; }";
    let lib = "pub use e::{Item as Other, Item};";
    let files = [
        ("lib", lib),
        ("b", source),
        ("b/c", "use super::{X, super::a};"),
        ("a", ""),
        ("d", ""),
        ("e", ""),
    ];
    let all = files.map(|(name, source)| (name.to_owned(), source.to_owned())).into();
    let found: Vec<String> =
        imports(&all).iter().map(|(from, to)| format!("{from} {to}")).collect();
    assert_eq!(found, ["b a", "b b/c", "b d", "b e", "b/c a", "b/c b"]);
}

#[test]
fn calls_of_methods_of_the_same_type_are_found() {
    let files = [
        (
            "a",
            "impl<'a, T: Into<u8>> A<'a, T>\nwhere\n    T: Copy,\n{\n    fn low(&self) {\n        self.high(1); self.field; A::top::<u8>()\n    }\n}",
        ),
        (
            "b",
            "impl A<'_, u8> {\n    pub(super) unsafe fn high(&self, x: u8) {}\n}\nimpl X for A<'_, u8> {\n    fn field(&self) {}\n}",
        ),
        (
            "c",
            "impl A<'_, u8> {\n    const fn top<U>() {}\n    // self.low()\n}\nmod tests {\nimpl A<'_, u8> {\n    fn t(&self) {\n        self.low()\n    }\n}\n}",
        ),
    ];
    let all = files.map(|(name, source)| (name.to_owned(), source.to_owned())).into();
    let found: Vec<String> =
        calls(&all).iter().map(|(from, to, what)| format!("{from} {to} {what}")).collect();
    assert_eq!(found, ["a b A::high", "a c A::top"]);
}

/// Every source file in a folder, with its path from the root.
pub(crate) fn sources(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    const KINDS: [&str; 10] = ["rs", "c", "cpp", "h", "hpp", "jl", "sh", "toml", "md", "py"];
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(root, &path, found);
            }
        } else if name.rsplit('.').next().is_some_and(|kind| KINDS.contains(&kind)) {
            let source = fs::read_to_string(&path).expect("it is text");
            let name = path.strip_prefix(root).expect("it is below the root").to_string_lossy();
            found.insert(name.into_owned(), source);
        }
    }
}

/// Lines that are neither blank nor comments.
fn lines_of_code(source: &str) -> usize {
    source.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//")).count()
}

/// Whether the comment at the head of a file explains the file's length.
fn explains_its_length(source: &str) -> bool {
    let mut head = source.lines().take_while(|line| line.starts_with("//!"));
    head.any(|line| line.contains("file is long because") || line.contains("Why this is one file"))
}

#[test]
fn a_file_of_more_than_600_lines_of_code_says_why_at_its_head() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = BTreeMap::new();
    for folder in ["crates", "dev", "benches", "fuzz", "nostd"] {
        sources(&root, &root.join(folder), &mut files);
    }
    files.retain(|path, _| path.ends_with(".rs"));
    assert!(files.len() > 300, "only {} files were found", files.len());
    files.retain(|_, source| lines_of_code(source) > 600 && !explains_its_length(source));
    let unexplained: Vec<&String> = files.keys().collect();
    assert!(unexplained.is_empty(), "long, without a reason at the head: {unexplained:#?}");
}
