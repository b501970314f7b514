//! Vectors, strings and hash maps of the standard library.

pub(crate) mod json;
mod trees;

use std::collections::HashMap;

use crate::hash::FoldState;
use crate::input::File;
use crate::stages::chain::{self, Floats};
use crate::stages::group::{self, Place};
use crate::stages::{Memory, intern, medians, parse};
use trees::Builder;

/// The heap.
#[derive(Default)]
pub(crate) struct Heap;

impl Memory for Heap {
    fn parse(&mut self, document: &str) -> parse::Found {
        parse::parse_and_query(document, &mut json::Builder)
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        let mut places: HashMap<String, Vec<Place>, FoldState> = HashMap::default();
        group::for_each_word(files, |word, place| {
            places.entry(word.to_ascii_lowercase()).or_default().push(place);
        });
        let mut groups: Vec<_> =
            places.iter().map(|(word, places)| (word.as_str(), places.len(), places)).collect();
        group::query(&mut groups, |places| places.iter().copied())
    }

    fn intern(&mut self, files: &[File]) -> intern::Found {
        let mut found = intern::Found::default();
        let mut builder = Builder::default();
        for file in files {
            found.read_trees(&intern::trees(file, &mut builder));
        }
        let mut in_order = vec![""; builder.names.len()];
        let names = builder.names.iter().map(|(name, &number)| (name.as_str(), number));
        found.read_names(&mut in_order, names);
        found
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        chain::sum(self, window)
    }

    fn medians(&mut self, window: &[f64]) -> medians::Found {
        medians::of_window(self, window)
    }
}

impl Floats for Heap {
    type Vector = Vec<f64>;

    fn vector(&self, len: usize, value: impl FnMut(usize) -> f64) -> Vec<f64> {
        (0..len).map(value).collect()
    }
}
