//! What a library in Rust does with a scope that Julia lends it: the functions of `shared_scope.c`,
//! and one for text.

use ebbtide::{AllocError, Scope};
use ebbtide_capi::ebb_scope;
use std::{ptr, slice, str};

fn squares_in<'a>(scope: &Scope<'a>, x: &[f64]) -> Result<&'a mut [f64], AllocError> {
    scope.try_alloc_slice_fill_with(x.len(), |i| x[i] * x[i])
}

/// A new array in the scope, which continues behind what is there. Null if there is no memory.
///
/// # Safety
///
/// The scope is lent to this call, and has no open child. There are `n` numbers at `x`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn squares(scope: &mut ebb_scope, x: *const f64, n: usize) -> *mut f64 {
    // SAFETY: nobody else uses the scope or its arena during the call, as the caller says.
    let Ok(scope) = (unsafe { scope.scope() }) else { return ptr::null_mut() };
    // SAFETY: numbers of the caller, which nobody changes meanwhile.
    let x = unsafe { slice::from_raw_parts(x, n) };
    squares_in(scope, x).map_or(ptr::null_mut(), <[f64]>::as_mut_ptr)
}

/// Needs memory of its own meanwhile. Not a number if there is none.
///
/// # Safety
///
/// The contract of [`squares`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sum_of_squares(scope: &mut ebb_scope, x: *const f64, n: usize) -> f64 {
    // SAFETY: nobody else uses the scope or its arena during the call, as the caller says.
    let Ok(scope) = (unsafe { scope.scope() }) else { return f64::NAN };
    // SAFETY: numbers of the caller, which nobody changes meanwhile.
    let x = unsafe { slice::from_raw_parts(x, n) };
    let scratch = scope.scope();
    squares_in(&scratch, x).map_or(f64::NAN, |squares| squares.iter().sum())
}

/// Calls back, with the scope that it was lent.
///
/// # Safety
///
/// The contract of [`squares`]. `f` may use the scope in the same way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn apply(
    scope: *mut ebb_scope,
    f: extern "C" fn(*mut ebb_scope, usize) -> f64,
    n: usize,
) -> f64 {
    // SAFETY: a scope of the caller, which this reference ends before `f` uses.
    let lent = unsafe { &mut *scope };
    // SAFETY: nobody else uses the scope or its arena until `f` is called.
    let Ok(open) = (unsafe { lent.scope() }) else { return 0.0 };
    let Ok(x) = open.try_alloc(0.0) else { return 0.0 };
    let x = ptr::from_mut(x);
    let value = f(scope, n);
    // SAFETY: allocated above; what `f` allocated lies elsewhere, and the scope has not ended.
    unsafe { x.write(value) };
    // SAFETY: written just now.
    unsafe { x.read() }
}

/// A piece of text in the scope.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Word {
    data: *const u8,
    bytes: usize,
}

/// The words of a text in upper case, in an array in the scope. Writes their number to `count`.
/// Null if there is no memory, or the text is not UTF-8.
///
/// # Safety
///
/// The contract of [`squares`], for `n` bytes at `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shouted_words(
    scope: &mut ebb_scope,
    text: *const u8,
    n: usize,
    count: &mut usize,
) -> *const Word {
    // SAFETY: nobody else uses the scope or its arena during the call, as the caller says.
    let Ok(scope) = (unsafe { scope.scope() }) else { return ptr::null() };
    // SAFETY: bytes of the caller, which nobody changes meanwhile.
    let Ok(text) = str::from_utf8(unsafe { slice::from_raw_parts(text, n) }) else {
        return ptr::null();
    };
    let mut words = scope.vec();
    for word in text.split_whitespace() {
        let Ok(shouted) = scope.try_alloc_fmt(format_args!("{}", word.to_uppercase())) else {
            return ptr::null();
        };
        let word = Word { data: shouted.as_ptr(), bytes: shouted.len() };
        if words.try_push(word).is_err() {
            return ptr::null();
        }
    }
    *count = words.len();
    words.into_slice().as_ptr()
}
