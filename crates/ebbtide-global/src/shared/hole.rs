//! Holes: free parts of a chunk between its live blocks. Safe arithmetic.
//!
//! A hole begins and ends at a multiple of the granule, and is at least one granule large. Its first
//! eight bytes are its *link*: the size of the hole, and where the next one of its list begins.
#![forbid(unsafe_code)]

use crate::size::{CHUNK, GRANULE};
use core::{mem::replace, ops::Range};

/// The granules of a chunk.
const GRANULES: usize = CHUNK / GRANULE;

/// A free part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where it begins, in granules from the start of the chunk.
    start: u16,
    granules: u16,
}

#[allow(clippy::cast_possible_truncation, reason = "a chunk has fewer granules")]
const fn granules(bytes: usize) -> u16 {
    const { assert!(GRANULES < 1 << 16) };
    (bytes / GRANULE) as u16
}

impl Hole {
    /// The `bytes` bytes at an offset in a chunk. Both are multiples of the granule.
    pub(crate) fn new(offset: usize, bytes: usize) -> Hole {
        let is_in_chunk = offset % GRANULE == 0 && bytes % GRANULE == 0 && offset + bytes <= CHUNK;
        invariant!(is_in_chunk, "H1, the place of a hole");
        Hole { start: granules(offset), granules: granules(bytes) }
    }

    /// The hole that begins at this granule and has this link.
    pub(crate) fn from_link(start: u16, link: u64) -> Hole {
        #[allow(clippy::cast_possible_truncation, reason = "the lower 16 bits are meant")]
        Hole { start, granules: link as u16 }
    }

    /// The link to the next hole, which begins at this granule.
    pub(crate) fn link(self, next: u16) -> u64 {
        u64::from(next) << 16 | u64::from(self.granules)
    }

    /// The granule at which the hole begins. Never 0, because no block begins there.
    pub(crate) fn start(self) -> u16 {
        self.start
    }

    /// Where the hole begins, in bytes from the start of the chunk.
    pub(crate) fn offset(self) -> usize {
        self.start as usize * GRANULE
    }

    /// The size in bytes.
    pub(crate) fn bytes(self) -> usize {
        self.granules as usize * GRANULE
    }
}

/// Where the hole after the one with this link begins; 0 if it is the last of its list.
pub(crate) fn next(link: u64) -> u16 {
    #[allow(clippy::cast_possible_truncation, reason = "a link has 32 bits")]
    let next = (link >> 16) as u16;
    next
}

/// A list of holes: the first one, and the size of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holes {
    first: u16,
    granules: u16,
}

impl Holes {
    /// No holes.
    pub(crate) const NONE: Holes = Holes { first: 0, granules: 0 };

    pub(crate) fn from_bits(bits: u32) -> Holes {
        #[allow(clippy::cast_possible_truncation, reason = "each half has 16 bits")]
        Holes { first: bits as u16, granules: (bits >> 16) as u16 }
    }

    pub(crate) fn to_bits(self) -> u32 {
        u32::from(self.granules) << 16 | u32::from(self.first)
    }

    /// These holes behind another one.
    pub(crate) fn with(self, hole: Hole) -> Holes {
        // Holes do not overlap, so the sum is at most a chunk.
        Holes { first: hole.start, granules: self.granules.wrapping_add(hole.granules) }
    }

    /// These holes without the first one, where `next` is the start of the second.
    pub(crate) fn without(self, first: Hole, next: u16) -> Holes {
        Holes { first: next, granules: self.granules.wrapping_sub(first.granules) }
    }

    /// The granule at which the first hole begins; 0 if there is none.
    pub(crate) fn first(self) -> u16 {
        self.first
    }

    /// The bytes of all holes.
    pub(crate) fn bytes(self) -> usize {
        self.granules as usize * GRANULE
    }
}

/// The free granules of a chunk, in order to merge neighbouring holes: one bit for each granule.
pub(crate) struct Map {
    words: [u64; GRANULES / 64],
    /// The words that may differ from 0.
    used: Range<usize>,
}

impl Map {
    pub(crate) fn new() -> Map {
        Map { words: [0; GRANULES / 64], used: NO_WORDS }
    }

    /// Adds a hole that overlaps none of the others.
    #[inline]
    pub(crate) fn add(&mut self, hole: Hole) {
        let (mut at, end) = (hole.start as usize, hole.start as usize + hole.granules as usize);
        self.used = self.used.start.min(at / 64)..self.used.end.max(end.div_ceil(64));
        while at < end {
            let (word, bit) = (at / 64, at % 64);
            let count = (64 - bit).min(end - at);
            let mask = (u64::MAX >> (64 - count)) << bit;
            invariant!(self.words[word] & mask == 0, "H1, holes do not overlap");
            self.words[word] |= mask;
            at += count;
        }
    }

    /// Removes all holes, and calls `f` for each merged hole, from the last to the first. Examines
    /// only the part of the chunk in which they lie.
    pub(crate) fn drain_from_last(&mut self, mut f: impl FnMut(Hole)) {
        let used = replace(&mut self.used, NO_WORDS);
        // Where the hole ends that continues below `at`, or 0 between two holes.
        let (mut at, mut end) = (used.end * 64, 0);
        while at > used.start * 64 {
            if at % 64 == 0 && end == 0 && self.words[at / 64 - 1] == 0 {
                at -= 64;
                continue;
            }
            let bits = (at - 1) % 64 + 1;
            let below = self.words[(at - 1) / 64] << (64 - bits);
            let same = if end > 0 { below.leading_ones() } else { below.leading_zeros() };
            let same = (same as usize).min(bits);
            at -= same;
            if end > 0 && (same < bits || at == used.start * 64) {
                f(Hole::new(at * GRANULE, (end - at) * GRANULE));
            }
            if same < bits {
                end = if end > 0 { 0 } else { at };
            }
        }
        if let Some(words) = self.words.get_mut(used) {
            words.fill(0);
        }
    }
}

/// No words of a [`Map`], so that the first hole decides which words are used.
const NO_WORDS: Range<usize> = Range { start: GRANULES / 64, end: 0 };

#[cfg(test)]
mod tests {
    use super::*;

    fn merged_in(map: &mut Map, holes: &[Hole]) -> Vec<Hole> {
        holes.iter().for_each(|hole| map.add(*hole));
        let mut merged = Vec::new();
        map.drain_from_last(|hole| merged.insert(0, hole));
        merged
    }

    fn merged(holes: &[Hole]) -> Vec<Hole> {
        merged_in(&mut Map::new(), holes)
    }

    #[test]
    fn neighbours_merge_and_others_do_not() {
        let hole = |start, granules| Hole { start, granules };
        assert_eq!(merged(&[]), []);
        assert_eq!(merged(&[hole(3, 1)]), [hole(3, 1)]);
        assert_eq!(merged(&[hole(8, 2), hole(3, 5)]), [hole(3, 7)]);
        assert_eq!(merged(&[hole(9, 2), hole(3, 5)]), [hole(3, 5), hole(9, 2)]);
        // Whole words, and holes that begin and end at the ends of words.
        for (start, granules) in [(3, 8189), (64, 64), (63, 2), (100, 300), (8191, 1), (128, 1)] {
            assert_eq!(merged(&[hole(start, granules)]), [hole(start, granules)]);
        }
    }

    #[test]
    fn random_holes_merge_like_a_list_of_free_granules() {
        let (mut random, mut map) = (1_u64, Map::new());
        for _ in 0..200 {
            let (mut holes, mut free) = (Vec::new(), vec![false; GRANULES + 1]);
            let mut at = 3;
            while at < GRANULES {
                random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(7);
                let granules = (1 + (random >> 33) as usize % 150).min(GRANULES - at);
                if random >> 63 == 0 {
                    holes.push(Hole::new(at * GRANULE, granules * GRANULE));
                    free[at..at + granules].fill(true);
                }
                at += granules;
            }
            let mut expected = Vec::new();
            let mut start = 0;
            for at in 1..=GRANULES {
                match (free[at - 1], free[at]) {
                    (false, true) => start = at,
                    (true, false) => {
                        expected.push(Hole::new(start * GRANULE, (at - start) * GRANULE));
                    }
                    _ => {}
                }
            }
            assert_eq!(merged(&holes), expected);
            // Some of them, in a map that has had others.
            holes.drain(..holes.len() / 3);
            holes.truncate((random >> 40) as usize % (holes.len() + 1));
            assert_eq!(merged_in(&mut map, &holes), merged(&holes));
        }
    }

    #[test]
    fn a_link_has_the_size_and_the_next_hole() {
        for hole in [Hole::new(24, 8), Hole::new(24, CHUNK - 24), Hole::new(CHUNK - 8, 8)] {
            for other in [0, 3, 8191] {
                let link = hole.link(other);
                assert_eq!(Hole::from_link(hole.start(), link), hole);
                assert_eq!(next(link), other);
            }
            let holes = Holes::NONE.with(hole);
            assert_eq!(Holes::from_bits(holes.to_bits()), holes);
            assert_eq!((holes.first(), holes.bytes()), (hole.start(), hole.bytes()));
            assert_eq!(holes.without(hole, 0), Holes::NONE);
        }
    }
}
