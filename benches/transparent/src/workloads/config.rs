//! Parses a TOML document with its formatting, edits it and writes it.

use super::text::Numbers;
use std::fmt::Write;
use toml_edit::{DocumentMut, value};

pub(super) fn configs(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(11);
    let mut text = String::from("# packages of a port\n");
    for package in 0..size {
        write!(
            text,
            "\n[package.p{package}] # {}\nname = \"{}\"\nversion = \"{}.{}.0\"\n\
             tags = [\"{}\", \"{}\"]\nowner = {{ name = \"{}\", since = {} }}\n",
            numbers.words(2),
            numbers.words(2),
            numbers.below(9),
            numbers.below(20),
            numbers.word(),
            numbers.word(),
            numbers.words(2),
            1990 + numbers.below(30),
        )
        .expect("a string takes all");
    }
    move || once(&text)
}

/// The bytes of the document after every version was raised.
#[inline(never)]
fn once(text: &str) -> u64 {
    let mut document: DocumentMut = text.parse().expect("it is TOML");
    let packages = document["package"].as_table_mut().expect("a table of packages");
    let mut raised = 0;
    for (_, package) in packages.iter_mut() {
        let version = package["version"].as_str().expect("a version").to_owned();
        package["version"] = value(version.replace(".0", ".1"));
        raised += 1;
    }
    raised << 32 | document.to_string().len() as u64
}
