//! Groups the words of all files by their lower-case spelling and remembers every position, like
//! the index of a book.

use std::hash::Hasher;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::{self, File, Input};

pub(crate) const DESCRIPTION: &str = "\
    Every word of every file goes into a hash map from its lower-case spelling to its positions; \
    then the groups are sorted by size. One scope for the map, and one per word for the lower-case \
    copy.";

pub(crate) const LIMIT: &str = "\
    the vectors of positions grow side by side, and a full one moves; the heap uses its old block \
    again at once, a scope when it ends, so it also touches more pages";

/// The position of a word.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    file: u32,
    line: u32,
}

/// The result of this stage.
#[derive(Default)]
pub(crate) struct Found {
    words: u64,
    groups: u64,
    largest: u64,
    content: Fold,
}

pub(crate) fn run<M: Memory>(memory: &mut M, input: &Input, checksum: &mut Fold) -> Figures {
    let found = memory.group(&input.files);
    checksum.write_u64(found.content.finish());
    [("words", found.words), ("spellings", found.groups), ("largest group", found.largest)]
}

/// Calls `on_word` with every word of `files` and its position.
#[inline]
pub(crate) fn for_each_word<'t>(files: &'t [File], mut on_word: impl FnMut(&'t str, Place)) {
    for (file, content) in (0..).zip(files) {
        for (line, text) in (1..).zip(content.text.lines()) {
            input::words(text).for_each(|word| on_word(word, Place { file, line }));
        }
    }
}

/// Sorts the groups by size, descending, then by spelling, and computes the result.
pub(crate) fn query(groups: &mut [(&str, &[Place])]) -> Found {
    groups.sort_unstable_by(|(a, a_places), (b, b_places)| {
        b_places.len().cmp(&a_places.len()).then_with(|| a.cmp(b))
    });
    let mut found = Found { groups: groups.len() as u64, ..Found::default() };
    for (spelling, places) in groups {
        found.words += places.len() as u64;
        found.largest = found.largest.max(places.len() as u64);
        found.content.write(spelling.as_bytes());
        for place in *places {
            found.content.write_u32(place.file);
            found.content.write_u32(place.line);
        }
    }
    found
}
