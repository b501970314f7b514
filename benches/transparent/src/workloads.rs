//! The workloads, one file each. A batch is a number of scopes. Each computes the result again, and
//! compares it with the one computed without a scope.

use crate::Arena;

mod config;
mod digits;
mod drawing;
mod explicit;
mod facts;
mod filters;
mod formulas;
mod groups;
mod html;
mod json;
mod layout;
mod mail;
mod markdown;
mod markup;
mod merging;
mod messages;
mod modules;
mod names;
mod numbers;
mod papers;
mod patterns;
mod pictures;
mod puzzles;
mod records;
mod rewriting;
mod script;
mod sources;
mod sql;
mod syntax;
mod tasks;
pub(crate) mod text;
mod trees;
mod xml;

/// A batch of scopes, each of which computes the same again and returns a digest of the result.
fn repeated<A: Arena>(
    scopes: usize,
    compute: impl Fn() -> u64 + 'static,
) -> Box<dyn FnMut() -> u64> {
    let expected = compute();
    Box::new(move || {
        for _ in 0..scopes {
            assert_eq!(A::scope(&compute), expected);
        }
        expected
    })
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that arenas are made for; part of the geometric mean.
    Program,
    /// The same, chosen before its figures were known, and not tuned for. Has a separate mean.
    Untuned,
    /// The same, of kinds that the others are not; only in the benchmark of littered heaps.
    Unseen,
    /// A program where little can be gained; must not be slower.
    Control,
    /// Large vectors of numbers, W8 to W10.
    Numbers,
    /// A program with explicit arenas, or its heap version; only on littered heaps.
    Explicit,
    /// A program in C++ that arenas are made for; only on littered heaps.
    Cpp,
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

impl Row {
    pub const fn new(name: &'static str, kind: Kind, scopes: usize) -> Self {
        Row { name, kind, scopes, threads: false, slow: false }
    }
}

macro_rules! rows {
    (
        $($name:literal: $kind:ident, $scopes:literal, $compute:expr;)*
        ...
        $(
            $own_name:literal: $own_kind:ident, $own_scopes:literal,
            $file:ident::$batch:ident($($size:literal)?) $(, $flag:ident)*;
        )*
    ) => {
        /// All rows, in the order of the page.
        pub const ROWS: &[Row] = &[
            $(Row::new($name, Kind::$kind, $scopes),)*
            $({
                #[allow(unused_mut)]
                let mut row = Row::new($own_name, Kind::$own_kind, $own_scopes);
                $(row.$flag = true;)*
                row
            },)*
        ];

        /// A function that runs a batch of the row called `name`, with scopes as `A` makes them.
        pub fn open<A: Arena>(name: &str) -> Option<Box<dyn FnMut() -> u64>> {
            match name {
                $($name => Some(repeated::<A>($scopes, $compute)),)*
                $($own_name => Some(Box::new($file::$batch::<A>($own_scopes $(, $size)?))),)*
                _ => None,
            }
        }
    };
}

// Each row has its number of scopes in a batch. First come programs that compute the same in every
// scope, then those with a batch of their own.
rows! {
    "serde_json: a document into a Value": Program, 10, json::documents(200);
    "sqlparser: eight queries": Program, 10, sql::once;
    "regex: four patterns compiled": Program, 10, patterns::once;
    "minijinja: a page from an axum handler": Program, 20, markup::pages(50);
    "group-by: strings, sorted": Program, 10, groups::groups(1_000);
    "syn: a source file": Program, 5, sources::sources();
    "BTreeMap: strings": Program, 10, trees::trees(1_000);
    "untuned: toml_edit, a document edited": Untuned, 10, config::configs(100);
    "untuned: scraper, a page selected from": Untuned, 10, html::documents(200);
    "untuned: roxmltree, a document walked": Untuned, 10, xml::documents(300);
    "untuned: rhai, a script": Untuned, 10, script::scripts();
    "untuned: evalexpr, formulas": Untuned, 10, formulas::formulas(200);
    "untuned: markdown, a syntax tree": Untuned, 5, syntax::texts(40);
    "untuned: egg, a formula rewritten": Untuned, 2, rewriting::formulas();
    "untuned: prost, messages": Untuned, 20, messages::messages(20);
    "untuned: pathfinding, sliding puzzles": Untuned, 2, puzzles::puzzles(4);
    "untuned: jaq, a filter compiled and run": Untuned, 5, filters::filters(400);
    "unseen: taffy, a page laid out": Unseen, 5, layout::pages(30);
    "unseen: usvg, an image into a tree": Unseen, 5, drawing::drawings(30);
    "unseen: hickory-proto, DNS messages": Unseen, 10, names::queries(100);
    "unseen: automerge, documents merged": Unseen, 2, merging::documents(8);
    "unseen: mail-parser, mail with attachments": Unseen, 10, mail::letters(30);
    "unseen: num-bigint, digits of pi": Unseen, 5, digits::digits(150);
    "unseen: wasmi, a module compiled and run": Unseen, 5, modules::modules(60);
    "unseen: ascent, a Datalog program": Unseen, 2, facts::programs(60);
    "unseen: futures, tasks and channels": Unseen, 10, tasks::requests(100);
    "unseen: lopdf, a document edited": Unseen, 5, papers::documents(20);
    "control: a PNG image decoded": Control, 2, pictures::pictures(256);
    "control: Markdown to HTML": Control, 10, markdown::markdown(100);
    ...
    "control: one allocation a scope": Control, 20_000, records::single();
    "control: one in eight records kept": Control, 4096, records::kept(1);
    "control: one in eight records kept, 64 a scope": Control, 4096, records::kept(64);
    "control: one in eight records copied out, 64 a scope": Control, 4096, records::copied_out(64);
    "W8: sum of two vectors of 1000": Numbers, 2_000, numbers::sums(1_000);
    "W8: sum of two vectors of 10000": Numbers, 200, numbers::sums(10_000);
    "W8: sum of two vectors of 100000": Numbers, 8, numbers::sums(100_000);
    "W8: sum of two vectors of 1000000": Numbers, 8, numbers::sums(1_000_000);
    "W9: medians of 100000": Numbers, 4, numbers::medians(100_000);
    "W9: medians of 100000, all threads": Numbers, 4, numbers::medians_of_all(100_000), threads;
    "W9: medians of 10000000": Numbers, 4, numbers::medians(10_000_000), slow;
    "W9: medians of 10000000, all threads": Numbers, 4, numbers::medians_of_all(10_000_000), threads, slow;
    "W10: parameter search": Numbers, 27, numbers::search(100_000);
    "W10: parameter search, all threads": Numbers, 27, numbers::search_of_all(100_000), threads;
    "explicit: JSON into a tree": Explicit, 2, explicit::json(20_000);
    "explicit: a syntax tree": Explicit, 2, explicit::ast(100_000);
    "explicit: a string interner": Explicit, 5, explicit::intern(100_000);
    "explicit: the tour, parse JSON": Explicit, 5, explicit::parse(200);
    "explicit: the tour, group words": Explicit, 2, explicit::group(100_000);
    "explicit: the tour, temporaries": Explicit, 5, explicit::chain(100_000);
}
