//! The tests of a crate are one program, `tests/all.rs`, because programs take longer to link than
//! to run. Every other file of `tests/` is a module of it, or a program that says in its first line
//! why it is one.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}

/// The folders of the workspace's packages.
fn packages() -> impl Iterator<Item = PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["crates", "dev"].map(|folder| fs::read_dir(root.join(folder)));
    let entries = folders.into_iter().flat_map(|entries| entries.expect("the folder is there"));
    entries.map(|entry| entry.expect("it can be read").path())
}

#[test]
fn every_test_file_is_a_module_or_says_why_it_is_a_program() {
    let mut files = 0;
    for folder in packages() {
        let Ok(tests) = fs::read_dir(folder.join("tests")) else { continue };
        let paths = tests.map(|test| test.expect("it can be read").path());
        let paths: BTreeSet<_> =
            paths.filter(|path| path.extension() == Some("rs".as_ref())).collect();
        let all = folder.join("tests/all.rs");
        if !all.exists() {
            assert!(
                paths.len() < 2,
                "{} has several programs and no tests/all.rs",
                folder.display()
            );
            continue;
        }
        let (root, manifest) = (read(&all), read(&folder.join("Cargo.toml")));
        // Otherwise Cargo takes each file for a program.
        assert!(manifest.contains("\nautotests = false\n"), "{}", folder.display());
        for path in paths.iter().filter(|path| **path != all) {
            let (text, name) = (read(path), path.file_stem().expect("a name").to_string_lossy());
            let is_module = |text: &str| text.lines().any(|line| line == format!("mod {name};"));
            let is_program = manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            if is_program {
                assert!(
                    text.starts_with("//! A program of its own, because "),
                    "{} does not begin with why it is a program",
                    path.display()
                );
            }
            // The models of loom are modules of another program.
            let loom = folder.join("tests/loom.rs");
            let is_model = name.starts_with("loom_") && is_module(&read(&loom));
            assert!(
                u8::from(is_program) + u8::from(is_module(&root)) + u8::from(is_model) == 1,
                "{} is neither a module nor a program, or both",
                path.display()
            );
            files += 1;
        }
    }
    assert!(files > 100, "only {files} files were found");
}

/// What a test of the transparent allocator asserts about pools, windows of time and the report is
/// about its process.
#[test]
fn each_test_of_the_transparent_allocator_runs_alone() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/ebbtide-global/tests");
    let all = read(&tests.join("all.rs"));
    for module in all.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')) {
        let Ok(text) = fs::read_to_string(tests.join(format!("{module}.rs"))) else { continue };
        let mut lines = text.lines().map(str::trim);
        while lines.any(|line| line == "#[test]") {
            let first = lines.by_ref().skip_while(|line| !line.starts_with("fn ")).nth(1);
            assert_eq!(first, Some("alone!();"), "the first line of a test in {module}");
        }
    }
}

/// How long something takes depends on what else the machine does. Tests wait for what they claim,
/// with `ebbtide-patience`.
#[test]
fn no_test_looks_at_the_clock() {
    let mut folders: Vec<_> = packages().map(|folder| folder.join("tests")).collect();
    folders.retain(|tests| tests.is_dir());
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("rs".as_ref()) && !path.ends_with("programs.rs") {
                let text = read(&path);
                for name in ["Duration", "Instant", "SystemTime", "sleep("] {
                    assert!(!text.contains(name), "`{name}` in {}", path.display());
                }
                files += 1;
            }
        }
    }
    assert!(files > 100, "only {files} files were found");
}
