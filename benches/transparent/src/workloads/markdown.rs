//! Converts Markdown to HTML with a parser that allocates little.

use super::text::Numbers;
use pulldown_cmark::{Options, Parser, html};
use std::fmt::Write;

pub(super) fn markdown(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(6);
    let mut text = String::new();
    for section in 0..size {
        let mut words = |count| numbers.words(count);
        write!(
            text,
            "## {section}: {}\n\n{}, *{}* and **{}**, `{}`, see [{}](https://example.org/{}).\n\n\
             - {}\n- {}\n\n| a | b |\n|---|---|\n| {} | {} |\n\n",
            words(3),
            words(20),
            words(2),
            words(1),
            words(2),
            words(2),
            words(1),
            words(5),
            words(6),
            words(1),
            words(2)
        )
        .expect("a string takes all");
    }
    assert_eq!(once(&text) >> 32, size as u64);
    move || once(&text)
}

/// How many headings there are, and how long the page is.
#[inline(never)]
fn once(text: &str) -> u64 {
    let mut page = String::new();
    html::push_html(&mut page, Parser::new_ext(text, Options::all()));
    let headings = page.matches("</h2>").count() as u64;
    headings << 32 | page.len() as u64
}
