//! Every call that `docs/MIGRATING.md` recommends exists.

use std::{fs, path::Path};

const ROOT: &str = "../..";

fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            sources(&path, text);
        } else {
            *text += &fs::read_to_string(&path).expect("it is text");
        }
    }
}

/// The names of functions and macros in the code of a cell.
fn calls(cell: &str) -> impl Iterator<Item = &str> {
    let code = cell.split('`').skip(1).step_by(2);
    code.flat_map(|code| {
        code.match_indices(['(', '!']).filter_map(|(at, _)| {
            let word = code[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
            word.filter(|word| !word.is_empty() && *word != "format_args")
        })
    })
}

#[test]
fn every_recommended_call_exists() {
    let page = fs::read_to_string(format!("{ROOT}/docs/MIGRATING.md")).expect("the page is there");
    let mut text = String::new();
    sources(&Path::new(ROOT).join("crates/ebbtide/src"), &mut text);
    let mut count = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let Some(cell) = row.replace("\\|", "").split('|').nth(2).map(str::to_owned) else {
            continue;
        };
        for call in calls(&cell) {
            let exists =
                ["fn CALL(", "fn CALL<", "macro_rules! CALL ", "macro_rules! __ebbtide_CALL "]
                    .iter()
                    .any(|declaration| text.contains(&declaration.replace("CALL", call)));
            assert!(exists, "there is no {call}: {row}");
            count += 1;
        }
    }
    assert!(count > 60, "only {count} calls were found");
}
