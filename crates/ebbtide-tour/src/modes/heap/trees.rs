//! Token trees as nested vectors, and the names in a hash map.

use std::collections::HashMap;

use crate::hash::FoldState;
use crate::stages::intern::{Build, Forest, Leaf};

pub(crate) enum Tree {
    Leaf(Leaf),
    Group(Vec<Tree>),
}

/// Builds trees and interns names.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) names: HashMap<String, u32, FoldState>,
}

impl Build for Builder {
    type Open = Vec<Tree>;
    type Trees = Vec<Tree>;

    fn open(&mut self) -> Vec<Tree> {
        Vec::new()
    }

    fn push_leaf(&mut self, trees: &mut Vec<Tree>, leaf: Leaf) {
        trees.push(Tree::Leaf(leaf));
    }

    fn push_group(&mut self, trees: &mut Vec<Tree>, group: Vec<Tree>) {
        trees.push(Tree::Group(group));
    }

    fn close(&mut self, trees: Vec<Tree>) -> Vec<Tree> {
        trees
    }

    fn symbol(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.names.get(text) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.insert(text.to_owned(), number);
        number
    }
}

impl Forest for Vec<Tree> {
    fn visit(&self, on_leaf: &mut impl FnMut(Leaf)) -> u32 {
        visit(self, on_leaf, 0)
    }
}

fn visit(trees: &[Tree], on_leaf: &mut impl FnMut(Leaf), depth: u32) -> u32 {
    trees.iter().fold(depth, |deepest, tree| match tree {
        Tree::Leaf(leaf) => {
            on_leaf(*leaf);
            deepest
        }
        Tree::Group(trees) => deepest.max(visit(trees, on_leaf, depth + 1)),
    })
}
