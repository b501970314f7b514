//! Decisions decoded from bytes. After the last byte, every decision is 0.

use std::alloc::Layout;

pub struct Input<'b> {
    bytes: &'b [u8],
}

impl<'b> Input<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Input { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `end`, which is at most 256.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Mostly small, rarely thousands.
    pub fn size(&mut self) -> usize {
        let byte = self.below(256);
        match byte % 8 {
            0 => byte * 37,
            1 => byte * 4,
            _ => byte / 8,
        }
    }

    pub fn layout(&mut self) -> Layout {
        let size = self.size();
        let align = match self.below(32) {
            shift @ 0..=12 => 1 << shift,
            shift => 1 << (shift % 5),
        };
        Layout::from_size_align(size, align).unwrap_or(Layout::new::<u8>())
    }

    /// Characters of one to four bytes.
    pub fn text(&mut self) -> String {
        let len = self.below(24) * if self.below(8) == 0 { 40 } else { 1 };
        let (first, step) = (self.byte(), self.byte());
        let letter = |i: usize| {
            let byte = first.wrapping_add(step.wrapping_mul(i as u8));
            ['a', 'ß', '€', '🦀'][usize::from(byte % 4)]
        };
        (0..len).map(letter).collect()
    }
}

/// The last character boundary up to `len`.
pub fn boundary(text: &str, len: usize) -> usize {
    (0..=len.min(text.len())).rfind(|len| text.is_char_boundary(*len)).unwrap_or(0)
}
