//! A box of a reference does not turn into a box of what lies behind it, which would be dropped twice.

fn main() {
    let mut text = String::from("dropped once");
    let mut arena = ebbtide::Arena::new();
    let s = arena.scope();
    let reference = s.boxed(&mut text);
    drop(ebbtide::unsize!(reference => String)); //~ error[E0308]
}
