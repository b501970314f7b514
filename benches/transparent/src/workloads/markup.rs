//! A request to a web server: routed by axum, answered by a handler that renders a minijinja
//! template. The request is one scope, in which the reply is read too.

use super::text::Numbers;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::Request,
    response::Html,
    routing::get,
};
use minijinja::{Environment, context, value::Serde};
use serde::Serialize;
use std::sync::Arc;
use tower::ServiceExt;

struct Shop {
    templates: Environment<'static>,
    names: Vec<String>,
}

#[derive(Serialize)]
struct Item {
    name: String,
    price: f64,
    tags: Vec<String>,
}

const PAGE: &str = r#"<!doctype html>
<title>{{ title }}</title>
<h1>{{ title | upper }}</h1>
<ul>
{% for item in items %}
  <li class="{{ loop.cycle('odd', 'even') }}">{{ loop.index }}. <b>{{ item.name }}</b>: {{ item.price | round(2) }}
    {% if item.tags %}({{ item.tags | join(", ") }}){% else %}(plain){% endif %}</li>
{% endfor %}
</ul>
<p>{{ items | length }} items</p>
"#;

async fn page(State(shop): State<Arc<Shop>>, Path(count): Path<usize>) -> Html<String> {
    let item = |index: usize| Item {
        name: shop.names[index % shop.names.len()].clone(),
        price: index as f64 * 1.25,
        tags: shop.names[index % 7].split(' ').take(index % 4).map(str::to_owned).collect(),
    };
    let items: Vec<Item> = (0..count).map(item).collect();
    let template = shop.templates.get_template("page").expect("it is there");
    let values = context! { title => "Ebb & tide", items => Serde(items) };
    Html(template.render(values).expect("it can be rendered"))
}

pub(super) fn pages(size: usize) -> impl Fn() -> u64 {
    let mut templates = Environment::new();
    templates.add_template("page", PAGE).expect("it is a template");
    let mut numbers = Numbers::new(2);
    let names = (0..40).map(|_| numbers.words(3)).collect();
    let shop = Arc::new(Shop { templates, names });
    let router = Router::new().route("/items/{count}", get(page)).with_state(shop);
    assert_eq!(size, 50);
    move || once(&router)
}

/// The reply, summed up.
#[inline(never)]
fn once(router: &Router) -> u64 {
    let request = Request::get("/items/50").body(Body::empty()).expect("it is a request");
    let body = pollster::block_on(async {
        let reply = router.clone().oneshot(request).await.expect("a router always answers");
        assert!(reply.status().is_success());
        axum::body::to_bytes(reply.into_body(), 1 << 20).await.expect("it is in memory")
    });
    assert!(body.ends_with(b"<p>50 items</p>"));
    body.iter().map(|&byte| u64::from(byte)).sum()
}
