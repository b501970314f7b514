//! An interpreter: jaq parses, compiles and runs a jq filter on a document.

use super::text::Numbers;
use jaq_core::{
    Compiler, Ctx, Vars, data,
    load::{Arena as Sources, File, Loader},
    unwrap_valr,
};
use jaq_json::{Val, read};
use std::fmt::Write;

const FILTER: &str = r#"
    [.[] | select(.tons > 200) | {name, port: (.port | ascii_upcase), half: (.tons / 2 | floor)}]
    | group_by(.port)
    | map({port: .[0].port, sum: (map(.half) | add), names: (map(.name) | sort | join(", "))})
    | sort_by(-.sum)
    | .[]
"#;

pub(super) fn filters(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(18);
    let mut text = String::from("[");
    for ship in 0..size {
        let comma = if ship == 0 { "" } else { ",\n" };
        write!(
            text,
            "{comma}{{\"name\": \"{}\", \"port\": \"{}\", \"tons\": {}}}",
            numbers.words(2),
            numbers.word(),
            numbers.below(900)
        )
        .expect("a string takes all");
    }
    text += "]";
    move || once(&text)
}

/// The number of results, and their length as text.
#[inline(never)]
fn once(text: &str) -> u64 {
    let sources = Sources::default();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let program = File { code: FILTER, path: () };
    let modules = Loader::new(definitions).load(&sources, program).expect("it is a filter");
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let filter = Compiler::default().with_funs(functions).compile(modules);
    let filter = filter.expect("all its functions are known");
    let input = read::parse_single(text.as_bytes()).expect("it is JSON");
    let context = Ctx::<data::JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let values = filter.id.run((context, input)).map(unwrap_valr);
    values.map(|value| 1 << 32 | value.expect("no error").to_string().len() as u64).sum()
}
