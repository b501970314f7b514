//! Claims about `ArenaLayer`: a handler allocates from an arena at each of its polls, and blocks
//! that outlive the request stay valid.

// Without a range everything comes from the inner allocator.
#![cfg(all(feature = "tower", target_pointer_width = "64", not(target_family = "wasm")))]

use axum::{Router, body::Body, extract::State, http::Request, routing::post};
use ebbtide_global::{ArenaLayer, Options, report, warm};
use std::{
    fmt::Write,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};
use tower_layer::Layer;
use tower_service::Service;

/// Polls `future` until it is ready, and counts how often.
fn run<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1.. {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return (output, polls);
        }
    }
    unreachable!("the loop has no end")
}

/// Is ready at the second poll.
#[derive(Default)]
struct Later(bool);

impl Future for Later {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

type Words = Arc<Mutex<Vec<String>>>;

async fn words(State(kept): State<Words>, text: String) -> String {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    Later::default().await;
    let mut counted = String::new();
    for word in &words {
        writeln!(counted, "{word}: {}", word.len()).unwrap();
    }
    kept.lock().unwrap().extend(words);
    counted
}

#[test]
fn a_handler_allocates_from_an_arena_at_every_poll_and_what_it_keeps_stays() {
    alone!();
    warm();
    let kept = Words::default();
    let router = Router::new().route("/", post(words)).with_state(Arc::clone(&kept));
    let mut service = ArenaLayer::with(Options::new().label("tower")).layer(router);
    for round in 0..100 {
        let request = Request::post("/").body(Body::from(format!("round {round} of many")));
        let (reply, polls) = run(service.call(request.unwrap()));
        assert!(reply.unwrap().status().is_success());
        assert_eq!(polls, 2);
    }
    let report = report();
    let label = report.labels.iter().find(|label| label.label == "tower").unwrap();
    // Four words, the vector of them, and the text of the reply, at least.
    assert!(label.blocks >= 600, "{label:?}");
    let kept = kept.lock().unwrap();
    assert_eq!(kept.len(), 400);
    assert!(kept.chunks(4).enumerate().all(|(n, words)| words[1] == n.to_string()));
}

#[test]
fn readiness_and_errors_are_the_inner_service_s() {
    alone!();
    #[derive(Clone)]
    struct Refusing;
    impl Service<u32> for Refusing {
        type Response = ();
        type Error = String;
        type Future = std::future::Ready<Result<(), String>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
            Poll::Ready(Err("not ready".to_owned()))
        }

        fn call(&mut self, request: u32) -> Self::Future {
            std::future::ready(Err(format!("{request} refused")))
        }
    }
    let mut service = ArenaLayer::new().layer(Refusing);
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(service.poll_ready(&mut context), Poll::Ready(Err("not ready".to_owned())));
    assert_eq!(run(service.call(7)), (Err("7 refused".to_owned()), 1));
}
