//! Scopes over caller-provided memory: on the stack, in the spare capacity of a vector, in a
//! static; and what happens when it is full.
//!
//! `cargo run -p ebbtide --example fixed`

use ebbtide::{AllocError, Fixed, Heap, Scope, StackArena};
use std::{mem::MaybeUninit, sync::Mutex};

/// The greatest three of some numbers, without the heap. Works with a scope over any memory.
fn greatest_three(s: &mut Scope<'_>, numbers: &[u32]) -> Result<[u32; 3], AllocError> {
    let temporary = s.scope();
    let sorted = temporary.try_alloc_slice_copy(numbers)?;
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    Ok([sorted[0], sorted[1], sorted[2]])
} // the copy is gone, even if `?` returned early

static SHARED: Mutex<StackArena<256>> = Mutex::new(StackArena::new());

fn main() -> Result<(), AllocError> {
    let numbers = [3, 1, 4, 1, 5, 9, 2, 6];

    // On the stack. A buffer of n bytes holds n bytes.
    let mut stack = StackArena::<32>::new();
    let mut s = stack.scope();
    assert_eq!(greatest_three(&mut s, &numbers)?, [9, 6, 5]);
    assert_eq!(greatest_three(&mut s, &[0; 9]), Err(AllocError)); // 36 bytes; nothing has changed
    assert_eq!(greatest_three(&mut s, &numbers)?, [9, 6, 5]);

    // Any unused slice.
    let mut buffer = [MaybeUninit::uninit(); 100];
    let mut fixed = Fixed::new(&mut buffer[50..]);
    assert_eq!(greatest_three(&mut fixed.scope(), &numbers)?, [9, 6, 5]);

    // The spare capacity of a vector, whose elements do not change.
    let mut vec = Vec::with_capacity(1000);
    vec.extend_from_slice(b"kept");
    let mut fixed = Fixed::from_vec(vec);
    let line = fixed.scope().alloc_fmt(format_args!("{:>100}", "right")).len();
    assert_eq!((line, fixed.into_memory().into_vec().as_slice()), (100, &b"kept"[..]));

    // A static: an arena can be a constant.
    if let Ok(mut shared) = SHARED.lock() {
        assert_eq!(greatest_three(&mut shared.scope(), &numbers)?, [9, 6, 5]);
    }

    // Small inputs use the stack, large ones spill to the heap. The chunks are kept for the next
    // scope.
    let mut spilling = StackArena::<64>::new().or_spill(Heap);
    for len in [4, 4000, 4, 4000] {
        let s = spilling.scope();
        s.alloc_slice_fill_copy(len, 0_u32);
        println!("{len} words: {}", s.stats());
    }
    assert_eq!(spilling.stats().chunks, 2);
    Ok(())
}
