//! JSON values that own their text and their children.

use std::slice;

use crate::json::{Build, Dom, Scalar, Text, View};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

/// Builds a [`Value`] from a document.
pub(crate) struct Builder;

fn owned(text: Text<'_>) -> String {
    match text {
        Text::Plain(text) => text.to_owned(),
        Text::Escaped(text) => text.to_string(),
    }
}

impl Build for Builder {
    type Value = Value;
    type Items = Vec<Value>;
    type Members = Vec<(String, Value)>;

    fn scalar(&mut self, scalar: Scalar<'_>) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Text(text) => Value::Text(owned(text)),
        }
    }

    fn items(&mut self) -> Vec<Value> {
        Vec::new()
    }

    fn push_item(&mut self, items: &mut Vec<Value>, value: Value) {
        items.push(value);
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::List(items)
    }

    fn members(&mut self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn push_member(&mut self, members: &mut Vec<(String, Value)>, key: Text<'_>, value: Value) {
        members.push((owned(key), value));
    }

    fn object(&mut self, members: Vec<(String, Value)>) -> Value {
        Value::Object(members)
    }
}

impl Dom for Value {
    type Member = (String, Value);
    type Items<'v> = slice::Iter<'v, Value>;
    type Members<'v> = slice::Iter<'v, (String, Value)>;

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
