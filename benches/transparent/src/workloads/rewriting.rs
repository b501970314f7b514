//! An optimiser: saturates an egg e-graph with rewrites and extracts the smallest formula.

use egg::{AstSize, Extractor, Id, RecExpr, Rewrite, Runner, Symbol, define_language, rewrite};
use std::time::Duration;

define_language! {
    enum Sum {
        Number(i32),
        "+" = Add([Id; 2]),
        "*" = Mul([Id; 2]),
        Symbol(Symbol),
    }
}

pub(super) fn formulas() -> impl Fn() -> u64 {
    let rules = vec![
        rewrite!("commute-add"; "(+ ?a ?b)" => "(+ ?b ?a)"),
        rewrite!("commute-mul"; "(* ?a ?b)" => "(* ?b ?a)"),
        rewrite!("associate-add"; "(+ ?a (+ ?b ?c))" => "(+ (+ ?a ?b) ?c)"),
        rewrite!("associate-mul"; "(* ?a (* ?b ?c))" => "(* (* ?a ?b) ?c)"),
        rewrite!("distribute"; "(* ?a (+ ?b ?c))" => "(+ (* ?a ?b) (* ?a ?c))"),
        rewrite!("factor"; "(+ (* ?a ?b) (* ?a ?c))" => "(* ?a (+ ?b ?c))"),
        rewrite!("add-0"; "(+ ?a 0)" => "?a"),
        rewrite!("mul-0"; "(* ?a 0)" => "0"),
        rewrite!("mul-1"; "(* ?a 1)" => "?a"),
    ];
    move || once(&rules)
}

const FORMULA: &str = "(+ (+ (* x (+ y 0)) (* x (* z 1))) (+ (* 0 w) (* x (+ v (* u 1)))))";

/// The size of the smallest equal formula, and of the graph that held it.
#[inline(never)]
fn once(rules: &[Rewrite<Sum, ()>]) -> u64 {
    let formula: RecExpr<Sum> = FORMULA.parse().expect("it is a formula");
    let runner = Runner::default().with_expr(&formula).with_iter_limit(5);
    let runner = runner.with_time_limit(Duration::from_secs(600)).run(rules);
    let extractor = Extractor::new(&runner.egraph, AstSize);
    let (size, _) = extractor.find_best(runner.roots[0]);
    (size as u64) << 32 | runner.egraph.total_size() as u64
}
