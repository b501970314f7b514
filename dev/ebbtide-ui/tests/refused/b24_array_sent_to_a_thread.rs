//! The thread may outlive the arena.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope(); //~ error[E0597]
    let ones: &[u64] = s.alloc_slice_fill_copy(3, 1);
    std::thread::spawn(move || ones.len());
}
