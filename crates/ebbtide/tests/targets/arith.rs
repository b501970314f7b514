//! The arithmetic of both ends, compared with a model in wider integers, for any valid layout and
//! region, in words of 16, 32 and 64 bits.

use super::input::Input;
use ebbtide::arith::{self, CHUNK_ALIGN, LOWEST_ADDRESS, SMALL, word16, word32};

/// A region and a layout.
#[derive(Clone, Copy, Debug)]
struct Case {
    top: u64,
    low: u64,
    size: u64,
    align: u64,
}

impl Case {
    /// The closest valid case in an address space of `bits` bits.
    fn decode(input: &mut Input<'_>, bits: u32) -> Self {
        let mask = u64::MAX >> (64 - bits);
        let most = mask >> 1;
        let align = 1 << (u32::from(input.byte()) % (bits - 1));
        // Near a power of two, near either end, or arbitrary.
        let mut word = || match input.byte() {
            byte @ 0..64 => {
                (1u64 << (u32::from(byte) % bits)).wrapping_sub(u64::from(input.byte()))
            }
            64..128 => u64::from(input.byte()),
            128..192 => mask - u64::from(input.byte()),
            _ => input.word(),
        };
        let (top, room, size) = (word() & mask, word() & most, word() & mask);
        let low = top.saturating_sub(room);
        // Around the size of the region.
        let size = if input.flag() { (room + (size & 0xff)).saturating_sub(128) } else { size };
        let size = size.min(most + 1 - align);
        Case { top, low, size, align }
    }

    fn down(self) -> Option<u64> {
        let (top, low) = (i128::from(self.top), i128::from(self.low));
        let (size, align) = (i128::from(self.size), i128::from(self.align));
        let start = (top - size).div_euclid(align) * align;
        (start >= low).then_some(start as u64)
    }

    fn up(self) -> Option<u64> {
        let start = u128::from(self.low).next_multiple_of(self.align.into());
        let end = start + u128::from(self.size);
        (end < self.top.into()).then_some(start as u64)
    }

    fn is_small(self) -> bool {
        let small = SMALL as u64;
        self.size <= small && self.align <= small && self.low >= LOWEST_ADDRESS as u64
    }
}

macro_rules! agree {
    ($case:expr, $word:ty, $subject:path) => {{
        use $subject as subject;
        let case: Case = $case;
        let (top, low) = (case.top as $word, case.low as $word);
        let (size, align) = (case.size as $word, case.align as $word);
        let down = subject::down(top, low, size, align).map(|start| start as u64);
        let up = subject::up(top, low, size, align).map(|start| start as u64);
        assert_eq!(down, case.down(), "down: {case:?}");
        assert_eq!(up, case.up(), "up: {case:?}");
        if case.is_small() {
            let small = subject::down_small(top, low, size, align);
            assert_eq!(small.map(|start| start as u64), case.down(), "down_small: {case:?}");
        }
        if let Some(region) = subject::region_for(size, align) {
            let chunk = CHUNK_ALIGN as $word;
            assert!(region % chunk == 0 && region >= size, "region: {case:?}");
            // The region serves the request from either end, at any address.
            let first = top - top % chunk;
            if let Some(end) = first.checked_add(region) {
                if region <= <$word>::MAX / 2 {
                    let from_top = subject::down(end, first, size, align);
                    // A low-end block ends below `end`.
                    let from_low = size.checked_sub(1).map(|s| subject::up(end, first, s, align));
                    assert!(from_top.is_some() && from_low != Some(None), "region: {case:?}");
                }
            }
        } else {
            assert!(u128::from(case.size) + 2 * u128::from(case.align) + 32 > <$word>::MAX.into());
        }
    }};
}

/// `usize`, with the interface of the others.
mod native {
    use super::arith;

    fn narrow(words: [u64; 4]) -> [usize; 4] {
        words.map(|word| word as usize)
    }

    pub fn down(top: u64, low: u64, size: u64, align: u64) -> Option<u64> {
        let [top, low, size, align] = narrow([top, low, size, align]);
        arith::down(top, low, size, align).map(|start| start as u64)
    }

    pub fn down_small(top: u64, low: u64, size: u64, align: u64) -> Option<u64> {
        let [top, low, size, align] = narrow([top, low, size, align]);
        arith::down_small(top, low, size, align).map(|start| start as u64)
    }

    pub fn up(top: u64, low: u64, size: u64, align: u64) -> Option<u64> {
        let [top, low, size, align] = narrow([top, low, size, align]);
        arith::up(top, low, size, align).map(|start| start as u64)
    }

    pub fn region_for(size: u64, align: u64) -> Option<u64> {
        arith::region_for(size as usize, align as usize).map(|region| region as u64)
    }
}

/// Compares the cases encoded in `bytes` with the model.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    while !input.is_empty() {
        match input.byte() % 3 {
            0 => agree!(Case::decode(&mut input, 16), u16, word16),
            1 => agree!(Case::decode(&mut input, 32), u32, word32),
            _ if usize::BITS == 64 => agree!(Case::decode(&mut input, 64), u64, native),
            _ => {}
        }
    }
}
