//! The destructors run when `arena` is dropped, after `text`.

use ebbtide::DropArena;

struct Looks<'v>(&'v str);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    let arena = DropArena::new();
    let text = String::from("here");
    arena.alloc(Looks(&text)); //~ error[E0597]
}
