//! Text and numbers for inputs, the same in every process.

/// A generator of numbers (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    /// Between 0 and 1.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    pub(super) fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }
}

const WORDS: [&str; 24] = [
    "harbour", "tide", "lantern", "rope", "salt", "gull", "anchor", "keel", "mast", "cargo",
    "ledger", "quay", "barrel", "compass", "chart", "oar", "sail", "hull", "beacon", "current",
    "drift", "shoal", "net", "pier",
];
