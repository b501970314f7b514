//! JSON values in a scope: plain values without destructors, so dropping a tree costs nothing.

use std::slice;

use ebbtide::Scope;

use super::stack::Stack;
use crate::json::{Build, Dom, Scalar, Text, View};

#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(f64),
    Text(&'a str),
    List(&'a [Value<'a>]),
    Object(&'a [(&'a str, Value<'a>)]),
}

/// Builds a [`Value`] from a document.
pub(crate) struct Builder<'b, 'a> {
    tree: &'b Scope<'a>,
    items: Stack<'b, Value<'a>>,
    members: Stack<'b, (&'a str, Value<'a>)>,
}

impl<'b, 'a> Builder<'b, 'a> {
    /// A builder that keeps values in `tree` and temporary values in `passing`.
    pub(crate) fn new(tree: &'b Scope<'a>, passing: &'b Scope<'b>) -> Self {
        Self { tree, items: Stack::new(passing), members: Stack::new(passing) }
    }

    fn keep(&self, text: Text<'_>) -> &'a str {
        match text {
            Text::Plain(text) => self.tree.alloc_str(text),
            Text::Escaped(text) => self.tree.alloc_fmt(format_args!("{text}")),
        }
    }
}

impl<'a> Build for Builder<'_, 'a> {
    type Value = Value<'a>;
    /// The position on the stack where the children start.
    type Items = usize;
    type Members = usize;

    fn scalar(&mut self, scalar: Scalar<'_>) -> Value<'a> {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Text(text) => Value::Text(self.keep(text)),
        }
    }

    fn items(&mut self) -> usize {
        self.items.len()
    }

    fn push_item(&mut self, _: &mut usize, value: Value<'a>) {
        self.items.push(value);
    }

    fn list(&mut self, start: usize) -> Value<'a> {
        Value::List(self.items.pop_to(start, self.tree))
    }

    fn members(&mut self) -> usize {
        self.members.len()
    }

    fn push_member(&mut self, _: &mut usize, key: Text<'_>, value: Value<'a>) {
        let key = self.keep(key);
        self.members.push((key, value));
    }

    fn object(&mut self, start: usize) -> Value<'a> {
        Value::Object(self.members.pop_to(start, self.tree))
    }
}

impl<'a> Dom for Value<'a> {
    type Member = (&'a str, Value<'a>);
    type Items<'v>
        = slice::Iter<'v, Value<'a>>
    where
        Self: 'v;
    type Members<'v>
        = slice::Iter<'v, (&'a str, Value<'a>)>
    where
        Self: 'v;

    fn view(&self) -> View<'_, Self> {
        match self {
            Value::Null => View::Null,
            Value::Bool(bool) => View::Bool(*bool),
            Value::Number(number) => View::Number(*number),
            Value::Text(text) => View::Text(text),
            Value::List(items) => View::List(items.iter()),
            Value::Object(members) => View::Object(members.iter()),
        }
    }

    fn parts((key, value): &Self::Member) -> (&str, &Self) {
        (key, value)
    }
}
