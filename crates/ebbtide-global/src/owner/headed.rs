//! Blocks with a header, for languages whose `free` gets neither size nor alignment.
//!
//! Front ends call it through `engine`. In one program, either all blocks of the engine have a header
//! or none has: a block's address does not tell.
//!
//! The header is the eight bytes before the address that the caller gets. There are two kinds of
//! blocks, *common* ones, and those that are large or aligned to more than 16 bytes:
//!
//! ```text
//!                 begins at                header              the caller's bytes
//! common          16 n + 8                 the block's bytes   8 bytes after the beginning
//! large, aligned  a multiple of `align`    16 × the block's    `align` bytes after the beginning
//!                                          bytes + log2 align
//! ```
//!
//! The size of a common block is a multiple of 16. So the low four bits of its header are 0, which
//! distinguishes the two kinds, and the next common block begins at 16 n + 8 again. The fast path
//! only tests that, and does not round. The size of the other blocks is an odd multiple of 8, so that
//! the next common block begins at 16 n + 8 after them as well.

use super::{Owner, alloc::Growth};
use crate::{
    invariant::broken,
    memory::run::{self, Place},
    size::MEDIUM,
};
use core::{alloc::Layout, ptr};

/// The bytes of a header.
const HEADER: usize = 8;

/// Blocks with a header are aligned to this, the alignment of `max_align_t` on 64-bit systems.
const ALIGN: usize = 16;

/// The distance of a common block's first byte from the multiple of [`ALIGN`] below it.
const PHASE: usize = ALIGN - HEADER;

/// The contents of a block's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// The size of the block, with its header.
    bytes: usize,
    /// The binary logarithm of the alignment; 0 for a common block.
    log_align: u32,
}

impl Header {
    /// The header of a common block with room for `size` bytes. `None` on overflow.
    #[inline(always)]
    fn common(size: usize) -> Option<Header> {
        let bytes = size.checked_add(HEADER + ALIGN - 1)? & !(ALIGN - 1);
        Some(Header { bytes, log_align: 0 })
    }

    /// The header of a large or aligned block. `None` on overflow.
    fn aligned(size: usize, align: usize) -> Option<Header> {
        let bytes = size.checked_next_multiple_of(ALIGN)?.checked_add(align + HEADER)?;
        Some(Header { bytes, log_align: align.ilog2() })
    }

    /// The header of a block of the same kind for another size.
    fn resized(self, size: usize) -> Option<Header> {
        if self.log_align == 0 { Header::common(size) } else { Header::aligned(size, self.align()) }
    }

    fn align(self) -> usize {
        if self.log_align == 0 { ALIGN } else { 1 << self.log_align }
    }

    /// The distance from the block's first byte to the caller's first byte.
    fn lead(self) -> usize {
        if self.log_align == 0 { HEADER } else { 1 << self.log_align }
    }

    /// The caller's bytes.
    fn usable(self) -> usize {
        self.bytes - self.lead()
    }

    /// The layout of the block; `None` if the block is larger than any allocator may serve. For a
    /// common block, the alignment in the layout is that of the caller's first byte.
    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.bytes, self.align()).ok()
    }

    fn word(self) -> usize {
        if self.log_align == 0 { self.bytes } else { self.bytes << 4 | self.log_align as usize }
    }

    /// Writes the header of a block, and returns the address of the caller's bytes.
    ///
    /// # Safety
    ///
    /// `start` is the first byte of a live block of the engine that has this size and alignment.
    /// Nobody else uses the block's bytes before the caller's.
    #[inline(always)]
    unsafe fn write(self, start: *mut u8) -> *mut u8 {
        let block = start.wrapping_add(self.lead());
        // SAFETY: the lead is at least as large as a header, so the word lies in the block. It is
        // aligned: blocks begin at multiples of 8, and so does every alignment here.
        unsafe { block.wrapping_sub(HEADER).cast::<usize>().write(self.word()) };
        block
    }

    /// Reads a header.
    ///
    /// # Safety
    ///
    /// [`write`](Header::write) returned `block`, and the block is alive.
    #[inline(always)]
    unsafe fn read(block: *mut u8) -> Header {
        // SAFETY: by this function's contract, the block is alive, and `write` initialised the
        // aligned word before it, which only a resize of the same block rewrites.
        Header::from_word(unsafe { block.wrapping_sub(HEADER).cast::<usize>().read() })
    }

    #[inline(always)]
    fn from_word(word: usize) -> Header {
        #[allow(clippy::cast_possible_truncation, reason = "four bits")]
        let log_align = (word % ALIGN) as u32;
        if log_align == 0 {
            Header { bytes: word, log_align }
        } else {
            // After a double free, the header has the poison pattern.
            let is_checked = cfg!(any(feature = "poison", debug_assertions));
            if is_checked && !(4..=12).contains(&log_align) {
                broken("the header of a block");
            }
            Header { bytes: word >> 4, log_align }
        }
    }
}

impl Owner {
    /// Serves a small block with a header, aligned to 16, by bumping. Otherwise it calls `slow`,
    /// which should continue with [`alloc_headed`](Owner::alloc_headed). A size of 0 is served like
    /// one of 8 bytes.
    ///
    /// This is for front ends that need the fastest path: it is inlined, and takes about twenty
    /// instructions on x86-64.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let malloc = |size| owner.alloc_headed_or(size, || owner.alloc_headed(size, 16));
    /// let block = malloc(100);
    /// assert_eq!(block.addr() % 16, 0);
    /// # // SAFETY: the block is alive, and not used again.
    /// # assert!(unsafe { owner.free_headed(block) });
    /// owner.leave(ticket);
    /// ```
    #[inline(always)]
    pub fn alloc_headed_or(&self, size: usize, slow: impl FnOnce() -> *mut u8) -> *mut u8 {
        if let Some(needed) = size.checked_add(HEADER) {
            let bytes = needed.wrapping_add(ALIGN - 1) & !(ALIGN - 1);
            if let Some(start) = self.bump.alloc_at::<PHASE>(needed, bytes) {
                let header = Header { bytes, log_align: 0 };
                // SAFETY: the block was bumped just now: it begins at `PHASE`, and nobody else
                // knows it.
                return unsafe { header.write(start) };
            }
        }
        slow()
    }

    /// Allocates a block with a header in the innermost scope. `free` and `resize` need no layout
    /// for it. Returns null if no scope is open, the scope does not serve the request, or `align`
    /// is not a power of two. Blocks are aligned to at least 16 bytes. A size of 0 is served like
    /// one of 8 bytes.
    ///
    /// The header takes 8 bytes. If the alignment is more than 16 or the block is large, it takes
    /// as many bytes as the alignment. The size limits and the byte limit of the scope's options
    /// include it.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_headed(100, 64);
    /// assert_eq!(block.addr() % 64, 0);
    /// // SAFETY: the block is alive, and not used again.
    /// assert!(unsafe { owner.free_headed(block) }, "neither size nor alignment is needed");
    /// assert!(owner.alloc_headed(100, 3).is_null());
    /// owner.leave(ticket);
    /// ```
    #[inline(never)]
    pub fn alloc_headed(&self, size: usize, align: usize) -> *mut u8 {
        self.alloc_with_header(size, align, false)
    }

    /// Like [`alloc_headed`](Owner::alloc_headed), but the block is filled with zeros. Memory that
    /// is zero already is not written.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_headed_zeroed(8, 16).cast::<u64>();
    /// // SAFETY: aligned, filled with zeros, and alive.
    /// assert_eq!(unsafe { block.read() }, 0);
    /// owner.leave(ticket);
    /// ```
    #[inline(never)]
    pub fn alloc_headed_zeroed(&self, size: usize, align: usize) -> *mut u8 {
        self.alloc_with_header(size, align, true)
    }

    #[inline(always)]
    fn alloc_with_header(&self, size: usize, align: usize, zeroed: bool) -> *mut u8 {
        if !self.has_scope() || !align.is_power_of_two() {
            return ptr::null_mut();
        }
        if align <= ALIGN {
            if let Some(header) = Header::common(size).filter(|header| header.bytes <= MEDIUM) {
                // SAFETY: `ALIGN` is a power of two, and the block has at most `MEDIUM` bytes.
                let layout = unsafe { Layout::from_size_align_unchecked(header.bytes, ALIGN) };
                let start = self.alloc_in_chunk::<PHASE>(layout);
                // SAFETY: it is null or a new block of this size that begins at `PHASE`.
                return unsafe { finish(header, start, zeroed) };
            }
        }
        let Some(header) = Header::aligned(size, align.max(ALIGN)) else { return ptr::null_mut() };
        let Some(layout) = header.layout() else { return ptr::null_mut() };
        let is_large = header.bytes > MEDIUM;
        let start = if is_large {
            self.alloc_large(layout, Growth::Unknown, zeroed)
        } else {
            self.alloc(layout)
        };
        // SAFETY: it is null or a new block with this layout.
        unsafe { finish(header, start, zeroed && !is_large) }
    }

    /// Frees a block with a header, of any owner. Returns false, and changes nothing, if the block
    /// is null or belongs to another allocator.
    ///
    /// # Safety
    ///
    /// The block is null, or alive and belongs to some allocator. If it belongs to the engine, a
    /// method named `headed` returned it, of any owner. If the result is true, the block is not
    /// used again.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_headed(100, 16);
    /// // SAFETY: the block is alive, and not used again.
    /// assert!(unsafe { owner.free_headed(block) });
    /// let mut other = Box::new(1);
    /// // SAFETY: the block is alive, and belongs to another allocator.
    /// assert!(!unsafe { owner.free_headed((&raw mut *other).cast()) });
    /// owner.leave(ticket);
    /// ```
    #[inline(always)]
    pub unsafe fn free_headed(&self, block: *mut u8) -> bool {
        // SAFETY: `block` is null, or alive and of some allocator, by this function's contract.
        let Some(place) = (unsafe { run::find(block) }) else { return false };
        // SAFETY: the block is alive and in the engine's range, so a method named `headed` returned
        // it, which wrote a header.
        let header = unsafe { Header::read(block) };
        if header.log_align != 0 {
            // SAFETY: `find` says that the block is the engine's. The rest is this function's
            // contract: alive, with a header, and not used again.
            unsafe { self.free_headed_slowly(block) };
            return true;
        }
        // A block begins in the same chunk as its caller's bytes, so it has the same place.
        let start = block.wrapping_sub(HEADER);
        // SAFETY: a common block, which is alive, has the size that its header says, and is not
        // used again.
        if !unsafe { self.free_fast(place, start, header.bytes) } {
            // SAFETY: `free_fast` returned false, so the block is still alive; it is the engine's,
            // has a header, and is not used again.
            unsafe { self.free_headed_slowly(block) }
        }
        true
    }

    /// Out-of-line path, for all blocks except common blocks of the innermost scope.
    ///
    /// # Safety
    ///
    /// A method named `headed` returned the block, of any owner. It is alive, and not used again.
    #[inline(never)]
    unsafe fn free_headed_slowly(&self, block: *mut u8) {
        // SAFETY: `block` is alive and the engine's, by this function's contract.
        let Some(place) = (unsafe { run::find(block) }) else { return };
        // SAFETY: by this function's contract, the block is alive, and a method named `headed`
        // returned it, which wrote a header.
        let header = unsafe { Header::read(block) };
        // SAFETY: the block begins where its header says, in the chunk at `place`, is alive, has
        // this size and is not used again.
        unsafe { self.free(place, block.wrapping_sub(header.lead()), header.bytes) }
    }

    /// The bytes that the caller may use of a block with a header: at least as many as were
    /// requested. `None` if the block is null or belongs to another allocator.
    ///
    /// # Safety
    ///
    /// The block is null, or alive and belongs to some allocator. If it belongs to the engine, a
    /// method named `headed` returned it, of any owner.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_headed(100, 16);
    /// // SAFETY: the block is alive, and a method named `headed` returned it.
    /// assert!(unsafe { owner.usable_size(block) } >= Some(100));
    /// # // SAFETY: the block is alive, and not used again.
    /// # assert!(unsafe { owner.free_headed(block) });
    /// owner.leave(ticket);
    /// ```
    #[inline]
    pub unsafe fn usable_size(&self, block: *mut u8) -> Option<usize> {
        // SAFETY: `block` is null, or alive and of some allocator, by this function's contract.
        unsafe { run::find(block) }?;
        // SAFETY: the block is alive and in the engine's range, so a method named `headed` returned
        // it, which wrote a header.
        Some(unsafe { Header::read(block) }.usable())
    }

    /// Resizes a block with a header in place, or moves it within the innermost scope if it is
    /// large. Returns null, and changes nothing, if neither is possible or the block belongs to
    /// another allocator. The caller may then move the contents elsewhere.
    ///
    /// # Safety
    ///
    /// The block is alive and belongs to some allocator. If it belongs to the engine, a method
    /// named `headed` returned it, of any owner. If the result is not null, the block is used only
    /// through the result from then on.
    ///
    /// ```
    /// use ebbtide_global::engine::Owner;
    /// let owner = Owner::new();
    /// # if !owner.start() { return }
    /// let ticket = owner.enter_default().expect("a started owner opens scopes");
    /// let block = owner.alloc_headed(100, 16);
    /// // SAFETY: the block is alive, and a method named `headed` returned it.
    /// let larger = unsafe { owner.resize_headed(block, 200) };
    /// assert_eq!(larger, block, "the last block grows in place");
    /// # // SAFETY: the block is alive, and not used again.
    /// # assert!(unsafe { owner.free_headed(larger) });
    /// owner.leave(ticket);
    /// ```
    #[inline(never)]
    pub unsafe fn resize_headed(&self, block: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: `block` is alive and belongs to some allocator, by this function's contract.
        let Some(place) = (unsafe { run::find(block) }) else { return ptr::null_mut() };
        // SAFETY: the block is alive and in the engine's range, so a method named `headed` returned
        // it, which wrote a header.
        let header = unsafe { Header::read(block) };
        let Some(new) = header.resized(new_size) else { return ptr::null_mut() };
        let (Some(layout), Some(_)) = (header.layout(), new.layout()) else {
            return ptr::null_mut();
        };
        let start = block.wrapping_sub(header.lead());
        let resized = if header.log_align != 0 {
            // SAFETY: the block at `place` is alive, begins at `start` with `layout`, and is used
            // only through the result; the new size has a layout and is not 0.
            unsafe { self.resize(place, start, layout, new.bytes) }
        } else if self.resize_common(place, start, layout, new.bytes) {
            start
        } else {
            ptr::null_mut()
        };
        if resized.is_null() {
            return resized;
        }
        // SAFETY: the block begins at `resized`, has `new.bytes` bytes and the old alignment.
        // Nobody uses it by the old address from now on, by this function's contract.
        unsafe { new.write(resized) }
    }

    /// Resizes a common block in place. Returns false, and changes nothing, if that is impossible
    /// or moving the block is better.
    fn resize_common(&self, place: Place, start: *mut u8, layout: Layout, bytes: usize) -> bool {
        let entry = place.entry();
        if entry.scope_id() != self.bump.scope_id() {
            return self.shrinks_elsewhere(layout.size(), bytes);
        }
        let fits = self.resize_in_chunk(entry, start, layout, bytes);
        if fits {
            self.ledger.count_grown();
        }
        fits
    }
}

/// Writes the header of a new block, and zeros after it. Returns the caller's bytes; null for null.
///
/// # Safety
///
/// `start` is null, or the first byte of a new block with this size and alignment.
#[inline(always)]
unsafe fn finish(header: Header, start: *mut u8, zeroed: bool) -> *mut u8 {
    if start.is_null() {
        return start;
    }
    // SAFETY: by this function's contract, `start` begins a new block with this size and alignment,
    // whose bytes nobody else uses.
    let block = unsafe { header.write(start) };
    if zeroed {
        // SAFETY: `usable` bytes follow the header in the block, which is new, so nobody else uses
        // them.
        unsafe { block.write_bytes(0, header.usable()) };
    }
    block
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::{ALIGN, HEADER, Header, PHASE};
    use crate::size::{self, MEDIUM, SMALL};

    #[test]
    fn a_header_keeps_room_for_the_size_and_survives_its_word() {
        for size in (0..3 * MEDIUM).chain([(1 << 30) - 1, 1 << 30]) {
            let common = Header::common(size).filter(|common| common.bytes <= MEDIUM);
            let aligned = (4..=12).filter_map(|log| Header::aligned(size, 1 << log));
            for header in common.into_iter().chain(aligned) {
                assert_eq!(Header::from_word(header.word()), header);
                assert!(header.usable() >= size && header.lead() >= HEADER);
                assert_eq!(header.bytes % ALIGN, if header.log_align == 0 { 0 } else { PHASE });
                let first = if header.log_align == 0 { PHASE } else { 0 };
                assert_eq!((first + header.lead()) % header.align(), 0);
                // So the next block may begin at `PHASE` again.
                assert!(header.bytes > SMALL || size::round(header.bytes) == header.bytes);
            }
        }
        for size in [usize::MAX, usize::MAX - 8, usize::MAX - 22] {
            assert!(Header::common(size).is_none() && Header::aligned(size, 4096).is_none());
        }
    }
}
