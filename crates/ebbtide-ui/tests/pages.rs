//! Every test named in `docs/CHECKLIST.md` and `docs/CONFORMANCE.md` exists.

#![allow(clippy::expect_used, reason = "a test may panic")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = "../..";
const PAGES: [&str; 2] = ["docs/CHECKLIST.md", "docs/CONFORMANCE.md"];

/// Collects every source file in a folder `tests`.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                sources(&path, files);
            }
        } else if name.ends_with(".rs") && path.components().any(|part| part.as_os_str() == "tests")
        {
            files.push(path);
        }
    }
}

/// The names of all tests, and of the files themselves.
fn names() -> BTreeSet<String> {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("crates"), &mut files);
    sources(&Path::new(ROOT).join("nostd"), &mut files);
    let mut names = BTreeSet::new();
    for file in files {
        names.extend(file.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        let text = fs::read_to_string(&file).expect("it is text");
        // Tests are functions or arguments of a macro, so this takes any word of the source.
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.extend(words.filter(|word| word.contains('_')).map(str::to_owned));
    }
    names
}

/// Everything in backquotes that looks like the name of a test: at least three lower-case words.
fn tests_named(page: &str) -> Vec<&str> {
    let quoted = page.split('`').skip(1).step_by(2);
    let is_name = |text: &&str| {
        text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && text.matches('_').count() >= 2
    };
    quoted.filter(is_name).collect()
}

#[test]
fn every_test_that_a_page_names_exists() {
    let names = names();
    for page in PAGES {
        let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("the page can be read");
        let tests = tests_named(&text);
        assert!(tests.len() > 50, "{page} names {} tests", tests.len());
        for test in tests {
            assert!(names.contains(test), "{page} names {test}, which is not a test");
        }
    }
}
