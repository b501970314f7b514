//! The vector has no destructor that would drop the strings.

use ebbtide::{Arena, collections::NodeVec};

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    NodeVec::new().push(&s, String::new());
}
