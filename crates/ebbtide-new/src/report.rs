//! Statistics of all scopes of the program.

use core::{
    ffi::c_char,
    fmt::{self, Write},
};
use ebbtide_global::{Report, engine::Owner};

/// Statistics of all scopes since the program started.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_figures {
    /// The size of this struct.
    pub size: usize,
    /// Scopes that have ended.
    pub scopes: u64,
    /// Blocks that arenas served.
    pub blocks: u64,
    /// The bytes that scopes took.
    pub bytes: u64,
    /// Calls to the C library that arenas saved.
    pub calls_saved: u64,
    /// Requests inside scopes that the C library served.
    pub fallbacks: u64,
    /// Scopes that were not opened, because those of their site are slower.
    pub skipped_scopes: u64,
    /// Blocks that were alive when their scope ended.
    pub escaped_blocks: u64,
    /// The most bytes that one scope took.
    pub high_water: u64,
    /// The bytes of the chunks in which such blocks are alive now.
    pub pinned_bytes: usize,
    /// The bytes of live blocks in arenas, as last published by each thread.
    pub live: usize,
    /// The peak of `live` in the last second or two.
    pub live_peak: usize,
    /// The bytes that arenas hold.
    pub held: usize,
    /// The bound up to which arenas take memory: one and a half times `live_peak`, 16 MiB, and 4
    /// MiB for each running thread that has opened a scope.
    pub bound: usize,
    /// The part of `held` that is kept for the next scopes.
    pub kept: usize,
}

fn report(owner: &Owner) -> Report {
    owner.publish_at_rest();
    let mut report = ebbtide_global::report();
    // The engine knows it only for its own allocator.
    report.is_active = if report.reserved > 0 { Some(true) } else { None };
    report
}

/// Writes the figures to `figures`.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_report_(figures: &mut ebb_figures, owner: &Owner) {
    let report = report(owner);
    *figures = ebb_figures {
        size: size_of::<ebb_figures>(),
        scopes: report.scopes,
        blocks: report.blocks,
        bytes: report.bytes,
        calls_saved: report.heap_calls_saved(),
        fallbacks: report.fallbacks.total(),
        skipped_scopes: report.fallbacks.skipped_scopes,
        escaped_blocks: report.escapes.blocks,
        high_water: report.high_water,
        pinned_bytes: report.escapes.pinned_bytes,
        live: report.live,
        live_peak: report.live_peak,
        held: report.held,
        bound: report.bound,
        kept: report.kept,
    };
}

/// A buffer of the caller that receives the beginning of a text.
struct Buffer {
    next: *mut u8,
    left: usize,
    length: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let count = text.len().min(self.left);
        // SAFETY: `next` is valid for writes of `left` bytes, which are the rest of the buffer of
        // `ebb_report_text_` and not in the text; null only if `left` is 0.
        unsafe { self.next.copy_from_nonoverlapping(text.as_ptr(), count) };
        self.next = self.next.wrapping_add(count);
        self.left -= count;
        self.length += text.len();
        Ok(())
    }
}

/// Writes the statistics as text with a terminating zero, truncated to `size` bytes. Returns the
/// length of the whole text. The buffer may be null if `size` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_report_text_(
    buffer: *mut c_char,
    size: usize,
    owner: &Owner,
) -> usize {
    let mut text = Buffer { next: buffer.cast(), left: size.saturating_sub(1), length: 0 };
    // `write_str` does not fail if the buffer is too small, and nothing else can fail.
    let _ = write!(text, "{}", report(owner));
    if size > 0 {
        // SAFETY: `size` bytes are valid for writes by the rules of the header, and at most `size -
        // 1` were written, so `next` is inside.
        unsafe { text.next.write(0) };
    }
    text.length
}

/// Returns the memory that this thread and the shared pool keep for the next scopes to the system.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_release_(owner: &Owner) {
    owner.release_pools();
    ebbtide_global::release_pool();
}

/// Sets whether scopes may be skipped.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_set_skipping(is_on: bool) {
    ebbtide_global::set_skipping(is_on);
}

/// Sets how many unused bytes are kept for the next scopes.
#[unsafe(no_mangle)]
pub extern "C" fn ebb_retain(bytes: usize) {
    ebbtide_global::retain(bytes);
}
