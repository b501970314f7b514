//! The book is complete: each page of `docs` is a chapter, with three exceptions, a test compiles the
//! examples of each chapter, and every link of a page leads somewhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The pages of `docs` that are no chapters.
const NO_CHAPTERS: [&str; 3] = ["BENCHMARKS.md", "SUMMARY.md", "UNSAFE.md"];

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(ROOT).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The texts between each `start` and the next `end`.
fn between<'t>(text: &'t str, start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

/// The files of the chapters, relative to `docs`.
fn chapters() -> Vec<String> {
    between(&read("docs/SUMMARY.md"), "](", ")").map(str::to_owned).collect()
}

/// All files with this ending in a folder, relative to `root`. Links are not followed.
fn files(root: &Path, folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(folder)).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let (name, kind) = (entry.file_name(), entry.file_type().expect("it has a type"));
        let path = folder.join(&name);
        let name = name.to_string_lossy();
        if kind.is_dir() && name != "target" && !name.starts_with('.') {
            files(root, &path, ending, found);
        } else if kind.is_file() && name.ends_with(ending) {
            found.push(path);
        }
    }
}

#[test]
fn every_page_of_docs_is_a_chapter_or_known_not_to_be() {
    let entries = fs::read_dir(Path::new(ROOT).join("docs")).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    let names = names.map(|name| name.into_string().expect("names are text"));
    let pages: BTreeSet<String> = names.filter(|name| name.ends_with(".md")).collect();
    let chapters = chapters();
    let mut expected: BTreeSet<String> = NO_CHAPTERS.map(str::to_owned).into();
    expected.extend(chapters.iter().cloned());
    assert_eq!(pages, expected);
    assert_eq!(chapters.len() + NO_CHAPTERS.len(), expected.len(), "a chapter stands twice");
}

/// The lines of a page outside of its code blocks, and the languages of the blocks.
fn prose_and_languages(page: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut prose, mut languages, mut is_code) = (Vec::new(), Vec::new(), false);
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(language) if !is_code => languages.push(language),
            None if !is_code => prose.push(line),
            _ => {}
        }
        is_code ^= line.trim_start().starts_with("```");
    }
    assert!(!is_code, "a code block has no end");
    (prose, languages)
}

/// A block in another language, or a Rust block that is not run, would not be tested. One that is ignored
/// needs Rust 1.100, and is run on beta.
#[test]
fn a_test_compiles_the_examples_of_each_chapter() {
    let mut sources = Vec::new();
    for folder in ["crates", "dev"] {
        files(Path::new(ROOT), Path::new(folder), "lib.rs", &mut sources);
    }
    let sources: String = sources.iter().map(read).collect();
    let mut count = 0;
    for chapter in chapters() {
        let page = read(Path::new("docs").join(&chapter));
        let languages = prose_and_languages(&page).1;
        count += languages.len();
        for language in languages {
            let tested = match language {
                // By rustdoc.
                "rust" | "rust,should_panic" => ["../../../docs/", "../"]
                    .iter()
                    .any(|folder| sources.contains(&format!("\"{folder}{chapter}\""))),
                // By rustdoc, and by `refused.rs` of ebbtide-ui: for the reason that it names.
                refused if refused.starts_with("rust,compile_fail") => {
                    sources.contains(&format!("\"../../../docs/{chapter}\""))
                }
                "rust,ignore" => {
                    read("ci/beta.sh").contains("--package ebbtide-ui")
                        && sources.contains(&format!("\"../../../docs/{chapter}\""))
                }
                // By `tests/guide.rs` of ebbtide-capi, `tests/cpp.rs` of ebbtide-new.
                "c" | "cpp" => true,
                // By the tests of the package, whose page this is.
                "julia" => chapter == "JULIA.md",
                // Below.
                "asm" => chapter == "HOW.md",
                "sh" | "text" | "toml" => true,
                _ => false,
            };
            assert!(tested, "no test compiles the blocks ```{language} of {chapter}");
        }
    }
    assert!(count > 30, "only {count} blocks were found");
}

/// The instructions of a listing, without the name of the label that a jump goes to.
fn instructions(listing: &str) -> impl Iterator<Item = String> {
    listing.lines().map(|line| {
        let words: Vec<&str> =
            line.split('#').next().unwrap_or_default().split_whitespace().collect();
        if words[0].starts_with('j') { words[0].to_owned() } else { words.join(" ") }
    })
}

#[test]
fn the_explained_assembly_is_the_pinned_one() {
    let page = read("docs/HOW.md");
    let explained = between(&page, "```asm\n", "```").next().expect("a block of assembly");
    let pinned = read("dev/ebbtide-codegen/asm/x86_64/alloc_u64.s");
    let fast = explained.lines().count();
    assert!(instructions(explained).eq(instructions(&pinned).take(fast)), "{pinned}");
    assert!(explained.trim_end().lines().last().is_some_and(|line| line.starts_with("retq")));
}

/// The links of a page, without those to the web.
fn links(page: &str) -> Vec<String> {
    let prose = prose_and_languages(page).0.join("\n");
    // A link in a code span is none.
    let text: String = prose.split('`').step_by(2).collect::<Vec<_>>().join("`");
    // `@ref` is for Documenter.
    let is_elsewhere = |link: &&str| link.starts_with("https://") || *link == "@ref";
    let links = between(&text, "](", ")").filter(|link| !is_elsewhere(link));
    links.map(str::to_owned).collect()
}

/// The anchors of a page's headings.
fn anchors(page: &str) -> BTreeSet<String> {
    let lines = prose_and_languages(page).0;
    let headings = lines.into_iter().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        text.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    headings.map(anchor).collect()
}

/// In the book, a chapter is beside the files of `docs` that are no pages, and alone otherwise.
#[test]
fn every_link_of_a_page_leads_somewhere() {
    let mut pages = Vec::new();
    files(Path::new(ROOT), Path::new(""), ".md", &mut pages);
    pages.retain(|page| !page.starts_with("benches/src")); // written to another folder
    let chapters: BTreeSet<PathBuf> =
        chapters().iter().map(|chapter| Path::new("docs").join(chapter)).collect();
    pages.extend(chapters.iter().cloned());
    let mut count = 0;
    for page in pages {
        let text = read(&page);
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a page has a folder").join(file),
            };
            let path = Path::new(ROOT).join(&target);
            assert!(path.exists(), "{}: there is no {file}", page.display());
            let found = anchor.is_empty() || anchors(&read(&target)).contains(anchor);
            assert!(found, "{}: {file} has no heading #{anchor}", page.display());
            let is_in_the_book = chapters.contains(&target)
                || (target.starts_with("docs") && !file.contains("..") && path.is_file())
                    && !file.ends_with(".md");
            assert!(
                !chapters.contains(&page) || is_in_the_book,
                "{}: {file} is not in the book",
                page.display()
            );
            count += 1;
        }
    }
    assert!(count > 80, "only {count} links were found");
}

/// The attributes `href` and `src`, and the identifiers of an HTML page.
fn references(page: &str) -> (Vec<&str>, BTreeSet<&str>) {
    let named = |start: &'static str| between(page, start, "\"");
    (named(" href=\"").chain(named(" src=\"")).collect(), named(" id=\"").collect())
}

#[test]
#[ignore = "needs mdBook"]
fn every_link_of_the_built_book_leads_somewhere() {
    let status = Command::new("mdbook").arg("build").current_dir(ROOT).status();
    assert!(status.expect("mdBook is installed").success());
    let (book, mut names) = (Path::new(ROOT).join("target/book"), Vec::new());
    files(&book, Path::new(""), ".html", &mut names);
    let read = |name: &Path| fs::read_to_string(book.join(name)).expect("it is text");
    let pages: BTreeMap<PathBuf, String> =
        names.into_iter().map(|name| (name.clone(), read(&name))).collect();
    let mut count = 0;
    for (name, text) in &pages {
        let is_elsewhere = |link: &str| link.starts_with("https://") || link.starts_with("data:");
        for link in references(text).0.into_iter().filter(|link| !is_elsewhere(link)) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { name.clone() } else { PathBuf::from(file) };
            assert!(book.join(&target).is_file(), "{}: there is no {link}", name.display());
            let found = anchor.is_empty()
                || pages.get(&target).is_some_and(|text| references(text).1.contains(anchor));
            assert!(found, "{}: there is no {link}", name.display());
            count += 1;
        }
    }
    assert!(pages.len() > chapters().len() && count > 200, "{} pages, {count} links", pages.len());
}
