//! Claims: labels keep figures of their own; the chunks that a label pins are counted for it until
//! any thread frees the last block; a label is leaky while it pins memory, not because of blocks
//! that were freed soon after its scopes; `outside` and later polls of a future do not count as
//! scopes; a report counts each scope once, and names one that is around a loop.

// Without a range, no scope serves.
#![cfg(all(target_pointer_width = "64", not(any(loom, target_family = "wasm"))))]

use ebbtide_global::{
    ArenaFuture, LabelReport, Options, arena, arena_with, outside, release_pool, report, warm,
};
use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
};

/// Runs the test in a new thread, so that it continues no scope of the harness.
fn in_a_thread(test: impl FnOnce() + Send) {
    warm();
    // The first scope of a program finds out whether scopes can be served.
    arena(|| ());
    thread::scope(|threads| threads.spawn(test).join()).unwrap();
}

fn label(name: &str) -> LabelReport {
    report().labels.into_iter().find(|label| label.label == name).unwrap()
}

/// Fills most of a chunk and returns one block in it.
fn one_of_a_chunk() -> Box<[u8; 1000]> {
    let blocks: Vec<_> = (0..55).map(|_| Box::new([7; 1000])).collect();
    blocks.into_iter().nth(20).unwrap()
}

#[test]
fn each_label_has_figures_of_its_own() {
    alone!();
    in_a_thread(|| {
        let [tight, keeping] = ["tight", "keeping"].map(|name| Options::new().label(name));
        let mut kept = Vec::new();
        for n in 0..100 {
            arena_with(&tight, || (0..50).map(|k| k.to_string()).collect::<Vec<_>>().len());
            kept.extend(arena_with(&keeping, || {
                let all: Vec<String> = (0..50).map(|k| (n * k).to_string()).collect();
                all.into_iter().step_by(5).collect::<Vec<_>>()
            }));
        }
        let [tight, keeping] = ["tight", "keeping"].map(label);
        assert_eq!((tight.scopes, keeping.scopes), (100, 100));
        assert_eq!(tight.escaped, 0);
        // Ten strings and their vector, which has the block of the vector that they were collected
        // from.
        assert_eq!(keeping.escaped, 1100);
    });
}

#[test]
fn figures_are_exact_for_many_labels_of_many_threads() {
    alone!();
    const NAMES: [&str; 12] = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"];
    in_a_thread(|| {
        let count = || {
            for (scopes, name) in (1..).zip(NAMES) {
                let options = Options::new().label(name);
                (0..scopes).for_each(|_| drop(arena_with(&options, || [Box::new(1), Box::new(2)])));
            }
        };
        // Several threads at once, then others, which take over the counters of those that ended.
        for _ in 0..2 {
            thread::scope(|threads| (0..3).for_each(|_| drop(threads.spawn(count))));
        }
        for (scopes, name) in (1..).zip(NAMES) {
            let label = label(name);
            assert_eq!(
                (label.scopes, label.blocks, label.escaped),
                (6 * scopes, 12 * scopes, 12 * scopes)
            );
        }
    });
}

#[test]
fn pinned_chunks_count_for_their_label_until_another_thread_frees_the_last_block() {
    alone!();
    in_a_thread(|| {
        let options = Options::new().label("sessions");
        let kept: Vec<_> = (0..40).map(|_| arena_with(&options, one_of_a_chunk)).collect();
        let sessions = label("sessions");
        assert_eq!(sessions.pinned_bytes, sessions.pinned_chunks * (64 << 10));
        assert_eq!(sessions.pinned_chunks, 40, "{sessions:?}");
        thread::spawn(move || drop(kept)).join().unwrap();
        release_pool();
        assert_eq!(label("sessions").pinned_chunks, 0);
        assert_eq!(label("sessions").escaped, 40);
        assert_eq!(report().escapes.pinned_chunks, 0);
    });
}

#[test]
fn a_scope_that_adopts_a_tail_and_keeps_nothing_leaves_the_chunk_to_its_label() {
    alone!();
    in_a_thread(|| {
        let [first, second] = ["first", "second"].map(|name| Options::new().label(name));
        let kept = arena_with(&first, || Box::new([1; 100]));
        assert_eq!(label("first").pinned_chunks, 1);
        let chunk_of = |block: &[u8; 100]| (&raw const *block).addr() >> 16;
        let is_same = arena_with(&second, || {
            // While the chunk is in use again, it counts for no label.
            assert_eq!((label("first").pinned_chunks, label("second").pinned_chunks), (0, 0));
            chunk_of(&Box::new([2; 100])) == chunk_of(&kept)
        });
        assert!(is_same, "the tail is adopted");
        assert_eq!((label("first").pinned_chunks, label("second").pinned_chunks), (1, 0));
        // After a scope that keeps a block, the chunk counts for that scope's label.
        let more = arena_with(&second, || Box::new([2; 100]));
        assert_eq!((label("first").pinned_chunks, label("second").pinned_chunks), (0, 1));
        drop(kept);
        assert_eq!(label("second").pinned_chunks, 1);
        drop(more);
        assert_eq!(label("second").pinned_chunks, 0);
    });
}

#[test]
fn nested_scopes_pin_for_the_label_around_them_unless_they_have_their_own() {
    alone!();
    in_a_thread(|| {
        let [outer, inner] = ["outer", "inner"].map(|name| Options::new().label(name));
        let kept = arena_with(&outer, || {
            let plain = arena(one_of_a_chunk);
            let labelled = arena_with(&inner, one_of_a_chunk);
            assert_eq!(label("inner").pinned_chunks, 1);
            assert_eq!(label("outer").pinned_chunks, 1);
            [plain, labelled]
        });
        assert_eq!((label("outer").pinned_chunks, label("inner").pinned_chunks), (1, 1));
        drop(kept);
        assert_eq!((label("outer").pinned_chunks, label("inner").pinned_chunks), (0, 0));
    });
}

#[test]
fn the_chunks_of_scopes_with_two_labels_are_all_counted() {
    alone!();
    in_a_thread(|| {
        let names = ["even", "odd"];
        let options = names.map(|name| Options::new().label(name));
        options.iter().for_each(|options| arena_with(options, || ()));
        let mut kept = VecDeque::new();
        for n in 0..2_000 {
            kept.push_back(arena_with(&options[n % 2], one_of_a_chunk));
            if kept.len() > 800 {
                // Some are freed in a scope, some outside of any, some by another thread.
                match n % 3 {
                    0 => drop(kept.pop_front()),
                    1 => arena_with(&options[0], || drop(kept.pop_front())),
                    _ => drop(thread::scope(|threads| {
                        let front = kept.pop_front();
                        threads.spawn(move || drop(front)).join()
                    })),
                }
            }
            if n % 100 == 0 {
                let by_label: usize = names.map(|name| label(name).pinned_chunks).iter().sum();
                assert_eq!(by_label, report().escapes.pinned_chunks);
            }
        }
        assert!(names.iter().any(|name| label(name).pinned_chunks > 0));
        drop(kept);
        release_pool();
        assert_eq!(names.map(|name| label(name).pinned_chunks), [0, 0]);
    });
}

#[test]
fn a_label_is_leaky_while_it_pins_memory() {
    alone!();
    in_a_thread(|| {
        let is_leaky = |name| report().leaky_labels().any(|label| label.label == name);
        // Six blocks in sixty outlive their scope, and are freed at once.
        let reply = Options::new().label("reply");
        for _ in 0..1_000 {
            let body = arena_with(&reply, || {
                let all: Vec<String> = (0..60).map(|n: u32| n.to_string()).collect();
                all.into_iter().step_by(10).collect::<Vec<_>>()
            });
            drop(body);
        }
        assert!(label("reply").escape_ratio() > 0.05);
        assert!(!is_leaky("reply"), "{}", report());

        let leaky = Options::new().label("leaky");
        let keep = || (0..20).map(|_| Box::new([1_u8; 1000])).collect::<Vec<_>>();
        let kept: Vec<_> = (0..100).map(|_| arena_with(&leaky, keep)).collect();
        assert!(is_leaky("leaky"));
        let text = report().to_string();
        assert!(text.contains("`leaky`: ") && !text.contains("`reply`"), "{text}");
        assert!(!text.contains("without a label"), "{text}");
        drop(kept);
        release_pool();
        assert!(!is_leaky("leaky"), "{}", report());
    });
}

/// As in a server that follows the book: most blocks of a request are those of its reply, which is
/// sent while the next one is answered.
#[test]
fn a_report_warns_of_blocks_that_stay_and_not_of_replies() {
    alone!();
    in_a_thread(|| {
        let answer = || {
            let reply: Vec<_> = (0..13).map(|n: u32| Box::new([n; 20])).collect();
            let _scratch: Vec<_> = (0..7).map(|n: u32| Box::new([n; 20])).collect();
            reply
        };
        let warns = || report().to_string().contains("without a label: ");
        let mut in_flight = VecDeque::new();
        for _ in 0..10_000 {
            in_flight.push_back(arena(answer));
            if in_flight.len() > 20 {
                in_flight.pop_front();
            }
        }
        assert!(report().escape_ratio() > 0.6 && !warns(), "{}", report());

        let kept: Vec<_> = (0..10_000).map(|_| arena(answer)).collect();
        assert!(warns(), "{}", report());
        drop((kept, in_flight));
        release_pool();
        assert!(!warns(), "{}", report());
    });
}

#[test]
fn a_call_of_outside_is_no_scope() {
    alone!();
    in_a_thread(|| {
        let before = report().scopes;
        let options = Options::new().label("with outside");
        for _ in 0..100 {
            arena_with(&options, || (0..10).for_each(|n| drop(outside(|| vec![n; 10]))));
            outside(|| ());
        }
        assert_eq!((report().scopes - before, label("with outside").scopes), (100, 100));
    });
}

/// Is ready at the second poll.
#[derive(Default)]
struct Later(bool);

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn the_report_counts_each_scope_of_a_process_once() {
    alone!();
    arena(|| ());
    assert_eq!(report().scopes, 1);
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| arena(|| arena(|| drop(vec![1; 100_000]))));
        }
    });
    assert_eq!(report().scopes, 7);
}

#[test]
fn the_report_names_a_scope_around_a_loop() {
    alone!();
    let item = || drop((0..1000).map(|n: u32| n.to_string()).collect::<Vec<_>>());
    let advice = "a scope for each item";
    (0..1000).for_each(|_| arena(item));
    assert!(!report().to_string().contains(advice), "{}", report());
    arena(|| (0..1000).for_each(|_| item()));
    assert!(report().to_string().contains(advice), "{}", report());
}

#[test]
fn a_future_is_one_scope_however_often_it_is_polled() {
    alone!();
    in_a_thread(|| {
        let before = report().scopes;
        let options = Options::new().label("future");
        let mut context = Context::from_waker(Waker::noop());
        for n in 0..100 {
            let mut future = Box::pin(ArenaFuture::with(options, async {
                let mut kept = Vec::new();
                for m in 0..n % 10 {
                    // The kept blocks pin chunks.
                    kept.push(vec![m; 1 + 10 * n]);
                    Later::default().await;
                }
            }));
            // Every other future is dropped before it is ready.
            let polls = if n % 2 == 0 { usize::MAX } else { 3 };
            for _ in 0..polls {
                if future.as_mut().poll(&mut context).is_ready() {
                    break;
                }
            }
        }
        let future = label("future");
        assert_eq!((report().scopes - before, future.scopes), (100, 100));
        assert!(future.blocks >= 200, "later polls add to the blocks: {future:?}");
    });
}
