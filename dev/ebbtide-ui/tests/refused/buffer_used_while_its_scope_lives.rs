//! The scope borrows the buffer.

use ebbtide::Fixed;
use std::mem::MaybeUninit;

fn main() {
    let mut bytes = [MaybeUninit::uninit(); 64];
    let mut fixed = Fixed::new(&mut bytes[..]);
    let s = fixed.scope();
    bytes[0].write(1); //~ error[E0499]
    s.alloc(2);
}
