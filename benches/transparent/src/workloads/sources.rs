//! Parses a Rust source into a syntax tree, walks it and drops it.

use super::Workload;
use crate::Arena;
use syn::visit::{self, Visit};

pub(super) struct Sources {
    expected: u64,
}

const SOURCE: &str = include_str!("../../../src/harness.rs");

impl Sources {
    pub(super) const SCOPES: usize = 5;
}

impl Workload for Sources {
    fn new(_: usize) -> Self {
        Sources { expected: once(SOURCE) }
    }

    fn batch<A: Arena>(&mut self) -> u64 {
        for _ in 0..Self::SCOPES {
            assert_eq!(A::scope(|| once(SOURCE)), self.expected);
        }
        self.expected
    }
}

#[derive(Default)]
struct Count {
    expressions: u64,
    names: u64,
}

impl<'ast> Visit<'ast> for Count {
    fn visit_expr(&mut self, expression: &'ast syn::Expr) {
        self.expressions += 1;
        visit::visit_expr(self, expression);
    }

    fn visit_ident(&mut self, _: &'ast syn::Ident) {
        self.names += 1;
    }
}

/// How many expressions and names there are.
#[inline(never)]
fn once(source: &str) -> u64 {
    let file = syn::parse_file(source).expect("it is Rust");
    let mut count = Count::default();
    count.visit_file(&file);
    count.expressions << 32 | count.names
}
