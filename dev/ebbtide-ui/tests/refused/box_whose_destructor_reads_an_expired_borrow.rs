//! The destructor runs when `boxed` is dropped, after `seen`.

use ebbtide::Arena;

struct Looks<'s>(&'s str);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let boxed;
    let seen = String::from("here");
    boxed = s.boxed(Looks(&seen)); //~ error[E0597]
}
