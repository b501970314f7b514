//! A box of a reference cannot become a box of the referent, which would be dropped twice.

fn main() {
    let mut text = String::from("dropped once");
    let mut arena = ebbtide::Arena::new();
    let s = arena.scope();
    let reference = s.boxed(&mut text);
    drop(ebbtide::unsize!(reference => String)); //~ error[E0308]
}
