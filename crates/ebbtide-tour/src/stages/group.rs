//! Groups the words of all files by their lower-case spelling and remembers every position, like
//! the index of a book.

use std::hash::Hasher;

use super::{Figures, Memory};
use crate::hash::Fold;
use crate::input::{File, Input};

pub(crate) const DESCRIPTION: &str = "\
    Every word of every file goes into a hash map from its lower-case spelling to its positions; \
    then the groups are sorted by size. One scope for the map, and one per word for the lower-case \
    copy.";

/// The position of a word.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) line: u32,
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
            let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
            for word in words.filter(|word| !word.is_empty()) {
                on_word(word, Place { file, line });
            }
        }
    }
}

/// A spelling, the number of its positions, and the positions.
pub(crate) type Group<'k, P> = (&'k str, usize, P);

/// Sorts the groups by size, descending, then by spelling, and computes the result.
pub(crate) fn query<P, I>(groups: &mut [Group<'_, P>], places: impl Fn(&P) -> I) -> Found
where
    I: Iterator<Item = Place>,
{
    groups.sort_unstable_by(|(a, a_count, _), (b, b_count, _)| {
        b_count.cmp(a_count).then_with(|| a.cmp(b))
    });
    let mut found = Found { groups: groups.len() as u64, ..Found::default() };
    for (spelling, count, group) in groups {
        found.words += *count as u64;
        found.largest = found.largest.max(*count as u64);
        found.content.write(spelling.as_bytes());
        for place in places(group) {
            found.content.write_u32(place.file);
            found.content.write_u32(place.line);
        }
    }
    found
}
