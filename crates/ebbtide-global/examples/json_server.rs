//! A web server that answers JSON with JSON, with one scope per request.
//!
//! ```text
//! cargo run --release --package ebbtide-global --example json_server -- [REQUESTS | ADDRESS]
//! ```
//! With an address, such as `127.0.0.1:8080`, it serves until it is stopped:
//! `curl -d '{"items": [{"count": 2, "price": 1.5}]}' http://127.0.0.1:8080/total`. Without one it
//! starts a server and a client, sends some requests over loopback, and checks the answers.
//!
//! `total` and `serde_json` are unaware of arenas. The answer is allocated in one; any thread may
//! send and free it.
use axum::{Router, http::StatusCode, routing::post};
use ebbtide_global::{Options, Scoped, arena_with, report, warm};
use serde_json::{Value, json};
use std::{alloc::System, env, error::Error};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

#[global_allocator]
static ALLOC: Scoped<System> = Scoped::new(System);

/// The total cost of all items.
fn total(order: &str) -> serde_json::Result<String> {
    let order: Value = serde_json::from_str(order)?;
    let items = order["items"].as_array().map_or(&[][..], Vec::as_slice);
    let number = |item: &Value, key: &str| item[key].as_f64().unwrap_or(0.0);
    let costs = items.iter().map(|item| number(item, "count") * number(item, "price"));
    let sum = costs.fold(0.0, |sum, cost| sum + cost);
    Ok(json!({ "items": items.len(), "total": sum }).to_string())
}

async fn handle(body: String) -> Result<String, StatusCode> {
    // Between two `.await`s a handler stays on its thread, so a plain scope is enough.
    arena_with(&Options::new().label("request"), || total(&body))
        .map_err(|_| StatusCode::BAD_REQUEST)
}

fn router() -> Router {
    Router::new().route("/total", post(handle))
}

/// Sends one request and returns the answer, including its head.
async fn ask(address: std::net::SocketAddr, body: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let head = format!(
        "POST /total HTTP/1.1\r\nHost: loopback\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

async fn demonstrate(requests: usize) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router()).await });
    let item = r#"{"product": "rope", "note": "tarred \"twice\"", "count": 2, "price": 1.5}"#;
    for number in 0..requests {
        let count = number % 50;
        let answer =
            ask(address, &format!("{{\"items\": [{}]}}", vec![item; count].join(","))).await?;
        let expected = json!({ "items": count, "total": count as f64 * 3.0 }).to_string();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&expected), "{answer}");
    }
    let refused = ask(address, "{\"items\": [").await?;
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    println!("{requests} requests answered, one refused");
    println!("{}", report());
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    warm();
    let argument = env::args().nth(1).unwrap_or_else(|| "200".to_owned());
    if let Ok(requests) = argument.parse() {
        return demonstrate(requests).await;
    }
    let listener = TcpListener::bind(&argument).await?;
    println!("http://{}/total", listener.local_addr()?);
    axum::serve(listener, router()).await?;
    Ok(())
}
