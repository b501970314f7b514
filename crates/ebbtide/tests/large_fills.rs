//! Large slices that are filled one element after the other come from the low end, so that their
//! addresses ascend.

use ebbtide::{Arena, Fixed};
use std::mem::MaybeUninit;

/// Elements of a slice of 4 KiB.
const LARGE: usize = 512;

#[test]
fn the_addresses_of_large_slices_ascend() {
    let mut arena = Arena::with_capacity(1 << 20);
    let s = arena.scope();
    let with = s.alloc_slice_fill_with(LARGE, |i| i as u64);
    let iter = s.alloc_slice_fill_iter((0..LARGE).map(|i| i as u64 + 1));
    let clone = s.alloc_slice_fill_clone(LARGE, &7_u64);
    let tried = s.alloc_slice_try_fill_with(LARGE, |i| Ok::<_, ()>(i as u64)).unwrap();
    assert_eq!(with.as_ptr_range().end, iter.as_ptr());
    assert_eq!(iter.as_ptr_range().end, clone.as_ptr());
    assert_eq!(clone.as_ptr_range().end, tried.as_ptr());
    assert!((0..LARGE).all(|i| with[i] == i as u64 && iter[i] == i as u64 + 1 && clone[i] == 7));
}

#[test]
fn what_is_allocated_while_a_large_slice_is_filled_lies_elsewhere() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut numbers = s.vec();
    let rows = s.alloc_slice_fill_with(LARGE, |row| {
        numbers.push(row);
        let name = s.alloc_str(&format!("row {row}"));
        let squares = s.alloc_slice_fill_iter((0..LARGE / 2).map(|i| row * i));
        numbers.extend([row; 3]);
        (&*name, &*squares)
    });
    for (row, (name, squares)) in rows.iter().enumerate() {
        assert_eq!(*name, format!("row {row}"));
        assert!(squares.iter().enumerate().all(|(i, square)| *square == row * i));
        assert_eq!(numbers[4 * row..][..4], [row; 4]);
    }
}

#[test]
fn a_vector_grows_past_large_slices() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let mut slices = s.vec();
    for n in 0..100_u64 {
        slices.push(s.alloc_slice_fill_with(LARGE, |i| n + i as u64));
    }
    for (n, slice) in slices.iter().enumerate() {
        assert!(slice.iter().enumerate().all(|(i, value)| *value == (n + i) as u64));
    }
}

#[test]
fn after_an_error_the_memory_of_a_large_slice_is_free_again() {
    let mut arena = Arena::with_capacity(1 << 16);
    let s = arena.scope();
    let mut numbers = s.vec();
    numbers.extend([1, 2, 3]);
    let used = s.stats().used;
    let failed = s.alloc_slice_try_fill_with(LARGE, |i| if i < 300 { Ok(i) } else { Err(i) });
    assert_eq!(failed, Err(300));
    assert_eq!(s.stats().used, used);

    let kept =
        s.alloc_slice_try_fill_with(LARGE, |i| if i < 300 { Ok(s.alloc(i)) } else { Err(i) });
    assert_eq!(kept.map(|_| ()), Err(300));
    let next = s.alloc_slice_fill_with(LARGE, |i| i);
    numbers.extend([4, 5, 6]);
    assert_eq!(numbers.as_slice(), [1, 2, 3, 4, 5, 6]);
    assert!(next.iter().enumerate().all(|(i, value)| *value == i));
}

#[test]
fn a_large_slice_takes_a_buffer_to_its_last_byte() {
    #[repr(align(16))]
    struct Aligned([MaybeUninit<u8>; 4096 + 32]);
    /// Aligned to 8 bytes on every platform.
    #[derive(Clone, Copy)]
    #[repr(align(8))]
    struct Word(u64);
    let mut buffer = Aligned([MaybeUninit::uninit(); 4096 + 32]);
    for (from, to) in [(0, 4096), (8, 4104), (1, 4104), (8, 4111), (3, 4109)] {
        let mut fixed = Fixed::new(&mut buffer.0[from..to]);
        let s = fixed.scope();
        let slice = s.try_alloc_slice_fill_with(LARGE, |i| Word(i as u64));
        let slice = slice.expect("as much is free");
        assert!(slice.iter().enumerate().all(|(i, value)| value.0 == i as u64));
        assert!(s.try_alloc(Word(1)).is_err(), "nothing else is free");

        let mut fixed = Fixed::new(&mut buffer.0[from..to.min(from + 4096) - 1]);
        assert!(fixed.scope().try_alloc_slice_fill_with(LARGE, |i| Word(i as u64)).is_err());
    }
}

#[test]
fn large_slices_are_aligned_behind_single_bytes() {
    #[derive(Clone, Copy)]
    #[repr(align(128))]
    struct Wide(u64);

    let mut arena = Arena::new();
    let s = arena.scope();
    for turn in 0..50_u8 {
        let mut bytes = s.vec();
        bytes.extend(vec![turn; turn.into()]);
        let wide = s.alloc_slice_fill_with(40, |i| Wide(i as u64));
        let words = s.alloc_slice_fill_iter((0..LARGE).map(|i| i as u64 * 3));
        assert!(wide.as_ptr().is_aligned() && words.as_ptr().is_aligned());
        assert!((0..40).all(|i| wide[i].0 == i as u64));
        assert!((0..LARGE).all(|i| words[i] == i as u64 * 3));
        assert!(bytes.iter().all(|byte| *byte == turn));
    }
}
