//! Creating, ending, trimming and limiting arenas.
//!
//! The handle begins with the fields that the header's inline functions read: whether a scope may
//! open, and the words that it starts with. They are followed by an arena of the core, which does
//! not move.
//!
//! # Invariants
//!
//! - **C1** While `open` is [`READY`], no scope of the arena is open, and `ready` has the words of
//!   the next scope. A copy of them is in use.
//! - **C2** While it is [`OPEN`], one scope was opened with these words.
//! - **C3** While it is [`UNREADY`], no scope is open, and `ready` is not read.
//! - **C4** References to `memory` are made only while it is unready. Words that are in use point
//!   into `memory` too, and a mutable reference would invalidate them. Otherwise `memory` is
//!   accessed through `ready`, which is an ancestor of the open scope.

use crate::{
    backing::{Source, ebb_backing},
    cleanup,
    status::{ebb_status, fail, fail_null},
};
use core::{
    ffi::c_void,
    ptr::{self, NonNull},
};
use ebb_status::{EBB_ALIGNMENT, EBB_NO_MEMORY, EBB_NULL, EBB_OK, EBB_OPEN, EBB_OPTIONS, EBB_SIZE};
use ebbtide::{
    AllocError, Arena, Fixed, RawBytes, Retain, Stats,
    front_end::{self, Words},
};

/// A scope may open with the words in `ready`.
const READY: usize = 0;
/// A scope is open.
const OPEN: usize = 1;
/// No scope is open, and the words of the next one have to be computed first.
const UNREADY: usize = 2;

/// An arena: owns memory and lends it to one scope at a time.
#[repr(C, align(16))]
#[derive(Debug)]
pub struct ebb_arena {
    open: usize,
    ready: Words,
    memory: Memory,
    /// The source that the block of this handle came from; `None` if it lies in the caller's
    /// storage.
    handle_source: Option<Source>,
    limit: usize,
    /// The next idle arena of the thread; see `thread`.
    pub(crate) next: Option<NonNull<ebb_arena>>,
}

#[derive(Debug)]
enum Memory {
    Grows(Arena<Source>),
    Buffer(Fixed<RawBytes, Source>),
}

/// The bytes of an arena's handle, for arenas that lie in the caller's memory.
pub const EBB_ARENA_SIZE: usize = 512;

/// Memory for the handle of an arena.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct ebb_arena_storage {
    bytes: [u8; EBB_ARENA_SIZE],
}

const _: () = assert!(size_of::<ebb_arena>() <= size_of::<ebb_arena_storage>());
const _: () = assert!(align_of::<ebb_arena>() <= align_of::<ebb_arena_storage>());
// The header relies on these.
const _: () = {
    const WORD: usize = size_of::<usize>();
    assert!(core::mem::offset_of!(ebb_arena, open) == 0);
    assert!(core::mem::offset_of!(ebb_arena, ready) == WORD);
    assert!(size_of::<Words>() == 3 * WORD);
};

/// The options of an arena.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_options {
    /// The size of this struct in the caller's header.
    pub size: usize,
    /// The capacity of the first chunk; 0 for the default.
    pub first_chunk: usize,
    /// The most bytes to take from the backing; 0 for no limit.
    pub limit: usize,
    /// Where chunks come from; two null functions for the heap.
    pub backing: ebb_backing,
}

/// Checked options.
struct Choice {
    first_chunk: usize,
    limit: usize,
    source: Source,
}

/// Reads the options, of which null means the defaults.
///
/// # Safety
///
/// `options` is null or valid for reads.
unsafe fn choose(options: *const ebb_options) -> Result<Choice, ebb_status> {
    // SAFETY: `options` is null or valid for reads by this function's contract, and nobody writes
    // to it during the call.
    let Some(options) = (unsafe { options.as_ref() }) else {
        let source = Source::of(&ebb_backing::default()).ok_or(EBB_OPTIONS)?;
        return Ok(Choice { first_chunk: 0, limit: usize::MAX, source });
    };
    if options.size != size_of::<ebb_options>() {
        return Err(EBB_OPTIONS);
    }
    if isize::try_from(options.first_chunk).is_err() {
        return Err(EBB_SIZE);
    }
    let source = Source::of(&options.backing).ok_or(EBB_OPTIONS)?;
    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    Ok(Choice { first_chunk: options.first_chunk, limit, source })
}

impl Memory {
    fn set_limit(&self, limit: usize) {
        match self {
            Memory::Grows(arena) => arena.set_limit(Some(limit)),
            Memory::Buffer(fixed) => fixed.set_limit(Some(limit)),
        }
    }
}

impl ebb_arena {
    fn new(memory: Memory, handle_source: Option<Source>, limit: usize) -> Self {
        memory.set_limit(limit);
        let nowhere = Words { top: 0, chunk: ptr::null_mut(), low: ptr::null_mut() };
        ebb_arena { open: UNREADY, ready: nowhere, memory, handle_source, limit, next: None }
    }
}

/// Opens a scope, and returns its words.
///
/// # Errors
///
/// The arena is null, has an open scope, or no memory for its first chunk.
///
/// # Safety
///
/// `arena` is null or an arena.
pub(crate) unsafe fn open(arena: *mut ebb_arena) -> Result<Words, ebb_status> {
    // SAFETY: `arena` is null or an arena that only this thread uses, by this function's contract.
    if !matches!(unsafe { state(arena) }, Ok(READY)) {
        // SAFETY: `arena` is null or an arena by this function's contract, and only this thread
        // uses it; the reference ends before the handle is written to.
        let memory = unsafe { idle(arena) }?;
        let words = match memory {
            Memory::Grows(arena) => {
                Words::of(arena.try_scope().map_err(|AllocError| EBB_NO_MEMORY)?)
            }
            // A child: like every scope of a growing arena, it begins at a multiple of 16, which
            // the header relies on.
            Memory::Buffer(fixed) => Words::of(fixed.scope().scope()),
        };
        // SAFETY: `idle` found that it is an arena, not null. Its reference is to another field,
        // and no reference to this one exists.
        unsafe { (*arena).ready = words };
        // SAFETY: words of this arena, which were just made.
        unsafe { cleanup::start(words) };
    }
    // SAFETY: an arena, as `state` or `idle` found. No reference to this field exists.
    unsafe { (*arena).open = OPEN };
    // SAFETY: an arena, as `state` or `idle` found. Its words were just made, or exist while it is
    // ready (C1).
    Ok(unsafe { (*arena).ready })
}

/// Ends the scope that is open, if any. Its words are then no longer in use.
///
/// # Safety
///
/// `arena` is an arena.
pub(crate) unsafe fn close(arena: NonNull<ebb_arena>) {
    let arena = arena.as_ptr();
    // SAFETY: `arena` is an arena, so the field is valid for reads and writes. No reference to it
    // exists, and only this thread uses the arena.
    let open = unsafe { &raw mut (*arena).open };
    // SAFETY: the field of an arena is aligned and initialised, and only this thread uses the
    // arena.
    if unsafe { open.read() } == OPEN {
        // SAFETY: the same field is valid for writes; no reference to it exists, and only this
        // thread uses the arena.
        unsafe { open.write(READY) };
    }
}

/// The words of the next scope. `None` if a scope is open, or if the arena has no words ready.
///
/// # Safety
///
/// `arena` is null or an arena.
pub(crate) unsafe fn ready(arena: *const ebb_arena) -> Option<Words> {
    // SAFETY: `arena` is null or an arena that only this thread uses, by this function's contract.
    matches!(unsafe { state(arena) }, Ok(READY)).then(|| {
        // SAFETY: an arena, as `state` found. No reference to this field exists.
        unsafe { (*arena).ready }
    })
}

/// The first word of an arena. No reference to the whole handle is ever made: words that are in use
/// point into `memory`, and a mutable reference would invalidate them.
///
/// # Safety
///
/// `arena` is null or an arena.
unsafe fn state(arena: *const ebb_arena) -> Result<usize, ebb_status> {
    if arena.is_null() {
        return Err(EBB_NULL);
    }
    // SAFETY: not null, so it is an arena by this function's contract: the field is initialised,
    // and no reference to it exists.
    Ok(unsafe { (*arena).open })
}

/// The memory of an arena without an open scope, for changes. Invalidates `ready`: the next scope
/// gets new words (C3).
///
/// # Safety
///
/// `arena` is null, or an arena that nobody else uses during `'a`.
unsafe fn idle<'a>(arena: *mut ebb_arena) -> Result<&'a mut Memory, ebb_status> {
    // SAFETY: `arena` is null or an arena that only this thread uses, by this function's contract.
    if unsafe { state(arena) }? == OPEN {
        return Err(EBB_OPEN);
    }
    // SAFETY: an arena, as `state` found. No reference to this field exists.
    unsafe { (*arena).open = UNREADY };
    // SAFETY: no scope is open, so no words are in use (C1, C3), and nobody else uses the arena.
    Ok(unsafe { &mut (*arena).memory })
}

fn result(result: Result<(), ebb_status>) -> ebb_status {
    result.map_or_else(fail, |()| EBB_OK)
}

/// A new arena that grows, in chunks of its backing. It holds no chunk until the first scope opens.
/// Null options mean the defaults. Null if the options are wrong or there is no memory for the
/// handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_new(options: *const ebb_options) -> *mut ebb_arena {
    // SAFETY: `options` is null or valid for reads, by the rules for every function.
    match unsafe { choose(options) } {
        Ok(choice) => make(choice).map_or_else(fail_null, NonNull::as_ptr),
        Err(status) => fail_null(status),
    }
}

fn make(choice: Choice) -> Result<NonNull<ebb_arena>, ebb_status> {
    let Choice { limit, source, .. } = choice;
    let arena = ebb_arena::new(Memory::Grows(choice.arena()), Some(source), limit);
    source.place(arena).ok_or(EBB_NO_MEMORY)
}

/// A new arena of a thread, on the heap.
#[cfg(feature = "std")]
pub(crate) fn new_for_thread() -> Result<NonNull<ebb_arena>, ebb_status> {
    /// 64 KiB minus the chunk's header and the heap's overhead: enough for the temporary memory of
    /// most functions.
    const CAPACITY: usize = 64 * 1024 - 512;
    make(Choice { first_chunk: CAPACITY, limit: usize::MAX, source: Source::Heap })
}

impl Choice {
    fn arena(&self) -> Arena<Source> {
        match self.first_chunk {
            0 => Arena::new_in(self.source),
            capacity => Arena::with_chunk_size_in(capacity, self.source),
        }
    }
}

/// Like `ebb_arena_new`, with the handle in the caller's storage, which must not move. The arena
/// still has to be ended by `ebb_arena_free`, which leaves the storage to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_new_in(
    storage: *mut ebb_arena_storage,
    options: *const ebb_options,
) -> *mut ebb_arena {
    // SAFETY: `options` is null or valid for reads, by the rules for every function.
    let choice = match unsafe { choose(options) } {
        Ok(choice) => choice,
        Err(status) => return fail_null(status),
    };
    let (memory, limit) = (Memory::Grows(choice.arena()), choice.limit);
    // SAFETY: `storage` is null or valid for writes, and stays so until the arena ends, as the
    // header demands.
    unsafe { place_in(storage, ebb_arena::new(memory, None, limit)) }
}

/// A new arena over the caller's buffer of `size` bytes, which serve allocations up to the last
/// multiple of 16. When they are used up, allocations fail. The arena never calls the heap. The
/// buffer belongs to the arena until `ebb_arena_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_fixed_new(
    storage: *mut ebb_arena_storage,
    buffer: *mut c_void,
    size: usize,
) -> *mut ebb_arena {
    let choice = Choice { first_chunk: 0, limit: usize::MAX, source: Source::Nothing };
    // SAFETY: both are null or valid, and the buffer's `size` bytes are the arena's until it ends,
    // as the header demands.
    unsafe { over_buffer(storage, buffer, size, choice) }
}

/// Like `ebb_fixed_new`, but when the buffer is full, the arena continues in chunks of its backing.
/// `first_chunk` of the options is not used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_spilling_new(
    storage: *mut ebb_arena_storage,
    buffer: *mut c_void,
    size: usize,
    options: *const ebb_options,
) -> *mut ebb_arena {
    // SAFETY: `options` is null or valid for reads, by the rules for every function.
    match unsafe { choose(options) } {
        // SAFETY: both are null or valid, and the buffer's `size` bytes are the arena's until it
        // ends, as the header demands.
        Ok(choice) => unsafe { over_buffer(storage, buffer, size, choice) },
        Err(status) => fail_null(status),
    }
}

/// # Safety
///
/// Both pointers are null or valid, and the buffer has `size` bytes that are the arena's until it
/// ends.
unsafe fn over_buffer(
    storage: *mut ebb_arena_storage,
    buffer: *mut c_void,
    size: usize,
    choice: Choice,
) -> *mut ebb_arena {
    let buffer = match NonNull::new(buffer.cast::<u8>()) {
        Some(buffer) => buffer,
        None if size == 0 => NonNull::dangling(),
        None => return fail_null(EBB_NULL),
    };
    if isize::try_from(size).is_err() {
        return fail_null(EBB_SIZE);
    }
    // SAFETY: by this function's contract, the `size` bytes are valid for writes and the arena's
    // alone until it ends; if there are none, any aligned pointer will do.
    let fixed = unsafe { Fixed::from_raw_parts(buffer, size) };
    let memory = Memory::Buffer(fixed.or_spill(choice.source));
    // SAFETY: `storage` is null, or valid for writes until the arena ends, by this function's
    // contract.
    unsafe { place_in(storage, ebb_arena::new(memory, None, choice.limit)) }
}

/// Moves an arena into the caller's storage.
///
/// # Safety
///
/// `storage` is null, or valid until the arena ends.
unsafe fn place_in(storage: *mut ebb_arena_storage, arena: ebb_arena) -> *mut ebb_arena {
    if storage.is_null() {
        return fail_null(EBB_NULL);
    }
    if !storage.is_aligned() {
        return fail_null(EBB_ALIGNMENT);
    }
    let place = storage.cast::<ebb_arena>();
    // SAFETY: not null, so it is valid for writes until the arena ends, by this function's
    // contract; aligned, as tested; large enough for the handle, as asserted.
    unsafe { place.write(arena) };
    place
}

/// Ends an arena and frees all its memory. No-op for null. Fails with `EBB_OPEN` if a scope is
/// open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_free(arena: *mut ebb_arena) -> ebb_status {
    let Some(handle) = NonNull::new(arena) else {
        return EBB_OK;
    };
    // SAFETY: not null, so it is an arena that only this thread uses, by the rules for every
    // function; the reference is dropped at once.
    if let Err(status) = unsafe { idle(arena) } {
        return fail(status);
    }
    // SAFETY: an arena, as above, so the field is initialised; no reference to it exists.
    let handle_source = unsafe { (*arena).handle_source };
    // SAFETY: `ebb_arena_new` or one of its siblings wrote the handle, no scope is open (C1, C3),
    // and nobody uses it again, by the rules for every function.
    unsafe { handle.drop_in_place() };
    if let Some(source) = handle_source {
        // SAFETY: `handle_source` is `Some` only by `make`, which placed the handle with this
        // source. The handle was dropped above and is not used again.
        unsafe { source.give_back(handle) };
    }
    EBB_OK
}

/// Ends the open scope and its children, if any, for instance after a longjmp has left them. Their
/// deferred functions run, and all allocations are freed; the scopes must not be used again, not
/// even to close them. Keeps the chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_reset(arena: *mut ebb_arena) -> ebb_status {
    let Some(arena) = NonNull::new(arena) else {
        return fail(EBB_NULL);
    };
    // SAFETY: not null, so it is an arena that only this thread uses, by the rules for every
    // function.
    if unsafe { state(arena.as_ptr()) } == Ok(OPEN) {
        // SAFETY: an arena, as `state` found. No reference to this field exists.
        let words = unsafe { (*arena.as_ptr()).ready };
        // SAFETY: C2, C4: words in use, an ancestor of whatever scope is open.
        unsafe { cleanup::run_all(words) };
    }
    // SAFETY: not null, so it is an arena by the rules for every function. Scopes that were open
    // are not used again, as the header demands.
    unsafe { close(arena) };
    EBB_OK
}

/// Frees every chunk but the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_trim(arena: *mut ebb_arena) -> ebb_status {
    // SAFETY: null, or an arena that only this thread uses, by the rules for every function; the
    // reference ends before this returns.
    result(unsafe { idle(arena) }.map(|memory| match memory {
        Memory::Grows(arena) => arena.trim(),
        Memory::Buffer(fixed) => fixed.trim(),
    }))
}

/// Frees chunks until the arena holds at most `keep` bytes of its backing; 0 frees all chunks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_shrink(arena: *mut ebb_arena, keep: usize) -> ebb_status {
    // SAFETY: null, or an arena that only this thread uses, by the rules for every function; the
    // reference ends before this returns.
    result(unsafe { idle(arena) }.map(|memory| match memory {
        Memory::Grows(arena) => arena.reset_with(Retain::Bytes(keep)),
        Memory::Buffer(fixed) if fixed.stats().held > keep => fixed.trim(),
        Memory::Buffer(_) => {}
    }))
}

/// Frees the chunks, and makes the next first chunk as large as all of them together. If an arena
/// is merged after its first run, its peak then fits into one chunk. No-op for an arena over a
/// buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_merge(arena: *mut ebb_arena) -> ebb_status {
    // SAFETY: null, or an arena that only this thread uses, by the rules for every function; the
    // reference ends before this returns.
    result(unsafe { idle(arena) }.map(|memory| {
        if let Memory::Grows(arena) = memory {
            arena.reset_with(Retain::OneChunk);
        }
    }))
}

/// Limits the bytes that the arena may hold of its backing, headers included; 0 for no limit.
/// Memory that it holds already stays. A scope may be open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_set_limit(arena: *mut ebb_arena, bytes: usize) -> ebb_status {
    let limit = if bytes == 0 { usize::MAX } else { bytes };
    // SAFETY: null, or an arena that only this thread uses, by the rules for every function; what
    // is reached is used only below.
    match unsafe { reach(arena) } {
        Err(status) => return fail(status),
        Ok(Reached::Memory(memory)) => memory.set_limit(limit),
        Ok(Reached::Words(mut words)) => {
            // SAFETY: C4: an ancestor of whatever scope is open, and it is not changed.
            front_end::set_limit(unsafe { words.scope() }, Some(limit));
        }
    }
    // SAFETY: not null; no reference to this field is in use.
    unsafe { (*arena).limit = limit };
    EBB_OK
}

/// The statistics of an arena, without the bytes that its scopes use.
///
/// # Safety
///
/// `arena` is null, or an arena that only this thread uses.
pub(crate) unsafe fn stats(arena: *const ebb_arena) -> Result<Stats, ebb_status> {
    // SAFETY: `arena` is null, or an arena that only this thread uses, by this function's contract,
    // at least until this function returns.
    let mut stats = match unsafe { reach(arena) }? {
        Reached::Memory(Memory::Grows(arena)) => arena.stats(),
        Reached::Memory(Memory::Buffer(fixed)) => fixed.stats(),
        Reached::Words(mut words) => {
            // SAFETY: C4: an ancestor of whatever scope is open, and it is not changed.
            unsafe { words.scope() }.stats()
        }
    };
    stats.used = 0;
    Ok(stats)
}

/// How to access the memory of an arena (C4).
enum Reached<'a> {
    Memory(&'a Memory),
    Words(Words),
}

/// # Safety
///
/// `arena` is null, or an arena that only this thread uses during `'a`.
unsafe fn reach<'a>(arena: *const ebb_arena) -> Result<Reached<'a>, ebb_status> {
    // SAFETY: `arena` is null or an arena that only this thread uses, by this function's contract.
    if unsafe { state(arena) }? == UNREADY {
        // SAFETY: C4: an arena, and it has no words in use.
        return Ok(Reached::Memory(unsafe { &(*arena).memory }));
    }
    // SAFETY: not null, so it is an arena by this function's contract: the field is initialised,
    // and no reference to it exists.
    Ok(Reached::Words(unsafe { (*arena).ready }))
}

/// The limit of an arena; 0 if there is none, and for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_arena_limit(arena: *const ebb_arena) -> usize {
    if arena.is_null() {
        return 0;
    }
    // SAFETY: an arena, by the rules for every function.
    match unsafe { (*arena).limit } {
        usize::MAX => 0,
        limit => limit,
    }
}
