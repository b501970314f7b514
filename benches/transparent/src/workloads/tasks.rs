//! An event loop: tasks of futures' executor, which send messages to each other.

use super::text::Numbers;
use futures::{
    SinkExt, StreamExt,
    channel::{mpsc, oneshot},
    executor::LocalPool,
    future::join_all,
    task::LocalSpawnExt,
};

/// A request, and where its answer goes.
struct Request {
    cargo: String,
    answer: oneshot::Sender<Vec<String>>,
}

pub(super) fn requests(size: usize) -> impl Fn() -> u64 {
    let mut numbers = Numbers::new(29);
    let clients: Vec<Vec<String>> =
        (0..size).map(|_| (0..1 + numbers.below(6)).map(|_| numbers.words(4)).collect()).collect();
    move || once(&clients)
}

/// The bytes of all answers, and their number.
#[inline(never)]
fn once(clients: &[Vec<String>]) -> u64 {
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    let (requests, mut received) = mpsc::channel::<Request>(16);
    let inner = spawner.clone();
    let server = async move {
        while let Some(Request { cargo, answer }) = received.next().await {
            let work = async move {
                let words = cargo.split(' ').map(str::to_uppercase).collect();
                answer.send(words).expect("the client waits");
            };
            inner.spawn_local(work).expect("the pool runs");
        }
    };
    spawner.spawn_local(server).expect("the pool runs");
    let client = |cargoes: &Vec<String>| {
        let (cargoes, requests) = (cargoes.clone(), requests.clone());
        let work = async move {
            let ask = |cargo: String| {
                let mut requests = requests.clone();
                async move {
                    let (answer, answered) = oneshot::channel();
                    requests.send(Request { cargo, answer }).await.expect("the server runs");
                    answered.await.expect("the server answers")
                }
            };
            let answers = join_all(cargoes.into_iter().map(ask)).await;
            let bytes: usize = answers.iter().flatten().map(String::len).sum();
            (answers.len() as u64) << 32 | bytes as u64
        };
        spawner.spawn_local_with_handle(work).expect("the pool runs")
    };
    let clients: Vec<_> = clients.iter().map(client).collect();
    drop(requests);
    pool.run_until(join_all(clients)).into_iter().sum()
}
