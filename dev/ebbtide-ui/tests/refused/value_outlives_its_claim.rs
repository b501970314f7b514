//! When a claim ends, any scope may use its chunks.

use ebbtide::Arena;

fn main() {
    let mut arena = Arena::new();
    let s = arena.scope();
    let claim = s.claim();
    let value = claim.scope().alloc(1);
    let owned = claim.scope().boxed(2);
    drop(claim); //~ error[E0505]
    *value += *owned;

    let list = s.claim().scope().vec::<u8>(); //~ error[E0716]
    drop(list);
}
