//! Servers: sessions that all workers share, with a scope or a future per request.

use super::{in_scopes, in_scopes_of, keep, lock, on_workers};
use crate::{
    inputs::{Random, Record, answer, work},
    meter,
    scopes::{polled, scope, unscoped},
};
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    http::Request,
    routing::post,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex},
};
use tower::ServiceExt;

/// A user's session.
#[derive(Default)]
struct Session {
    user: String,
    settings: BTreeMap<String, String>,
    history: VecDeque<Record>,
}

impl Session {
    fn update(&mut self, random: &mut Random) {
        self.user = random.words(2);
        self.settings.insert(random.word().to_owned(), random.words(3));
        keep(&mut self.history, answer(random), 4);
    }
}

/// One map behind one lock; any worker updates or removes any session.
pub(super) fn sessions() -> u64 {
    const SESSIONS: usize = 5_000;
    let sessions: Mutex<HashMap<u64, Session>> = Mutex::default();
    in_scopes_of(4, |_, _, random| {
        work(random);
        let id = random.below(SESSIONS) as u64;
        let mut sessions = lock(&sessions);
        if random.below(4) == 0 {
            sessions.remove(&id);
        } else {
            sessions.entry(id).or_default().update(random);
        }
    })
}

/// A map in sixteen parts, each behind a lock.
#[derive(Default)]
struct Sharded {
    shards: [Mutex<HashMap<u64, Session>>; 16],
}

impl Sharded {
    fn with<R>(&self, id: u64, f: impl FnOnce(&mut HashMap<u64, Session>) -> R) -> R {
        let shard = &self.shards[usize::try_from(id % 16).unwrap_or(0)];
        f(&mut lock(shard))
    }
}

/// The number of users, so small that all have a full session before half of the run is over.
const VISITORS: usize = 4_000;

/// Parses the request, updates the user's session, and answers in JSON.
fn visit(sessions: &Sharded, id: u64, body: &str) -> String {
    let request: Value = serde_json::from_str(body).unwrap_or_default();
    let seed = request["seed"].as_u64().unwrap_or(0);
    let items = request["items"].as_array().map_or(0, Vec::len);
    let mut random = Random::new(seed);
    let page = work(&mut random);
    let history = sessions.with(id, |shard| {
        if seed % 8 == 0 {
            shard.remove(&id);
        }
        let session = shard.entry(id).or_default();
        session.update(&mut random);
        session.history.iter().map(|record| json!(record.title)).collect::<Vec<_>>()
    });
    json!({ "items": items, "page": page, "history": history }).to_string()
}

/// A scope around the computation of a handler.
async fn in_scope(
    State(sessions): State<Arc<Sharded>>,
    Path(id): Path<u64>,
    body: String,
) -> String {
    scope(|| visit(&sessions, id, &body))
}

/// The future of the whole request, which also waits, is polled in scopes.
async fn in_future(
    State(sessions): State<Arc<Sharded>>,
    Path(id): Path<u64>,
    body: String,
) -> String {
    tokio::task::yield_now().await;
    let reply = visit(&sessions, id, &body);
    tokio::task::yield_now().await;
    reply
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    runtime.expect("the system gives two threads")
}

async fn request(router: Router, step: u64) -> usize {
    let mut random = Random::new(step);
    let id = random.below(VISITORS);
    let items: Vec<Value> = (0..random.below(20))
        .map(|item| json!({ "item": item, "name": random.words(2), "price": 1.25 }))
        .collect();
    let body = json!({ "seed": step, "items": items }).to_string();
    let request = Request::post(format!("/visitors/{id}")).body(Body::from(body));
    let request = request.expect("it is a valid request");
    let reply = router.oneshot(request).await.expect("a router always answers");
    assert!(reply.status().is_success());
    let body = axum::body::to_bytes(reply.into_body(), 1 << 20).await;
    body.expect("it is in memory").len()
}

/// Eight clients, each with one request at a time. `is_future` runs each request in an
/// `ArenaFuture`.
fn serve(router: Router, is_future: bool) -> u64 {
    const CLIENTS: u64 = 8;
    runtime().block_on(async {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let router = router.clone();
                tokio::spawn(async move {
                    for step in 0..meter::steps() / CLIENTS {
                        let request = request(router.clone(), client + step * CLIENTS);
                        let length = if is_future { polled(request).await } else { request.await };
                        assert!(length > 0);
                        meter::step();
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client panicked");
        }
    });
    0
}

pub(super) fn axum_scope_a_request() -> u64 {
    let router = Router::new().route("/visitors/{id}", post(in_scope));
    serve(router.with_state(Arc::default()), false)
}

pub(super) fn axum_future_a_request() -> u64 {
    let router = Router::new().route("/visitors/{id}", post(in_future));
    serve(router.with_state(Arc::default()), true)
}

/// Two thousand connections. Each is a task that keeps a session across its polls, and then ends.
pub(super) fn connections() -> u64 {
    const CONNECTIONS: u64 = 2_000;
    async fn connection(seed: u64, requests: u64) -> u64 {
        let mut random = Random::new(seed);
        let mut session = Session::default();
        let mut sum = 0;
        for _ in 0..requests {
            sum += work(&mut random);
            session.update(&mut random);
            meter::step();
            tokio::task::yield_now().await;
        }
        sum + session.history.iter().map(Record::sum).sum::<u64>()
    }
    let each = 5 + meter::steps() / CONNECTIONS / 8;
    runtime().block_on(async {
        let mut live = VecDeque::new();
        let mut sum = 0;
        for number in 0..meter::steps() / each {
            if live.len() as u64 >= CONNECTIONS {
                let oldest: Option<tokio::task::JoinHandle<u64>> = live.pop_front();
                let ended = oldest.expect("there are many").await;
                sum += ended.expect("a connection panicked");
            }
            live.push_back(tokio::spawn(polled(connection(number, each))));
        }
        for task in live {
            sum += task.await.expect("a connection panicked");
        }
        sum
    })
}

/// A thousand futures that two threads poll alternately. Each keeps what it made until its last
/// poll.
pub(super) fn futures() -> u64 {
    use std::{
        future::Future,
        pin::Pin,
        task::{Context, Poll, Waker},
    };

    /// Becomes ready at the second poll.
    struct Later(bool);
    impl Future for Later {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            let is_second = std::mem::replace(&mut self.0, true);
            if is_second { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    async fn job(seed: u64) -> u64 {
        let mut random = Random::new(seed);
        let mut kept = Vec::new();
        for _ in 0..4 + random.below(16) {
            kept.push(answer(&mut random));
            Later(false).await;
        }
        kept.iter().map(Record::sum).sum()
    }

    type Job = Pin<Box<dyn Future<Output = u64> + Send>>;
    let queue: Mutex<VecDeque<Job>> = Mutex::default();
    lock(&queue).extend((0..1000).map(|seed| polled(job(seed))));
    on_workers(2, |worker, steps| {
        let mut context = Context::from_waker(Waker::noop());
        for step in 0..steps {
            let next = lock(&queue).pop_front();
            if let Some(mut future) = next {
                if future.as_mut().poll(&mut context).is_ready() {
                    future = polled(job(worker * steps + step));
                }
                lock(&queue).push_back(future);
            }
            meter::step();
        }
    });
    0
}

/// Sessions that only their own thread uses, copied with `outside` when they are kept.
pub(super) fn copied_out() -> u64 {
    let mut sessions: HashMap<u64, Record> = HashMap::new();
    in_scopes(|_, random, sum| {
        let record = answer(random);
        *sum += record.sum();
        let id = random.below(5_000) as u64;
        unscoped(|| sessions.insert(id, record.clone()));
    })
}
