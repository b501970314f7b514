//! Arenas over buffers of odd sizes at odd addresses. A model predicts the exact address of each
//! block and when the buffer is full; the bytes around the buffer must not change.

use super::input::Input;
use ebbtide::{Fixed, Heap, Scope, StackArena};
use std::{mem::MaybeUninit, ops::Range, ptr::NonNull};

/// The byte around the buffer.
const AROUND: u8 = 0xA5;

/// The expected free bytes of a scope.
#[derive(Clone, Copy)]
struct Room {
    low: usize,
    top: usize,
}

/// A live block, and the byte it was filled with.
struct Block {
    start: NonNull<u8>,
    size: usize,
    byte: u8,
}

impl Block {
    fn fill(start: NonNull<u8>, size: usize, byte: u8) -> Self {
        // SAFETY: the block was just allocated with this size.
        unsafe { start.write_bytes(byte, size) };
        Block { start, size, byte }
    }

    fn check(&self) {
        // SAFETY: filled, and alive as long as its scope.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) };
        assert!(bytes.iter().all(|byte| *byte == self.byte), "a live block was overwritten");
    }
}

/// Allocates from both ends until the input stops it. `room` is set if there is no spill.
fn level(s: &mut Scope<'_>, mut room: Option<Room>, input: &mut Input<'_>, depth: usize) {
    let mut blocks: Vec<Block> = Vec::new();
    while !input.is_empty() {
        match input.below(10) {
            0 if depth < 5 => {
                // A child's top is rounded down to 16; its low end is not above it.
                let child = room.map(|room| {
                    let top = room.top & !15;
                    Room { low: room.low.min(top), top }
                });
                level(&mut s.scope(), child, input, depth + 1);
            }
            1 => break,
            2 => {
                // From the low end; the free space of this scope is restored when the child ends.
                let bytes = vec![input.byte(); input.size()];
                let child = s.scope();
                let free = room.map(|room| (room.top & !15).saturating_sub(room.low));
                let made = child.try_alloc_slice_from_iter(bytes.iter().copied().filter(|_| true));
                if let Some(free) = free {
                    assert!(made.is_err() || bytes.len() <= free, "more than there was room for");
                    assert!(made.is_ok() || bytes.len() > free / 3, "refused what fits");
                }
                assert!(made.is_err() || made == Ok(&mut bytes.clone()[..]), "iterated");
            }
            3 => {
                let value = [input.word(); 3];
                let made = s.try_alloc(value);
                let expected =
                    room.map(|room| take(room, size_of_val(&value), align_of_val(&value)));
                let start = made.as_ref().ok().map(|made| made.as_ptr().addr());
                if let Some(expected) = expected {
                    assert_eq!(start, expected, "three words");
                }
                if let (Some(room), Some(start)) = (&mut room, start) {
                    room.top = start;
                }
                if let Ok(made) = made {
                    assert_eq!(*made, value);
                    blocks.push(Block::fill(NonNull::from(made).cast(), 24, 3));
                }
            }
            _ => {
                let layout = input.layout();
                let made = s.try_alloc_layout(layout).ok();
                if let Some(room) = &mut room {
                    let expected = match layout.size() {
                        // In no buffer, and nothing moves.
                        0 => Some(layout.align()),
                        size => take(*room, size, layout.align()),
                    };
                    if layout.size() > 0 {
                        room.top = expected.unwrap_or(room.top);
                    }
                    let start = made.map(|made| made.addr().get());
                    assert_eq!(start, expected, "{layout:?}");
                }
                if let Some(start) = made {
                    assert_eq!(start.addr().get() % layout.align(), 0, "alignment");
                    blocks.push(Block::fill(start, layout.size(), input.byte()));
                }
            }
        }
        blocks.iter().for_each(Block::check);
    }
}

/// The address of a block from the high end.
fn take(room: Room, size: usize, align: usize) -> Option<usize> {
    let start = room.top.checked_sub(size)? / align * align;
    (start >= room.low).then_some(start)
}

/// A buffer with guard bytes around it.
struct Buffer {
    bytes: Vec<MaybeUninit<u8>>,
    range: Range<usize>,
}

impl Buffer {
    fn new(input: &mut Input<'_>) -> Self {
        let (start, len) = (16 + input.below(64), input.size());
        let bytes = vec![MaybeUninit::new(AROUND); start + len + 64];
        Buffer { bytes, range: start..start + len }
    }

    fn check(&self) {
        let (before, rest) = self.bytes.split_at(self.range.start);
        let after = &rest[self.range.len()..];
        for byte in before.iter().chain(after) {
            // SAFETY: written by `new`, and outside of what the arena was given.
            assert_eq!(unsafe { byte.assume_init() }, AROUND, "written outside of the buffer");
        }
    }

    fn room(&self) -> Room {
        let low = self.bytes[self.range.clone()].as_ptr().addr();
        Room { low, top: low + self.range.len() }
    }
}

/// Runs the operations encoded in `bytes`.
pub fn run(bytes: &[u8]) {
    let input = &mut Input::new(bytes);
    match input.below(5) {
        0 | 1 => {
            let mut buffer = Buffer::new(input);
            let room = buffer.room();
            let mut fixed = Fixed::new(&mut buffer.bytes[buffer.range.clone()]);
            while !input.is_empty() {
                level(&mut fixed.scope(), Some(room), input, 0);
                input.byte();
            }
            buffer.check();
        }
        2 => {
            let mut buffer = Buffer::new(input);
            let range = buffer.range.clone();
            let mut fixed = Fixed::new(&mut buffer.bytes[range]).or_spill(Heap);
            fixed.set_limit(input.flag().then_some(3_000));
            while !input.is_empty() {
                level(&mut fixed.scope(), None, input, 0);
                if input.flag() {
                    fixed.trim();
                    assert_eq!(fixed.stats().held, 0);
                }
            }
            drop(fixed);
            buffer.check();
        }
        3 => {
            // The elements of a vector do not change.
            let elements = vec![AROUND; input.below(9)];
            let mut vec = Vec::with_capacity(elements.len() + input.size());
            vec.extend_from_slice(&elements);
            let mut fixed = Fixed::from_vec(vec);
            level(&mut fixed.scope(), None, input, 0);
            assert_eq!(fixed.into_memory().into_vec(), elements);
        }
        _ => {
            let mut fixed = StackArena::<333>::new().or_spill(Heap);
            while !input.is_empty() {
                level(&mut fixed.scope(), None, input, 0);
                // Moves between scopes, with its chunks.
                fixed = std::convert::identity(fixed);
            }
        }
    }
}
