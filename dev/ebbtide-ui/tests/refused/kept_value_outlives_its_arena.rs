//! What is kept lives as long as the parent's memory.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut outer = arena.scope();
    let kept = {
        let mut inner = outer.scope();
        inner.keep(|s| s.alloc(1))
    };
    let next = outer.keep_str(|s| s.alloc_str("ebb")); //~ error[E0499]
    *kept += 1;
    drop(arena); //~ error[E0505]
    println!("{next}");
}
