//! Zeros may be one field of a union, and not another.

use ebbtide::zeroable;

union Either {
    number: usize,
    reference: &'static u8,
}

zeroable!(Either { number }); //~ error[E0133]

fn main() {}
