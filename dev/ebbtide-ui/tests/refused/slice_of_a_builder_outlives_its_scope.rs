//! A finished slice lives as long as the scope's borrow; a slice borrowed from the builder, not
//! even that long.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut parent = arena.scope();
    let escaped;
    {
        let mut child = parent.scope();
        let mut built = child.grow_vec();
        built.push(1);
        escaped = built.into_slice();
    }
    parent.alloc(2); //~ error[E0502]
    escaped[0] = 3;

    let mut text = parent.grow_string();
    let lent = text.as_str();
    text.into_str(); //~ error[E0505]
    println!("{lent}");
}
