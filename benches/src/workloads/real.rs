//! Real work on the sources of this repository: a syntax tree, an interner, a JSON document. It is
//! generic over [`Handle`], so everything except the arena is the same for all contestants.

mod json;
mod lexer;
mod syntax;

use crate::{
    contestants,
    harness::{Bench, Contestant, LIMIT, Target, contestant},
    peers::{Handle, MixedLimit, Peer},
};
use hashbrown::HashMap;
use lexer::tokens;
use std::{
    collections::HashSet,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    rc::Rc,
};
use syntax::Node;

const BUMPALO: &str = "bumpalo";

pub fn run(bench: &mut Bench) {
    let sources = sources();
    row(bench, "JSON into a tree, a value", &Rc::new(Json::new(&sources)));
    row(bench, "a string interner over the same, a token", &Rc::new(Intern::new(sources.clone())));
    row(bench, "an AST of this repository's sources, a token", &Rc::new(Ast::new(sources)));
}

/// Work that allocates and has a known result.
pub trait Work {
    /// The number of operations in a turn.
    fn operations(&self) -> usize;

    /// The expected result of a turn.
    fn expected(&self) -> usize;

    fn turn<'a>(&self, handle: &impl Handle<'a>) -> usize;
}

fn row(bench: &mut Bench, name: &str, work: &Rc<impl Work>) {
    for (kept, arena) in [(true, "a kept arena"), (false, "a fresh arena")] {
        let mut all = contestants!(all | P | over::<P, _>(Rc::clone(work), kept));
        if kept {
            all.push(limit(Rc::clone(work)));
        }
        bench.row(
            &format!("real: {name}, {arena}"),
            work.operations(),
            all,
            &[Target::AtLeast(1.1, BUMPALO)],
        );
    }
}

fn over<'a, P: Peer, W: Work + 'a>(work: Rc<W>, kept: bool) -> Contestant<'a> {
    let mut peer = P::fresh();
    contestant(P::NAME, move || {
        if !kept {
            peer = P::fresh();
        }
        assert_eq!(work.turn(&peer.open()), work.expected(), "{}", P::NAME);
    })
}

/// The work with an allocator that costs next to nothing.
fn limit<'a, W: Work + 'a>(work: Rc<W>) -> Contestant<'a> {
    let mut arena = ebbtide::Arena::new();
    let scope = arena.scope();
    assert_eq!(work.turn(&scope), work.expected());
    // Rounds every block like the arena, but from a different end: twice the size is enough.
    let mut peer = MixedLimit::with_capacity(2 * scope.stats().used);
    contestant(LIMIT, move || assert_eq!(work.turn(&peer.open()), work.expected(), "{LIMIT}"))
}

/// The text of every Rust file of this repository.
pub fn sources() -> Vec<String> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "the sources are where this was compiled");
    files.iter().map(|path| fs::read_to_string(path).expect("a source is text")).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Builds syntax trees that are all alive at the end.
pub struct Ast {
    sources: Vec<String>,
    tokens: usize,
    bytes: usize,
}

impl Ast {
    pub fn new(sources: Vec<String>) -> Self {
        let (mut count, mut bytes) = (0, 0);
        for token in sources.iter().flat_map(|text| tokens(text)) {
            count += 1;
            bytes += token.text.len();
        }
        Ast { sources, tokens: count, bytes }
    }
}

impl Work for Ast {
    fn operations(&self) -> usize {
        self.tokens
    }

    /// The leaves have as many bytes as the tokens.
    fn expected(&self) -> usize {
        self.bytes
    }

    fn turn<'a>(&self, handle: &impl Handle<'a>) -> usize {
        let parse = |text: &String| syntax::parse(handle, black_box(text));
        let trees: Vec<_> = self.sources.iter().map(parse).collect();
        trees.iter().map(Node::leaf_bytes).sum()
    }
}

/// Numbers every distinct token.
struct Intern {
    sources: Vec<String>,
    tokens: usize,
    distinct: usize,
}

impl Intern {
    fn new(sources: Vec<String>) -> Self {
        let all = sources.iter().flat_map(|text| tokens(text));
        let distinct: HashSet<&str> = all.clone().map(|token| token.text).collect();
        Intern { tokens: all.count(), distinct: distinct.len(), sources }
    }
}

impl Work for Intern {
    fn operations(&self) -> usize {
        self.tokens
    }

    fn expected(&self) -> usize {
        self.tokens + self.distinct
    }

    fn turn<'a>(&self, handle: &impl Handle<'a>) -> usize {
        let mut numbers: HashMap<&'a str, usize> = HashMap::new();
        let mut names: Vec<&'a str> = Vec::new();
        let mut interned = Vec::new();
        for token in self.sources.iter().flat_map(|text| tokens(black_box(text))) {
            let number = match numbers.get(token.text) {
                Some(&number) => number,
                None => {
                    let name = &*handle.alloc_str(token.text);
                    numbers.insert(name, names.len());
                    names.push(name);
                    names.len() - 1
                }
            };
            interned.push(number);
        }
        assert!(interned.iter().all(|&number| number < names.len()));
        interned.len() + names.len()
    }
}

/// A document, with the number and the weight of its values.
struct Json {
    text: String,
    values: usize,
    weight: usize,
}

impl Json {
    fn new(sources: &[String]) -> Self {
        let (text, values, weight) = json::document(sources);
        Json { text, values, weight }
    }
}

impl Work for Json {
    fn operations(&self) -> usize {
        self.values
    }

    fn expected(&self) -> usize {
        self.values + self.weight
    }

    fn turn<'a>(&self, handle: &impl Handle<'a>) -> usize {
        let value = json::parse(handle, black_box(&self.text));
        value.count() + value.weight()
    }
}
