//! The programs over sources. The module around this one provides [`Handle`], the memory.

mod json;
mod lexer;
mod syntax;

use super::Handle;
use hashbrown::HashMap;
use lexer::tokens;
use std::{collections::HashSet, hint::black_box};
use syntax::Node;

/// Work that allocates and has a known result.
pub trait Work {
    /// The number of operations in a turn.
    fn operations(&self) -> usize;

    /// The expected result of a turn.
    fn expected(&self) -> usize;

    fn turn<'a>(&self, handle: &impl Handle<'a>) -> usize;
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
pub struct Intern {
    sources: Vec<String>,
    tokens: usize,
    distinct: usize,
}

impl Intern {
    pub fn new(sources: Vec<String>) -> Self {
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
pub struct Json {
    text: String,
    values: usize,
    weight: usize,
}

impl Json {
    pub fn new(sources: &[String]) -> Self {
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
