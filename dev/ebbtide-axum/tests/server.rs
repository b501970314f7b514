//! Claim: each request has an arena of its own, even if requests interleave. The arena returns to
//! the pool however the request ends.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use axum::{body::Body, extract::State};
use ebbtide::{Arena, Pool};
use ebbtide_axum::{LONGEST_TEXT, most_frequent, read, router, words};
use ebbtide_patience::{PATIENCE, eventually};
use std::{collections::BTreeMap, future::Future, net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime,
    sync::Barrier,
    time::timeout,
};

/// Runs a server on two threads, and a test. Stops when the test ends.
fn with_server<T: Future<Output = ()>>(test: impl FnOnce(SocketAddr, Arc<Pool>) -> T) {
    let threads = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    threads.unwrap().block_on(async {
        let pool = Arc::new(Pool::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = axum::serve(listener, router(Arc::clone(&pool)));
        let server = tokio::spawn(async move { server.await });
        timeout(PATIENCE, test(address, pool)).await.expect("the test ends");
        server.abort();
    });
}

/// A connection that stays open between requests.
struct Client(TcpStream);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        Client(TcpStream::connect(address).await.unwrap())
    }

    async fn post(&mut self, body: &[u8]) -> (u16, String) {
        self.head(body.len()).await;
        self.0.write_all(body).await.unwrap();
        self.answer().await
    }

    /// Sends the body in pieces, each of them when all clients have come that far.
    async fn post_in_turns(&mut self, pieces: &[&[u8]], turns: &Barrier) -> (u16, String) {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        self.head(length).await;
        for piece in pieces {
            turns.wait().await;
            self.0.write_all(piece).await.unwrap();
        }
        self.answer().await
    }

    async fn head(&mut self, length: usize) {
        let head =
            format!("POST /words HTTP/1.1\r\nhost: test\r\ncontent-length: {length}\r\n\r\n");
        self.0.write_all(head.as_bytes()).await.unwrap();
    }

    async fn get(&mut self, path: &str) -> (u16, String) {
        let head = format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
        self.0.write_all(head.as_bytes()).await.unwrap();
        self.answer().await
    }

    /// Reads the status, and a body of the length that the head declares.
    async fn answer(&mut self) -> (u16, String) {
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "the server hung up");
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        while bytes.len() < end + length {
            assert_ne!(self.0.read_buf(&mut bytes).await.unwrap(), 0, "the server hung up");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, String::from_utf8(bytes[end..].to_vec()).unwrap())
    }
}

/// A different text for every number, with the expected answer, computed without an arena.
fn text(number: usize) -> (String, String) {
    let words: Vec<String> = (0..200 + number * 7)
        .map(|i| format!("w{}", i * (number + 3) % (number % 40 + 5)))
        .collect();
    let mut counts = BTreeMap::<&str, usize>::new();
    for word in &words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let lines = counts.iter().take(10).map(|(word, count)| format!("{count} {word}\n")).collect();
    (words.join(", "), lines)
}

/// Sends texts from several clients at once, and checks the answers. `number` selects the text for
/// a client and one of its requests. If there are several `pieces`, the requests interleave.
async fn send_from_all(
    address: SocketAddr,
    clients: usize,
    requests: usize,
    number: fn(usize, usize) -> usize,
    pieces: usize,
) {
    let turns = Arc::new(Barrier::new(clients));
    let clients = (0..clients).map(|client| {
        let turns = Arc::clone(&turns);
        tokio::spawn(async move {
            let mut connection = Client::connect(address).await;
            for request in 0..requests {
                let (text, lines) = text(number(client, request));
                let chunks: Vec<_> = text.as_bytes().chunks(text.len().div_ceil(pieces)).collect();
                let answer = match chunks[..] {
                    [whole] => connection.post(whole).await,
                    _ => connection.post_in_turns(&chunks, &turns).await,
                };
                assert_eq!(answer, (200, lines));
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

#[test]
fn interleaved_requests_do_not_see_each_other() {
    const CLIENTS: usize = 8;
    const REQUESTS: usize = 20;
    with_server(|address, pool| async move {
        let number = |client, request| client * REQUESTS + request;
        send_from_all(address, CLIENTS, REQUESTS, number, 4).await;
        let stats = pool.stats();
        assert_eq!(stats.used, 0);
        // An arena for each simultaneous request, of a few chunks each.
        assert!((1..=CLIENTS * 6).contains(&stats.chunks), "{stats}");
        let (status, text) = Client::connect(address).await.get("/arenas").await;
        assert_eq!((status, text), (200, format!("{stats}\n")));
    });
}

#[test]
fn under_load_the_pool_holds_a_small_arena_for_each_request_at_a_time() {
    const CLIENTS: usize = 16;
    with_server(|address, pool| async move {
        for _ in 0..4 {
            let number = |client, request| (client + request) % 40;
            send_from_all(address, CLIENTS, 25, number, 1).await;
            let stats = pool.stats();
            assert_eq!(stats.used, 0);
            // The number of simultaneous requests depends on the threads; at most all clients.
            assert!((1..=CLIENTS * 6).contains(&stats.chunks), "{stats}");
            assert!(stats.capacity <= CLIENTS * 64 * 1024, "{stats}");
        }
    });
}

#[test]
fn refused_requests_give_their_arena_back() {
    with_server(|address, pool| async move {
        let mut client = Client::connect(address).await;
        assert_eq!(client.post(b"one \xFFtwo").await.0, 422);
        assert_eq!(client.post(&[]).await, (200, String::new()));
        let most = vec![b'a'; LONGEST_TEXT];
        assert_eq!(client.post(&most).await.0, 200);
        assert_eq!(client.get("/nowhere").await.0, 404);
        assert_eq!(client.get("/words").await.0, 405);
        // Without its last byte the text is already too long. The server may stop reading.
        let mut other = Client::connect(address).await;
        other.head(LONGEST_TEXT + 2).await;
        let _ = other.0.write_all(&vec![b'a'; LONGEST_TEXT + 1]).await;
        assert_eq!(other.answer().await.0, 413);
        assert_eq!(client.post(b"still there").await, (200, "1 still\n1 there\n".into()));
        assert_eq!(pool.stats().used, 0);
    });
}

#[test]
fn a_client_that_hangs_up_gives_its_arena_back() {
    with_server(|address, pool| async move {
        let pooled_chunks = |expected| eventually(|| pool.stats().chunks == expected);
        // Makes the arena.
        assert_eq!(Client::connect(address).await.post(b"a word").await.0, 200);
        for _ in 0..3 {
            let mut client = Client::connect(address).await;
            client.head(100).await;
            client.0.write_all(b"half a request").await.unwrap();
            assert!(pooled_chunks(0), "the server takes the arena");
            drop(client);
            assert!(pooled_chunks(1), "{}", pool.stats());
            assert_eq!(pool.stats().used, 0);
        }
    });
}

#[test]
fn the_futures_of_the_handlers_are_send() {
    fn is_send<T: Send>(_: T) {}
    let (pool, mut arena) = (Arc::new(Pool::new()), Arena::new());
    is_send(words(State(Arc::clone(&pool)), Body::empty()));
    is_send(read(&mut arena.scope(), Body::empty()));
    is_send(ebbtide_axum::arenas(State(pool)));
}

#[test]
fn words_are_counted_as_without_an_arena() {
    let mut arena = Arena::new();
    for number in 0..100 {
        let (text, lines) = text(number);
        assert_eq!(most_frequent(&mut arena.scope(), &text).unwrap(), lines);
    }
    assert_eq!(most_frequent(&mut arena.scope(), " ,;. ").unwrap(), "");
    assert_eq!(
        most_frequent(&mut arena.scope(), "Ärger ärger Ärger").unwrap(),
        "2 Ärger\n1 ärger\n"
    );
}
