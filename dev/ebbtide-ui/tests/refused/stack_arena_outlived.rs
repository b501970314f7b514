//! The buffer is on the stack of a function that has returned.

use ebbtide::StackArena;

fn one() -> &'static u64 {
    let mut buffer = StackArena::<100>::new();
    buffer.scope().alloc(1) //~ error[E0515]
}

fn main() {
    one();
}
