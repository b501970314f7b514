//! The arena is invariant: it cannot be lent as one of values that borrow less.

use ebbtide::{DropArena, TypedArena};

fn typed<'short>(arena: &TypedArena<&'static str>, text: &'short str) {
    let shorter: &TypedArena<&'short str> = arena; //~ error: lifetime may not live long enough
    shorter.alloc(text);
}

fn mixed<'short>(arena: &DropArena<'static>, text: &'short str) {
    let shorter: &DropArena<'short> = arena; //~ error: lifetime may not live long enough
    shorter.alloc(text);
}

fn main() {
    typed(&TypedArena::new(), "");
    mixed(&DropArena::new(), "");
}
