//! Each published package contains the licences, a README and the changelog, and does not refer to
//! files that it does not contain. CI packages, and a release publishes, every crate whose manifest
//! does not say `publish = false`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn folder(package: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join("crates").join(package)
}

/// The published packages, each in a folder of its name.
fn published() -> BTreeSet<String> {
    let entries = fs::read_dir(folder("")).expect("a folder");
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry.expect("an entry").file_name().into_string().expect("names are text");
        let Ok(manifest) = fs::read_to_string(folder(&name).join("Cargo.toml")) else { continue };
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "crates/{name}");
        if !manifest.contains("\npublish = false") {
            names.insert(name);
        }
    }
    names
}

/// The files of the package, relative to its folder.
fn files(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--quiet"])
        .current_dir(folder(package))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).expect("names are text");
    list.lines().map(str::to_owned).collect()
}

/// The texts between each `start` and the next `end`.
fn between<'t>(text: &'t str, start: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split(end).next())
}

#[test]
fn every_package_has_its_licences_a_page_and_the_changelog() {
    for package in published() {
        let files = files(&package);
        for needed in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
            assert!(files.contains(needed), "{package} has no {needed}");
        }
    }
}

#[test]
fn nothing_in_a_package_refers_to_a_file_that_is_not_in_it() {
    for package in published() {
        let files = files(&package);
        for file in &files {
            let Ok(text) = fs::read_to_string(folder(&package).join(file)) else {
                continue; // made by cargo
            };
            let references: Vec<&str> = match Path::new(file).extension() {
                Some(kind) if kind == "md" => between(&text, "](", ')')
                    .filter(|link| !link.starts_with("https://") && !link.starts_with('#'))
                    .collect(),
                Some(kind) if kind == "rs" => between(&text, "include_str!(\"", '"')
                    .chain(between(&text, "include!(\"", '"'))
                    .chain(between(&text, "#[path = \"", '"'))
                    .collect(),
                _ => Vec::new(),
            };
            for reference in references {
                let mut path = Path::new(file).parent().expect("a file has a folder").to_path_buf();
                for part in reference.split('/') {
                    match part {
                        ".." => assert!(path.pop(), "{package}: {file} refers to {reference}"),
                        part => path.push(part),
                    }
                }
                let path = path.to_str().expect("names are text");
                let is_in = |file: &String| file == path || file.starts_with(&format!("{path}/"));
                assert!(files.iter().any(is_in), "{package}: {file} refers to {reference}");
            }
        }
    }
}

#[test]
fn ci_and_releases_name_every_package() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, start) in [("ci/package.sh", "cargo package"), ("RELEASING.md", "cargo publish")] {
        let text = fs::read_to_string(root.join(file)).expect("it is text");
        let command = text.split_once(start).expect("it has the command").1;
        let names = command.split("--package ").skip(1);
        let names =
            names.filter_map(|rest| rest.split(|c: char| c != '-' && !c.is_alphabetic()).next());
        assert_eq!(names.map(str::to_owned).collect::<BTreeSet<_>>(), published(), "{file}");
    }
}

/// `poison` adds nothing to the API and makes programs slower, and the two features `nightly` need newer
/// compilers, so `full` does not include them.
#[test]
fn full_is_every_feature_that_adds_to_the_api() {
    for package in ["ebbtide", "ebbtide-global"] {
        let manifest = fs::read_to_string(folder(package).join("Cargo.toml")).expect("it exists");
        let features = manifest.split("[features]").nth(1).expect("it has features");
        let features = features.split("\n[").next().expect("up to the next section");
        let lines = features.lines().filter_map(|line| line.split_once(" = "));
        let lists: Vec<(&str, &str)> = lines.filter(|(name, _)| !name.starts_with('#')).collect();
        let full = lists.iter().find(|(name, _)| *name == "full").expect("it exists").1;
        let full = full.trim_matches(['[', ']']).split(", ").map(|name| name.trim_matches('"'));
        // `alloc` is part of `std`.
        let left_out =
            ["default", "full", "allocator-api2-02-nightly", "nightly", "poison", "alloc"];
        let others = lists.iter().map(|(name, _)| *name).filter(|name| !left_out.contains(name));
        assert_eq!(full.collect::<BTreeSet<_>>(), others.collect(), "{package}");
    }
}
