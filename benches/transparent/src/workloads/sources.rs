//! Parses a Rust source into a syntax tree, walks it and drops it.

use syn::visit::{self, Visit};

const SOURCE: &str = include_str!("../../../src/harness.rs");

pub(super) fn sources() -> impl Fn() -> u64 {
    || once(SOURCE)
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
