//! The fast paths as functions of their own, whose assembly `tests/pinned` examines.

#[cfg(target_pointer_width = "64")]
pub mod moved;

use ebbtide::{
    AllocError, Arena, Scope,
    collections::{NodeVec, Vec},
};
use std::hint::black_box;

/// Through a reference, not inlined: eight instructions.
#[unsafe(no_mangle)]
pub fn alloc_u64<'a>(s: &Scope<'a>, value: u64) -> &'a mut u64 {
    s.alloc(value)
}

/// No rounding.
#[unsafe(no_mangle)]
pub fn alloc_u8<'a>(s: &Scope<'a>, value: u8) -> &'a mut u8 {
    s.alloc(value)
}

/// Passed by reference, copied in.
#[unsafe(no_mangle)]
pub fn alloc_three_words<'a>(s: &Scope<'a>, value: [u64; 3]) -> &'a mut [u64; 3] {
    s.alloc(value)
}

/// The fallible twin.
#[unsafe(no_mangle)]
pub fn try_alloc_u64<'a>(s: &Scope<'a>, value: u64) -> Result<&'a mut u64, AllocError> {
    s.try_alloc(value)
}

/// A short string: overlapping loads.
#[unsafe(no_mangle)]
pub fn alloc_str<'a>(s: &Scope<'a>, text: &str) -> &'a mut str {
    s.alloc_str(text)
}

/// The fallible twin.
#[unsafe(no_mangle)]
pub fn try_alloc_str<'a>(s: &Scope<'a>, text: &str) -> Result<&'a mut str, AllocError> {
    s.try_alloc_str(text)
}

/// The fallible twin of a slice made by a function.
#[unsafe(no_mangle)]
pub fn try_alloc_slice<'a>(s: &Scope<'a>, len: usize) -> Result<&'a mut [usize], AllocError> {
    s.try_alloc_slice_fill_with(len, |index| index)
}

/// A local scope: the cursor in registers, and no rounding in the loop.
#[unsafe(no_mangle)]
pub fn local_loop(parent: &mut Scope<'_>, count: u64) {
    let s = parent.scope();
    for value in 0..count {
        black_box(s.alloc(value));
    }
}

/// Open, allocate, close.
#[unsafe(no_mangle)]
pub fn open_allocate_close(arena: &mut Arena, value: u64) -> u64 {
    let s = arena.scope();
    *black_box(s.alloc(value))
}

/// A slice from an iterator that knows its length: a loop that handles several elements per
/// iteration.
#[unsafe(no_mangle)]
pub fn collect_slice<'a>(s: &Scope<'a>, values: &[u32]) -> &'a mut [u32] {
    s.alloc_slice_from_iter(values.iter().map(|value| value + 1))
}

/// Clones of `Copy` elements of two words each: a single `memcpy` if there are many.
#[unsafe(no_mangle)]
pub fn clone_slice<'a>(s: &Scope<'a>, values: &[&'a str]) -> &'a mut [&'a str] {
    s.alloc_slice_clone(values)
}

/// A default scope: open, allocate, close.
#[unsafe(no_mangle)]
pub fn default_scope(value: u64) -> u64 {
    ebbtide::scope(|s| *black_box(s.alloc(value)))
}

/// Finishing a vector gives back its spare capacity without a call.
#[unsafe(no_mangle)]
pub fn vec_into_slice<'a>(vec: Vec<'_, 'a, u64>) -> &'a mut [u64] {
    vec.into_slice()
}

/// Pushing to a vector that is passed its scope.
#[unsafe(no_mangle)]
pub fn node_push<'a>(vec: &mut NodeVec<'a, u64>, s: &Scope<'a>, value: u64) {
    vec.push(s, value);
}

/// Lending it for a method that it lacks.
#[unsafe(no_mangle)]
pub fn node_with<'a>(vec: &mut NodeVec<'a, u64>, s: &Scope<'a>, values: &[u64]) {
    vec.with(s).extend_from_slice_copy(values);
}

/// In the root of an arena that may have moved: the same instructions.
#[unsafe(no_mangle)]
pub fn root_alloc_u64(arena: &Arena, value: u64) -> &mut u64 {
    arena.alloc(value)
}

/// By the interface of bumpalo: the same instructions.
#[unsafe(no_mangle)]
pub fn bump_alloc_u64(bump: &compat::Bump, value: u64) -> &mut u64 {
    bump.alloc(value)
}

/// A short string in the root.
#[unsafe(no_mangle)]
pub fn root_alloc_str<'a>(arena: &'a Arena, text: &str) -> &'a mut str {
    arena.alloc_str(text)
}
