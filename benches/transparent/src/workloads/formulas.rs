//! Parses and evaluates formulas with variables.

use super::text::Numbers;
use evalexpr::{
    ContextWithMutableVariables, DefaultNumericTypes, HashMapContext, Value, build_operator_tree,
};

pub(super) fn formulas(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(14);
    let formulas: Vec<String> = (0..size)
        .map(|_| {
            let (a, b, c) = (numbers.below(50), numbers.below(50), 1 + numbers.below(9));
            format!(
                "if({a} * tide + {b} > draught, max(tide, {b}) * {c}, len(\"{}\") + {a} % {c})",
                numbers.words(2)
            )
        })
        .collect();
    move || once(&formulas)
}

/// The sum of the values of the formulas.
#[inline(never)]
fn once(formulas: &[String]) -> u64 {
    let mut context = HashMapContext::<DefaultNumericTypes>::new();
    for (name, number) in [("tide", 7), ("draught", 150)] {
        context.set_value(name.to_owned(), Value::from_int(number)).expect("a new variable");
    }
    let value = |formula: &String| {
        let tree = build_operator_tree::<DefaultNumericTypes>(formula).expect("it is a formula");
        let number = tree.eval_with_context(&context).and_then(|value| value.as_int());
        u64::try_from(number.expect("it is a number")).expect("it is positive")
    };
    formulas.iter().map(value).sum()
}
