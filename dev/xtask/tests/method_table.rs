//! Claim: `method_table.md` is complete. It lists every public method of the collections, those with
//! `try_` by the name without it; every method that it lists exists, and no cell is empty. Few methods
//! of a `NodeVec` take a scope. Each method of a collection is in a fuzz target.

use std::{collections::BTreeSet, fs, path::Path};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/method_table.md");

/// The names of the public functions in a file of the sources, or in all files of a folder.
fn functions(path: &Path) -> BTreeSet<String> {
    if path.is_dir() {
        let entries = path.read_dir().unwrap().map(|entry| entry.unwrap().path());
        return entries.flat_map(|path| functions(&path)).collect();
    }
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::trim_start);
    let named = lines.filter_map(|line| {
        line.strip_prefix("pub ")?.trim_start_matches("unsafe ").strip_prefix("fn ")
    });
    named.map(|rest| rest.split(['<', '(']).next().unwrap().to_owned()).collect()
}

/// The rows of the tables of a page, as cells.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("|---"));
    rows.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

#[test]
fn the_table_of_methods_is_true() {
    let page = fs::read_to_string(TABLE).unwrap();
    let source = Path::new(ROOT).join("crates/ebbtide/src");
    let all = functions(&source);
    let macros = ["vec!", "format!"];

    let mut named = 0;
    for row in rows(&page) {
        assert!(row.iter().all(|cell| !cell.is_empty()), "an empty cell: {row:?}");
        let ours = row[row.len() - 1];
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_!".contains(c);
        let Some(name) = ours.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) else {
            continue;
        };
        if name.chars().all(is_name) {
            named += 1;
            assert!(all.contains(name) || macros.contains(&name), "there is no `{name}`");
        }
    }
    let lists = page.split("\n\n").filter_map(|part| {
        part.strip_prefix("The same names:").or_else(|| part.strip_prefix("Only here:"))
    });
    for name in lists.flat_map(|list| list.split('`').skip(1).step_by(2)) {
        named += 1;
        assert!(all.contains(name) || macros.contains(&name), "there is no `{name}`");
    }
    assert!(named > 130, "{named} names found");

    let collections = ["vector.rs", "vector", "text.rs", "collections"];
    for name in collections.iter().flat_map(|path| functions(&source.join(path))) {
        // Methods of the error of `from_utf8`, and the macro `format!`.
        let elsewhere = ["utf8_error", "formatted", "collect_in"].contains(&&*name);
        let lists = |name: &str| page.contains(&format!("`{name}`"));
        let is_listed = lists(&name) || name.strip_prefix("try_").is_some_and(lists);
        assert!(elsewhere || is_listed, "`{name}` is not in the table");
    }
}

#[test]
fn a_node_vec_is_lent_for_all_but_a_few_methods() {
    let node = fs::read_to_string(format!("{ROOT}/crates/ebbtide/src/vector/node.rs")).unwrap();
    let signatures = node.split("    pub fn ").skip(1).map(|rest| rest.split_once('{').unwrap().0);
    let with_scope = signatures.filter(|signature| signature.contains("scope: &"));
    let names: Vec<&str> =
        with_scope.map(|signature| signature.split(['<', '(']).next().unwrap()).collect();
    assert_eq!(names, ["with", "push", "try_push", "extend", "try_extend", "into_vec"]);
}

#[test]
fn every_method_of_the_collections_is_in_a_fuzz_target() {
    let root = Path::new(ROOT).join("crates/ebbtide");
    let targets = ["collections", "maps", "strings", "text", "vectors"]
        .map(|target| fs::read_to_string(root.join(format!("tests/targets/{target}.rs"))).unwrap());
    let called = |name: &str| {
        let calls = [format!(".{name}("), format!(".{name}::<"), format!("::{name}(")];
        targets.iter().any(|target| calls.iter().any(|call| target.contains(call)))
    };
    for path in ["vector.rs", "vector", "text.rs", "collections"] {
        for name in functions(&root.join("src").join(path)) {
            assert!(called(&name), "no target calls `{name}`");
        }
    }
}
