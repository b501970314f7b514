//! The server's state and its answers. The code is unaware of arenas, except in the one place where
//! sessions are changed.

use dashmap::DashMap;
use minijinja::{Environment, context, value::Serde};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The number of users. Each has a session at some time.
pub const USERS: u64 = 9_000;

/// The number of products in the catalogue.
const PRODUCTS: usize = 5_000;

/// The server's state, shared by all workers.
pub struct Shop {
    sessions: DashMap<u64, Session>,
    /// Whether sessions are changed outside of any scope.
    outside: bool,
    templates: Environment<'static>,
    pub(crate) products: Vec<Product>,
    /// For each word, the products whose text contains it.
    pub(crate) places: HashMap<String, Vec<u32>>,
}

/// A user's session.
#[derive(Default)]
struct Session {
    visits: u64,
    basket: BTreeMap<String, u64>,
    history: VecDeque<String>,
}

#[derive(Serialize)]
pub(crate) struct Product {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) price: f64,
}

/// The result of changing a session.
pub(crate) struct Basket {
    pub(crate) visits: u64,
    pub(crate) kinds: usize,
    pub(crate) pieces: u64,
}

const PAGE: &str = r#"<!doctype html>
<title>{{ title }}</title>
<h1>{{ title | upper }}</h1>
<ol>
{% for line in history %}  <li class="{{ loop.cycle('odd', 'even') }}">{{ line }}</li>
{% endfor %}</ol>
<ul>
{% for product in products %}  <li><b>{{ product.name }}</b> {{ product.text }}: {{ product.price | round(2) }}</li>
{% endfor %}</ul>
<p>{{ products | length }} products</p>
"#;

impl Shop {
    /// A shop with a full catalogue and no session.
    #[must_use]
    pub fn new(outside: bool) -> Self {
        let mut templates = Environment::new();
        templates.add_template("page", PAGE).expect("it is a template");
        let mut words = Words(7);
        let products: Vec<Product> = (0..PRODUCTS)
            .map(|number| Product {
                name: words.text(2),
                text: words.text(12),
                price: number as f64 * 0.25,
            })
            .collect();
        let mut places: HashMap<String, Vec<u32>> = HashMap::new();
        for (place, product) in (0..).zip(&products) {
            for word in product.text.split(' ') {
                let places = places.entry(word.to_owned()).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
        Shop { sessions: DashMap::new(), outside, templates, products, places }
    }

    /// Changes a user's session, and reads its basket.
    pub(crate) fn visit<'a>(
        &self,
        user: u64,
        line: &str,
        items: impl Iterator<Item = (&'a str, u64)>,
    ) -> Basket {
        let change = || {
            let mut session = self.sessions.entry(user).or_default();
            session.visits += 1;
            for (product, count) in items {
                *session.basket.entry(product.to_owned()).or_default() += count;
            }
            if session.basket.len() > 20 {
                session.basket.clear();
            }
            session.history.push_back(line.to_owned());
            if session.history.len() > 6 {
                session.history.pop_front();
            }
            Basket {
                visits: session.visits,
                kinds: session.basket.len(),
                pieces: session.basket.values().sum(),
            }
        };
        if self.outside { ebbtide_global::outside(change) } else { change() }
    }

    /// Ends a user's session at every tenth visit.
    pub(crate) fn leave(&self, user: u64, visits: u64) {
        if visits.is_multiple_of(10) {
            self.sessions.remove(&user);
        }
    }

    /// `POST /orders/USER`: an order in JSON, and the receipt in JSON.
    pub(crate) fn order(&self, user: u64, body: &[u8]) -> Option<Vec<u8>> {
        let order: Value = serde_json::from_slice(body).ok()?;
        let items = order["items"].as_array()?;
        let mut lines = Vec::new();
        let mut total = 0.0;
        for item in items {
            let (product, count) = (item["product"].as_str()?, item["count"].as_u64()?);
            let price = item["price"].as_f64()? * count as f64;
            total += price;
            lines.push(json!({ "line": format!("{count} x {product}"), "price": price }));
        }
        let pieces =
            items.iter().filter_map(|item| item["product"].as_str().zip(item["count"].as_u64()));
        let note = order["note"].as_str().unwrap_or("");
        let basket = self.visit(user, &format!("{note} ({total:.2})"), pieces);
        self.leave(user, basket.visits);
        let receipt = json!({
            "basket": { "kinds": basket.kinds, "pieces": basket.pieces },
            "lines": lines,
            "total": total,
            "visits": basket.visits,
        });
        serde_json::to_vec(&receipt).ok()
    }

    /// `GET /pages/USER`: the user's history, and some products.
    pub(crate) fn page(&self, user: u64) -> Option<Vec<u8>> {
        let basket = self.visit(user, &format!("page {user}"), std::iter::empty());
        let history: Vec<String> = self
            .sessions
            .get(&user)
            .map(|session| session.history.iter().cloned().collect())
            .unwrap_or_default();
        let first = usize::try_from(user).ok()? * 7;
        let products: Vec<&Product> =
            (0..20).map(|n| &self.products[(first + n * 31) % PRODUCTS]).collect();
        let template = self.templates.get_template("page").ok()?;
        let title = format!("visit {}", basket.visits);
        let values = context! { title, history, products => Serde(products) };
        Some(template.render(values).ok()?.into_bytes())
    }

    /// `GET /search/WORDS`, with `+` between the words: the ten best products, in JSON.
    pub(crate) fn search(&self, words: &str) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct Hit {
            name: String,
            text: String,
            score: u32,
        }
        let words: Vec<String> = words.split('+').map(str::to_lowercase).collect();
        let mut scores: HashMap<u32, u32> = HashMap::new();
        for word in &words {
            for &place in self.places.get(word).into_iter().flatten() {
                *scores.entry(place).or_default() += 1;
            }
        }
        let mut best: Vec<(u32, u32)> = scores.into_iter().collect();
        best.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let hit = |&(place, score): &(u32, u32)| {
            let product = &self.products[place as usize];
            let mark = |word: &str| {
                if words.iter().any(|w| w == word) {
                    format!("<b>{word}</b>")
                } else {
                    word.to_owned()
                }
            };
            let text: Vec<String> = product.text.split(' ').map(mark).collect();
            Hit { name: product.name.clone(), text: text.join(" "), score }
        };
        let hits: Vec<Hit> = best.iter().take(10).map(hit).collect();
        serde_json::to_vec(&hits).ok()
    }
}

/// Generated text, the same in every process (xorshift).
pub(crate) struct Words(pub(crate) u64);

impl Words {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// One of a thousand words.
    pub(crate) fn word(&mut self) -> String {
        const STARTS: [&str; 10] =
            ["har", "ti", "lan", "ro", "sal", "gul", "an", "ke", "mas", "car"];
        const MIDDLES: [&str; 10] = ["bo", "de", "ter", "pe", "to", "la", "cho", "lin", "te", "go"];
        const ENDS: [&str; 10] = ["ur", "s", "n", "r", "ly", "ck", "sh", "nd", "t", "ry"];
        let mut one = |list: [&'static str; 10]| list[self.below(10)];
        [one(STARTS), one(MIDDLES), one(ENDS)].concat()
    }

    pub(crate) fn text(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}
