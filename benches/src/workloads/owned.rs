//! Arenas that run destructors: values of one type against typed-arena, of any type against
//! blink-alloc. Each turn makes an arena, fills it and drops it.

use crate::harness::{Bar, Bench, Contestant, contestant, hidden, observe};
use ebbtide::{DropArena, TypedArena};

const OURS: &str = "ebbtide";
const TYPED_ARENA: &str = "typed-arena";
const BLINK_ALLOC: &str = "blink-alloc";

pub fn run(bench: &mut Bench) {
    for count in [10, 1_000, 100_000] {
        let bars = &[Bar::BestPeer(1.0)];
        let row = |kind: &str| format!("owned: {count} {kind}");
        bench.row(&row("u64 of one type"), count, typed(count, |n| n as u64), bars);
        let string = |n: usize| (String::new(), n);
        bench.row(&row("strings of one type"), count, typed(count, string), bars);
        bench.row(&row("slices of four of one type"), count, slices(count), bars);
        bench.row(&row("strings of any type"), count, any(count, string), bars);
    }
}

fn typed<'a, T: 'a>(count: usize, make: impl Fn(usize) -> T + Copy + 'a) -> Vec<Contestant<'a>> {
    vec![
        contestant(OURS, move || {
            let arena = TypedArena::new();
            for n in 0..hidden(count) {
                observe(arena.alloc(make(n)));
            }
            assert_eq!(arena.len(), count);
        }),
        contestant(TYPED_ARENA, move || {
            let arena = typed_arena::Arena::new();
            for n in 0..hidden(count) {
                observe(arena.alloc(make(n)));
            }
            assert_eq!(arena.len(), count);
        }),
    ]
}

fn slices<'a>(count: usize) -> Vec<Contestant<'a>> {
    vec![
        contestant(OURS, move || {
            let arena = TypedArena::new();
            for n in 0..hidden(count) as u64 {
                observe(&mut arena.alloc_extend(n..n + 4)[3]);
            }
            assert_eq!(arena.len(), 4 * count);
        }),
        contestant(TYPED_ARENA, move || {
            let arena = typed_arena::Arena::new();
            for n in 0..hidden(count) as u64 {
                observe(&mut arena.alloc_extend(n..n + 4)[3]);
            }
            assert_eq!(arena.len(), 4 * count);
        }),
    ]
}

fn any<'a, T: 'static>(count: usize, make: impl Fn(usize) -> T + Copy + 'a) -> Vec<Contestant<'a>> {
    vec![
        contestant(OURS, move || {
            let arena = DropArena::new();
            for n in 0..hidden(count) {
                observe(arena.alloc(make(n)));
            }
        }),
        contestant(BLINK_ALLOC, move || {
            let arena = blink_alloc::Blink::new();
            for n in 0..hidden(count) {
                observe(arena.put(make(n)));
            }
        }),
    ]
}
