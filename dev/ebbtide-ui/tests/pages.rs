//! Every test named in `dev/CHECKLIST.md` and `dev/CONFORMANCE.md` exists, and so does every
//! script and test file that any page names.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const ROOT: &str = "../..";
const PAGES: [&str; 2] = ["dev/CHECKLIST.md", "dev/CONFORMANCE.md"];

/// Collects every file in a folder whose name has this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// Every source file in a folder `tests`.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "dev", "nostd"] {
        files(&Path::new(ROOT).join(folder), ".rs", &mut found);
    }
    found.retain(|path| path.components().any(|part| part.as_os_str() == "tests"));
    found
}

/// The names of all tests, and of the files themselves.
fn names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in sources() {
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

/// The scripts and the test files that a page names: `ci/x.sh`, `tests/x.rs`, x of `--test x`, and y
/// of `--test all y::`.
fn files_named(page: &str) -> BTreeSet<&str> {
    // Upper-case letters stand for any name, as in `tests/FILE.rs`.
    let is_name = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let is_placeholder = |word: &&str| word.contains(char::is_uppercase);
    let words = page.split(|c| !is_name(c)).filter(|word| !word.is_empty());
    let pairs = words.clone().zip(words.clone().skip(1));
    let programs = pairs.filter(|(option, _)| *option == "--test").map(|(_, name)| name);
    let files = words.filter(|word| {
        let word = word.trim_start_matches("../");
        (word.starts_with("ci/") && word.ends_with(".sh"))
            || (word.contains("tests/") && word.ends_with(".rs"))
    });
    let modules = page.split("--test all ").skip(1);
    let modules = modules
        .filter_map(|rest| Some(rest.split_once("::")?.0))
        .filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    files.chain(programs).chain(modules).filter(|name| !is_placeholder(name)).collect()
}

#[test]
fn every_script_and_test_file_that_a_page_names_exists() {
    let (sources, mut pages) = (sources(), Vec::new());
    files(Path::new(ROOT), ".md", &mut pages);
    let mut count = 0;
    for page in pages {
        let text = fs::read_to_string(&page).expect("it is text");
        // The changelog names files as they were.
        for name in files_named(&text).into_iter().filter(|_| !page.ends_with("CHANGELOG.md")) {
            let name = name.trim_start_matches("../");
            let file = if name.ends_with(".sh") || name.ends_with(".rs") {
                name.to_owned()
            } else {
                format!("tests/{name}.rs")
            };
            let exists = Path::new(ROOT).join(&file).exists()
                || sources.iter().any(|path| path.ends_with(&file));
            assert!(exists, "{} names {name}, which does not exist", page.display());
            count += 1;
        }
    }
    assert!(count > 40, "only {count} names were found");
}
