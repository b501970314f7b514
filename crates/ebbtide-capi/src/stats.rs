//! Statistics, as a struct and as text.

use crate::{
    arena::{self, ebb_arena},
    scope::{core_scope, ebb_scope},
    status::{ebb_status, fail},
};
use core::{
    ffi::c_char,
    fmt::{self, Write as _},
};
use ebb_status::{EBB_NULL, EBB_OK, EBB_OPTIONS};
use ebbtide::Stats;

/// The memory that an arena holds and uses, in bytes. Later versions have more fields at the end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_stats {
    /// The size of the struct for which the caller has room.
    pub size: usize,
    /// The capacity of all chunks and of the buffer, without headers.
    pub capacity: usize,
    /// Bytes in use by the scope and its ancestors; 0 in the statistics of an arena.
    pub used: usize,
    /// The maximum capacity of the chunks that scopes have entered.
    pub high_water: usize,
    /// Bytes held of the backing.
    pub held: usize,
    /// The number of chunks; the buffer counts as one.
    pub chunks: usize,
    /// The number of those that serve a single large request.
    pub oversize: usize,
}

impl From<Stats> for ebb_stats {
    fn from(stats: Stats) -> Self {
        let Stats { capacity, used, high_water, held, chunks, oversize, .. } = stats;
        let size = SIZE;
        ebb_stats { size, capacity, used, high_water, held, chunks, oversize }
    }
}

/// The size of the struct in the first version, which all callers have room for, and in this one.
const FIRST_SIZE: usize = 7 * size_of::<usize>();
const SIZE: usize = size_of::<ebb_stats>();

const _: () = assert!(FIRST_SIZE <= SIZE);

impl From<&ebb_stats> for Stats {
    fn from(from: &ebb_stats) -> Self {
        let mut stats = Stats::default();
        stats.capacity = from.capacity;
        stats.used = from.used;
        stats.high_water = from.high_water;
        stats.held = from.held;
        stats.chunks = from.chunks;
        stats.oversize = from.oversize;
        stats
    }
}

/// Writes statistics to the caller's struct, as far as there is room for them.
///
/// # Safety
///
/// `to` is null, or points to a size that is initialised; if the size is at least [`FIRST_SIZE`], so
/// many bytes from there on are valid for writes.
unsafe fn answer(found: Result<Stats, ebb_status>, to: *mut ebb_stats) -> ebb_status {
    let stats = match found {
        Err(status) => return fail(status),
        Ok(_) if to.is_null() => return fail(EBB_NULL),
        Ok(stats) => stats,
    };
    // SAFETY: not null, so it points to a size, which is the first field.
    let size = unsafe { to.cast::<usize>().read() };
    if size < FIRST_SIZE {
        return fail(EBB_OPTIONS);
    }
    let filled = ebb_stats { size, ..stats.into() };
    let bytes = (&raw const filled).cast::<u8>();
    // SAFETY: `to` is valid for writes of `size` bytes by this function's contract. `filled` is a
    // local variable of `SIZE` bytes, so they do not overlap, and has no padding.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(bytes, size.min(SIZE)) };
    EBB_OK
}

/// Statistics of an arena, whether or not a scope is open. Walks the chunks: the fast paths keep no
/// counters. The header sets the `size` of the struct. In other languages, the caller does;
/// `EBB_OPTIONS` if it is smaller than that of the first version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_stats(
    arena: *const ebb_arena,
    stats: *mut ebb_stats,
) -> ebb_status {
    // SAFETY: null or an arena, by the rules for every function.
    let found = unsafe { arena::stats(arena) };
    // SAFETY: null or a struct of the size that it says, by the rules for every function.
    unsafe { answer(found, stats) }
}

/// Statistics of a scope's arena, like `ebb_arena_stats`. `used` counts the bytes of the scope and its
/// ancestors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_scope_stats(
    scope: *const ebb_scope,
    stats: *mut ebb_stats,
) -> ebb_status {
    // SAFETY: null or a scope, by the rules for every function. Only its arena is changed, if any.
    let copy = unsafe { scope.as_ref() }.copied();
    let found = match copy {
        // SAFETY: a local copy, which is closed or whose words are in use, by the rules for every
        // function; nobody uses the original during the call.
        Some(mut scope) => unsafe { core_scope(&raw mut scope) }.map(|scope| scope.stats()),
        None => Err(EBB_NULL),
    };
    // SAFETY: null or a struct of the size that it says, by the rules for every function.
    unsafe { answer(found, stats) }
}

/// Statistics as text, such as "100 B used of 16.0 KiB in 1 chunk". Writes at most `size` bytes to
/// `buffer`, the last of which is 0, and returns the length of the whole text, as snprintf does; 0
/// if `stats` is null or was not filled. The buffer may be null if `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_stats_text(
    stats: *const ebb_stats,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    if stats.is_null() {
        fail(EBB_NULL);
        return 0;
    }
    // SAFETY: it points to a size, which is the first field.
    let room = unsafe { stats.cast::<usize>().read() };
    if room < FIRST_SIZE {
        fail(EBB_OPTIONS);
        return 0;
    }
    let mut known = ebb_stats::from(Stats::default());
    let bytes = (&raw mut known).cast::<u8>();
    // SAFETY: `stats` is valid for reads of `room` initialised bytes by the rules for every
    // function. `known` is a local variable of `SIZE` bytes, all values of which are valid.
    unsafe { bytes.copy_from_nonoverlapping(stats.cast(), room.min(SIZE)) };
    if buffer.is_null() && size > 0 {
        fail(EBB_NULL);
        return 0;
    }
    let mut text = Text { buffer: buffer.cast(), room: size.saturating_sub(1), len: 0 };
    // `Text` does not fail.
    let _ = write!(text, "{}", Stats::from(&known));
    if size > 0 {
        // SAFETY: the offset is below `size`, the number of bytes at `buffer`.
        let end = unsafe { buffer.add(text.len.min(size - 1)) };
        // SAFETY: the offset is below `size`, so the byte is in the caller's buffer, valid for
        // writes by the rules for every function.
        unsafe { end.write(0) };
    }
    text.len
}

/// Writes as much as fits to a buffer, and counts the rest.
struct Text {
    buffer: *mut u8,
    room: usize,
    len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let fits = part.len().min(self.room.saturating_sub(self.len));
        if fits > 0 {
            // SAFETY: `len` is below `room`, so this is in the buffer.
            let end = unsafe { self.buffer.add(self.len) };
            // SAFETY: `fits` bytes are readable in `part`, which is ours, and writable at `end`, as
            // `fits <= room - len` and the buffer has `room` bytes.
            unsafe { end.copy_from_nonoverlapping(part.as_ptr(), fits) };
        }
        self.len += part.len();
        Ok(())
    }
}
