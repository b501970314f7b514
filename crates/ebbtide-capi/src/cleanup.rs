//! Functions that run when memory of a scope is freed: at its close, a rewind, or a reset.
//!
//! An arena has one list of them, the newest first, for the scope that is open and all its children.
//! Its start is the arena's word for front ends. The header takes the nodes from the scope and links
//! them; this module runs them.
//!
//! # Invariants
//!
//! - **N1** The word of an arena that C created is [`NONE`] or the newest node. That of an arena of
//!   Rust's is null: nobody would run its nodes.
//! - **N2** A node lies in a scope that is open, or in a child that a longjmp left. So the nodes of a
//!   list are in the order of their allocation, and those that a scope sees as allocated are its own
//!   and its ancestors'.
//! - **N3** The oldest node of each scope says that it is the first. A scope with nodes has a flag in
//!   its state, which the header tests.

use core::{
    cell::Cell,
    ffi::c_void,
    ptr::{self, NonNull},
};
use ebbtide::{
    Scope,
    front_end::{self, Words},
};

/// A function that runs when its scope ends.
#[repr(C)]
#[derive(Debug)]
pub struct ebb_cleanup_ {
    older: *mut ebb_cleanup_,
    run: unsafe extern "C" fn(argument: *mut c_void),
    argument: *mut c_void,
    /// The first of its scope.
    is_first: bool,
}

/// The end of a list.
const NONE: *mut ebb_cleanup_ = ptr::without_provenance_mut(1);

/// Makes the list of an arena empty.
///
/// # Safety
///
/// The words are in use, and those of an arena that C created.
pub(crate) unsafe fn start(mut words: Words) {
    // SAFETY: a copy of words that are in use, by this function's contract. They are an ancestor of
    // the copy, and nobody uses them during the call.
    front_end::word(unsafe { words.scope() }).set(NONE.cast());
}

/// The start of the list of a scope's arena, for the header to link a node. `None` for an arena of
/// Rust's.
pub(crate) fn list(scope: &Scope<'_>) -> Option<NonNull<*mut ebb_cleanup_>> {
    let word = front_end::word(scope);
    // `Cell` has the layout of its value, and so have all thin pointers.
    (!word.get().is_null()).then(|| NonNull::from(word).cast())
}

/// Runs the newest function of an arena and removes it, if `is_wanted` says so of its node's address
/// and whether it is the first of its scope. Otherwise returns false.
///
/// # Safety
///
/// The words are in use, and N1 and N2 hold for their arena.
unsafe fn run_newest(mut words: Words, is_wanted: impl FnOnce(usize, bool) -> bool) -> bool {
    // SAFETY: a copy of words that are in use, by this function's contract. They are an ancestor of
    // the copy, and nobody uses them during the call.
    let word: &Cell<*mut ()> = front_end::word(unsafe { words.scope() });
    let newest = word.get().cast::<ebb_cleanup_>();
    if newest.is_null() || newest == NONE {
        return false;
    }
    // SAFETY: N1, N2: a node in memory that has not been freed.
    let ebb_cleanup_ { older, run, argument, is_first } = unsafe { newest.read() };
    if !is_wanted(newest.addr(), is_first) {
        return false;
    }
    word.set(older.cast());
    // SAFETY: `ebb_defer` got the function for this argument. It may use the scope: the words
    // copied above are no longer in use.
    unsafe { run(argument) };
    true
}

/// Runs all functions of an arena.
///
/// # Safety
///
/// As for [`run_newest`].
pub(crate) unsafe fn run_all(words: Words) {
    // SAFETY: the words are in use, and N1 and N2 hold for their arena, by this function's
    // contract.
    while unsafe { run_newest(words, |_, _| true) } {}
}

/// Runs the functions whose nodes lie in memory that the words see as free. Returns whether the
/// first of a scope was among them. Nodes are blocks of the high end.
///
/// # Safety
///
/// As for [`run_newest`].
pub(crate) unsafe fn run_freed(words: Words) -> bool {
    let mut ran_first = false;
    let mut is_freed = |node, is_first| {
        let mut words = words;
        // SAFETY: a copy of words that are in use, by this function's contract. They are an
        // ancestor of the copy, and nobody uses them during the call.
        let is_freed = !front_end::has_allocated_high(unsafe { words.scope() }, node);
        ran_first |= is_first && is_freed;
        is_freed
    };
    // SAFETY: the words are in use, and N1 and N2 hold for their arena, by this function's
    // contract.
    while unsafe { run_newest(words, &mut is_freed) } {}
    ran_first
}

/// Runs the functions of the scope that has the newest ones, until the first of them.
///
/// # Safety
///
/// As for [`run_newest`].
pub(crate) unsafe fn run_scope(words: Words) {
    let mut ran_first = false;
    while !ran_first {
        // SAFETY: the words are in use, and N1 and N2 hold for their arena, by this function's
        // contract.
        let ran = unsafe {
            run_newest(words, |_, is_first| {
                ran_first = is_first;
                true
            })
        };
        if !ran {
            break;
        }
    }
}
