//! Explicit scopes of ebbtide: values with the same lifetime share a scope.

mod bag;
mod json;
mod stack;
mod table;
mod trees;

use ebbtide::{Arena, Scope};

use crate::input::File;
use crate::stages::chain::{self, Floats};
use crate::stages::{Memory, group, intern, medians, parse};
use bag::Bag;
use table::Table;

/// One arena for each lifetime, because scopes of the same arena have to be nested.
#[derive(Default)]
pub(crate) struct Scopes {
    /// Values that live as long as the job.
    kept: Arena,
    /// Values that live as long as a document or file.
    tree: Arena,
    /// Temporary values.
    passing: Arena,
}

impl Memory for Scopes {
    fn parse(&mut self, document: &str) -> parse::Found {
        let (tree, passing) = (self.tree.scope(), self.passing.scope());
        parse::parse_and_query(document, &mut json::Builder::new(&tree, &passing))
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        let kept = self.kept.scope();
        let mut places: Table<Bag<_>> = Table::new(&kept);
        group::for_each_word(files, |word, place| {
            let passing = self.passing.scope();
            let spelling = passing.alloc_str(word);
            spelling.make_ascii_lowercase();
            places.entry(spelling, Bag::default).push(&kept, place);
        });
        let groups = places.iter().map(|(spelling, places)| (spelling, places.len(), places));
        group::query(kept.alloc_slice_from_iter(groups), |places| places.iter())
    }

    fn intern(&mut self, files: &[File]) -> intern::Found {
        let kept = self.kept.scope();
        let mut found = intern::Found::default();
        let mut names = Table::new(&kept);
        for file in files {
            let (tree, passing) = (self.tree.scope(), self.passing.scope());
            let mut builder = trees::Builder::new(&tree, &passing, &mut names);
            found.read_trees(&intern::trees(file, &mut builder));
        }
        let in_order = kept.alloc_slice_fill_copy(names.len(), "");
        found.read_names(in_order, names.iter().map(|(name, &number)| (name, number)));
        found
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        chain::sum(&self.passing.scope(), window)
    }

    fn medians(&mut self, window: &[f64]) -> medians::Found {
        medians::of_window(&self.passing.scope(), window)
    }
}

impl<'a> Floats for Scope<'a> {
    type Vector = &'a mut [f64];

    fn vector(&self, len: usize, value: impl FnMut(usize) -> f64) -> &'a mut [f64] {
        self.alloc_slice_fill_with(len, value)
    }
}
