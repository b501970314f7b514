//! The struct would keep a name whose memory is in use again.

use ebbtide::Arena;

#[derive(Default)]
struct Names<'n> {
    last: &'n str,
}

fn main() {
    let mut arena = Arena::new();
    let mut names = Names::default();
    for text in ["one", "two"] {
        let s = arena.scope(); //~ error[E0499]
        names.last = s.alloc_str(text);
    }
    names.last.len();
}
