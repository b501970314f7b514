//! Only the value moves to the parent, so it cannot refer to the child. Nothing else leaves it.

use ebbtide::{Arena, ForLifetime};

struct Text;

impl ForLifetime for Text {
    type Of<'a> = &'a str;
}

fn main() {
    let mut arena = Arena::new();
    let mut s = arena.scope();
    let refers = s.keep(|s| {
        let one = &*s.alloc(1);
        s.alloc(one) //~ error: lifetime may not live long enough
    });
    println!("{refers}");
    let mut escaped = None;
    s.keep(|s| {
        escaped = Some(s.alloc(2)); //~ error[E0521]
        s.alloc(3)
    });
    let failed = s.transaction::<Text, &str>(|s| Err(s.alloc_str("gone"))); //~ error: lifetime may not live long enough
    println!("{escaped:?} {failed:?}");
}
