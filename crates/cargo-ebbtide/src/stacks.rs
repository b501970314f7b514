//! The stacks of the recorded blocks: as a tree of calls, and as files that other tools read.

use crate::{advice::is_of_the_runtime, calls::Calls, lifetimes::Lifetimes, symbols::Symbols};
use flate2::{Compression, write::GzEncoder};
use serde_json::json;
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    io::{self, Write as _},
    path::Path,
    rc::Rc,
};

/// The function of a block none of whose callers has a name.
const UNKNOWN: &str = "[unknown]";

/// What is counted of each stack, and its unit.
const COUNTED: [(&str, &str); 3] = [("blocks", "count"), ("bytes", "bytes"), ("inside", "count")];

/// The calls of a function from one stack, with what they call.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) blocks: f64,
    pub(crate) bytes: f64,
    /// The blocks that are freed before the call ends.
    pub(crate) inside: f64,
    /// The blocks that are never freed.
    pub(crate) kept: f64,
    pub(crate) callees: BTreeMap<Rc<str>, Node>,
}

impl Node {
    /// The whole program, in which what is ever freed dies.
    pub(crate) fn of(lifetimes: &Lifetimes, symbols: &Symbols) -> Node {
        let mut root = Node::default();
        let mut paths: HashMap<usize, Vec<(usize, Rc<str>)>> = HashMap::new();
        let mut calls = Calls::new(lifetimes, symbols);
        for block in &lifetimes.blocks {
            let path = paths.entry(block.frame).or_insert_with(|| {
                let mut path = Vec::new();
                for (depth, call) in calls.of(block.frame).iter().enumerate() {
                    let function = &call.place.function;
                    if function.is_named && !is_of_the_runtime(&function.name) {
                        path.push((depth, function.name.as_str().into()));
                    }
                }
                if path.is_empty() { vec![(0, UNKNOWN.into())] } else { path }
            });
            let alive = calls.alive(block);
            let add = |node: &mut Node, is_inside: bool| {
                node.blocks += block.weight;
                node.bytes += block.size as f64 * block.weight;
                node.inside += if is_inside { block.weight } else { 0.0 };
                node.kept += if block.death.is_none() { block.weight } else { 0.0 };
            };
            add(&mut root, block.death.is_some());
            let mut at = &mut root;
            for (depth, name) in path {
                at = at.callees.entry(Rc::clone(name)).or_default();
                add(at, *depth < alive);
            }
        }
        root
    }

    /// Visits each stack with what is counted in its innermost call and in no callee: the blocks that
    /// it allocates, their bytes, and the blocks that die in it.
    fn visit<'a>(&'a self, stack: &mut Vec<&'a str>, visit: &mut impl FnMut(&[&'a str], [u64; 3])) {
        let counted = |node: &Node| [node.blocks, node.bytes, node.inside];
        let mut own = counted(self);
        for (name, callee) in &self.callees {
            for (own, other) in own.iter_mut().zip(counted(callee)) {
                *own -= other;
            }
            stack.push(name);
            callee.visit(stack, visit);
            stack.pop();
        }
        // A recorded block stands for a mean number, which need not be whole.
        let own = own.map(|own| own.max(0.0).round() as u64);
        if !stack.is_empty() && own != [0; 3] {
            visit(stack, own);
        }
    }
}

/// A format of stacks, which other tools read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// A line for each stack.
    Folded,
    /// `profile.proto` of pprof.
    Pprof,
    /// The same, compressed.
    PprofGzip,
    Speedscope,
}

impl Format {
    /// The endings of the names of files.
    const ENDINGS: [(&str, Format); 5] = [
        (".folded", Format::Folded),
        (".txt", Format::Folded),
        (".pb", Format::Pprof),
        (".pb.gz", Format::PprofGzip),
        (".speedscope.json", Format::Speedscope),
    ];

    /// The format of a file.
    ///
    /// # Errors
    ///
    /// What to say if the name ends otherwise.
    pub(crate) fn of(path: &Path) -> Result<Format, String> {
        let name = path.to_string_lossy();
        let format = Format::ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        format.map(|(_, format)| *format).ok_or_else(|| {
            let endings = Format::ENDINGS.map(|(ending, _)| ending).join(", ");
            format!("`--stacks {name}` ends in none of {endings}")
        })
    }

    /// The stacks of a program as a file.
    pub(crate) fn file(self, root: &Node) -> io::Result<Vec<u8>> {
        match self {
            Format::Folded => Ok(folded(root).into_bytes()),
            Format::Pprof => Ok(pprof(root)),
            Format::PprofGzip => {
                let mut file = GzEncoder::new(Vec::new(), Compression::default());
                file.write_all(&pprof(root))?;
                file.finish()
            }
            Format::Speedscope => Ok(speedscope(root).to_string().into_bytes()),
        }
    }
}

/// Names by number, in the order of their first use.
#[derive(Default)]
struct Names<'a> {
    numbers: HashMap<&'a str, u64>,
    all: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> u64 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.all.push(name);
            self.all.len() as u64 - 1
        })
    }
}

fn folded(root: &Node) -> String {
    let mut lines = String::new();
    root.visit(&mut Vec::new(), &mut |stack, [blocks, ..]| {
        if blocks > 0 {
            // A semicolon ends a name, as in `[u8; 4]`, and a line a stack.
            let names: Vec<String> =
                stack.iter().map(|name| name.replace(';', ":").replace('\n', " ")).collect();
            let _ = writeln!(lines, "{} {blocks}", names.join(";"));
        }
    });
    lines
}

fn speedscope(root: &Node) -> serde_json::Value {
    let mut names = Names::default();
    let (mut samples, mut weights) = (Vec::new(), [const { Vec::new() }; COUNTED.len()]);
    root.visit(&mut Vec::new(), &mut |stack, counted| {
        samples.push(stack.iter().map(|name| names.number(name)).collect::<Vec<u64>>());
        weights.iter_mut().zip(counted).for_each(|(weights, counted)| weights.push(counted));
    });
    let profile = |((name, unit), weights): (_, &Vec<u64>)| {
        json!({
            "type": "sampled", "name": name, "unit": if unit == "bytes" { unit } else { "none" },
            "startValue": 0, "endValue": weights.iter().sum::<u64>(),
            "samples": samples, "weights": weights,
        })
    };
    let profiles: Vec<_> = COUNTED.into_iter().zip(&weights).map(profile).collect();
    let frames: Vec<_> = names.all.iter().map(|name| json!({ "name": name })).collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": { "frames": frames }, "profiles": profiles,
    })
}

/// A message of protobuf.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(mut self, field: u64, number: u64) -> Message {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn numbers(self, field: u64, numbers: impl Iterator<Item = u64>) -> Message {
        let mut packed = Message::default();
        numbers.for_each(|number| packed.varint(number));
        self.bytes(field, &packed.0)
    }
}

fn pprof(root: &Node) -> Vec<u8> {
    let mut names = Names::default();
    // The first string is empty.
    names.number("");
    let mut profile = Message::default();
    for (name, unit) in COUNTED {
        let kind = Message::default().number(1, names.number(name)).number(2, names.number(unit));
        profile = profile.bytes(1, &kind.0);
    }
    // A function may be called `bytes` as well.
    names.numbers.clear();
    let first = names.all.len() as u64;
    root.visit(&mut Vec::new(), &mut |stack, counted| {
        // A function is a place, and has the number of its name. The innermost comes first.
        let places = stack.iter().rev().map(|name| names.number(name));
        let sample = Message::default().numbers(1, places).numbers(2, counted.into_iter());
        profile = std::mem::take(&mut profile).bytes(2, &sample.0);
    });
    for number in first..names.all.len() as u64 {
        let line = Message::default().number(1, number);
        let place = Message::default().number(1, number).bytes(4, &line.0);
        let function = Message::default().number(1, number).number(2, number);
        profile = profile.bytes(4, &place.0).bytes(5, &function.0);
    }
    for name in names.all {
        profile = profile.bytes(6, name.as_bytes());
    }
    // What is shown first.
    profile.number(14, 1).0
}
