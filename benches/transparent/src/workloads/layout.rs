//! Builds a page of boxes, rows and grids, and lays it out with taffy.

use super::text::Numbers;
use taffy::prelude::*;

/// A card of the page: the widths of its words.
type Card = Vec<f32>;

pub(super) fn pages(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(21);
    let mut card =
        |_| (0..4 + numbers.below(12)).map(|_| 8.0 * numbers.word().len() as f32).collect();
    let cards: Vec<Card> = (0..size).map(&mut card).collect();
    move || once(&cards)
}

/// The height of the page, and the sum of the positions of all words.
#[inline(never)]
fn once(cards: &[Card]) -> u64 {
    lay_out(cards).expect("the tree has all nodes")
}

fn lay_out(cards: &[Card]) -> taffy::TaffyResult<u64> {
    let mut tree: TaffyTree<()> = TaffyTree::new();
    let mut words = Vec::new();
    let mut nodes = Vec::new();
    for card in cards {
        let mut line = Vec::new();
        for &width in card {
            let size = Size { width: length(width), height: length(16.0) };
            line.push(tree.new_leaf(Style { size, ..Style::default() })?);
        }
        words.extend_from_slice(&line);
        let text = Style { flex_wrap: FlexWrap::Wrap, gap: length(4.0), ..Style::default() };
        let text = tree.new_with_children(text, &line)?;
        let size = Size { width: percent(1.0), height: length(20.0) };
        let title = tree.new_leaf(Style { size, ..Style::default() })?;
        let column = Style {
            flex_direction: FlexDirection::Column,
            padding: length(6.0),
            ..Style::default()
        };
        nodes.push(tree.new_with_children(column, &[title, text])?);
    }
    let page = Style {
        display: Display::Grid,
        size: Size { width: length(960.0), height: auto() },
        grid_template_columns: vec![fr(1.0), fr(2.0), fr(1.0)],
        gap: length(10.0),
        ..Style::default()
    };
    let page = tree.new_with_children(page, &nodes)?;
    tree.compute_layout(page, Size::MAX_CONTENT)?;
    let mut sum = 0.0;
    for word in words {
        let place = tree.layout(word)?.location;
        sum += f64::from(place.x + place.y);
    }
    Ok((f64::from(tree.layout(page)?.size.height) as u64) << 32 | sum as u64)
}
