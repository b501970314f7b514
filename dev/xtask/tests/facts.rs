//! Numbers and platforms have one source: a number that a page or a comment says is the constant of the
//! code, and the systems on which the tests run are those of the workflow.

use crate::{layers::sources, names::code_and_prose};
use std::{collections::BTreeMap, fs, path::Path};

/// How a page writes the value of a constant.
type Unit = fn(u64) -> u64;
const KIB: Unit = |bytes| bytes >> 10;
const MIB: Unit = |bytes| bytes >> 20;
const WINDOWS: Unit = |window_ms| 2 * window_ms / 1000;

/// A constant, by its file and name, and the texts before and after its value in prose.
type Fact = (&'static str, &'static str, Unit, &'static [(&'static str, &'static str)]);
const FACTS: [Fact; 10] = [
    (
        "crates/ebbtide-global/src/limits.rs",
        "PROMISED",
        MIB,
        &[("to two seconds, plus ", " MiB"), ("of the live bytes, plus ", " MiB")],
    ),
    (
        "crates/ebbtide-global/src/limits.rs",
        "PROMISED_PER_THREAD",
        MIB,
        &[("MiB, plus ", " MiB for each running thread")],
    ),
    (
        "crates/ebbtide-global/src/limits.rs",
        "UNWATCHED",
        MIB,
        &[("arenas hold more than ", " MiB"), ("Above ", " MiB, a helper")],
    ),
    (
        "crates/ebbtide-global/src/limits.rs",
        "WINDOW_MS",
        WINDOWS,
        &[("bytes in the last one to ", " seconds"), ("within about ", " seconds")],
    ),
    (
        "crates/ebbtide-global/src/size.rs",
        "CHUNK_SHIFT",
        |shift| KIB(1 << shift),
        &[("its chunk of ", " KiB"), ("whole chunk of ", " KiB"), ("keeps a chunk of ", " KiB")],
    ),
    ("crates/ebbtide-global/src/size.rs", "MEDIUM", KIB, &[("*large* block (above ", " KiB)")]),
    ("crates/ebbtide-global/src/report.rs", "PINNED_IN_FLIGHT", MIB, &[("pin more than ", " MiB")]),
    (
        "crates/ebbtide/src/chunk/blocks.rs",
        "FIRST_CHUNK",
        KIB,
        &[("starts with a chunk of ", " KiB"), ("The first chunk has ", " KiB")],
    ),
    (
        "crates/ebbtide/src/arith.rs",
        "HUGE_PAGE", // half of the largest chunk
        |bytes| MIB(2 * bytes),
        &[
            ("No later chunk exceeds ", " MiB"),
            ("twice as large, up to ", " MiB"),
            ("as the one before, up to ", " MiB"),
        ],
    ),
    (
        "crates/ebbtide/src/warm/helper.rs",
        "WINDOW_MS",
        WINDOWS,
        &[("for at most ", " seconds: 2 MiB"), ("large ones for at most ", " seconds and")],
    ),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value of a constant of a source: a product or a shift of numbers, less the overhead of a heap.
fn value(source: &str, name: &str) -> Option<u64> {
    let rest = source.split_once(&format!("const {name}: "))?.1;
    let value = rest.split_once(" = ")?.1.split([';', '-']).next()?;
    let number = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
    match value.split_once("<<") {
        Some((number_of, by)) => Some(number(number_of)? << number(by)?),
        None => value.split('*').map(number).product(),
    }
}

fn number(text: &str) -> Option<u64> {
    const WORDS: [&str; 4] = ["zero", "one", "two", "three"];
    let word = WORDS.iter().position(|word| *word == text);
    word.map(|at| at as u64).or_else(|| text.replace(',', "").parse().ok())
}

/// The numbers between two texts.
fn numbers<'t>(text: &'t str, before: &'t str, after: &'t str) -> impl Iterator<Item = u64> + 't {
    let rests = text.split(before).skip(1);
    rests.filter_map(move |rest| {
        let (first, rest) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        number(first).filter(|_| rest.starts_with(after))
    })
}

/// The paragraphs of all pages, except those of their time, and of the comments of the crates.
fn paragraphs() -> Vec<(String, String)> {
    let mut files = BTreeMap::new();
    for folder in ["crates", "dev", "docs"] {
        sources(root(), &root().join(folder), &mut files);
    }
    for page in ["ARCHITECTURE.md", "CHANGELOG.md", "README.md", "SECURITY.md"] {
        files.insert(page.to_owned(), read(page));
    }
    let is_of_its_time = |path: &str| {
        ["/records/", "/decisions/", "/tests/"].iter().any(|folder| path.contains(folder))
    };
    let files = files.into_iter().filter(|(path, _)| !is_of_its_time(path));
    let files = files.filter(|(path, _)| path.ends_with(".md") || path.ends_with(".rs"));
    let of_file = |(path, text): (String, String)| {
        let prose = code_and_prose(&path, &text).1;
        prose.into_iter().map(move |paragraph| (path.clone(), paragraph))
    };
    files.flat_map(of_file).collect()
}

#[test]
fn a_number_in_prose_is_the_constant_of_the_code() {
    let (paragraphs, mut wrong) = (paragraphs(), Vec::new());
    for (file, name, unit, phrases) in FACTS {
        let value = value(&read(file), name).unwrap_or_else(|| panic!("{file} has no {name}"));
        for (before, after) in phrases {
            let mut count = 0;
            for (path, text) in &paragraphs {
                for number in numbers(text, before, after) {
                    count += 1;
                    if number != unit(value) {
                        wrong.push(format!(
                            "{path}: {before}{number}{after}, but {name} is {value}"
                        ));
                    }
                }
            }
            if count == 0 {
                wrong.push(format!("nothing says: {before}{}{after}", unit(value)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pages_agree_about_platforms_with_the_code_and_the_workflow() {
    let workflow = read(".github/workflows/checks.yml");
    let images = workflow.split("os: [").nth(1).and_then(|rest| rest.split(']').next());
    let systems = images.expect("a list of systems").split(", ").map(|image| {
        let known = [("ubuntu", "Linux"), ("windows", "Windows"), ("macos", "macOS")];
        known.iter().find(|(start, _)| image.starts_with(start)).expect("a known system").1
    });
    let systems: Vec<&str> = systems.collect();
    let (last, others) = systems.split_last().expect("a system");
    let tested = format!("the tests run on {} and {last}", others.join(", "));
    // The condition under which transparent scopes work.
    let condition = "all(target_pointer_width = \"64\", any(unix, windows), ";
    assert!(read("crates/ebbtide-global/src/memory/range.rs").contains(condition));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, text) in paragraphs() {
        let lower = text.to_lowercase();
        let (tested, works) = (tested.to_lowercase(), "scopes work on 64-bit unix");
        for (start, whole) in [("the tests run on ", &*tested), ("scopes work on ", works)] {
            count += lower.matches(whole).count();
            if lower.matches(start).count() > lower.matches(whole).count() {
                wrong.push(format!("{path}: not “{whole}”: {text}"));
            }
        }
        for sentence in lower.split(". ") {
            let is_untested = ["untested", "not tested"].iter().any(|says| sentence.contains(says));
            if is_untested && systems.iter().any(|system| sentence.contains(&system.to_lowercase()))
            {
                wrong.push(format!("{path}: the workflow tests it: {sentence}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 7, "only {count} sentences about platforms were found");
}

#[test]
fn values_and_numbers_are_read() {
    let source = "const A: usize = 16 * 1024 - B;\npub(crate) const C: u64 = 6 << 20;\nconst D: u16 = 1_000;";
    let values = ["A", "C", "D", "E"].map(|name| value(source, name));
    assert_eq!(values, [Some(16_384), Some(6_291_456), Some(1000), None]);
    let text = "within about two seconds, within about 30 seconds, within about a second";
    assert_eq!(numbers(text, "within about ", " seconds").collect::<Vec<_>>(), [2, 30]);
}
