//! A value lives as long as the arena is borrowed, and no `&mut` method is called meanwhile.

use ebbtide::TypedArena;

fn main() {
    let mut arena = TypedArena::new();
    let value = arena.alloc(1);
    arena.clear(); //~ error[E0502]
    *value = 2;
    let value = arena.alloc(3);
    for other in arena.iter_mut() { //~ error[E0502]
        *other = *value;
    }
    let value = arena.alloc_extend([4]);
    drop(arena.into_vec()); //~ error[E0505]
    value[0] = 5;
}
