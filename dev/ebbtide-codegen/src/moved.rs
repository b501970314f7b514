//! Values moved into a scope in many ways: a test looks for stores to the stack in the code that
//! runs if the block fits.

use core::arch::asm;
use ebbtide::{AllocError, Arena, Scope, boxed::Box};

/// A reference in memory: as far as the compiler knows, what it points to may change with any store
/// or call.
#[derive(Debug)]
pub struct Held<'h, T: ?Sized> {
    value: &'h T,
}

/// Uses a block without storing its address anywhere.
#[inline(always)]
fn observe<T: ?Sized>(block: &mut T) {
    let address = core::ptr::from_mut(block).cast::<u8>();
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", in(reg) address, options(nostack, preserves_flags)) };
}

/// Like a constructor that is not inlined.
#[inline(always)]
fn wrapped<'a, T: Copy>(s: &Scope<'a>, value: T) -> &'a mut T {
    s.alloc(value)
}

macro_rules! moved {
    ($($size:literal: $value:ty, $one:expr => $module:ident;)*) => {$(
        /// Functions for a value of this many bytes.
        #[allow(clippy::missing_errors_doc, missing_docs)]
        pub mod $module {
            use super::*;

            const _: () = assert!(size_of::<T>() == $size);

            type T = $value;

            #[unsafe(export_name = concat!("moved_by_value_", $size))]
            pub fn by_value<'a>(s: &Scope<'a>, value: T) -> &'a mut T {
                s.alloc(value)
            }

            #[unsafe(export_name = concat!("moved_by_reference_", $size))]
            pub fn by_reference<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> &'a mut T {
                s.alloc(*held.value)
            }

            #[unsafe(export_name = concat!("moved_by_parameter_", $size))]
            pub fn by_parameter<'a>(s: &Scope<'a>, value: &T) -> &'a mut T {
                s.alloc(*value)
            }

            #[unsafe(export_name = concat!("moved_fallibly_", $size))]
            pub fn fallibly<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> Result<&'a mut T, AllocError> {
                s.try_alloc(*held.value)
            }

            #[unsafe(export_name = concat!("moved_boxed_", $size))]
            pub fn boxed<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> Box<'a, T> {
                s.boxed(*held.value)
            }

            #[unsafe(export_name = concat!("moved_by_index_", $size))]
            pub fn by_index<'a>(s: &Scope<'a>, held: &Held<'_, Vec<T>>, index: usize) -> &'a mut T {
                s.alloc(held.value[index])
            }

            #[unsafe(export_name = concat!("moved_through_a_function_", $size))]
            pub fn through_a_function<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> &'a mut T {
                wrapped(s, *held.value)
            }

            #[unsafe(export_name = concat!("moved_from_a_call_", $size))]
            pub fn from_a_call<'a>(s: &Scope<'a>, make: fn() -> T) -> &'a mut T {
                s.alloc(make())
            }

            #[unsafe(export_name = concat!("moved_from_a_literal_", $size))]
            pub fn from_a_literal<'a>(s: &Scope<'a>) -> &'a mut T {
                s.alloc([$one; size_of::<T>() / size_of_val(&$one)])
            }

            #[unsafe(export_name = concat!("moved_from_a_closure_", $size))]
            pub fn from_a_closure<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> &'a mut T {
                s.alloc_with(|| *held.value)
            }

            #[unsafe(export_name = concat!("moved_from_a_closure_fallibly_", $size))]
            pub fn from_a_closure_fallibly<'a>(
                s: &Scope<'a>,
                held: &Held<'_, T>,
            ) -> Result<&'a mut T, AllocError> {
                s.try_alloc_with(|| *held.value)
            }

            #[unsafe(export_name = concat!("moved_as_a_slice_", $size))]
            pub fn as_a_slice<'a>(s: &Scope<'a>, held: &Held<'_, T>) -> *const u8 {
                s.alloc_slice_copy(held.value).as_ptr().cast()
            }

            #[unsafe(export_name = concat!("moved_in_a_local_scope_", $size))]
            pub fn in_a_local_scope(parent: &mut Scope<'_>, held: &Held<'_, T>, count: usize) {
                let s = parent.scope();
                for _ in 0..count {
                    observe(s.alloc(*held.value));
                }
            }

            #[unsafe(export_name = concat!("moved_in_a_local_scope_by_index_", $size))]
            pub fn in_a_local_scope_by_index(parent: &mut Scope<'_>, held: &Held<'_, [T]>) {
                let s = parent.scope();
                for index in 0..held.value.len() {
                    observe(s.alloc(held.value[index]));
                }
            }

            #[unsafe(export_name = concat!("moved_in_a_local_scope_as_a_slice_", $size))]
            pub fn in_a_local_scope_as_a_slice(
                parent: &mut Scope<'_>,
                held: &Held<'_, T>,
                count: usize,
            ) {
                let s = parent.scope();
                for _ in 0..count {
                    observe(s.alloc_slice_copy(held.value));
                }
            }

            #[unsafe(export_name = concat!("moved_in_a_captured_scope_", $size))]
            pub fn in_a_captured_scope(parent: &mut Scope<'_>, held: &Held<'_, T>, count: usize) {
                let s = parent.scope();
                (0..count).for_each(|_| observe(s.alloc(*held.value)));
            }

            #[unsafe(export_name = concat!("moved_through_the_root_", $size))]
            pub fn through_the_root<'a>(arena: &'a Arena, held: &Held<'_, T>) -> &'a mut T {
                arena.root().alloc(*held.value)
            }

            #[unsafe(export_name = concat!("moved_to_the_arena_", $size))]
            pub fn to_the_arena<'a>(arena: &'a Arena, held: &Held<'_, T>) -> &'a mut T {
                arena.alloc(*held.value)
            }
        }
    )*};
}

moved! {
    8: [u64; 1], 7_u64 => moved_8;
    13: [u8; 13], 7_u8 => moved_13;
    16: [u64; 2], 7_u64 => moved_16;
    24: [u64; 3], 7_u64 => moved_24;
    30: [u8; 30], 7_u8 => moved_30;
    32: [u64; 4], 7_u64 => moved_32;
    64: [u64; 8], 7_u64 => moved_64;
    96: [u64; 12], 7_u64 => moved_96;
    128: [u64; 16], 7_u64 => moved_128;
    256: [u64; 32], 7_u64 => moved_256;
    512: [u64; 64], 7_u64 => moved_512;
    1024: [u64; 128], 7_u64 => moved_1024;
}
