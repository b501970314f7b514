//! Only the string moves to the parent. Neither the other value nor anything else refers to the
//! child, and what was kept lives as long as the parent's memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let other = s.keep_str_or(|s| Err(s.alloc(1))); //~ error: lifetime may not live long enough
    println!("{other:?}");
    let refers = s.keep_slice_or::<_, ()>(|s| {
        let one = &*s.alloc(1);
        Ok(s.alloc([one])) //~ error: lifetime may not live long enough
    });
    println!("{refers:?}");
    let mut escaped = None;
    let local = s.keep_str_or::<()>(|s| {
        escaped = Some(s.alloc_str("ebb")); //~ error[E0521]
        Ok("flow")
    });
    println!("{escaped:?} {local:?}");
}
