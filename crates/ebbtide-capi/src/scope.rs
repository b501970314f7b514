//! The cold paths of scopes, which the header's inline functions call.
//!
//! A function stores the new words in the scope that it gets. Where the C compiler sees the
//! variable behind the pointer, the header passes a copy, so that the scope itself can stay in
//! registers; otherwise it passes the scope (dev/decisions/0024-c-fast-paths.md).

use crate::{
    arena::{self, ebb_arena},
    cleanup::{self, ebb_cleanup_},
    status::{self, ebb_status, fail, fail_null},
};
use core::{
    alloc::Layout,
    ffi::c_void,
    ptr::{self, NonNull},
    sync::atomic::AtomicUsize,
};
use ebb_status::{EBB_ALIGNMENT, EBB_CLOSED, EBB_LENT, EBB_NO_MEMORY, EBB_NULL, EBB_OK, EBB_SIZE};
use ebbtide::{
    AllocError, Scope,
    front_end::{self, Words},
};

/// The representation of a scope in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ebb_scope {
    /// While the scope is open, words in use; see [`front_end`].
    pub words: Words,
    /// Null once it is closed. For a scope of an arena: the arena's address, plus `THREAD` if the
    /// thread owns the arena. For a child: `CHILD`, plus the parent's address if the header checks
    /// the order of closing.
    pub state: *mut c_void,
}

/// Opened from another scope.
pub(crate) const CHILD: usize = 1;
/// Opened from an arena of the thread.
#[cfg(feature = "std")]
const THREAD: usize = 8;

// The header relies on these.
const _: () = {
    const WORD: usize = size_of::<usize>();
    assert!(size_of::<ebb_scope>() == 4 * WORD && align_of::<ebb_scope>() == WORD);
    assert!(core::mem::offset_of!(ebb_scope, words) == 0);
    assert!(core::mem::offset_of!(ebb_scope, state) == 3 * WORD);
    assert!(front_end::SMALL == 4096);
    assert!(align_of::<ebb_arena>() == 16);
};

/// The address of a closed scope, for which the comparison of the fast path does not wrap.
const NOWHERE: usize = 2 * front_end::SMALL;
/// The distance of the addresses for two reasons. The fast path rounds words down to it.
const STRIDE: usize = 16;

/// A stand-in for the arena of scopes that could not be opened for some reason. It begins like an
/// arena: opening and closing a scope write to the first word, and opening reads the others.
#[repr(C, align(64))]
struct ClosedArena {
    open: AtomicUsize,
    words: Words,
}

// SAFETY: the first word is atomic, and the others never change. Their pointers are never followed.
unsafe impl Sync for ClosedArena {}

/// One for each reason, at the place of its number.
static CLOSED_ARENAS: [ClosedArena; status::COUNT] = {
    let mut all =
        [const { ClosedArena { open: AtomicUsize::new(0), words: nowhere(0) } }; status::COUNT];
    let mut number = 0;
    while number < all.len() {
        all[number].words = nowhere(number);
        number += 1;
    }
    all
};

/// The words of a closed scope: nothing is free, so every request takes the cold path, and fails
/// for the reason of this number.
const fn nowhere(number: usize) -> Words {
    let top = NOWHERE + number * STRIDE;
    Words { top, chunk: ptr::null_mut(), low: ptr::without_provenance_mut(top) }
}

/// A scope that could not be opened.
pub(crate) fn closed(reason: ebb_status) -> ebb_scope {
    let arena = &CLOSED_ARENAS[reason as usize];
    ebb_scope { words: arena.words, state: ptr::from_ref(arena).cast_mut().cast() }
}

/// Why a scope is closed.
fn reason(closed: &ebb_scope) -> ebb_status {
    let number = closed.words.low.addr().wrapping_sub(NOWHERE) / STRIDE;
    status::of_number(number).filter(|&status| status != EBB_OK).unwrap_or(EBB_CLOSED)
}

impl ebb_scope {
    /// Converts the words to a scope of the core.
    ///
    /// # Errors
    /// The scope is closed, or the reason why it could not be opened.
    ///
    /// # Safety
    ///
    /// If its words name a chunk, they are in use.
    unsafe fn core(&mut self) -> Result<&mut Scope<'_>, ebb_status> {
        if self.words.chunk.is_null() {
            return Err(reason(self));
        }
        // SAFETY: the words name a chunk, so they are in use by this function's contract, and
        // nobody else uses them as long as `self` is borrowed.
        Ok(unsafe { self.words.scope() })
    }
}

/// The scope of the core behind a pointer from C.
///
/// # Safety
///
/// `scope` is null, or a scope by the rules for every function, which nobody else uses during `'s`.
pub(crate) unsafe fn core_scope<'s>(
    scope: *mut ebb_scope,
) -> Result<&'s mut Scope<'s>, ebb_status> {
    // SAFETY: `scope` is null, or valid for reads and writes, and used by nobody else during `'s`,
    // by this function's contract.
    let scope = unsafe { scope.as_mut() }.ok_or(EBB_NULL)?;
    // SAFETY: the scope is closed, or its words are in use during `'s`, by this function's
    // contract.
    unsafe { scope.core() }
}

/// A layout from C.
fn layout(size: usize, align: usize) -> Result<Layout, ebb_status> {
    if !align.is_power_of_two() {
        return Err(EBB_ALIGNMENT);
    }
    Layout::from_size_align(size, align).map_err(|_| EBB_SIZE)
}

/// Allocates a block in a scope that C passed, or records why that fails.
fn alloc<'s>(
    scope: Result<&mut Scope<'s>, ebb_status>,
    size: usize,
    align: usize,
    take: impl FnOnce(&Scope<'s>, Layout) -> Result<NonNull<u8>, AllocError>,
) -> *mut c_void {
    let taken = layout(size, align)
        .and_then(|layout| take(scope?, layout).map_err(|AllocError| EBB_NO_MEMORY));
    taken.map_or_else(fail_null, |block| block.as_ptr().cast())
}

/// Opens a scope of an arena that is not ready, or records why that fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_open_slowly_(arena: *mut ebb_arena, opened: *mut ebb_scope) {
    // SAFETY: null or an arena, by the rules for every function.
    let scope = match unsafe { arena::open(arena) } {
        Ok(words) => ebb_scope { words, state: arena.cast() },
        Err(status) => closed(fail(status)),
    };
    // SAFETY: the header passes a variable of its own, which is valid for the write of a scope.
    unsafe { opened.write(scope) };
}

/// Opens a scope of an arena of this thread.
#[cfg(feature = "std")]
pub(crate) fn of_thread(arena: NonNull<ebb_arena>, words: Words) -> ebb_scope {
    ebb_scope { words, state: arena.as_ptr().map_addr(|address| address | THREAD).cast() }
}

/// Moves a nearly full scope to the next chunk, before it is marked or a child opens. The child
/// begins with the words that the scope then has. If the scope is closed, records the reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_make_room_(scope: *mut ebb_scope) {
    // SAFETY: null or a scope, by the rules for every function.
    match unsafe { core_scope(scope) }.map(|scope| Words::of(scope.scope())) {
        // SAFETY: a scope, as `core_scope` found; it is no longer borrowed.
        Ok(words) => unsafe { (*scope).words = words },
        Err(status) => _ = fail(status),
    }
}

/// Allocates a block at the high end that does not fit, or whose size or alignment has to be
/// checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_alloc_slowly_(
    scope: *mut ebb_scope,
    size: usize,
    align: usize,
) -> *mut c_void {
    // SAFETY: null or a scope, by the rules for every function.
    let scope = unsafe { core_scope(scope) };
    alloc(scope, size, align, Scope::try_alloc_layout)
}

/// The same at the low end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_alloc_low_slowly_(
    scope: *mut ebb_scope,
    size: usize,
    align: usize,
) -> *mut c_void {
    // SAFETY: null or a scope, by the rules for every function.
    let scope = unsafe { core_scope(scope) };
    alloc(scope, size, align, front_end::alloc_low)
}

/// Whether a scope that is open can be rewound to a position. For the header, to check it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_is_position_(
    scope: *const ebb_scope,
    position: *const ebb_scope,
) -> bool {
    // SAFETY: null or a scope, by the rules for every function.
    let Some(scope) = (unsafe { scope.as_ref() }) else { return false };
    // SAFETY: null, or valid for reads, by the rules for every function.
    let Some(position) = (unsafe { position.as_ref() }) else { return false };
    let mut words = scope.words;
    // SAFETY: a copy of words that are in use, as the header has checked. They are an ancestor of
    // the copy, and nobody uses them during the call.
    front_end::is_mark(unsafe { words.scope() }, &position.words)
}

/// Whether an address lies in memory that was allocated from a scope or its ancestors, and not
/// freed since; false for null, and if the scope is closed. Bytes that did not fit at the end of an
/// earlier chunk count as allocated, and so does a low-end block that was freed before the scope
/// was rewound to a position from before that. Costs a few comparisons, and one more for each
/// earlier chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_owns(scope: *const ebb_scope, address: *const c_void) -> bool {
    // SAFETY: null or a scope, by the rules for every function.
    let words = unsafe { scope.as_ref() }.map(|scope| scope.words);
    let Some(mut words) = words.filter(|words| !words.chunk.is_null()) else { return false };
    // SAFETY: a copy of words that are in use, by the rules for every function. They are an
    // ancestor of the copy, and nobody uses them during the call.
    front_end::has_allocated(unsafe { words.scope() }, address.addr())
}

/// Where a new deferred function is linked, or null, with the reason recorded. For the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_cleanups_(scope: *mut ebb_scope) -> *mut *mut ebb_cleanup_ {
    // SAFETY: null or a scope, by the rules for every function.
    let list = unsafe { core_scope(scope) }.and_then(|s| cleanup::list(s).ok_or(EBB_LENT));
    list.map_or_else(fail_null, NonNull::as_ptr)
}

/// Runs the deferred functions that were allocated since a position, the newest first, and returns
/// whether the first of the scope was among them. If `all` is true, then runs those of the scope
/// from before the position, too. For the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_run_cleanups_(position: *const ebb_scope, all: bool) -> bool {
    // SAFETY: null or a scope, by the rules for every function.
    let words = unsafe { position.as_ref() }.map(|scope| scope.words);
    let Some(words) = words.filter(|words| !words.chunk.is_null()) else { return false };
    // SAFETY: words in use, by the rules for every function. The deferred functions at most allocate
    // and free in the scope.
    let ran_first = unsafe { cleanup::run_freed(words) };
    if all {
        // SAFETY: words in use, also if functions that ran have allocated since.
        unsafe { cleanup::run_scope(words) };
    }
    ran_first
}

/// Calls `each` with every range of bytes that is free as seen from a scope or, if that is null,
/// from an arena without open scopes. For the header, to poison and unpoison memory. From the first
/// call for an arena on, no memory of freed arenas is kept, so that their use is reported as well.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ebb_free_ranges_(
    arena: *const ebb_arena,
    scope: *const ebb_scope,
    each: Option<unsafe extern "C" fn(start: *const c_void, size: usize)>,
) {
    #[cfg(feature = "std")]
    if !arena.is_null() {
        ebbtide::warm::set_limit(0);
    }
    // SAFETY: null or a scope, by the rules for every function.
    let words = match unsafe { scope.as_ref() } {
        Some(scope) => Some(scope.words).filter(|words| !words.chunk.is_null()),
        // SAFETY: null or an arena, by the rules for every function.
        None => unsafe { arena::ready(arena) },
    };
    let (Some(mut words), Some(each)) = (words, each) else {
        return;
    };
    // SAFETY: a copy of words that are in use, or with which the next scope begins (C1). Nobody
    // uses the originals during the call.
    let scope = unsafe { words.scope() };
    for range in front_end::free_ranges(scope) {
        // SAFETY: the header passes a function of the sanitizer, which takes any range.
        unsafe { each(range.as_ptr().cast(), range.len()) };
    }
}
