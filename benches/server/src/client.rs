//! Requests over loopback. Each connection has a blocking thread of its own, so the client does not
//! depend on a timer coarser than the system's.

use crate::shop::{USERS, Words};
use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

/// The number of connections.
pub const CONNECTIONS: u64 = 32;

/// A connection that is kept alive.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Connection { stream, buffer: Vec::new() })
    }

    /// Sends a request, and returns the body of the answer.
    ///
    /// # Errors
    ///
    /// The system's errors, or an answer that is not `200 OK`.
    pub fn ask(&mut self, request: &[u8]) -> io::Result<&[u8]> {
        self.stream.write_all(request)?;
        self.buffer.clear();
        let mut piece = [0; 16 * 1024];
        loop {
            let read = self.stream.read(&mut piece)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.buffer.extend_from_slice(&piece[..read]);
            if let Some(body) = body(&self.buffer)? {
                return Ok(&self.buffer[body..]);
            }
        }
    }
}

/// The offset of the body of a complete answer; `None` if the answer is not complete.
fn body(answer: &[u8]) -> io::Result<Option<usize>> {
    let Some(head) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&answer[..head]);
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .and_then(|length| length.parse::<usize>().ok());
    match length {
        Some(length) if text.starts_with("HTTP/1.1 200") => {
            Ok((answer.len() == head + 4 + length).then_some(head + 4))
        }
        _ => Err(io::Error::other(text.into_owned())),
    }
}

/// A `GET`.
#[must_use]
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: shop\r\n\r\n").into_bytes()
}

/// The request with this number. Of ten requests, four are orders, three pages, and three searches.
#[must_use]
pub fn request(number: u64) -> Vec<u8> {
    let mut words = Words((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    words.below(2);
    let user = words.below(usize::try_from(USERS).unwrap_or(1));
    match number % 10 {
        0..4 => {
            let items: Vec<String> = (0..1 + words.below(20))
                .map(|_| {
                    format!(
                        "{{\"product\": \"{}\", \"count\": {}, \"price\": {}.25, \"tags\": [\"{}\", \"{}\"]}}",
                        words.text(2),
                        1 + words.below(9),
                        words.below(100),
                        words.word(),
                        words.word(),
                    )
                })
                .collect();
            let note = words.text(5);
            let body = format!("{{\"note\": \"{note}\", \"items\": [{}]}}", items.join(", "));
            let length = body.len();
            format!(
                "POST /orders/{user} HTTP/1.1\r\nhost: shop\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .into_bytes()
        }
        4..7 => get(&format!("/pages/{user}")),
        _ => get(&format!("/search/{}", words.text(3).replace(' ', "+"))),
    }
}

/// Requests, all created before the first is sent.
pub struct Requests(Vec<Vec<u8>>);

impl Requests {
    /// The first `count` requests.
    #[must_use]
    pub fn new(count: u64) -> Self {
        Requests((0..count).map(request).collect())
    }

    fn get(&self, number: u64) -> &[u8] {
        let count = self.0.len() as u64;
        &self.0[usize::try_from(number % count).unwrap_or(0)]
    }
}

/// The first request of the next load. Each load continues where the last one of the same server
/// ended.
#[derive(Debug, Default)]
pub struct Next(AtomicU64);

/// Sends requests for this long; returns the seconds that each took.
///
/// With a rate, requests are due at fixed times, and latency is measured from the time at which a
/// request was due, so a late answer also delays the requests behind it, as it does for users.
/// Without a rate, each connection sends its next request as soon as the last one is answered.
///
/// # Errors
///
/// Those of [`Connection::ask`].
pub fn load(
    address: SocketAddr,
    requests: &Requests,
    next: &Next,
    length: Duration,
    rate: Option<f64>,
) -> io::Result<Vec<f64>> {
    let first = next.0.load(Ordering::Relaxed);
    let start = Instant::now();
    let connection = || {
        let mut connection = Connection::open(address)?;
        let mut times = Vec::new();
        loop {
            let number = next.0.fetch_add(1, Ordering::Relaxed);
            #[allow(clippy::cast_precision_loss)]
            let due = rate.map_or(start.elapsed(), |rate| {
                Duration::from_secs_f64((number - first) as f64 / rate)
            });
            if due >= length {
                next.0.fetch_sub(1, Ordering::Relaxed);
                return Ok(times);
            }
            if let Some(wait) = due.checked_sub(start.elapsed()) {
                thread::sleep(wait);
            }
            connection.ask(requests.get(number))?;
            times.push((start.elapsed() - due).as_secs_f64());
        }
    };
    thread::scope(|threads| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| threads.spawn(connection)).collect();
        let mut all = Vec::new();
        for thread in threads {
            let times: io::Result<Vec<f64>> = thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread of the client panicked")));
            all.extend(times?);
        }
        Ok(all)
    })
}
