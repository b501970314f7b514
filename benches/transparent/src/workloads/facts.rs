//! Runs a Datalog program of ascent to its fixed point: which variables of a program may point to
//! which objects.

use super::text::Numbers;
use ascent::ascent;

type Variable = u32;
type Object = u32;
type Field = u32;

ascent! {
    struct PointsTo;
    relation new(Variable, Object);
    relation assign(Variable, Variable);
    relation load(Variable, Variable, Field);
    relation store(Variable, Field, Variable);
    relation points(Variable, Object);
    relation holds(Object, Field, Object);

    points(v, o) <-- new(v, o);
    points(to, o) <-- assign(to, from), points(from, o);
    holds(base, f, o) <-- store(v, f, from), points(v, base), points(from, o);
    points(to, o) <-- load(to, v, f), points(v, base), holds(base, f, o);
}

struct Facts {
    new: Vec<(Variable, Object)>,
    assign: Vec<(Variable, Variable)>,
    load: Vec<(Variable, Variable, Field)>,
    store: Vec<(Variable, Field, Variable)>,
}

pub(super) fn programs(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(28);
    let mut any = |bound: usize| numbers.below(bound) as u32;
    let facts = Facts {
        new: (0..size as u32).map(|object| (any(size), object)).collect(),
        assign: (0..size).map(|_| (any(size), any(size))).collect(),
        load: (0..size / 3).map(|_| (any(size), any(size), any(4))).collect(),
        store: (0..size / 3).map(|_| (any(size), any(4), any(size))).collect(),
    };
    move || once(&facts)
}

/// The number of the facts of both kinds that follow.
#[inline(never)]
fn once(facts: &Facts) -> u64 {
    let mut program = PointsTo {
        new: facts.new.clone(),
        assign: facts.assign.clone(),
        load: facts.load.clone(),
        store: facts.store.clone(),
        ..PointsTo::default()
    };
    program.run();
    (program.points.len() as u64) << 32 | program.holds.len() as u64
}
