//! Claims: of several threads that find no helper thread, one starts it; and a helper thread that
//! was late ends if another one was started meanwhile.
//!
//! Each model names the mutations for which it was seen to fail.

use crate::shared::watch::Watch;
use loom::{sync::Arc, thread};

/// Mutation: `begin` stores the time instead of exchanging it.
#[test]
fn one_thread_starts_the_helper() {
    loom::model(|| {
        let watch = Arc::new(Watch::new());
        let other = thread::spawn({
            let watch = Arc::clone(&watch);
            move || watch.begin(10, 20)
        });
        let here = watch.begin(10, 20);
        assert!(here != other.join().unwrap());
        assert!(watch.is_on(19) && !watch.is_on(20));
    });
}

/// Mutation: `renew` stores the time instead of exchanging it.
#[test]
fn a_late_helper_ends_if_another_was_started() {
    loom::model(|| {
        let watch = Arc::new(Watch::new());
        assert!(watch.begin(0, 10));
        let helper = |watch: &Arc<Watch>| {
            let watch = Arc::clone(watch);
            // It starts after the time until which it was announced.
            move || watch.announced().is_some_and(|until| watch.renew(until, 30))
        };
        let late = thread::spawn(helper(&watch));
        let is_started = watch.begin(11, 20);
        let next_goes_on = is_started && helper(&watch)();
        let late_goes_on = late.join().unwrap();
        assert!(next_goes_on || late_goes_on, "one of the two goes on");
    });
}
