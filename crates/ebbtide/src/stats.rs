//! Statistics of an arena, read from its chunks on request.

use crate::{
    chunk::{ControlRef, Settings},
    raw::ChunkUse,
};
use core::{fmt, ops::AddAssign};

/// What an arena holds and uses, in bytes.
///
/// ```
/// # use ebbtide::Arena;
/// let arena = Arena::with_chunk_size(1024);
/// arena.root().alloc([0u8; 100]);
/// assert_eq!(arena.stats().to_string(), "100 B used of 1.00 KiB in 1 chunk");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The capacity of all chunks, without their headers.
    pub capacity: usize,
    /// Bytes in use up to the scope that was asked, including the padding that alignment costs.
    /// Bytes left free at the end of a chunk when the scope moved on do not count.
    pub used: usize,
    /// The largest number of bytes that were ever in use. A scope that ends leaves no trace, so
    /// this counts whole chunks that scopes have entered; with the feature `poison` it is exact.
    pub high_water: usize,
    /// Bytes held of the backing: the capacity and the headers.
    pub held: usize,
    /// The number of chunks.
    pub chunks: usize,
    /// The number of chunks that serve, or served last, one oversize request.
    pub oversize: usize,
}

impl Stats {
    #[inline]
    pub(crate) fn of(control: ControlRef<'_>, used: usize) -> Self {
        let mut stats = Stats { held: control.held(), used, ..Stats::default() };
        for chunk in control.all() {
            stats.capacity += chunk.capacity();
            stats.chunks += 1;
            stats.oversize += usize::from(chunk.is_oversize());
        }
        // Padding at the start of a scope counts as used, and no allocation recorded it.
        control.settings().note_high_water(used);
        stats.high_water = control.settings().high_water();
        stats
    }

    /// The statistics of an arena without chunks.
    #[inline]
    pub(crate) fn of_nothing(settings: &Settings) -> Self {
        Stats { high_water: settings.high_water(), ..Stats::default() }
    }
}

/// Adds the statistics of another arena.
///
/// ```
/// # use ebbtide::{Arena, Stats};
/// let arenas = [Arena::with_capacity(1000), Arena::with_capacity(2000)];
/// let mut sum = Stats::default();
/// for arena in &arenas {
///     sum += arena.stats();
/// }
/// assert_eq!(sum.chunks, 2);
/// ```
impl AddAssign for Stats {
    #[inline]
    fn add_assign(&mut self, other: Stats) {
        self.capacity += other.capacity;
        self.used += other.used;
        self.high_water += other.high_water;
        self.held += other.held;
        self.chunks += other.chunks;
        self.oversize += other.oversize;
    }
}

impl fmt::Display for Stats {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, capacity) = (Bytes(self.used), Bytes(self.capacity));
        write!(f, "{used} used of {capacity} in {} chunk", self.chunks)?;
        // An argument of type `&str` would link 2 kB of code for padding.
        f.write_str(if self.chunks == 1 { "" } else { "s" })?;
        if self.oversize > 0 {
            write!(f, ", {} of them oversize", self.oversize)?;
        }
        Ok(())
    }
}

/// A number of bytes, printed with a binary unit.
struct Bytes(usize);

impl fmt::Display for Bytes {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        // In units of 1/1024, because printing a float would link 20 kB of code.
        let (mut value, mut unit) = (self.0, "KiB");
        for larger in ["MiB", "GiB", "TiB"] {
            if value >= 1024 * 1024 {
                (value, unit) = (value / 1024, larger);
            }
        }
        let fraction = (value % 1024 * 100 + 512) / 1024;
        let (whole, hundredths) = (value / 1024 + fraction / 100, fraction % 100);
        write!(f, "{whole}.{hundredths:02} ")?;
        f.write_str(unit)
    }
}

/// The size and use of one chunk of an arena.
///
/// ```
/// let arena = ebbtide::Arena::with_chunk_size(1000);
/// arena.root().alloc([0u8; 100]);
/// arena.root().alloc([0u8; 5000]); // does not fit
/// let used: Vec<usize> = arena.chunks().map(|chunk| chunk.used).collect();
/// assert_eq!(used, [100, 5000]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// The number of bytes that the chunk can hold.
    pub capacity: usize,
    /// Bytes in use up to the scope that was asked; see [`Stats::used`].
    pub used: usize,
    /// Whether the chunk serves, or served last, one oversize request.
    pub oversize: bool,
}

impl Chunk {
    #[inline]
    pub(crate) fn of(used: ChunkUse<'_>) -> Self {
        Chunk {
            capacity: used.header.capacity(),
            used: used.used(),
            oversize: used.header.is_oversize(),
        }
    }
}
