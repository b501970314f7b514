//! Claim: every public item has an example, and every method that fails by a panic or an abort has
//! a fallible version.
//!
//! Both are read from the sources, because the lint for examples needs a nightly compiler.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const CRATES: [&str; 2] = ["ebbtide", "ebbtide-global"];

/// Public items that programs cannot name, because their module is private or hidden.
const UNREACHABLE: [&str; 5] = ["Failure", "Sealed", "Used", "Room", "Grow"];
const HIDDEN: &str = "arith.rs";

/// An item that is declared `pub`.
struct Item {
    kind: String,
    name: String,
    docs: String,
    attributes: String,
    /// From the declaration to the end of the block.
    code: String,
}

impl Item {
    fn has_example(&self) -> bool {
        self.docs.contains("```") || self.attributes.contains("include_str!")
    }

    /// The method that the docs refer to: "see [`Scope::seed`]".
    fn refers_to(&self) -> Option<&str> {
        let (_, link) = self.docs.split_once("see [`")?;
        link.split_once("`]")?.0.rsplit("::").next()
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The kind and the name of the item that a line declares.
fn declared(line: &str) -> Option<(&str, &str)> {
    const KINDS: [&str; 9] =
        ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];
    let mut words = line.strip_prefix("pub ")?.split(' ').peekable();
    while words.next_if(|word| ["const", "unsafe", "async"].contains(word)).is_some() {
        if !words.peek().is_some_and(|word| KINDS.contains(word) || *word == "unsafe") {
            let name = words.next()?;
            return Some(("const", name.trim_end_matches(':')));
        }
    }
    let kind = words.next().filter(|kind| KINDS.contains(kind))?;
    let name = words.next()?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
    Some((kind, &name[..end]))
}

fn items(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut items = Vec::new();
    let (mut docs, mut attributes, mut in_attribute) = (String::new(), String::new(), false);
    for (index, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("///") {
            docs.push_str(trimmed);
            continue;
        }
        if in_attribute || trimmed.starts_with("#[") {
            attributes.push_str(trimmed);
            in_attribute = !trimmed.ends_with(']');
            continue;
        }
        // A method that a macro defines has no name here; the example is at its `impl`.
        if let Some((kind, name)) = declared(trimmed).filter(|(_, name)| !name.is_empty()) {
            let indent = &line[..line.len() - trimmed.len()];
            let end = lines[index..].iter().take_while(|line| **line != format!("{indent}}}"));
            items.push(Item {
                kind: kind.to_owned(),
                name: name.to_owned(),
                docs: std::mem::take(&mut docs),
                attributes: std::mem::take(&mut attributes),
                code: end.copied().collect::<Vec<_>>().join("\n"),
            });
        }
        docs.clear();
        attributes.clear();
    }
    items
}

/// The items of each file of a crate, without those that programs cannot name or that are for
/// models.
fn all(name: &str) -> Vec<(PathBuf, Vec<Item>)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates").join(name).join("src");
    let files = sources(&source).into_iter().filter(|path| !path.ends_with(HIDDEN));
    let read = |path: PathBuf| {
        let mut items = items(&fs::read_to_string(&path).expect("a source"));
        items.retain(|item| {
            let hidden = ["doc(hidden)", "cfg(loom)"];
            let is_hidden = hidden.iter().any(|text| item.attributes.contains(text));
            !(is_hidden || UNREACHABLE.contains(&&*item.name))
        });
        (path, items)
    };
    files.map(read).collect()
}

#[test]
fn every_public_item_has_an_example() {
    for name in CRATES {
        let files = all(name);
        let items =
            || files.iter().flat_map(|(path, items)| items.iter().map(move |item| (path, item)));
        assert!(items().count() > 60, "{name}: {} items", items().count());
        let shown: BTreeSet<&str> = items()
            .filter(|(_, item)| item.has_example())
            .map(|(_, item)| item.name.as_str())
            .collect();
        let without: Vec<String> = items()
            .filter(|(path, item)| match item.kind.as_str() {
                // Its own file describes it.
                "mod" => {
                    let file = path.with_file_name(format!("{}.rs", item.name));
                    let text = fs::read_to_string(file).unwrap_or_default();
                    let page = text.lines().take_while(|line| line.starts_with("//!"));
                    !item.has_example() && !page.into_iter().any(|line| line.contains("```"))
                }
                _ => !item.has_example() && !item.refers_to().is_some_and(|to| shown.contains(to)),
            })
            .map(|(path, item)| format!("{} {} in {}", item.kind, item.name, path.display()))
            .collect();
        assert!(without.is_empty(), "without an example: {without:#?}");
    }
}

#[test]
fn every_method_that_diverges_on_failure_has_a_fallible_version() {
    let mut pairs = 0;
    for (path, items) in all("ebbtide") {
        let has = |name: &str| items.iter().any(|item| item.name == name);
        for Item { name, code, .. } in &items {
            if code.contains("Infallible") {
                assert!(has(&format!("try_{name}")), "no try_{name} in {}", path.display());
                pairs += 1;
            }
        }
    }
    assert!(pairs > 60, "{pairs} pairs");
}

/// The compiler accepts an unbounded lifetime, as in `fn f<'r>(self) -> &'r [T]`, wherever unsafe
/// code makes the result.
#[test]
fn no_function_returns_a_lifetime_that_its_arguments_do_not_have() {
    let mut functions = 0;
    for (path, items) in CRATES.iter().flat_map(|name| all(name)) {
        for item in items.iter().filter(|item| item.kind == "fn") {
            let end = item.code.find(" {\n").unwrap_or(item.code.len());
            let signature = item.code[..end].split("\nwhere").next().unwrap_or_default();
            let (Some((head, rest)), false) =
                (signature.split_once('('), signature.contains("unsafe fn "))
            else {
                continue;
            };
            let (arguments, result) = rest.rsplit_once(") -> ").unwrap_or((rest, ""));
            let own = head.split(['<', ',', ' ', '>', ':']).filter(|word| word.starts_with('\''));
            for lifetime in own.chain(["'static"]) {
                let names = |text: &str| {
                    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))
                        .any(|word| word == lifetime)
                };
                assert!(
                    !names(result) || names(arguments),
                    "{}: {} returns {lifetime}",
                    path.display(),
                    item.name
                );
            }
            functions += 1;
        }
    }
    assert!(functions > 400, "only {functions} functions were found");
}
