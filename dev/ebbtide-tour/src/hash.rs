//! The hash function of every kind of memory, so that differences in time come from memory alone.
//! It is fast and deterministic, and does not resist keys chosen to collide.

use std::hash::{BuildHasherDefault, Hasher};

/// Creates a [`Fold`] for each key.
pub(crate) type FoldState = BuildHasherDefault<Fold>;

/// Folds eight bytes at a time into one word. Also computes the checksums of the stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fold(u64);

/// 2⁶⁴ divided by the golden ratio: odd, with evenly spread bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Fold {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.write_u64(word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)));
        }
        let tail = words.remainder();
        if !tail.is_empty() {
            self.write_u64(tail.iter().rev().fold(1, |sum, &byte| sum << 8 | u64::from(byte)));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(SPREAD);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    /// The high bits of a product depend on all bits of its factors; tables use the low bits.
    #[inline]
    fn finish(&self) -> u64 {
        (self.0 ^ (self.0 >> 32)).wrapping_mul(SPREAD)
    }
}
