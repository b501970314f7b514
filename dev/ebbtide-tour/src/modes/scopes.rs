//! Explicit scopes of ebbtide: values with the same lifetime share a scope. None of them has a
//! destructor, so freeing all of them is free.

use ebbtide::collections::NodeVec;
use ebbtide::dynamic::Value;
use ebbtide::{Arena, Scope};
use serde::de::DeserializeSeed;

use crate::hash::FoldState;
use crate::input::File;
use crate::stages::chain::{self, Floats};
use crate::stages::parse::{self, Dom};
use crate::stages::{Memory, group};

/// One arena for each lifetime, because scopes of the same arena have to be nested.
#[derive(Default)]
pub(crate) struct Scopes {
    /// Values that live as long as the job.
    kept: Arena,
    /// Temporary values.
    passing: Arena,
}

impl Memory for Scopes {
    fn parse(&mut self, document: &str) -> Result<parse::Found, serde_json::Error> {
        let scope = self.kept.scope();
        let mut from = serde_json::Deserializer::from_str(document);
        let value = scope.seed_any().deserialize(&mut from)?;
        from.end()?;
        Ok(parse::query(&value))
    }

    fn group(&mut self, files: &[File]) -> group::Found {
        let kept = self.kept.scope();
        let mut places = kept.map_with_hasher(FoldState::default());
        group::for_each_word(files, |word, place| {
            let passing = self.passing.scope();
            let spelling = passing.alloc_str(word);
            spelling.make_ascii_lowercase();
            if !places.contains_key(&*spelling) {
                places.insert(&*kept.alloc_str(spelling), NodeVec::new());
            }
            if let Some(places) = places.get_mut(&*spelling) {
                places.push(&kept, place);
            }
        });
        let groups = places.iter().map(|(word, places)| (*word, &**places));
        group::query(kept.alloc_slice_from_iter(groups))
    }

    fn chain(&mut self, window: &[f64]) -> f64 {
        chain::sum(&self.passing.scope(), window)
    }
}

impl<'a> Floats for Scope<'a> {
    type Vector = &'a mut [f64];

    fn vector(&self, len: usize, value: impl FnMut(usize) -> f64) -> &'a mut [f64] {
        self.alloc_slice_fill_with(len, value)
    }
}

impl Dom for Value<'_> {
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
        self.as_array().unwrap_or(&[])
    }

    fn members(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.as_object().into_iter().flatten().map(|(key, value)| (*key, value))
    }

    fn member(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }
}
