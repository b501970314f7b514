//! The workloads, one file each. A batch is a number of scopes. Each computes the result again, and
//! compares it with the one computed without a scope.

use crate::Arena;

mod config;
mod filters;
mod formulas;
mod groups;
mod html;
mod json;
mod markdown;
mod markup;
mod messages;
mod numbers;
mod patterns;
mod pictures;
mod puzzles;
mod records;
mod rewriting;
mod script;
mod sources;
mod sql;
mod syntax;
pub(crate) mod text;
mod trees;
mod xml;

/// A program unaware of arenas, in batches.
trait Workload: 'static {
    /// The number of scopes in a batch.
    const SCOPES: usize;

    /// The input and its expected result. `size` comes from the row.
    fn new(size: usize) -> Self;

    /// Runs one batch and returns a part of its result.
    fn batch<A: Arena>(&mut self) -> u64;
}

/// A computation of which each scope of a batch does the same again.
trait Computation: 'static {
    /// The number of scopes in a batch.
    const SCOPES: usize;

    /// The input. `size` comes from the row.
    fn new(size: usize) -> Self;

    /// Computes once and returns a digest of the result.
    fn once(&self) -> u64;
}

/// The workload of a [`Computation`].
struct Repeated<C> {
    computation: C,
    expected: u64,
}

impl<C: Computation> Workload for Repeated<C> {
    const SCOPES: usize = C::SCOPES;

    fn new(size: usize) -> Self {
        let computation = C::new(size);
        Repeated { expected: computation.once(), computation }
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        for _ in 0..Self::SCOPES {
            assert_eq!(A::scope(|| self.computation.once()), self.expected);
        }
        self.expected
    }
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that arenas are made for; part of the geometric mean.
    Program,
    /// The same, chosen before its figures were known, and not tuned for. Has a separate mean.
    Untuned,
    /// A program where little can be gained; must not be slower.
    Control,
    /// Large vectors of numbers, W8 to W10.
    Numbers,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub kind: Kind,
    /// Scopes per batch; times are divided by it.
    pub scopes: usize,
    /// Uses threads: its instructions are not counted.
    pub threads: bool,
    /// Left out with `--quick`.
    pub slow: bool,
}

macro_rules! rows {
    ($($name:literal: $kind:ident, $workload:ty, $size:expr $(, $flag:ident)*;)*) => {
        /// All rows, in the order of the page.
        pub const ROWS: &[Row] = &[$({
            #[allow(unused_mut)]
            let mut row = Row {
                name: $name,
                kind: Kind::$kind,
                scopes: <$workload as Workload>::SCOPES,
                threads: false,
                slow: false,
            };
            $(row.$flag = true;)*
            row
        }),*];

        /// A function that runs a batch of the row called `name`, with scopes as `A` makes them.
        pub fn open<A: Arena>(name: &str) -> Option<Box<dyn FnMut() -> u64>> {
            match name {
                $($name => Some(task::<$workload, A>($size)),)*
                _ => None,
            }
        }
    };
}

fn task<W: Workload, A: Arena>(size: usize) -> Box<dyn FnMut() -> u64> {
    let mut workload = W::new(size);
    Box::new(move || workload.batch::<A>())
}

rows! {
    "serde_json: a document into a Value": Program, Repeated<json::Documents>, 200;
    "sqlparser: eight queries": Program, Repeated<sql::Queries>, 0;
    "regex: four patterns compiled": Program, Repeated<patterns::Patterns>, 0;
    "minijinja: a page from an axum handler": Program, Repeated<markup::Pages>, 50;
    "group-by: strings, sorted": Program, Repeated<groups::Groups>, 1_000;
    "syn: a source file": Program, Repeated<sources::Sources>, 0;
    "BTreeMap: strings": Program, Repeated<trees::Trees>, 1_000;
    "untuned: toml_edit, a document edited": Untuned, Repeated<config::Configs>, 100;
    "untuned: scraper, a page selected from": Untuned, Repeated<html::Documents>, 200;
    "untuned: roxmltree, a document walked": Untuned, Repeated<xml::Documents>, 300;
    "untuned: rhai, a script": Untuned, Repeated<script::Scripts>, 0;
    "untuned: evalexpr, formulas": Untuned, Repeated<formulas::Formulas>, 200;
    "untuned: markdown, a syntax tree": Untuned, Repeated<syntax::Texts>, 40;
    "untuned: egg, a formula rewritten": Untuned, Repeated<rewriting::Formulas>, 0;
    "untuned: prost, messages": Untuned, Repeated<messages::Messages>, 20;
    "untuned: pathfinding, sliding puzzles": Untuned, Repeated<puzzles::Puzzles>, 4;
    "untuned: jaq, a filter compiled and run": Untuned, Repeated<filters::Filters>, 400;
    "control: a PNG image decoded": Control, Repeated<pictures::Pictures>, 256;
    "control: Markdown to HTML": Control, Repeated<markdown::Markdown>, 100;
    "control: one allocation a scope": Control, records::Single, 0;
    "control: one in eight records kept": Control, records::Kept, 1;
    "control: one in eight records kept, 64 a scope": Control, records::Kept, 64;
    "control: one in eight records copied out, 64 a scope": Control, records::CopiedOut, 64;
    "W8: sum of two vectors of 1000": Numbers, numbers::Sums<2_000>, 1_000;
    "W8: sum of two vectors of 10000": Numbers, numbers::Sums<200>, 10_000;
    "W8: sum of two vectors of 100000": Numbers, numbers::Sums<8>, 100_000;
    "W8: sum of two vectors of 1000000": Numbers, numbers::Sums<8>, 1_000_000;
    "W9: medians of 100000": Numbers, numbers::Medians, 100_000;
    "W9: medians of 100000, all threads": Numbers, numbers::MediansOfAll, 100_000, threads;
    "W9: medians of 10000000": Numbers, numbers::Medians, 10_000_000, slow;
    "W9: medians of 10000000, all threads": Numbers, numbers::MediansOfAll, 10_000_000, threads, slow;
    "W10: parameter search": Numbers, numbers::Search, 100_000;
    "W10: parameter search, all threads": Numbers, numbers::SearchOfAll, 100_000, threads;
}
