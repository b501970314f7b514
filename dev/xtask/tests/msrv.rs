//! The oldest supported compiler is the `rust-version` of the workspace. What cannot read it there,
//! such as a README, says the same. Records and the changelog are about the version of their time.

use std::{fs, path::Path, process::Command};

/// The text on either side of a version. White space in the pages counts as one space each.
const PHRASES: [(&str, &str); 6] = [
    ("rust-version = \"", "\""),
    ("Rust ", " or newer"),
    ("| Rust | ", " |"),
    ("rustc (>= ", ")"),
    ("cargo +", " "),
    ("rustup toolchain install ", " "),
];

/// The versions in a text that stand for the oldest supported compiler.
fn versions(text: &str) -> Vec<String> {
    let text: String = text.split_whitespace().flat_map(|word| [word, " "]).collect();
    let mut found = Vec::new();
    for (before, after) in PHRASES {
        for rest in text.split(before).skip(1) {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (version, rest) = rest.split_at(end);
            if version.contains('.') && rest.starts_with(after) {
                found.push(version.to_owned());
            }
        }
    }
    found
}

#[test]
fn the_oldest_supported_compiler_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output();
    let files = String::from_utf8(files.expect("git is there").stdout).expect("paths are UTF-8");
    let (mut found, mut wrong) = (0, Vec::new());
    for path in files.split_terminator('\0') {
        let is_of_its_time = path.starts_with("dev/records/")
            || path.starts_with("dev/decisions/")
            || path == "CHANGELOG.md"
            // A tool, which needs naked functions.
            || path == "crates/cargo-ebbtide/Cargo.toml"
            || path == file!();
        if is_of_its_time {
            continue;
        }
        // What is no text names no version.
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        let versions = versions(&text);
        found += versions.len();
        let others = versions.into_iter().filter(|v| v != env!("CARGO_PKG_RUST_VERSION"));
        wrong.extend(others.map(|version| format!("{path}: {version}")));
    }
    assert!(wrong.is_empty(), "not {}: {wrong:#?}", env!("CARGO_PKG_RUST_VERSION"));
    assert!(found >= 9, "only {found} places name the compiler");
}

#[test]
fn a_version_is_found_in_each_phrase() {
    let text = "Rust 1.2 or\nnewer; rustc (>= 1.3), | Rust | 1.4 | 1.0 |, rust-version = \"1.5\", \
                cargo +1.6 check, rustup toolchain install 1.7 --profile; Rust 1.9, cargo +nightly x";
    assert_eq!(versions(text), ["1.5", "1.2", "1.4", "1.3", "1.6", "1.7"]);
}
