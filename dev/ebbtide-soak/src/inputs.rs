//! Generated text, and work on it; the same in every run.

use std::{collections::HashMap, fmt::Write};

/// A generator of numbers (xorshift).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Different seeds give different sequences.
    pub fn new(seed: u64) -> Self {
        Random((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    #[allow(clippy::cast_possible_truncation, reason = "fits: it is below a usize")]
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.number() >> 11) % bound as u64) as usize
    }

    /// True once in `n` times. Cheaper than [`Random::below`], for the decisions about each block.
    pub fn one_in(&mut self, n: usize) -> bool {
        (self.number() >> 32) * (n as u64) < 1 << 32
    }

    /// A number from `least`, above 0, to `most`, as often between any two powers of two. Computed
    /// with integers, so it is the same on every machine.
    pub fn log(&mut self, least: usize, most: usize) -> usize {
        let octaves = (most / least).ilog2() as usize + 1;
        loop {
            let low = least << self.below(octaves);
            let number = low + self.below(low);
            if number <= most {
                return number;
            }
        }
    }

    /// A word of a small vocabulary.
    pub fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    /// `count` words, separated by spaces.
    pub fn words(&mut self, count: usize) -> String {
        let mut text = String::new();
        for index in 0..count {
            text += if index == 0 { "" } else { " " };
            text += self.word();
        }
        text
    }
}

const WORDS: [&str; 20] = [
    "harbour", "tide", "lantern", "rope", "salt", "gull", "anchor", "keel", "mast", "cargo",
    "ledger", "quay", "barrel", "compass", "chart", "oar", "sail", "hull", "beacon", "pier",
];

/// A record like those of servers and caches: about 700 bytes in a dozen blocks.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Short.
    pub title: String,
    /// Grown by doubling.
    pub body: String,
    /// A few short ones.
    pub tags: Vec<String>,
}

impl Record {
    /// The sum of the lengths of its texts.
    pub fn sum(&self) -> u64 {
        let tags: usize = self.tags.iter().map(String::len).sum();
        (self.title.len() + self.body.len() + tags) as u64
    }
}

/// Answers a request, with temporary strings and maps. The result is meant to be kept.
pub fn answer(random: &mut Random) -> Record {
    let line = random.words(24);
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, word) in line.split(' ').enumerate() {
        places.entry(word.to_owned()).or_default().push(place);
    }
    let mut words: Vec<&String> = places.keys().collect();
    words.sort();
    let mut page = String::new();
    for word in &words {
        // Formatting into a string does not fail.
        let _ = writeln!(page, "<li>{word}: {:?}</li>", places[*word]);
    }
    let tags = words.iter().take(2 + random.below(6)).map(|&word| word.clone()).collect();
    Record { title: random.words(3), body: page, tags }
}

/// Makes the temporaries of [`answer`] but keeps nothing; returns the number of bytes written.
pub fn work(random: &mut Random) -> u64 {
    answer(random).sum()
}
