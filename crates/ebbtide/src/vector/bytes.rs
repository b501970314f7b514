//! Methods of byte vectors that only strings use.

use super::{Memory, Vector};
use crate::error::Failure;
use core::ops::Range;

impl<M: Memory> Vector<u8, M> {
    #[inline(always)]
    pub(crate) fn push_array_in<F: Failure, const N: usize>(
        &mut self,
        bytes: [u8; N],
    ) -> Result<(), F> {
        self.elements.push_array(&mut self.memory, bytes)
    }

    #[inline]
    pub(crate) fn reserve_exact_in<F: Failure>(&mut self, additional: usize) -> Result<(), F> {
        self.elements.reserve_exact(&mut self.memory, additional)
    }

    /// Replaces a range by copies of `bytes`. The range is within the length.
    #[inline]
    pub(crate) fn replace_in<F: Failure>(
        &mut self,
        range: Range<usize>,
        bytes: &[u8],
    ) -> Result<(), F> {
        self.elements.replace(&mut self.memory, range, bytes)
    }
}
