//! What opening and ending an empty scope costs, outermost and nested: the best of 100 runs.

use ebbtide_global::engine::Owner;
use std::time::Instant;

/// The nanoseconds that one scope takes.
fn cost(owner: &Owner) -> f64 {
    const SCOPES: u32 = 10_000;
    let runs = (0..100).map(|_| {
        let start = Instant::now();
        for _ in 0..SCOPES {
            if let Some(ticket) = owner.enter_default() {
                owner.leave(ticket);
            }
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(SCOPES)
    });
    runs.fold(f64::MAX, f64::min)
}

fn main() {
    let owner = Owner::new();
    if !owner.start() {
        println!("there is no range of addresses");
        return;
    }
    println!("outermost: {:5.1} ns", cost(&owner));
    let outer = owner.enter_default();
    println!("nested:    {:5.1} ns", cost(&owner));
    if let Some(outer) = outer {
        owner.leave(outer);
    }
}
