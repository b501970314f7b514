//! Figures about an arena, read from its chunks when they are asked for.

use crate::{
    chunk::Control,
    raw::{ChunkUse, Cursor},
};
use core::fmt;

/// What an arena holds and uses, in bytes.
///
/// ```
/// # use ebbtide::Arena;
/// let arena = Arena::with_capacity(1024);
/// arena.root().alloc([0u8; 100]);
/// assert_eq!(arena.stats().to_string(), "100 B used of 1.00 KiB in 1 chunk");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// What the chunks can hold together, without their headers.
    pub capacity: usize,
    /// What is in use up to the scope asked, with the padding that alignment costs. What was left free at
    /// the end of a chunk when the scope moved on does not count.
    pub used: usize,
    /// The most that was ever in use. A scope that ends leaves no trace, so this counts whole chunks
    /// that scopes have entered; with the feature `poison`, to the byte.
    pub high_water: usize,
    /// What the arena holds of its backing: the capacity and the headers.
    pub held: usize,
    /// The number of chunks.
    pub chunks: usize,
    /// How many of them serve, or served last, one request larger than an ordinary chunk.
    pub oversize: usize,
}

impl Stats {
    pub(crate) fn of(control: &Control, cursor: &Cursor) -> Self {
        let mut stats = Stats { held: control.held(), ..Stats::default() };
        for chunk in control.all() {
            stats.capacity += chunk.capacity();
            stats.chunks += 1;
            stats.oversize += usize::from(chunk.is_oversize());
        }
        stats.used = cursor.used();
        // Padding at the start of a scope counts as used, and no allocation noted it.
        control.note_high_water(stats.used);
        stats.high_water = control.high_water();
        stats
    }

    /// Counts another arena in.
    #[cfg(feature = "std")]
    pub(crate) fn add(&mut self, other: &Stats) {
        self.capacity += other.capacity;
        self.used += other.used;
        self.high_water += other.high_water;
        self.held += other.held;
        self.chunks += other.chunks;
        self.oversize += other.oversize;
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (Bytes(self.used), Bytes(self.capacity));
        let plural = if self.chunks == 1 { "" } else { "s" };
        write!(f, "{used} used of {capacity} in {} chunk{plural}", self.chunks)?;
        if self.oversize > 0 {
            write!(f, ", {} of them oversize", self.oversize)?;
        }
        Ok(())
    }
}

/// A number of bytes, printed with a binary unit.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        #[allow(clippy::cast_precision_loss, reason = "printed with three digits")]
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.2} {}", UNITS[unit])
    }
}

/// One chunk of an arena, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The bytes that it can hold.
    pub capacity: usize,
    /// The bytes in use up to the scope asked; as [`Stats::used`].
    pub used: usize,
    /// It serves, or served last, one request larger than an ordinary chunk.
    pub oversize: bool,
}

impl Chunk {
    pub(crate) fn of(used: ChunkUse<'_>) -> Self {
        Chunk {
            capacity: used.header.capacity(),
            used: used.header.capacity() - used.free,
            oversize: used.header.is_oversize(),
        }
    }
}
