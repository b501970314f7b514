//! The front end of a compiler: splits sources into tokens, nests them by their brackets as for
//! macros, and interns names.

use std::hash::Hasher;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::{File, Input, Kind as FileKind};
use crate::lexer::{self, Kind, Tokens};

pub(crate) const DESCRIPTION: &str = "\
    Each file is split into tokens, which become trees nested by their brackets. Names and \
    literals are interned across all files. One scope for the names, and one per file for its \
    trees.";

/// Deeper brackets are treated as plain tokens, so that walking a tree cannot overflow the stack.
const MAX_DEPTH: u32 = 128;

/// A token in a tree: an interned text, or punctuation.
#[derive(Clone, Copy)]
pub(crate) enum Leaf {
    Symbol(u32),
    Punctuation(char),
}

/// Builds trees from tokens.
pub(crate) trait Build {
    /// An unfinished group.
    type Open;
    /// The leaves and groups between two brackets, in order.
    type Trees;

    fn open(&mut self) -> Self::Open;
    fn push_leaf(&mut self, open: &mut Self::Open, leaf: Leaf);
    fn push_group(&mut self, open: &mut Self::Open, group: Self::Trees);
    fn close(&mut self, open: Self::Open) -> Self::Trees;

    /// The number of `text`. Numbers are assigned in order of first occurrence.
    fn symbol(&mut self, text: &str) -> u32;
}

/// Finished trees.
pub(crate) trait Forest {
    /// Calls `on_leaf` with every leaf, in order, and returns the depth of the deepest brackets.
    fn visit(&self, on_leaf: &mut impl FnMut(Leaf)) -> u32;
}

/// The result of this stage.
#[derive(Default)]
pub(crate) struct Found {
    leaves: u64,
    symbols: u64,
    deepest: u32,
    content: Fold,
}

impl Found {
    /// Adds the trees of one file.
    pub(crate) fn read_trees(&mut self, trees: &impl Forest) {
        let deepest = trees.visit(&mut |leaf| {
            self.leaves += 1;
            self.content.write_u32(match leaf {
                Leaf::Symbol(number) => number,
                Leaf::Punctuation(c) => u32::from(c),
            });
        });
        self.deepest = self.deepest.max(deepest);
    }

    /// Adds the interned texts in the order of their numbers. `in_order` has one element for each.
    pub(crate) fn read_names<'n>(
        &mut self,
        in_order: &mut [&'n str],
        names: impl Iterator<Item = (&'n str, u32)>,
    ) {
        names.for_each(|(name, number)| in_order[number as usize] = name);
        in_order.iter().for_each(|name| self.content.write(name.as_bytes()));
        self.symbols += in_order.len() as u64;
    }
}

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let found = memory.intern(&input.files);
    checksum.write_u64(found.content.finish());
    [("tokens", found.leaves), ("symbols", found.symbols), ("deepest", found.deepest.into())]
}

/// The trees of `file`.
pub(crate) fn trees<B: Build>(file: &File, build: &mut B) -> B::Trees {
    group(&mut lexer::tokens(&file.text, file.kind == FileKind::Rust), build, 0)
}

/// The trees up to the bracket that closes this group, or to the end.
fn group<B: Build>(tokens: &mut Tokens<'_>, build: &mut B, depth: u32) -> B::Trees {
    let mut open = build.open();
    while let Some(token) = tokens.next() {
        match token.kind {
            Kind::Open if depth < MAX_DEPTH => {
                let inside = group(tokens, build, depth + 1);
                build.push_group(&mut open, inside);
            }
            Kind::Close if depth > 0 => break,
            Kind::Open | Kind::Close | Kind::Punctuation => {
                token.text.chars().for_each(|c| build.push_leaf(&mut open, Leaf::Punctuation(c)));
            }
            Kind::Name | Kind::Number | Kind::Literal | Kind::Lifetime => {
                let symbol = build.symbol(token.text);
                build.push_leaf(&mut open, Leaf::Symbol(symbol));
            }
        }
    }
    build.close(open)
}
