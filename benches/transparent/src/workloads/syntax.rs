//! Parses Markdown into a syntax tree with positions, walks it and drops it.

use super::text::Numbers;
use markdown::{ParseOptions, mdast::Node, to_mdast};
use std::fmt::Write;

pub(super) fn texts(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(15);
    let mut text = String::new();
    for section in 0..size {
        write!(
            text,
            "## {section} {}\n\n{} *{}* and **{}**, `{}`, [{}](/{}).\n\n- {}\n- {}\n  1. {}\n\n\
             > {}\n\n```rust\n{}\n```\n\n| {} | {} |\n|---|---|\n| {} | {} |\n\n",
            numbers.words(3),
            numbers.words(20),
            numbers.words(2),
            numbers.word(),
            numbers.word(),
            numbers.words(2),
            numbers.word(),
            numbers.words(5),
            numbers.words(4),
            numbers.words(3),
            numbers.words(9),
            numbers.words(12),
            numbers.word(),
            numbers.word(),
            numbers.word(),
            numbers.word(),
        )
        .expect("a string takes all");
    }
    move || once(&text)
}

/// How many nodes the tree has, and the bytes of its texts.
#[inline(never)]
fn once(text: &str) -> u64 {
    let tree = to_mdast(text, &ParseOptions::gfm()).expect("plain Markdown is always valid");
    walk(&tree)
}

fn walk(node: &Node) -> u64 {
    let own = match node {
        Node::Text(text) => text.value.len() as u64,
        Node::InlineCode(code) => code.value.len() as u64,
        Node::Code(code) => code.value.len() as u64,
        _ => 0,
    };
    let children = node.children().map_or(&[][..], Vec::as_slice);
    (1 << 32) + own + children.iter().map(walk).sum::<u64>()
}
