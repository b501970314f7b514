//! Parses JSON documents into trees and queries them: number of values, depth, and, in the output
//! of `cargo metadata`, the packages and their dependencies by kind.

use std::hash::Hasher;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::Input;
use crate::json::{self, Build, Dom, View};

pub(crate) const DESCRIPTION: &str = "\
    Each JSON document becomes a tree of values that own their text. A query counts the values \
    and, in the output of cargo metadata, the packages and their dependencies by kind. One scope \
    per document.";

/// The result for a document.
#[derive(Default)]
pub(crate) struct Found {
    values: u64,
    packages: u64,
    /// Normal, development and build dependencies.
    dependencies: [u64; 3],
    content: Fold,
}

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let (mut values, mut packages, mut dependencies) = (0, 0, 0);
    for document in input.documents() {
        let found = memory.parse(&document.text);
        checksum.write_u64(found.content.finish());
        found.dependencies.into_iter().for_each(|count| checksum.write_u64(count));
        values += found.values;
        packages += found.packages;
        dependencies += found.dependencies.iter().sum::<u64>();
    }
    [("values", values), ("packages", packages), ("dependencies", dependencies)]
}

/// Parses a document, which [`Input`] has checked to be valid JSON, and queries it.
pub(crate) fn parse_and_query<D: Dom>(document: &str, build: &mut impl Build<Value = D>) -> Found {
    json::parse(document, build).map_or_else(|_| Found::default(), |root| query(&root))
}

fn query<D: Dom>(document: &D) -> Found {
    let mut found = Found::default();
    visit(document, &mut found);
    for package in document.get("packages").and_then(Dom::items).into_iter().flatten() {
        found.packages += 1;
        for dependency in package.get("dependencies").and_then(Dom::items).into_iter().flatten() {
            let kind = match dependency.get("kind").and_then(Dom::text) {
                Some("dev") => 1,
                Some("build") => 2,
                _ => 0,
            };
            found.dependencies[kind] += 1;
        }
    }
    found
}

fn visit<D: Dom>(value: &D, found: &mut Found) {
    found.values += 1;
    match value.view() {
        View::Null => found.content.write_u8(0),
        View::Bool(bool) => found.content.write_u8(1 + u8::from(bool)),
        View::Number(number) => found.content.write_u64(number.to_bits()),
        View::Text(text) => found.content.write(text.as_bytes()),
        View::List(items) => items.for_each(|item| visit(item, found)),
        View::Object(members) => members.map(D::parts).for_each(|(key, value)| {
            found.content.write(key.as_bytes());
            visit(value, found);
        }),
    }
}
