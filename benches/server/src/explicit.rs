//! Two of the shop's answers with `ebbtide`'s explicit arenas: what is temporary lies in a scope
//! that the code names. The page stays as it is, for its template engine knows no arenas.

use crate::shop::Shop;
use ebbtide::Scope;
use serde::{
    Serialize,
    de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor, value},
};
use std::fmt;

/// A JSON document in an arena.
enum Json<'a> {
    Other,
    Number(f64),
    Text(&'a str),
    List(&'a [Json<'a>]),
    Object(&'a [(&'a str, Json<'a>)]),
}

impl<'a> Json<'a> {
    fn get(&self, name: &str) -> Option<&Json<'a>> {
        let Json::Object(members) = self else { return None };
        members.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    fn number(&self) -> Option<f64> {
        if let Json::Number(number) = self { Some(*number) } else { None }
    }

    fn text(&self) -> Option<&'a str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }
}

#[derive(Clone, Copy)]
struct Seed<'s, 'a>(&'s Scope<'a>);

impl<'de: 'a, 'a> DeserializeSeed<'de> for Seed<'_, 'a> {
    type Value = Json<'a>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Json<'a>, D::Error> {
        from.deserialize_any(self)
    }
}

#[allow(clippy::cast_precision_loss)]
impl<'de: 'a, 'a> Visitor<'de> for Seed<'_, 'a> {
    type Value = Json<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'a>, E> {
        Ok(Json::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json<'a>, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'a>, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'a>, E> {
        Ok(Json::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'a>, E> {
        Ok(Json::Number(number))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Json<'a>, E> {
        self.0.try_alloc_str(text).map(|text| Json::Text(text)).map_err(E::custom)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'a>, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Json<'a>, A::Error> {
        let from = value::SeqAccessDeserializer::new(list);
        Ok(Json::List(self.0.seed_slice(self).deserialize(from)?))
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Json<'a>, A::Error> {
        let from = value::MapAccessDeserializer::new(object);
        let seed = self.0.seed_entries(self.0.borrowing_seed::<str>(), self);
        Ok(Json::Object(seed.deserialize(from)?))
    }
}

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
#[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
pub(crate) fn order(shop: &Shop, s: &Scope<'_>, user: u64, body: &[u8]) -> Option<Vec<u8>> {
    let mut from = serde_json::Deserializer::from_slice(body);
    let order = Seed(s).deserialize(&mut from).ok()?;
    let &Json::List(items) = order.get("items")? else { return None };
    let mut total = 0.0;
    let mut line = |index: usize| {
        let item = &items[index];
        let (product, count) = (item.get("product")?.text()?, item.get("count")?.number()?);
        let price = item.get("price")?.number()? * count;
        total += price;
        Some(Line { line: s.alloc_fmt(format_args!("{count} x {product}")), price })
    };
    let lines = s.alloc_slice_try_fill_with(items.len(), |index| line(index).ok_or(())).ok()?;
    let pieces = items.iter().filter_map(|item| {
        item.get("product")?.text().zip(item.get("count")?.number().map(|count| count as u64))
    });
    let note = order.get("note").and_then(Json::text).unwrap_or("");
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
