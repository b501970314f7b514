//! The part in Rust: allocates in a scope that C or Rust has opened.

use ebbtide::{AllocError, Scope};
use ebbtide_capi::ebb_scope;
use std::{ptr, slice};

/// A piece of a text, in UTF-8. Only C makes them, of a text that outlives the scope.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    data: *const u8,
    length: usize,
}

/// Pieces in a scope.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pieces {
    items: *const Piece,
    count: usize,
}

/// A word, and how often it occurs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The word.
    pub text: Piece,
    /// How often it occurs.
    pub count: usize,
}

/// Words in a scope.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Words {
    items: *const Word,
    count: usize,
}

unsafe extern "C" {
    /// Splits a text at its spaces, in C.
    pub fn split_text(scope: *mut ebb_scope, text: *const u8, length: usize) -> Pieces;
}

impl Piece {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a piece of a text that outlives it.
        unsafe { slice::from_raw_parts(self.data, self.length) }
    }
}

impl Pieces {
    /// The pieces. `None` if C had no memory for them.
    ///
    /// # Safety
    ///
    /// [`split_text`] returned them, and their scope is open during `'a`.
    pub unsafe fn get<'a>(self) -> Option<&'a [Piece]> {
        // SAFETY: an array of C with so many elements, which lives as long as its scope.
        (!self.items.is_null()).then(|| unsafe { slice::from_raw_parts(self.items, self.count) })
    }
}

/// Counts equal pieces, and sorts them.
///
/// # Errors
///
/// There is no memory.
pub fn words<'a>(scope: &Scope<'a>, pieces: &[Piece]) -> Result<&'a [Word], AllocError> {
    let sorted = scope.try_alloc_slice_copy(pieces)?;
    sorted.sort_unstable_by(|a, b| a.bytes().cmp(b.bytes()));
    let mut words = scope.vec();
    for equal in sorted.chunk_by(|a, b| a.bytes() == b.bytes()) {
        words.try_push(Word { text: equal[0], count: equal.len() })?;
    }
    Ok(words.into_slice())
}

/// [`words`], for C. Words without items mean that there is no memory.
///
/// # Safety
///
/// The scope is one of C, which does not use it during the call. [`split_text`] returned the
/// pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn count_words(scope: *mut ebb_scope, pieces: Pieces) -> Words {
    const NONE: Words = Words { items: ptr::null(), count: 0 };
    // SAFETY: a scope, as the caller says.
    let scope = unsafe { &mut *scope };
    // SAFETY: C uses neither the scope nor its arena during the call.
    let Ok(scope) = (unsafe { scope.scope() }) else {
        return NONE;
    };
    // SAFETY: from `split_text`, as the caller says; the scope ends after this call.
    let Some(pieces) = (unsafe { pieces.get() }) else {
        return NONE;
    };
    words(scope, pieces).map_or(NONE, |words| Words { items: words.as_ptr(), count: words.len() })
}
