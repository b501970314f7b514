//! Claim: with the feature `tracing`, every scope that ends emits an event with its figures. The
//! subscriber runs outside of any arena; scopes that it opens itself emit no event.

// Without a range none of it is so.
#![cfg(target_pointer_width = "64")]
#![cfg(feature = "tracing")]

use ebbtide_global::{Options, arena, arena_with, engine};
use std::{fmt, hint::black_box, sync::Mutex};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps every event as text.
struct Keeper;

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() != "bytes" {
            self.0 += &format!("{}={value:?} ", field.name());
        }
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        assert!(!engine::is_ours(text.0.as_ptr()));
        // Scopes that a subscriber opens emit no events.
        let text = arena(|| text.0.trim_end().to_owned());
        SEEN.lock().unwrap().push(text);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn an_event_for_every_scope() {
    alone!();
    tracing::subscriber::set_global_default(Keeper).unwrap();
    // The first scope of a thread also initialises the thread's state.
    arena(|| ());
    SEEN.lock().unwrap().clear();
    let kept = arena(|| {
        drop(black_box(Box::new(1)));
        arena_with(&Options::new().label("inner"), || Box::new(2))
    });
    drop(kept);
    let seen = SEEN.lock().unwrap().clone();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].contains("label=\"inner\" blocks=1 escaped=1"), "{seen:?}");
    // The blocks of the scopes nested in it count as its own: those of the inner scope and of the
    // subscriber's.
    assert!(seen[1].contains("label=\"\" blocks=3 escaped=2"), "{seen:?}");
}
