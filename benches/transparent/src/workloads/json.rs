//! Parses a JSON document into a `serde_json::Value`, walks it and drops it.

use super::text::Numbers;
use serde_json::Value;
use std::fmt::Write;

pub(super) fn documents(size: usize) -> impl Fn() -> u64 {
    let (text, pieces) = document(size);
    assert_eq!(once(&text) >> 32, pieces);
    move || once(&text)
}

/// A document, and the number of items ordered in it.
pub(super) fn document(size: usize) -> (String, u64) {
    let mut numbers = Numbers::new(1);
    let mut text = String::from("{\"orders\": [");
    let mut pieces = 0;
    for order in 0..size {
        let comma = if order == 0 { "" } else { "," };
        let (name, note) = (numbers.words(2), numbers.words(6));
        write!(
            text,
            "{comma}\n  {{\"id\": {order}, \"customer\": {{\"name\": \"{name}\", \"vip\": {}, \
             \"email\": \"{}@example.org\"}}, \"note\": \"{note} \\u00e9\\n\", \"rebate\": null, \
             \"items\": [",
            order % 7 == 0,
            numbers.word()
        )
        .expect("a string takes all");
        for item in 0..1 + numbers.below(5) {
            let comma = if item == 0 { "" } else { ", " };
            let count = 1 + numbers.below(9);
            pieces += count as u64;
            write!(
                text,
                "{comma}{{\"product\": \"{}\", \"count\": {count}, \"price\": {:.2}}}",
                numbers.words(2),
                numbers.share() * 100.0
            )
            .expect("a string takes all");
        }
        text += "]}";
    }
    text += "\n]}";
    (text, pieces)
}

/// The number of items ordered, and the bytes of all strings.
#[inline(never)]
fn once(text: &str) -> u64 {
    let document: Value = serde_json::from_str(text).expect("it is JSON");
    let orders = document["orders"].as_array().expect("orders are a list");
    let items = orders.iter().filter_map(|order| order["items"].as_array()).flatten();
    let pieces: u64 = items.filter_map(|item| item["count"].as_u64()).sum();
    pieces << 32 | texts(&document)
}

fn texts(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| key.len() as u64 + texts(value)).sum()
        }
        _ => 0,
    }
}
