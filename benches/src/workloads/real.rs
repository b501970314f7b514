//! Real work on the sources of this repository: a syntax tree, an interner, a JSON document. It is
//! generic over [`Handle`], so everything except the arena is the same for all contestants.

// By its path, so that its own modules lie beside it.
#[path = "real/programs.rs"]
mod programs;

use crate::{
    contestants,
    harness::{Bench, Contestant, LIMIT, Target, contestant},
    peers::{Handle, MixedLimit, Peer},
};
pub use programs::{Ast, Work};
use programs::{Intern, Json};
use std::{
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

const BUMPALO: &str = "bumpalo";

pub fn run(bench: &mut Bench) {
    let sources = sources();
    row(bench, "JSON into a tree, a value", &Rc::new(Json::new(&sources)));
    row(bench, "a string interner over the same, a token", &Rc::new(Intern::new(sources.clone())));
    row(bench, "an AST of this repository's sources, a token", &Rc::new(Ast::new(sources)));
}

fn row(bench: &mut Bench, name: &str, work: &Rc<impl Work>) {
    for (kept, arena) in [(true, "a kept arena"), (false, "a fresh arena")] {
        let mut all = contestants!([Ebbtide +] |P| over::<P, _>(Rc::clone(work), kept));
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
    for folder in ["../crates", "../dev"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
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
