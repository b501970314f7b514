//! Two of the shop's answers with `ebbtide`'s explicit arenas: temporary data is in a scope that
//! the code passes around. The page stays as it is, because its template engine does not support
//! arenas.

use crate::shop::Shop;
use ebbtide::Scope;
use serde::{Serialize, de::DeserializeSeed};

#[derive(Serialize)]
struct Line<'a> {
    line: &'a str,
    price: f64,
}

#[derive(Serialize)]
struct Pieces {
    kinds: usize,
    pieces: u64,
}

#[derive(Serialize)]
struct Receipt<'a> {
    basket: Pieces,
    lines: &'a [Line<'a>],
    total: f64,
    visits: u64,
}

/// [`Shop::order`], in an arena.
pub(crate) fn order(shop: &Shop, s: &Scope<'_>, user: u64, body: &[u8]) -> Option<Vec<u8>> {
    let mut from = serde_json::Deserializer::from_slice(body);
    let order = s.seed_any().deserialize(&mut from).ok()?;
    let items = order["items"].as_array()?;
    let mut total = 0.0;
    let mut line = |index: usize| {
        let item = &items[index];
        let (product, count) = (item["product"].as_str()?, item["count"].as_u64()?);
        let price = item["price"].as_f64()? * count as f64;
        total += price;
        Some(Line { line: s.alloc_fmt(format_args!("{count} x {product}")), price })
    };
    let lines = s.alloc_slice_try_fill_with(items.len(), |index| line(index).ok_or(())).ok()?;
    let pieces =
        items.iter().filter_map(|item| item["product"].as_str().zip(item["count"].as_u64()));
    let note = order["note"].as_str().unwrap_or("");
    let basket = shop.visit(user, s.alloc_fmt(format_args!("{note} ({total:.2})")), pieces);
    shop.leave(user, basket.visits);
    let pieces = Pieces { kinds: basket.kinds, pieces: basket.pieces };
    serde_json::to_vec(&Receipt { basket: pieces, lines, total, visits: basket.visits }).ok()
}

#[derive(Serialize)]
struct Hit<'a> {
    name: &'a str,
    text: &'a str,
    score: usize,
}

/// [`Shop::search`], in an arena.
pub(crate) fn search(shop: &Shop, s: &mut Scope<'_>, words: &str) -> Option<Vec<u8>> {
    let mut lower = s.grow_string();
    for character in words.chars().flat_map(char::to_lowercase) {
        lower.push(character);
    }
    let lower = &*lower.into_str();
    let wanted = s.alloc_slice_from_iter(lower.split('+'));
    let mut places = s.grow_vec();
    for &word in &*wanted {
        places.extend_from_slice(shop.places.get(word).map_or(&[][..], Vec::as_slice));
    }
    let places = places.into_slice();
    places.sort_unstable();
    let best =
        s.alloc_slice_from_iter(places.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())));
    best.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let best = &best[..best.len().min(10)];
    let mut hits = [const { Hit { name: "", text: "", score: 0 } }; 10];
    for (hit, &(place, score)) in hits.iter_mut().zip(best) {
        let product = &shop.products[place as usize];
        let mut text = s.grow_string();
        for (index, word) in product.text.split(' ').enumerate() {
            text.push_str(if index == 0 { "" } else { " " });
            let (open, close) = if wanted.contains(&word) { ("<b>", "</b>") } else { ("", "") };
            for piece in [open, word, close] {
                text.push_str(piece);
            }
        }
        *hit = Hit { name: &product.name, text: text.into_str(), score };
    }
    serde_json::to_vec(&hits[..best.len()]).ok()
}
