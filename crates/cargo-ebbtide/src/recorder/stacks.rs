//! Stacks of calls, as paths in a tree of frames, and what is left of one.
//!
//! While a call runs, its caller stands still: it returns to the same address, its frame ends at the
//! same place, and the registers that a callee must preserve have the same values for it. Where one of
//! these differs, it is another call. A loop keeps its variables in such registers, so its calls
//! differ although they come from the same line.

use super::journal::Journal;
use crate::sys;
use core::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The frames of a stack that are recorded, from the innermost on.
const MOST_FRAMES: usize = 192;

/// The frames of all stacks. Blocks beyond belong to the part of their stack that is known.
const MOST_NODES: usize = 1 << 18;
const BUCKETS: usize = 1 << 19;

/// A frame as the unwinder finds it: the address to which its callee returns, and where the stack
/// pointer is then, which is the end of the callee's frame.
#[derive(Clone, Copy, Debug)]
struct Found {
    address: usize,
    stack: usize,
    /// A hash of the registers that its callee preserves.
    registers: u32,
}

/// `rbx`, `rbp` and `r12` to `r15`, as the unwinder numbers them.
const PRESERVED: [c_int; 6] = [3, 6, 12, 13, 14, 15];

/// The frames of the calling thread, from the innermost on. They are not on its stack, which may be
/// that of a coroutine or of a signal handler, and small.
#[derive(Debug)]
pub(crate) struct Unwound {
    frames: Vec<Found>,
    /// Until one frame is found: those that end below are the recorder's.
    from: usize,
}

extern "C" fn step(context: *mut sys::UnwindContext, data: *mut c_void) -> c_int {
    let unwound = data.cast::<Unwound>();
    // SAFETY: `Unwound::here` passes its own value, valid and used by nothing else until the
    // unwinder returns.
    let unwound = unsafe { &mut *unwound };
    // SAFETY: the unwinder's context, which is valid during this call.
    let address = unsafe { sys::_Unwind_GetIP(context) };
    // SAFETY: the unwinder's context is valid during this call, as for `_Unwind_GetIP`.
    let stack = unsafe { sys::_Unwind_GetCFA(context) };
    if unwound.frames.is_empty() && stack < unwound.from {
        return 0;
    }
    if address == 0 || unwound.frames.len() == unwound.frames.capacity() {
        return 1;
    }
    let mut hash = 0_u64;
    for register in PRESERVED {
        // SAFETY: the unwinder's context is valid during this call, and the architecture has this
        // register.
        let value = unsafe { sys::_Unwind_GetGR(context, register) };
        hash = (hash.rotate_left(5) ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    let registers = (hash >> 32) as u32;
    unwound.frames.push(Found { address, stack, registers });
    0
}

impl Found {
    fn hash(&self) -> u32 {
        let place = (self.address as u64 ^ (self.stack as u64).rotate_left(32))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (place >> 32) as u32 ^ self.registers
    }
}

/// The code of the unwinder.
static UNWINDER_START: AtomicUsize = AtomicUsize::new(0);
static UNWINDER_END: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn set_unwinder(start: usize, end: usize) {
    UNWINDER_START.store(start, Ordering::Relaxed);
    UNWINDER_END.store(end, Ordering::Relaxed);
}

/// Whether the unwinder itself called the allocator, of which the frame ends here. It may hold a lock
/// that unwinding takes (`__register_frame` and the first search after it), so it is left alone.
pub(crate) fn is_unwinder(end: usize) -> bool {
    let link = ptr::with_exposed_provenance::<usize>(end).wrapping_sub(1);
    // SAFETY: the last word of the allocator's frame is the address to which it returns.
    let address = unsafe { link.read() };
    (UNWINDER_START.load(Ordering::Relaxed)..UNWINDER_END.load(Ordering::Relaxed))
        .contains(&address)
}

impl Unwound {
    /// The stack of the calling thread, from the frame on that called the allocator. `from` is where
    /// the allocator's own frame ends. It is empty if there is no memory for it.
    #[inline(never)]
    pub(crate) fn here(from: usize) -> Unwound {
        let mut frames = Vec::new();
        // Without memory, the capacity stays 0.
        let _ = frames.try_reserve_exact(MOST_FRAMES);
        let mut unwound = Unwound { frames, from };
        let data: *mut Unwound = &raw mut unwound;
        // SAFETY: `step` casts `data` back to an `Unwound`, which lives until this call returns and
        // which nothing else uses meanwhile.
        unsafe { sys::_Unwind_Backtrace(step, data.cast()) };
        unwound
    }

    /// The addresses in its frames.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.frames.iter().map(|frame| frame.address)
    }

    /// What is needed to tell later which of these calls still run, from the outermost on: a hash for
    /// each caller.
    pub(crate) fn callers(&self) -> impl ExactSizeIterator<Item = u32> {
        self.frames.iter().rev().map(Found::hash)
    }

    /// The number of outermost frames that are the same call in the stack with these `callers`.
    pub(crate) fn kept(&self, callers: &[u32]) -> u64 {
        let same = self.callers().zip(callers).take_while(|(now, then)| now == *then).count();
        // A frame is the same call if all its callers stand still. So is the innermost of those that
        // do not: it runs.
        same.saturating_add(1) as u64
    }

    /// Where the innermost of so many outermost frames runs; 0 if there are fewer.
    pub(crate) fn place(&self, kept: u64) -> u64 {
        let index = usize::try_from(kept).unwrap_or(usize::MAX).saturating_sub(1);
        self.frames.iter().rev().nth(index).map_or(0, |frame| frame.address as u64)
    }
}

/// A frame in the tree: see [`Entry::Frame`](crate::record::Entry::Frame).
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    depth: u32,
    address: usize,
}

/// The tree of the frames of all recorded stacks.
#[derive(Debug)]
pub(crate) struct Stacks {
    nodes: *mut Node,
    buckets: *mut u32,
    /// The number of nodes. The first is not used.
    len: u32,
}

// SAFETY: the tables belong to whoever has the lock of the state (S1), in any thread.
unsafe impl Send for Stacks {}

impl Stacks {
    /// An empty tree. `None` if there is no memory for it.
    pub(crate) fn new() -> Option<Stacks> {
        let nodes = sys::reserve(MOST_NODES * size_of::<Node>(), sys::PROT_READ_WRITE)?.cast();
        let buckets = sys::reserve(BUCKETS * size_of::<u32>(), sys::PROT_READ_WRITE)?.cast();
        Some(Stacks { nodes, buckets, len: 1 })
    }

    fn node(&self, id: u32) -> Node {
        debug_assert!(id < self.len);
        // SAFETY: `id < len <= MOST_NODES`, so the node lies in the mapping, was written by
        // `child`, and is aligned; the lock's holder is alone (S1).
        unsafe { self.nodes.wrapping_add(id as usize).read() }
    }

    /// The number of the innermost frame of a stack, and where its outermost frame ends. Frames that
    /// are new go into the record.
    ///
    /// The end of a frame is where the stack pointer is after the return to its caller. That of the
    /// outermost is not known: it ends where its callee's frame ends.
    pub(crate) fn add(&mut self, unwound: &Unwound, journal: &mut Journal) -> (u32, usize) {
        let frames = &unwound.frames;
        let Some(outermost) = frames.last() else { return (0, 0) };
        let (base, mut parent, mut end) = (outermost.stack, 0, outermost.stack);
        for (index, frame) in frames.iter().enumerate().rev() {
            // This frame ends where the stack pointer is in its caller.
            let own_end = frames.get(index + 1).map_or(base, |caller| caller.stack);
            let depth = u32::try_from(end.saturating_sub(own_end)).unwrap_or(u32::MAX);
            let Some(node) = self.child(parent, frame.address, depth, journal) else { break };
            (parent, end) = (node, own_end);
        }
        (parent, base)
    }

    fn child(
        &mut self,
        parent: u32,
        address: usize,
        depth: u32,
        journal: &mut Journal,
    ) -> Option<u32> {
        let hash = (address as u64 ^ u64::from(parent) << 32 ^ u64::from(depth) << 17)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        #[allow(clippy::cast_possible_truncation, reason = "the upper bits of the hash")]
        let mut bucket = (hash >> 40) as usize;
        loop {
            bucket %= BUCKETS;
            // SAFETY: `bucket < BUCKETS`, so the word lies in the mapping, aligned and zero at
            // first; the lock's holder is alone (S1).
            let id = unsafe { self.buckets.wrapping_add(bucket).read() };
            if id == 0 {
                break;
            }
            let node = self.node(id);
            if node.parent == parent && node.address == address && node.depth == depth {
                return Some(id);
            }
            bucket += 1;
        }
        if self.len as usize == MOST_NODES {
            return None;
        }
        let id = self.len;
        journal.frame(id, parent, address, depth)?;
        self.len += 1;
        // SAFETY: there is room for so many nodes, and this one is new.
        unsafe { self.nodes.wrapping_add(id as usize).write(Node { parent, depth, address }) };
        // SAFETY: `bucket < BUCKETS`, so the word lies in the mapping, aligned; the lock's holder
        // is alone (S1).
        unsafe { self.buckets.wrapping_add(bucket).write(id) };
        Some(id)
    }
}
