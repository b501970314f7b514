//! Every invariant has a name of its own in the whole project, a letter and a number, and one module
//! states it: in a comment, as an item that begins with the name in bold. Whoever cites a name is in the
//! same crate. docs/UNSAFE.md lists all of them by their files, and its rows cite those of their crate.

use crate::{layers::sources, names::comment};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const PAGES: [&str; 4] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/HOW.md", "docs/UNSAFE.md"];

/// The names in a text. An option of a compiler, such as `-O1`, is none.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
    words.filter(|word| {
        matches!(word.as_bytes(), [letter, number] if letter.is_ascii_uppercase() && number.is_ascii_digit())
    })
}

/// The name that a line of a comment states, and that it does not only cite.
fn stated(comment: &str) -> Option<&str> {
    let name = comment.strip_prefix("- **")?.split_once("** ")?.0;
    cited(name).next().filter(|cited| *cited == name)
}

/// `crates/NAME` or `julia/NAME`.
fn folder(path: &str) -> &str {
    let end = path.match_indices('/').nth(1).map_or(path.len(), |(end, _)| end);
    &path[..end]
}

/// What is wrong with the names in some sources and pages, given by their paths.
fn faults(sources: &BTreeMap<String, String>, pages: &[(&str, String)]) -> Vec<String> {
    let (mut homes, mut faults) = (BTreeMap::<&str, &str>::new(), Vec::new());
    let comments = sources.iter().flat_map(|(path, text)| {
        text.lines().filter_map(move |line| Some((path.as_str(), comment(path, line)?.1)))
    });
    for (path, comment) in comments.clone() {
        let Some(name) = stated(comment) else { continue };
        if let Some(other) = homes.insert(name, path) {
            faults.push(format!("{path} states {name}, as {other} does"));
        }
    }
    for (path, name) in comments.flat_map(|(path, text)| cited(text).map(move |name| (path, name)))
    {
        if homes.get(name).is_none_or(|home| folder(home) != folder(path)) {
            faults.push(format!("{path} cites {name}, which no module of its crate states"));
        }
    }
    for (page, text) in pages {
        let mut of = "";
        for line in text.lines() {
            of = line.strip_prefix("Files of `").map_or(of, |rest| folder(rest));
            for name in cited(line) {
                // A row is about a file of the crate.
                let is_row = line.starts_with("| `") && !of.is_empty();
                if homes.get(name).is_none_or(|home| is_row && folder(home) != folder(of)) {
                    faults.push(format!("{page} cites {name}: {line}"));
                }
            }
        }
    }
    let list = pages.iter().find(|(page, _)| *page == "docs/UNSAFE.md");
    let list: Vec<&str> = list.map_or("", |(_, text)| text).split_whitespace().collect();
    let list = list.join(" ");
    let of_rust = || homes.iter().filter(|(_, home)| home.ends_with(".rs"));
    for home in of_rust().map(|(_, home)| *home).collect::<BTreeSet<_>>() {
        let names: Vec<&str> =
            of_rust().filter(|(_, h)| **h == home).map(|(name, _)| *name).collect();
        let (first, last) = (names[0], names[names.len() - 1]);
        let range = match names.len() {
            1 => first.to_owned(),
            2 => format!("{first} and {last}"),
            _ => format!("{first} to {last}"),
        };
        let file = home.split_once("/src/").map_or(home, |(_, file)| file);
        if !(list.contains(&range) && list.contains(&format!("`{file}`"))) {
            faults.push(format!("docs/UNSAFE.md does not say that {home} states {range}"));
        }
    }
    faults
}

#[test]
fn every_invariant_that_is_cited_is_stated_once_in_its_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = BTreeMap::new();
    for folder in ["crates", "julia"] {
        sources(&root, &root.join(folder), &mut files);
    }
    assert!(files.values().map(|text| text.matches("- **").count()).sum::<usize>() > 60);
    let pages = PAGES.map(|page| (page, fs::read_to_string(root.join(page)).expect("a page")));
    let faults = faults(&files, &pages);
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_name_that_is_stated_twice_nowhere_or_elsewhere_is_a_fault() {
    let head = "//! - **A1** One.\n//! - **A2** Two.\n//! - **A3** Three.";
    let of = |sources: &[(&str, &str)], list: &str| {
        let sources = sources.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        faults(&sources.collect(), &[("docs/UNSAFE.md", list.to_owned())]).len()
    };
    let home = ("crates/a/src/b.rs", head);
    let list = "A1 to A3 are stated in `b.rs`.\nFiles of `crates/a/src`:\n| `c.rs` | (A1) |";
    assert_eq!(of(&[home, ("crates/a/src/c.rs", "// SAFETY: A3. With -O1 too.")], list), 0);
    assert_eq!(of(&[home, ("crates/a/src/c.rs", "// SAFETY: A4.")], list), 1);
    assert_eq!(of(&[home, ("crates/c/src/c.rs", "// SAFETY: A3.")], list), 1);
    assert_eq!(of(&[home, ("crates/c/src/c.rs", "//! - **A3** Another.")], list), 3);
    assert_eq!(of(&[home], &list.replace("A3", "A2")), 1);
    assert_eq!(of(&[home], &list.replace("crates/a", "crates/c")), 1);
}
