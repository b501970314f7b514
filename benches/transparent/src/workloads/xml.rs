//! Parses an XML document into a read-only tree, walks it and drops it.

use super::text::Numbers;
use std::fmt::Write;

pub(super) fn documents(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(13);
    let mut text = String::from("<?xml version=\"1.0\"?>\n<ships xmlns:p=\"urn:port\">\n");
    for ship in 0..size {
        write!(
            text,
            "  <ship id=\"{ship}\" p:flag=\"{}\">\n    <name>{} &lt;{}&gt;</name>\n    \
             <cargo tons=\"{}\"/><!-- {} -->\n  </ship>\n",
            numbers.word(),
            numbers.words(2),
            numbers.word(),
            numbers.below(900),
            numbers.words(3),
        )
        .expect("a string takes all");
    }
    text += "</ships>";
    move || once(&text)
}

/// The total weight of the cargo, and the bytes of all names.
#[inline(never)]
fn once(text: &str) -> u64 {
    let document = roxmltree::Document::parse(text).expect("it is XML");
    let tons: u64 = document
        .descendants()
        .filter_map(|node| node.attribute("tons"))
        .map(|tons| tons.parse::<u64>().expect("a number"))
        .sum();
    let names = document.descendants().filter(|node| node.has_tag_name("name"));
    let bytes: usize = names.filter_map(|node| node.text()).map(str::len).sum();
    tons << 32 | bytes as u64
}
