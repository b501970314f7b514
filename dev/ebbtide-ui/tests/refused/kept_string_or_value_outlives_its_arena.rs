//! What is kept lives as long as the parent's memory, and a string of the caller's as long as the
//! caller's.

use ebbtide::{Arena, Scope};

fn shorter<'a>(s: &mut Scope<'a>, text: &str) -> Result<&'a str, ()> {
    s.keep_str_or(|_| Ok(text)) //~ error: lifetime may not live long enough
}

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let kept = s.keep_str_or::<()>(|s| Ok(s.alloc_str("ebb")));
    drop(arena); //~ error[E0505]
    println!("{kept:?}");
}
