//! Claims: ending a scope ends the scopes nested in it; ending a scope that has ended, or that
//! belongs to another owner, does nothing; and a scope that is never ended costs only memory.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]

use crate::filled::started;
use ebbtide_global::{Options, engine::Owner, report};
use std::alloc::Layout;

fn is_served(owner: &Owner) -> bool {
    let layout = Layout::new::<u64>();
    let block = owner.alloc(layout);
    // SAFETY: the block is alive, with this layout.
    !block.is_null() && unsafe { owner.dealloc(block, layout) }
}

#[test]
fn scopes_end_in_any_order() {
    alone!();
    let (one, other) = (started(), started());
    let enter = |owner: &Owner| owner.enter(&Options::new()).unwrap();
    assert!(!is_served(&one));

    let tickets = [(); 5].map(|()| enter(&one));
    other.leave(tickets[0]);
    assert!(is_served(&one) && !is_served(&other), "another owner's");
    one.leave(tickets[3]);
    one.leave(tickets[4]);
    assert!(is_served(&one), "three are open");
    let outside = one.enter_outside().unwrap();
    assert!(!is_served(&one));
    let inside = enter(&one);
    assert!(is_served(&one));
    one.leave(outside);
    assert!(is_served(&one), "the one around it is the innermost again");
    one.leave(inside);
    one.leave(tickets[1]);
    assert!(is_served(&one), "the outermost is open");
    one.leave(tickets[2]);
    assert!(is_served(&one), "that one had ended with the one around it");
    one.leave(tickets[0]);
    assert!(!is_served(&one));

    // Old tickets, and a new scope.
    let new = enter(&one);
    for old in tickets {
        one.leave(old);
    }
    assert!(is_served(&one));
    one.leave(new);

    // This scope is never left: the end of the owner closes it.
    let _ = enter(&one);
    one.end();
    assert!(!is_served(&one) && one.enter(&Options::new()).is_none() && !one.start());
    other.end();
    assert_eq!(report().escapes.pinned_chunks, 0);
}
