//! Converts an SVG image with usvg: parses, resolves styles and references, and builds a tree of paths.

use super::text::Numbers;
use std::fmt::Write;
use usvg::{Group, Node, Options, Tree};

pub(super) fn drawings(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(22);
    let mut text = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"480\">\n<style>\
         .sea { fill: #248; stroke: navy } .land { fill: url(#g); stroke-width: 2 }</style>\n\
         <defs><linearGradient id=\"g\"><stop offset=\"0\" stop-color=\"green\"/>\
         <stop offset=\"1\" stop-color=\"#ed8\"/></linearGradient>\
         <rect id=\"buoy\" width=\"4\" height=\"6\" rx=\"1\"/></defs>\n",
    );
    for shape in 0..size {
        let class = if shape % 2 == 0 { "sea" } else { "land" };
        let mut place = || (numbers.below(640), numbers.below(480));
        let [(a, b), (c, d), (e, f)] = [place(), place(), place()];
        writeln!(
            text,
            "<g id=\"{}{shape}\" transform=\"translate({a} {b}) rotate({})\" opacity=\"0.9\">\
             <path class=\"{class}\" d=\"M{a} {b} l 9 9 C {c} {d} {e} {f} {b} {a} h 4 v 5 z\"/>\
             <circle class=\"land\" cx=\"{c}\" cy=\"{d}\" r=\"{}\"/>\
             <use href=\"#buoy\" x=\"{e}\" y=\"{f}\"/></g>",
            numbers.word(),
            numbers.below(360),
            1 + numbers.below(30),
        )
        .expect("a string takes all");
    }
    text += "</svg>";
    let options = Options::default();
    move || once(&text, &options)
}

/// The number of the paths, and of all their points.
#[inline(never)]
fn once(text: &str, options: &Options<'_>) -> u64 {
    let tree = Tree::from_str(text, options).expect("it is SVG");
    points(tree.root())
}

fn points(group: &Group) -> u64 {
    let count = |node: &Node| match node {
        Node::Group(group) => points(group),
        Node::Path(path) => 1 << 32 | path.data().points().len() as u64,
        _ => 0,
    };
    group.children().iter().map(count).sum()
}
