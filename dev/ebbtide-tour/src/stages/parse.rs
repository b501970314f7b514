//! Parses JSON documents into trees and queries them: number of values and, in the output of `cargo
//! metadata`, the packages and their dependencies by kind.

use std::hash::Hasher;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::Input;
use crate::modes::{heap::Heap, scopes::Scopes};

pub(crate) const DESCRIPTION: &str = "\
    Each JSON document becomes a tree of values. A query counts the values and, in the output of \
    cargo metadata, the packages and their dependencies by kind. One scope per document.";

pub(crate) const LIMIT: &str = "\
    strings and vectors that grow leave their old blocks behind until the scope ends";

/// A JSON value. `serde_json` parses for every kind of memory; the types of the values differ.
pub(crate) trait Dom: Sized {
    fn truth(&self) -> Option<bool>;
    fn number(&self) -> Option<f64>;
    fn text(&self) -> Option<&str>;
    fn items(&self) -> &[Self];
    fn members(&self) -> impl Iterator<Item = (&str, &Self)>;
    fn member(&self, key: &str) -> Option<&Self>;
}

/// The result for a document.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Found {
    values: u64,
    packages: u64,
    /// Normal, development and build dependencies.
    dependencies: [u64; 3],
    content: u64,
}

/// Why the kinds of memory cannot parse `document` into the same values.
pub(crate) fn check(document: &str) -> Result<(), String> {
    match [Heap.parse(document), Scopes::default().parse(document)] {
        [Ok(on_heap), Ok(in_scopes)] if on_heap == in_scopes => Ok(()),
        [Ok(_), Ok(_)] => Err("an object has a key twice".to_owned()),
        [Err(error), _] | [_, Err(error)] => Err(error.to_string()),
    }
}

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let (mut values, mut packages, mut dependencies) = (0, 0, 0);
    for document in input.documents() {
        // The reader has checked that it is JSON.
        let found = memory.parse(&document.text).unwrap_or_default();
        checksum.write_u64(found.content);
        found.dependencies.into_iter().for_each(|count| checksum.write_u64(count));
        values += found.values;
        packages += found.packages;
        dependencies += found.dependencies.iter().sum::<u64>();
    }
    [("values", values), ("packages", packages), ("dependencies", dependencies)]
}

pub(crate) fn query(document: &impl Dom) -> Found {
    let mut found = Found::default();
    found.content = digest(document, &mut found.values);
    for package in document.member("packages").map_or(&[][..], Dom::items) {
        found.packages += 1;
        for dependency in package.member("dependencies").map_or(&[][..], Dom::items) {
            let kind = match dependency.member("kind").and_then(Dom::text) {
                Some("dev") => 1,
                Some("build") => 2,
                _ => 0,
            };
            found.dependencies[kind] += 1;
        }
    }
    found
}

/// A hash of everything in `value`. Adds the number of values to `values`.
fn digest(value: &impl Dom, values: &mut u64) -> u64 {
    *values += 1;
    let mut content = Fold::default();
    value.truth().into_iter().for_each(|truth| content.write_u8(truth.into()));
    value.number().into_iter().for_each(|number| content.write_u64(number.to_bits()));
    value.text().into_iter().for_each(|text| content.write(text.as_bytes()));
    value.items().iter().for_each(|item| content.write_u64(digest(item, values)));
    // Not every map keeps the order of its members.
    let members = value.members().map(|(key, member)| {
        let mut content = Fold::default();
        content.write(key.as_bytes());
        content.write_u64(digest(member, values));
        content.finish()
    });
    content.write_u64(members.fold(0, u64::wrapping_add));
    content.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_all_kinds_of_memory_can_parse_are_accepted() {
        assert_eq!(check(r#"[{"a\u00e9\n": [null, true, -1.5e3, 7, "b"]}, {}, []]"#), Ok(()));
        assert_eq!(check(r#"{"a": 1, "a": 2}"#), Err("an object has a key twice".to_owned()));
        assert_eq!(check("[1] 2"), Err("trailing characters at line 1 column 5".to_owned()));
    }
}
