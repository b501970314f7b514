//! Parses an HTML page into a tree, runs selectors on it and drops it.

use super::text::Numbers;
use scraper::{Html, Selector};
use std::fmt::Write;

pub(super) fn documents(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(12);
    let mut text = String::from("<!doctype html><title>quay</title><ul id=list>");
    for item in 0..size {
        write!(
            text,
            "<li class=\"{} item\"><a href=\"/{}/{item}\">{}</a> <p>{}<br>{} &amp; {}</p>",
            numbers.word(),
            numbers.word(),
            numbers.words(2),
            numbers.words(5),
            numbers.word(),
            numbers.word(),
        )
        .expect("a string takes all");
    }
    let selector = Selector::parse("li.item > a[href^='/t']").expect("it is a selector");
    move || once(&text, &selector)
}

/// The number of matches of the selector, and the bytes of all text.
#[inline(never)]
fn once(text: &str, selector: &Selector) -> u64 {
    let document = Html::parse_document(text);
    let found = document.select(selector).map(|link| link.text().count()).sum::<usize>() as u64;
    let texts: usize = document.root_element().text().map(str::len).sum();
    found << 32 | texts as u64
}
