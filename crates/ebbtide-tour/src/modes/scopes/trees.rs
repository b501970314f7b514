//! Token trees as slices in a scope. Names are in a table that outlives them.

use ebbtide::Scope;

use super::stack::Stack;
use super::table::Table;
use crate::stages::intern::{Build, Forest, Leaf};

#[derive(Clone, Copy)]
pub(crate) enum Tree<'a> {
    Leaf(Leaf),
    Group(&'a [Tree<'a>]),
}

/// Builds trees and interns names.
pub(crate) struct Builder<'b, 'a, 'n> {
    tree: &'b Scope<'a>,
    trees: Stack<'b, Tree<'a>>,
    names: &'b mut Table<'n, u32>,
}

impl<'b, 'a, 'n> Builder<'b, 'a, 'n> {
    /// A builder that keeps trees in `tree` and temporary values in `passing`.
    pub(crate) fn new(
        tree: &'b Scope<'a>,
        passing: &'b Scope<'b>,
        names: &'b mut Table<'n, u32>,
    ) -> Self {
        Self { tree, trees: Stack::new(passing), names }
    }
}

impl<'a> Build for Builder<'_, 'a, '_> {
    /// The position on the stack where the trees of a group start.
    type Open = usize;
    type Trees = &'a [Tree<'a>];

    fn open(&mut self) -> usize {
        self.trees.len()
    }

    fn push_leaf(&mut self, _: &mut usize, leaf: Leaf) {
        self.trees.push(Tree::Leaf(leaf));
    }

    fn push_group(&mut self, _: &mut usize, group: &'a [Tree<'a>]) {
        self.trees.push(Tree::Group(group));
    }

    fn close(&mut self, start: usize) -> &'a [Tree<'a>] {
        self.trees.pop_to(start, self.tree)
    }

    fn symbol(&mut self, text: &str) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        *self.names.entry(text, || next)
    }
}

impl Forest for &[Tree<'_>] {
    fn visit(&self, on_leaf: &mut impl FnMut(Leaf)) -> u32 {
        visit(self, on_leaf, 0)
    }
}

fn visit(trees: &[Tree<'_>], on_leaf: &mut impl FnMut(Leaf), depth: u32) -> u32 {
    trees.iter().fold(depth, |deepest, tree| match tree {
        Tree::Leaf(leaf) => {
            on_leaf(*leaf);
            deepest
        }
        Tree::Group(trees) => deepest.max(visit(trees, on_leaf, depth + 1)),
    })
}
