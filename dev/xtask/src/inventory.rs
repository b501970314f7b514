//! `cargo xtask unsafe`: counts the unsafe code of each file, for docs/UNSAFE.md.
//!
//! The table of counts is generated. The tables that say why a file needs unsafe code are written by
//! hand; the command adds and removes rows.

use crate::Failure;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const PAGE: &str = "docs/UNSAFE.md";

/// The start of the line above a table of reasons; the folder and a closing backtick follow.
const FOLDER: &str = "Files of `";

/// The lines around the table of counts.
const COUNTS: [&str; 2] = ["<!-- table unsafe -->\n", "<!-- end -->"];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::Usage(format!("unknown arguments: unsafe {}", arguments.join(" "))));
    }
    let written = fs::read_to_string(PAGE).and_then(|old| {
        let (new, dropped) = counted(Path::new("."), &old)?;
        for row in dropped {
            println!("removed; the file is gone or has no unsafe code:\n  {row}");
        }
        for row in new.lines().filter(|row| lacks_reason(row)) {
            println!("add the reason by hand:\n  {row}");
        }
        fs::write(PAGE, new)
    });
    written.map_err(|error| {
        eprintln!("{PAGE}: {error}");
        Failure::Work
    })
}

/// The page with new counts, and the rows that were removed because their file is gone.
fn counted(root: &Path, page: &str) -> io::Result<(String, Vec<String>)> {
    let (mut new, mut dropped, mut counts) = (String::new(), Vec::new(), Vec::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        new += &format!("{line}\n");
        let Some(folder) = line.strip_prefix(FOLDER).and_then(|rest| rest.split('`').next()) else {
            continue;
        };
        // An empty line, the heading and the rule below it.
        lines.by_ref().take(3).for_each(|line| new += &format!("{line}\n"));
        let mut old: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        for file in rust_files(&root.join(folder))? {
            let path = Path::new(folder).join(&file);
            let count = count(&fs::read_to_string(root.join(&path))?);
            if count == [0; 4] {
                continue;
            }
            counts.push((count, path));
            let start = format!("| `{}` |", file.display());
            let row = old.iter().position(|row| row.starts_with(&start)).map(|row| old.remove(row));
            new += &row.map_or(format!("{start} |\n"), |row| format!("{row}\n"));
        }
        new += "\n";
        dropped.extend(old.into_iter().map(String::from));
    }
    let table = table(counts);
    let parts = new.split_once(COUNTS[0]);
    let parts = parts.and_then(|(above, rest)| Some((above, rest.split_once(COUNTS[1])?.1)));
    let (above, below) = parts.ok_or_else(|| io::Error::other("no table of counts"))?;
    let [start, end] = COUNTS;
    Ok((format!("{above}{start}{table}{end}{}\n", below.trim_end()), dropped))
}

/// The files and their counts, those with the most blocks first.
fn table(mut counts: Vec<([usize; 4], PathBuf)>) -> String {
    counts.sort_by(|(a, left), (b, right)| b.cmp(a).then(left.cmp(right)));
    let all = counts.iter().fold([0; 4], |sum, (count, _)| [0, 1, 2, 3].map(|i| sum[i] + count[i]));
    let rows = counts.iter().map(|(count, path)| (*count, format!("`{}`", path.display())));
    let rows = rows.chain([(all, String::from("all"))]);
    rows.fold(
        String::from("| file | blocks | fns | impls | other |\n|---|---:|---:|---:|---:|\n"),
        |text, ([blocks, fns, impls, other], name)| {
            text + &format!("| {name} | {blocks} | {fns} | {impls} | {other} |\n")
        },
    )
}

/// Counts unsafe blocks, functions, implementations, and others: traits, `extern` blocks, function
/// pointers.
fn count(source: &str) -> [usize; 4] {
    let mut counts = [0; 4];
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for rest in line.split("unsafe ").skip(1) {
            let kind = match rest {
                _ if rest.starts_with('{') => 0,
                _ if rest.starts_with("fn ") => 1,
                _ if rest.starts_with("impl") => 2,
                _ => 3,
            };
            counts[kind] += 1;
        }
    }
    counts
}

fn lacks_reason(row: &str) -> bool {
    row.starts_with("| `") && row.ends_with(" | |")
}

/// Every Rust file below the folder, as a sorted list of paths relative to it.
fn rust_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        if entry.file_type()?.is_dir() {
            files.extend(rust_files(&entry.path())?.into_iter().map(|file| name.join(file)));
        } else if name.extension().is_some_and(|extension| extension == "rs") {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn the_inventory_counts_every_unsafe_and_gives_a_reason_for_every_file() {
        let page = fs::read_to_string(root().join(PAGE)).expect("the page can be read");
        let (counted, _) = counted(&root(), &page).expect("the sources can be read");
        let rows: Vec<_> = counted.lines().filter(|row| !page.contains(row)).collect();
        assert!(page == counted, "run `cargo xtask unsafe`; rows of {PAGE} that change: {rows:#?}");
        let empty: Vec<_> = page.lines().filter(|row| lacks_reason(row)).collect();
        assert!(empty.is_empty(), "rows of {PAGE} that lack a reason: {empty:#?}");
    }

    #[test]
    fn every_safety_comment_argues_instead_of_passing_on() {
        let root = root();
        let files = ["crates", "dev"].map(|folder| {
            let files = rust_files(&root.join(folder)).expect("the folder can be read");
            files.into_iter().map(move |file| Path::new(folder).join(file))
        });
        for file in files.into_iter().flatten() {
            let source = fs::read_to_string(root.join(&file)).expect("it is text");
            let mut arguments = source.lines().filter_map(|line| line.split("SAFETY: ").nth(1));
            let wrong = arguments.find(|argument| {
                [
                    "passed on",
                    "as above",
                    "see above",
                    "the caller promises it.",
                    "the caller keeps",
                ]
                .iter()
                .any(|phrase| argument.to_lowercase().starts_with(phrase))
            });
            assert!(wrong.is_none(), "{}: SAFETY: {wrong:?} is no argument", file.display());
        }
    }

    #[test]
    fn unsafe_code_is_counted_by_kind_and_comments_are_not() {
        let source = "
            // unsafe { in a comment }
            unsafe trait Marker { unsafe fn call(&self); }
            unsafe impl<T> Marker for T {}
            let both = (unsafe { f() }, unsafe { g() });";
        assert_eq!(count(source), [2, 1, 1, 1]);
    }
}
