//! Values, vectors, strings and hash maps of `serde_json` and the standard library.

use std::collections::HashMap;

use serde_json::Value;

use crate::hash::FoldState;
use crate::input::File;
use crate::stages::Memory;
use crate::stages::chain::{self, Floats};
use crate::stages::group::{self, Place};
use crate::stages::parse::{self, Dom};

/// The heap.
#[derive(Default)]
pub(crate) struct Heap;

impl Memory for Heap {
    fn parse(&mut self, document: &str) -> Result<parse::Found, serde_json::Error> {
        Ok(parse::query(&serde_json::from_str::<Value>(document)?))
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        let mut places: HashMap<String, Vec<Place>, FoldState> = HashMap::default();
        group::for_each_word(files, |word, place| {
            places.entry(word.to_ascii_lowercase()).or_default().push(place);
        });
        let mut groups: Vec<_> = places.iter().map(|(word, places)| (&**word, &**places)).collect();
        group::query(&mut groups)
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        chain::sum(self, window)
    }
}

impl Floats for Heap {
    type Vector = Vec<f64>;

    fn vector(&self, len: usize, value: impl FnMut(usize) -> f64) -> Vec<f64> {
        (0..len).map(value).collect()
    }
}

impl Dom for Value {
    fn truth(&self) -> Option<bool> {
        self.as_bool()
    }

    fn number(&self) -> Option<f64> {
        self.as_f64()
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn items(&self) -> &[Self] {
        self.as_array().map_or(&[], Vec::as_slice)
    }

    fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }

    fn member(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }
}
